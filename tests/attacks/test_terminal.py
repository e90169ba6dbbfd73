"""What a model writes cannot deceive the reader of a terminal, and bad options end in one sentence."""

import pytest

from sociometer.cli.main import run_command


@pytest.mark.parametrize("override", ["\u202a", "\u202e", "\u2066", "\u2069", "\x1b[2J", "\x9b"], ids=ascii)
def test_a_reply_cannot_turn_or_clear_the_terminal(tmp_path, capsys, override):
    script, store = tmp_path / "s.jsonl", str(tmp_path / "s.db")
    script.write_text(f'{{"reply": "Answer: B {ascii(override)[1:-1]}.", "match": "."}}\n'.replace("\\x", "\\u00"))
    run = ["run", "sesi", "--model", f"scripted/{script}", "--item", "sesi-inf-110", "--store", store]
    assert run_command(run) == 0
    assert run_command(["show", "last", "sesi-inf-110", "--store", store]) == 0
    shown = capsys.readouterr().out
    assert "Answer: B " in shown
    assert override not in shown


@pytest.mark.parametrize("port", ["99999999", "-1", "65536"])
def test_a_port_that_cannot_be_is_a_usage_error(port, capsys):
    assert run_command(["view", "--port", port]) == 2
    assert "0<=x<=65535" in capsys.readouterr().err
