"""A key goes only where the user sends it, and is never stored: also with providers of other packages."""

import base64
import os
import sqlite3
import zipfile
from contextlib import closing

import pytest

from servers.faults import Fault
from sociometer.cli.main import run_command
from sociometer.core.config import RunConfig
from sociometer.core.errors import UsageError
from sociometer.engine.roles import resolve_player
from sociometer.models.keys import KeyPolicy

PLAIN_KEY = "correct-horse-battery"
"""A key that looks like none: only who knows it can find it."""


def test_a_key_that_looks_like_none_is_not_stored_with_an_error(tmp_path, monkeypatch, openai_server, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", PLAIN_KEY)
    openai_server.fault_of = lambda number: Fault(400, f"no model for {PLAIN_KEY}") if number else None
    where = ["--model", f"openai/m@{openai_server.url}", "--limit", "4", "--store", str(tmp_path / "s.db")]
    assert run_command(["run", "sesi", *where, "-o", "retries=0"]) == 4
    printed = "".join(capsys.readouterr())
    assert "no model for" in printed and PLAIN_KEY not in printed
    assert_nowhere(tmp_path, PLAIN_KEY)


aiohttp = pytest.importorskip("aiohttp")
pytest.importorskip("inspect_ai", reason="the extra 'inspect' is not installed")

from inspect_ai.model import ModelAPI, ModelOutput, modelapi  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@modelapi(name="curious")
class Curious(ModelAPI):
    """A provider like most of Inspect's: it takes the key from the environment, wherever it is told to send it."""

    async def generate(self, input, tools, tool_choice, config):
        key = self.api_key or os.environ["OPENAI_API_KEY"]
        body = {"model": self.model_name, "messages": [{"role": "user", "content": input[0].text}]}
        headers = {"Authorization": f"Bearer {key}"}
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{self.base_url}/chat/completions", json=body, headers=headers) as response,
        ):
            answer = await response.json()
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        return ModelOutput.from_content("m", answer["choices"][0]["message"]["content"])


@pytest.fixture
def play(openai_server, key, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "s.db"))

    def run(*words, model="inspect/curious/m", revision=""):
        where = ["--model", f"{model}@{openai_server.url}{revision}"]
        return run_command(["run", "sesi", *where, "--limit", "3", "-o", "in-flight=1", "--quiet", *words])

    return run


def sent(server):
    return " ".join(value for one in server.received for value in one.headers.values())


def test_an_address_of_a_stored_run_gets_no_key_of_another_package(play, openai_server, key, capsys):
    assert play("--max-requests", "1", revision="#1") == 3
    assert key in sent(openai_server), "the user names the server in this command"
    openai_server.received.clear()
    capsys.readouterr()
    assert run_command(["resume", "last", "--max-requests", "9", "--quiet"]) == 2
    assert "--key-variable" in capsys.readouterr().err
    assert openai_server.received == []
    words = ["--max-requests", "9", "--quiet", "--key-variable", "OPENAI_API_KEY"]
    assert run_command(["resume", "last", *words]) == 0
    assert key in sent(openai_server)


@pytest.mark.parametrize("shape", [str, str.encode, lambda key: f"<{key}>"], ids=["plain", "bytes", "quoted"])
def test_a_key_that_a_server_repeats_is_not_stored(play, openai_server, key, tmp_path, capsys, shape):
    openai_server.say = lambda body: f"B, said {shape(key)}"
    assert play() == 0
    assert run_command(["export", "last", "--to", str(tmp_path / "out.jsonl")]) == 0
    assert key not in (tmp_path / "out.jsonl").read_text()
    assert "[key]" in (tmp_path / "out.jsonl").read_text()
    assert_nowhere(tmp_path, key)


def test_a_key_in_an_error_of_another_package_is_not_stored(play, openai_server, key, tmp_path, capsys):
    openai_server.fault_of = lambda number: Fault(status=401, message="Incorrect API key: {key}", echo=lambda sent: key)
    assert play("-o", "retries=0") == 4
    assert key not in "".join(capsys.readouterr())
    assert_nowhere(tmp_path, key)


def assert_nowhere(folder, key):
    with closing(sqlite3.connect(folder / "s.db")) as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        store.execute("VACUUM")
    for file in folder.iterdir():
        assert file.is_dir() or key.encode() not in file.read_bytes(), file


@pytest.mark.parametrize("role", ["subject", "judge"])
def test_another_package_is_not_asked_to_send_a_key_unencrypted(role, key):
    spec = "inspect/curious/m@http://far.example/v1"
    config = RunConfig(instrument="sesi", subject=spec, roles={"judge": spec})
    with pytest.raises(UsageError, match="-o insecure-http"):
        resolve_player(spec, role, config)
    assert resolve_player(spec, role, config, keys=KeyPolicy(frozenset((role,)), insecure_http=True))
    assert resolve_player(spec.replace("http:", "https:"), role, config)


def test_an_address_of_a_card_gets_no_key_of_another_package(key):
    spec = "inspect/curious/m@https://far.example/v1"
    config = RunConfig(instrument="sesi", subject=spec)
    with pytest.raises(UsageError, match="--key-variable NAME"):
        resolve_player(spec, "subject", config, keys=KeyPolicy(frozenset()))


def test_a_key_that_a_model_repeats_is_in_no_export(tmp_path, openai_server, key):
    openai_server.say = lambda body: f"B, because {key} and {base64.b64encode(key.encode()).decode()}"
    openai_server.fault_of = lambda number: Fault(400, f"no {key}") if number % 4 == 3 else None
    store = ["--store", str(tmp_path / "s.db")]
    words = ["run", "sesi", "--model", f"openai/m@{openai_server.url}", "--limit", "9", *store]
    assert run_command([*words, "-o", "retries=0"]) == 4
    for to in ("rows.jsonl", "rows.csv", "rows.parquet", "run.sociometer"):
        assert run_command(["export", "last", "--to", str(tmp_path / to), *store]) == 0
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    contents = [path.read_bytes() for path in files]
    for path in filter(zipfile.is_zipfile, files):
        with zipfile.ZipFile(path) as archive:
            contents += map(archive.read, archive.namelist())
    assert any(b"[key]" in content for content in contents)
    for secret in (key.encode(), base64.b64encode(key.encode())):
        assert not any(secret in content for content in contents)
