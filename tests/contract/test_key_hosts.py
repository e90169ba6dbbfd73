"""A key goes only to the host it belongs to: the preset's, or one that the user named in the same command."""

import asyncio
import sqlite3

import msgspec
import pytest
from msgspec import structs

from servers import faults
from servers.anthropic import AnthropicServer
from servers.faults import Fault
from servers.openai import OpenAIServer
from sociometer.cli.main import run_command
from sociometer.core.config import Caps, RunConfig
from sociometer.core.conversation import Request, user
from sociometer.core.errors import UsageError
from sociometer.engine.engine import Engine
from sociometer.engine.roles import resolve_player
from sociometer.instruments import load
from sociometer.models.keys import KeyPolicy
from sociometer.store.records import Manifest
from sociometer.store.store import Store
from sociometer.store.texts import seal, unseal

SERVERS = {"openai": OpenAIServer, "anthropic": AnthropicServer}
OTHER_SECRET = "wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY"
HELLO = Request("s", (user("hi"),))


@pytest.fixture(params=SERVERS)
def server(request, key):
    with SERVERS[request.param]() as running:
        running.family = request.param
        yield running


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", OTHER_SECRET)
    return tmp_path / "store.db"


def engine(opened):
    return Engine(opened, lambda name: load(name))


def stopped(server, store, **changes):
    """A run at this server that a cap stopped, so that there is something to resume."""
    config = RunConfig(
        instrument="_template", subject=f"{server.family}/m", base_url=server.url, revision="1", in_flight=1,
        caps=Caps(max_requests=1), **changes,
    )  # fmt: skip
    with Store(store) as opened:
        run = engine(opened).run(config).run.id
    server.received.clear()
    return run


def tamper(store, **changes):
    """Rewrites the stored configuration, as whoever hands the store over could."""
    with sqlite3.connect(store) as connection:
        columns = "id, instrument, subject, config_hash, name, created, manifest"
        for *place, packed in connection.execute(f"SELECT {columns} FROM run").fetchall():
            manifest = msgspec.json.decode(unseal(packed, *place), type=Manifest)
            manifest = structs.replace(manifest, config=structs.replace(manifest.config, **changes))
            sealed = seal(msgspec.json.encode(manifest), *place)
            connection.execute("UPDATE run SET manifest = ? WHERE id = ?", (sealed, place[0]))
    connection.close()


def resume(store, run, **options):
    with Store(store) as opened:
        return engine(opened).resume(run, Caps(max_requests=100), **options)


def sent(server):
    """All header values that the server received."""
    return " ".join(value for one in server.received for value in one.headers.values())


def test_resume_does_not_send_a_variable_that_only_the_store_names(server, store, key):
    run = stopped(server, store)
    tamper(store, key_variable="AWS_SECRET_ACCESS_KEY")
    with pytest.raises(UsageError) as refused:
        resume(store, run)
    assert server.received == []
    assert server.url.split("/v1")[0] in str(refused.value), "the host is shown"
    assert "--key-variable AWS_SECRET_ACCESS_KEY" in str(refused.value), "and what to type"
    assert OTHER_SECRET not in str(refused.value)


def test_resume_does_not_send_a_named_variable_to_the_presets_host_either(server, store, key):
    run = stopped(server, store)
    tamper(store, key_variable="AWS_SECRET_ACCESS_KEY", base_url="")
    with pytest.raises(UsageError, match="--key-variable AWS_SECRET_ACCESS_KEY"):
        resume(store, run)


def test_resume_sends_no_key_to_a_host_that_only_the_store_names(server, store, key):
    run = stopped(server, store)
    played = resume(store, run)
    assert played.ending.status == "finished", "a server without a key is unaffected"
    assert server.received
    assert key not in sent(server)


def test_resume_sends_the_key_whose_variable_the_user_repeats(server, store, key):
    run = stopped(server, store, key_variable="AWS_SECRET_ACCESS_KEY")
    assert resume(store, run, key_variables={"subject": "AWS_SECRET_ACCESS_KEY"}).ending.status == "finished"
    assert OTHER_SECRET in sent(server)
    assert key not in sent(server)


def test_a_server_that_wants_the_key_on_resume_tells_what_to_type(server, store, key):
    run = stopped(server, store)
    server.fault_of = lambda number: faults.WRONG_KEY
    played = resume(store, run)
    assert played.ending.status == "failed"
    assert "--key-variable" in played.ending.reason
    assert "no key was sent" in played.ending.reason
    assert key not in sent(server)


def test_the_command_line_takes_the_variable_again(openai_server, store, monkeypatch, capsys):
    openai_server.family = "vllm"
    monkeypatch.setenv("SOCIOMETER_STORE", str(store))
    base = ["run", "sesi", "--model", f"vllm/m@{openai_server.url}#1", "-o", "in-flight=1"]
    asked = [*base, "--limit", "3", "--key-variable", "AWS_SECRET_ACCESS_KEY", "--max-requests", "1", "--quiet"]
    assert run_command(asked) == 3
    openai_server.received.clear()
    assert run_command(["resume", "last", "--max-requests", "9"]) == 2
    assert "--key-variable AWS_SECRET_ACCESS_KEY" in capsys.readouterr().err
    assert openai_server.received == []
    assert run_command(["resume", "last", "--max-requests", "9", "--key-variable", "AWS_SECRET_ACCESS_KEY"]) == 0
    assert OTHER_SECRET in sent(openai_server)


def ask(player):
    async def once():
        try:
            return await player.answer(HELLO)
        finally:
            await player.close()

    return asyncio.run(once())


def test_a_role_at_an_address_of_the_store_gets_a_key_only_by_its_name(server, key):
    config = RunConfig(instrument="sage", subject="baseline/random")
    spec = f"{server.family}/m@{server.url}"
    ask(resolve_player(spec, "judge", structs.replace(config, roles={"judge": spec})))
    assert key in sent(server), "named in this command"
    server.received.clear()
    again = {"subject": "AWS_SECRET_ACCESS_KEY"}
    ask(resolve_player(spec, "judge", config, keys=KeyPolicy.of_stored_run(config, again)))
    assert server.received
    assert key not in sent(server)
    variable = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
    ask(resolve_player(spec, "judge", config, keys=KeyPolicy.of_stored_run(config, {"judge": variable[server.family]})))
    assert key in sent(server)


def test_an_address_in_an_instruments_card_gets_no_key(server, key):
    config = RunConfig(instrument="sage", subject="baseline/random")
    ask(resolve_player(f"{server.family}/m@{server.url}", "judge", config))
    assert server.received
    assert key not in sent(server)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_carries_the_key_nowhere(server, key, status):
    with SERVERS[server.family]() as other:
        server.faults.append(Fault(status, headers={"Location": f"{other.url}/chat/completions"}))
        config = RunConfig(instrument="sage", subject=f"{server.family}/m", base_url=server.url)
        with pytest.raises(Exception, match="redirects to"):
            ask(resolve_player(config.subject, "subject", config))
        assert other.received == []
