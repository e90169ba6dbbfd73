import asyncio
import gc

import pytest
from yarl import URL

from servers import faults
from servers.anthropic import AnthropicServer
from servers.faults import Fault
from servers.openai import OpenAIServer
from sociometer.core.conversation import Request, user
from sociometer.core.errors import MachineryError
from sociometer.models import http
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve

HELLO = Request("s", (user("hi"),))


def player(server, timeout_seconds=10.0):
    return resolve("vllm/m", ModelOptions(base_url=server.url, timeout_seconds=timeout_seconds))


def failure(server):
    async def once():
        asked = player(server)
        try:
            with pytest.raises(MachineryError) as caught:
                await asked.answer(HELLO)
            return caught.value
        finally:
            await asked.close()

    return asyncio.run(once())


def test_players_of_one_loop_share_a_session_that_closes_with_the_last(openai_server):
    async def two():
        first, second = player(openai_server), player(openai_server)
        await first.answer(HELLO)
        await second.answer(HELLO)
        loop = asyncio.get_running_loop()
        session = http._SHARED[loop].session
        await first.close()
        assert not session.closed
        await second.answer(HELLO)
        await second.close()
        assert session.closed
        assert loop not in http._SHARED
        await second.answer(HELLO)
        await second.close()

    asyncio.run(two())
    gc.collect(1)


def test_a_player_may_be_used_in_one_loop_after_another(openai_server):
    asked = player(openai_server)

    async def once():
        reply = await asked.answer(HELLO)
        await asked.close()
        return reply.text

    assert [asyncio.run(once()) for _ in range(2)] == ["B", "B"]


def test_closing_what_was_never_used_is_no_trouble(openai_server):
    asyncio.run(player(openai_server).close())


def test_a_redirect_is_not_followed(openai_server, monkeypatch):
    monkeypatch.setenv("VLLM_API_KEY", "a-key-that-stays-here")
    openai_server.faults.append(Fault(307, headers={"Location": f"{openai_server.url}/elsewhere"}))
    error = failure(openai_server)
    assert error.kind == "wrong server"
    assert len(openai_server.received) == 1


@pytest.mark.parametrize(
    ("fault", "key", "said"),
    [
        (Fault(401, "wrong key"), "a-key-that-is-wrong", "Check the key in VLLM_API_KEY and its permissions."),
        (Fault(401, "who are you?"), "", "No key was sent: VLLM_API_KEY is empty."),
        (Fault(402, "no money"), "", "Add credit to the account of this key."),
        (Fault(413, "too much"), "", "Use a model or a server with a longer context."),
        (Fault(raw=b""), "", "sent nothing."),
    ],
)
def test_a_failure_says_what_to_do_or_what_came(openai_server, monkeypatch, fault, key, said):
    monkeypatch.setenv("VLLM_API_KEY", key)
    openai_server.faults.append(fault)
    assert str(failure(openai_server)).endswith(said)


def test_a_reply_without_end_is_broken_off(openai_server, monkeypatch):
    monkeypatch.setattr(http, "_LARGEST_REPLY", 1 << 20)
    openai_server.say = lambda body: "word " * (1 << 20)
    assert "more than 1 MB" in str(failure(openai_server))


def test_a_long_reply_arrives_whole(openai_server):
    openai_server.say = lambda body: "错 word " * 50_000

    async def once():
        asked = player(openai_server)
        try:
            return await asked.answer(HELLO)
        finally:
            await asked.close()

    assert asyncio.run(once()).text == "错 word " * 50_000


def test_a_cancelled_request_stays_cancelled(openai_server):
    openai_server.faults.append(faults.slow(5))

    async def once():
        asked = player(openai_server)
        try:
            waiting = asyncio.create_task(asked.answer(HELLO))
            while not openai_server.received:  # noqa: ASYNC110 - another thread fills it
                await asyncio.sleep(0.005)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert (await asked.answer(HELLO)).text == "B"
        finally:
            await asked.close()

    asyncio.run(once())


def test_the_environment_names_the_proxy(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    assert http.proxy_for(URL("https://api.openai.com/v1")) == "http://proxy.example:3128"
    assert http.proxy_for(URL("http://localhost:8000/v1")) is None
    monkeypatch.setenv("no_proxy", "api.openai.com")
    assert http.proxy_for(URL("https://api.openai.com/v1")) is None


@pytest.mark.parametrize("kind", ["closed port", "refuses"])
def test_the_password_of_a_proxy_is_not_shown(openai_server, monkeypatch, kind):
    port = 1 if kind == "closed port" else openai_server.port
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", f"http://me:hunter2@127.0.0.1:{port}")

    class Elsewhere:
        url = "https://api.example.test/v1"

    assert "hunter2" not in str(failure(Elsewhere))


def test_a_server_without_tls_behind_https_ends_all_attempts(openai_server):
    class Secure:
        url = openai_server.url.replace("http:", "https:")

    error = failure(Secure)
    assert (error.kind, error.fatal, error.retryable) == ("connection", True, False)
    assert "https" in str(error)


BODY = b'{"choices": [{"message": {"content": "B"}, "finish_reason": "stop"}]}'
HEAD = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(BODY)}\r\n\r\n".encode()


def said_by(sent):
    """What a player gives that gets these bytes, or its error."""

    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(sent)
        writer.close()

    async def asked():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        one = resolve("vllm/m", ModelOptions(base_url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"))
        try:
            return (await one.answer(HELLO)).text
        except MachineryError as error:
            return str(error)
        finally:
            await one.close()
            server.close()

    return asyncio.run(asked())


@pytest.mark.parametrize("interim", [3, 100_000])
def test_a_server_may_send_a_few_interim_responses_and_not_an_endless_row(interim):
    said = said_by(b"HTTP/1.1 100 Continue\r\n\r\n" * interim + HEAD + BODY)
    assert said == "B" if interim == 3 else "more than 16 interim responses" in said


def test_a_connection_that_ends_within_a_reply_is_told_in_words():
    assert said_by(HEAD + BODY[:-9]).endswith("closed the connection before its reply ended.")


@pytest.mark.parametrize("spec", ["vllm/m", "anthropic/m"])
def test_a_model_that_the_server_does_not_know_is_told_with_those_it_has(spec):
    class Lister(OpenAIServer if spec == "vllm/m" else AnthropicServer):
        def good(self, path, body, fault):
            return {"data": [{"id": "qwen3-8b"}, {"id": "llama-3"}]}

    async def once(server):
        async with resolve(spec, ModelOptions(base_url=server.url)) as asked:
            with pytest.raises(MachineryError) as caught:
                await asked.answer(HELLO)
        return str(caught.value)

    missing = Fault(status=404, message="there is no model m")
    with Lister() as server:
        server.faults.append(missing)
        said = asyncio.run(once(server))
        assert "This server has: qwen3-8b, llama-3." in said and "no model m. Check the model's name" in said
        assert server.last.path == "/v1/models"
        server.faults.extend([missing, missing])
        assert "This server has" not in asyncio.run(once(server))
        assert len(server.received) == 4
