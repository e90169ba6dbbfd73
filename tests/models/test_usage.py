import json

import pytest
from msgspec import structs

from sociometer.core.conversation import Reply, Usage
from sociometer.core.tools import ToolCall
from sociometer.models.usage import possible_usage, reported_usage


@pytest.mark.parametrize(
    ("report", "usage"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 47}, Usage(5, 42)),
        ({"prompt_tokens": 5, "completion_tokens": 9, "total_tokens": 10}, Usage(5, 9)),
        ({"prompt_tokens": 5, "total_tokens": 47}, Usage(5, 42)),
        ({"completion_tokens": 5, "total_tokens": 47}, Usage(42, 5)),
        ({"total_tokens": 47}, Usage(None, 47)),
        ({"prompt_tokens": 5, "completion_tokens": 2, "output_tokens": 7}, Usage(5, 7)),
        ({"prompt_tokens": 5, "completion_tokens": 2.5}, Usage(5, None)),
        ({"prompt_tokens": None, "completion_tokens": 2}, Usage(None, 2)),
        ({"prompt_tokens": 5, "completion_tokens": 10**9 + 1}, Usage(5, None)),
        ({"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 100}, Usage(105, 2)),
        ({"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": -100}, Usage(None, 2)),
        ({}, None),
    ],
)
def test_one_rule_reads_every_report(report, usage):
    assert reported_usage(json.dumps({"usage": report}).encode()) == usage


def test_what_a_model_writes_is_no_report():
    block = {"type": "tool_use", "name": "reply", "input": {"usage": {"output_tokens": 10**8}}}
    assert reported_usage(json.dumps({"content": [block], "usage": {"output_tokens": 3}}).encode()) == Usage(None, 3)


@pytest.mark.parametrize(
    ("reply", "reported", "possible"),
    [
        (Reply("B"), Usage(900, 1), Usage(900, 1)),
        (Reply(""), Usage(900, 0), Usage(900, 0)),
        (Reply("disappointment"), Usage(900, 1), Usage(900, 1)),
        (Reply("word " * 200), Usage(900, 200), Usage(900, 200)),
        (Reply(""), Usage(0, 0), Usage(None, 0)),
        (Reply("B"), Usage(0, 0), Usage(None, None)),
        (Reply("word " * 200), Usage(900, 90), Usage(900, None)),
        (Reply("B", reasoning="word " * 200), Usage(900, 3), Usage(900, None)),
        (Reply("", calls=(ToolCall("look", '{"order": "1"}'),)), Usage(0, 0), Usage(None, None)),
        (Reply("", calls=(ToolCall("look", '{"order": "1"}' * 20),)), Usage(900, 3), Usage(900, None)),
        (Reply("", calls=(ToolCall("look", '{"order": "1"}'),)), Usage(900, 9), Usage(900, 9)),
    ],
)
def test_a_usage_that_cannot_be_counts_as_not_reported(reply, reported, possible):
    assert possible_usage(structs.replace(reply, usage=reported)).usage == possible
