import json

import pytest

from sociometer.core.conversation import Usage
from sociometer.models.usage import reported_usage


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
