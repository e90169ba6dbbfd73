"""What was paid for is never lost: a server that reports an absurd usage loses nobody a reply."""

import pytest

import sociometer as sm

ABSURD = [2**70, -1, "many", None, [1], {"a": 1}, True]


@pytest.mark.parametrize("tokens", ABSURD, ids=str)
def test_a_reply_with_an_absurd_usage_is_kept_and_counted(openai_server, key, tmp_path, tokens):
    openai_server.usage = {"prompt_tokens": tokens, "completion_tokens": tokens}
    options = {"base_url": openai_server.url, "store": tmp_path / "s.db", "reply_tokens": 20, "max_tokens": 500_000}
    run = sm.run("sesi", "openai/m", limit=3, **options)
    assert run.status == "finished"
    asked = len(openai_server.received)
    sm.resume(run, store=tmp_path / "s.db", key_variable="OPENAI_API_KEY")
    assert len(openai_server.received) == asked, "every reply is stored"
    assert run._store.journal.spent(run.id).charged_tokens > 0, "the worst case is charged"
