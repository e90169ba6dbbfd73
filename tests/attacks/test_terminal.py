"""What a model writes cannot deceive the reader of a terminal, and bad options end in one sentence."""

import os

import pytest

import forked
from servers.faults import Fault
from sociometer.cli.main import run_command


@pytest.mark.parametrize(
    "override", ["\u202a", "\u202e", "\u2066", "\u2069", "\u200b", "\ufeff", "\x1b[2J", "\x9b"], ids=ascii
)
def test_a_reply_cannot_turn_or_clear_the_terminal(tmp_path, capsys, override):
    script, store = tmp_path / "s.jsonl", str(tmp_path / "s.db")
    script.write_text(f'{{"reply": "Answer: B {ascii(override)[1:-1]}.", "match": "."}}\n'.replace("\\x", "\\u00"))
    run = ["run", "sesi", "--model", f"scripted/{script}", "--item", "sesi-inf-127", "--store", store]
    assert run_command(run) == 0
    assert run_command(["show", "last", "sesi-inf-127", "--store", store]) == 0
    shown = capsys.readouterr().out
    assert "Answer: B " in shown
    assert override not in shown


@pytest.mark.parametrize("port", ["99999999", "-1", "65536"])
def test_a_port_that_cannot_be_is_a_usage_error(port, capsys):
    assert run_command(["view", "--port", port]) == 2
    assert "from 0 to 65535" in capsys.readouterr().err


def one_sentence(arguments, **environment):
    """What a command that fails writes, in a process of its own: libraries write past `capsys`."""
    words = ["-m", "sociometer", "run", "sesi", "--limit", "1", "--quiet", *arguments]
    ended = forked.start(words, stdout=forked.PIPE, stderr=forked.PIPE, env=os.environ | environment)
    _, said = ended.communicate()
    lines = said.strip().splitlines()
    assert (ended.returncode, len(lines)) == (2, 1), said
    return lines[0]


@pytest.mark.slow
def test_a_model_of_the_hub_without_a_network_is_one_sentence(tmp_path):
    pytest.importorskip("transformers", reason="the extra 'hf' is not installed")
    store = ["--store", str(tmp_path / "s.db")]
    said = one_sentence(["--model", "hf/nosuch/thing", *store], HF_ENDPOINT="http://127.0.0.1:9", HF_HUB_OFFLINE="0")
    assert said.startswith("error: 'nosuch/thing' cannot be found on the Hugging Face hub")


@pytest.mark.parametrize("family", ["local", pytest.param("hf", marks=pytest.mark.slow)])
@pytest.mark.parametrize("damage", ["noise", "noise after the first bytes", "nothing"])
def test_a_damaged_gguf_file_is_one_sentence(tmp_path, family, damage):
    pytest.importorskip({"local": "xllamacpp", "hf": "transformers"}[family], reason="the extra is not installed")
    noise = bytes(range(256)) * 100
    content = {"noise": noise, "noise after the first bytes": b"GGUF\3\0\0\0" + noise, "nothing": b""}[damage]
    (tmp_path / "bad.gguf").write_bytes(content)
    said = one_sentence(["--model", f"{family}/{tmp_path}/bad.gguf", "--store", str(tmp_path / "s.db")])
    assert "the file is damaged or incomplete" in said


@pytest.mark.parametrize("status", [400, 404, 500])
def test_an_error_of_a_server_cannot_turn_or_clear_the_terminal(openai_server, key, tmp_path, capsys, status):
    openai_server.fault_of = lambda _: Fault(status=status, message="no \x1b[2J \x9b \u202e thing")
    where = ["--model", f"openai/m@{openai_server.url}", "--store", str(tmp_path / "s.db")]
    assert run_command(["run", "sesi", *where, "--limit", "2", "-o", "retries=0"]) in (2, 4)
    shown = "".join(capsys.readouterr())
    assert "thing" in shown
    assert not any(override in shown for override in "\x1b\x9b\u202e")
