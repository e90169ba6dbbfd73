"""`-o body.NAME`, `-o header.NAME` and `-o query.NAME` reach the server, and only the server that the user names."""

import gzip
import json
from pathlib import Path

import pytest

from servers.anthropic import AnthropicServer
from servers.faults import Fault
from servers.openai import OpenAIServer
from sociometer.cli.main import run_command
from sociometer.core.errors import UsageError
from sociometer.core.server_fields import ServerFields
from sociometer.models.keys import KeyPolicy

FIELDS = ("-o", "body.top_k=20", "-o", 'body.chat_template_kwargs={"enable_thinking": false}')
PRIVATE = ("-o", "header.X-Team=the blue team", "-o", "query.api-version=2024-10-21")
SPEC = {
    "vllm": "vllm/m", "sglang": "sglang/m", "ollama": "ollama/m", "lmstudio": "lmstudio/m", "llamacpp": "llamacpp/m",
    "litellm": "openai/m", "openrouter": "openrouter/m", "azure": "azure/m",
}  # fmt: skip


def play(server, store, *words, spec="vllm/m", limit="2"):
    model = f"{spec}@{server.url}#1"
    return run_command(["run", "sesi", "--model", model, "--limit", limit, "--store", str(store), "--quiet", *words])


@pytest.mark.parametrize("family", SPEC)
def test_every_server_gets_the_fields(family, tmp_path, monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-secret-1")
    with OpenAIServer() as server:
        assert play(server, tmp_path / "s.db", *FIELDS, *PRIVATE, spec=SPEC[family]) == 0
        for one in server.received:
            assert one.body["top_k"] == 20
            assert one.body["chat_template_kwargs"] == {"enable_thinking": False}
            assert one.headers["x-team"] == "the blue team"
            assert one.query == {"api-version": "2024-10-21"}
        if family == "azure":
            assert server.last.headers["api-key"] == "azure-secret-1"
            assert "Authorization" not in server.last.headers


def test_the_anthropic_format_gets_them_too(tmp_path):
    with AnthropicServer() as server:
        assert play(server, tmp_path / "s.db", "-o", "body.top_k=20", *PRIVATE, spec="anthropic/m") == 0
    assert server.last.body["top_k"] == 20
    assert server.last.headers["x-team"] == "the blue team"
    assert server.last.query == {"api-version": "2024-10-21"}


def test_a_role_gets_its_own(tmp_path):
    with OpenAIServer() as server, OpenAIServer() as other:
        models = ("--model", f"vllm/m@{server.url}#1", "--role", f"simulator=vllm/r@{other.url}#1")
        fields = ("-o", "simulator.body.top_k=3", "-o", "body.min_p=0.1")
        run_command(["run", "sage", *models, *fields, "--limit", "1", "--store", str(tmp_path / "s.db"), "--quiet"])
    assert {one.body.get("top_k") for one in other.received} == {3}
    assert {one.body.get("min_p") for one in server.received} == {0.1}
    assert not any("min_p" in one.body for one in other.received)


def test_other_fields_make_another_run_and_ask_again(tmp_path):
    with OpenAIServer() as server:
        for words, asked in (((), 2), ((), 2), (FIELDS, 4), (FIELDS, 4), (PRIVATE, 6)):
            assert play(server, tmp_path / "s.db", *words) == 0
            assert len(server.received) == asked


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("body.top_k=twenty", "needs JSON"),
        ("body.temperature=1", "-o temperature"),
        ("body.model=1", "--model"),
        ("header.Authorization=Bearer x", "--key-variable"),
        ("header.X-Api-Key=x", "looks like a key"),
        ("header.X-Team=sk-abcdefghijkl", "looks like a key"),
        ("query.token=x", "looks like a key"),
        ("judge.body.a=1", "role 'judge'"),
        ("body.", "body|header|query"),
    ],
)
def test_a_refused_field_exits_2_before_anything_is_sent(field, said, tmp_path, capsys):
    with OpenAIServer() as server:
        assert play(server, tmp_path / "s.db", "-o", field) == 2
        assert not server.received
    assert said in capsys.readouterr().err


def test_models_without_a_server_refuse_fields(tmp_path, capsys):
    words = ["run", "sesi", "--model", "baseline/random", "--store", str(tmp_path / "s.db"), "-o", "body.top_k=1"]
    assert run_command(words) == 2
    assert "need a model on a server" in capsys.readouterr().err


def test_headers_do_not_go_to_a_server_that_the_command_does_not_name():
    fields = ServerFields(headers={"X-Team": "blue"})
    with pytest.raises(UsageError, match=r"only to a server that this command names.*--role judge=MODEL@https://far"):
        KeyPolicy().check_fields(fields, "judge", "https://far.example/v1", "https://api.openai.com/v1")
    KeyPolicy(frozenset(("judge",))).check_fields(
        fields, "judge", "https://far.example/v1", "https://api.openai.com/v1"
    )


def test_the_store_and_exports_have_no_value_of_a_header(tmp_path, monkeypatch):
    store, file = tmp_path / "s.db", tmp_path / "r.sociometer"
    words = [*FIELDS, *PRIVATE]
    with OpenAIServer() as server:
        server.faults.extend([Fault(status=400, message="no team like the blue team here")])
        argv = ["sociometer", "run", "sesi", "-oheader.X-Team=the blue team", *words]
        monkeypatch.setattr("sys.argv", argv)
        play(server, store, *words)
    for path in filter(Path.is_file, tmp_path.iterdir()):
        assert b"blue team" not in path.read_bytes()
    assert run_command(["export", "last", "--to", str(file), "--store", str(store)]) == 0
    exported = gzip.decompress(file.read_bytes()).decode()
    config = json.loads(exported.splitlines()[0])["content"]["manifest"]["config"]
    assert config["server_fields"]["subject"]["header_digests"] == {"x-team": ""}
    assert config["server_fields"]["subject"]["query"] == {"api-version": "(not published)"}


def test_resume_asks_for_headers_again_and_refuses_other_values(tmp_path, capsys):
    store = str(tmp_path / "s.db")
    with OpenAIServer() as server:
        play(server, store, *PRIVATE, "--max-requests", "1", limit="4")
        asked = len(server.received)
        words = ["resume", "last", "--store", store, "--quiet", "--max-requests", "9"]
        assert run_command(words) == 2
        assert "give it again: -o header.x-team=VALUE" in capsys.readouterr().err
        assert run_command([*words, "-o", "header.X-Team=red"]) == 2
        assert "another value" in capsys.readouterr().err
        assert run_command([*words, "-o", "body.top_k=1"]) == 2
        assert len(server.received) == asked
        assert run_command([*words, "-o", "header.X-Team=the blue team"]) == 0
        assert len(server.received) == 4
        assert {one.headers["x-team"] for one in server.received} == {"the blue team"}


def test_azure_without_an_address_says_what_to_write(tmp_path, capsys):
    assert run_command(["run", "sesi", "--model", "azure/m", "--store", str(tmp_path / "s.db")]) == 2
    assert "azure/m@https://RESOURCE.openai.azure.com/openai/v1" in capsys.readouterr().err
