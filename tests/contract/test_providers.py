"""What every provider promises, whatever it speaks: one attempt, a well-described failure, no key anywhere."""

import asyncio

import pytest

from servers import faults
from servers.anthropic import AnthropicServer
from servers.openai import OpenAIServer
from sociometer.core.conversation import Request, Sampling, Schema, Usage, assistant, system, user
from sociometer.core.errors import MachineryError
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve

SERVERS = {"openai": OpenAIServer, "anthropic": AnthropicServer}
MOOD = Schema(
    {
        "type": "object",
        "properties": {"mood": {"enum": ["glad", "sad"]}},
        "required": ["mood"],
        "additionalProperties": False,
    },
    name="mood",
    key={"mood": "sad"},
)
ASKED = Request("subject", (system("Be brief."), user("Who is sad? A. Ada B. Ben"), assistant("B"), user("Sure?")))


@pytest.fixture(params=SERVERS)
def server(request, key):
    with SERVERS[request.param]() as running:
        running.family = request.param
        yield running


def ask(server, request=ASKED, *, timeout_seconds=10.0):
    async def once():
        player = resolve(f"{server.family}/m", ModelOptions(base_url=server.url, timeout_seconds=timeout_seconds))
        try:
            return await player.answer(request)
        finally:
            await player.close()

    return asyncio.run(once())


def failure(server, request=ASKED, **options):
    with pytest.raises(MachineryError) as caught:
        ask(server, request, **options)
    return caught.value


def test_a_good_answer_gives_text_usage_and_who_served(server):
    reply = ask(server)
    assert reply.text == "B"
    assert reply.usage == Usage(12, 3)
    assert reply.finish == "stop"
    assert reply.served_model.endswith("-served")
    assert len(server.received) == 1


def test_the_system_text_and_both_speakers_arrive(server):
    ask(server)
    sent = str(server.last.body)
    assert all(part in sent for part in ("Be brief.", "Ada", "Sure?"))
    assert sent.index("Ada") < sent.index("Sure?")


def test_the_key_travels_in_a_header_and_nowhere_else(server, key):
    ask(server)
    assert any(key in value for value in server.last.headers.values())
    assert key not in server.last.path
    player = resolve(f"{server.family}/m", ModelOptions(base_url=server.url))
    assert key not in repr(player) + repr(player.identity) + repr(vars(player))


def test_an_error_that_repeats_the_key_is_shown_without_it(server, key):
    server.faults.append(faults.WRONG_KEY)
    error = failure(server)
    assert error.kind == "authentication"
    assert error.fatal
    assert not error.retryable
    assert key not in str(error)
    assert key[:12] not in str(error)


@pytest.mark.parametrize(
    ("fault", "kind", "slow_down"),
    [
        (faults.RATE_LIMIT, "rate limit", True),
        (faults.SERVER_ERROR, "server error", False),
        (faults.BAD_GATEWAY, "server error", False),
        (faults.UNAVAILABLE, "overloaded", True),
        (faults.OVERLOADED, "overloaded", True),
        (faults.DROPPED, "connection", False),
        (faults.TRUNCATED, "malformed reply", False),
        (faults.MALFORMED, "malformed reply", False),
        (faults.WRONG_SHAPE, "malformed reply", False),
        (faults.NOT_UTF8, "malformed reply", False),
        (faults.NESTED, "malformed reply", False),
        (faults.NESTED_ERROR, "malformed reply", False),
        (faults.NOT_UTF8._replace(status=500), "server error", False),
        (faults.NESTED._replace(status=500), "server error", False),
        (faults.NESTED_ERROR._replace(status=500), "server error", False),
        (faults.error_inside(429), "rate limit", True),
        (faults.error_inside(503), "overloaded", True),
        (faults.error_inside(0, "RESOURCE_EXHAUSTED"), "rate limit", True),
        (faults.error_inside(0, "rate_limit_error"), "rate limit", True),
        (faults.error_inside(0, "overloaded_error"), "overloaded", True),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_passing_fault_is_worth_another_attempt(server, fault, kind, slow_down):
    server.faults.append(fault)
    error = failure(server)
    assert (error.kind, error.retryable, error.slow_down, error.fatal) == (kind, True, slow_down, False)
    assert len(server.received) == 1, "a player makes one attempt"
    assert ask(server).text == "B"


@pytest.mark.parametrize(
    ("fault", "kind", "fatal"),
    [
        (faults.HTML, "wrong server", True),
        (faults.UNKNOWN_MODEL, "not found", True),
        (faults.OUT_OF_CREDIT, "out of credit", True),
        (faults.TOO_LONG, "context too long", False),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_lasting_fault_is_not_tried_again(server, fault, kind, fatal):
    server.faults.append(fault)
    error = failure(server)
    assert (error.kind, error.retryable, error.fatal) == (kind, False, fatal)


@pytest.mark.parametrize(
    ("fault", "finish"),
    [(faults.EMPTY, "stop"), (faults.FILTERED, "content_filter"), (faults.CUT_OFF_THINKING, "length")],
    ids=["empty", "filtered", "cut off"],
)
def test_a_reply_without_words_is_a_reply(server, fault, finish):
    server.faults.append(fault)
    reply = ask(server)
    # Anthropic calls a withheld reply a refusal.
    allowed = {finish, "refusal"} if finish == "content_filter" else {finish}
    assert (reply.text, reply.finish in allowed) == ("", True)


def test_a_web_page_asks_for_the_right_base_url(server):
    server.faults.append(faults.HTML)
    assert "Check the base URL" in str(failure(server))


def test_retry_after_is_read_in_seconds_and_as_a_date(server):
    server.faults.extend([faults.wait(7), faults.wait_until(90), faults.RATE_LIMIT])
    assert failure(server).retry_after_seconds == 7
    assert 60 < failure(server).retry_after_seconds <= 90
    assert failure(server).retry_after_seconds is None


def test_an_error_inside_an_answer_of_status_200_says_how_long_to_wait(server):
    server.faults.append(faults.error_inside(429, delay="9.5s"))
    server.faults.append(faults.error_inside(429)._replace(headers={"Retry-After": "4"}))
    assert failure(server).retry_after_seconds == 9.5
    assert failure(server).retry_after_seconds == 4


@pytest.mark.parametrize(
    "absurd",
    [
        "Mon, 01 Jan 0001 00:00:00 -0000",
        "Fri, 31 Dec 9999 23:59:59 -2359",
        "Wed, 21 Oct 2026 07:28:00 +99999999999999999999",
        "Wed, 21 Oct 2026 07:28:00 +" + "9" * 300,
        "Wed, 21 Oct " + "9" * 300 + " 07:28:00 GMT",
        "soon",
    ],
)
def test_an_absurd_wait_is_a_number_or_ignored(server, absurd):
    server.faults.append(faults.RATE_LIMIT._replace(headers={"Retry-After": absurd}))
    error = failure(server)
    assert (error.kind, error.retryable) == ("rate limit", True)
    assert error.retry_after_seconds is None or error.retry_after_seconds >= 0


def test_a_tool_call_is_an_answer_without_text(server):
    server.faults.append(faults.TOOL_CALL)
    reply = ask(server)
    assert (reply.text, reply.finish) == ("", "tool_calls")
    assert reply.usage == Usage(12, 3)


def test_a_tool_that_was_not_offered_does_not_fill_a_schema(server):
    server.faults.append(faults.TOOL_CALL)
    server.say = lambda body: '{"mood": "glad"}'
    reply = ask(server, Request("judge", (user("How is Ben?"),), MOOD))
    assert (reply.text, reply.finish) == ("", "tool_calls")


def test_a_slow_reply_ends_at_the_deadline(server):
    server.faults.append(faults.slow(5))
    error = failure(server, timeout_seconds=0.2)
    assert (error.kind, error.retryable) == ("timeout", True)
    assert "0.2 s" in str(error)


def test_a_server_that_is_not_there_is_named(server):
    server.port, real = 1, server.port
    error = failure(server)
    server.port = real
    assert (error.kind, error.retryable) == ("unreachable", True)
    assert "127.0.0.1:1" in str(error)


@pytest.mark.parametrize("fault", [faults.NO_USAGE, faults.WRONG_USAGE], ids=["no usage", "wrong usage"])
def test_usage_that_cannot_be_read_is_unknown_and_costs_no_answer(server, fault):
    server.faults.append(fault)
    reply = ask(server)
    assert reply.text == "B"
    assert reply.usage == Usage(None, None)


def test_reasoning_is_kept_apart(server):
    server.reasoning = "Ben frowns."
    reply = ask(server)
    assert (reply.text, reply.reasoning) == ("B", "Ben frowns.")


def test_a_schema_is_sent_and_its_key_is_not(server):
    server.say = lambda body: '{"mood": "glad"}'
    request = Request("judge", (user("How is Ben?"),), MOOD)
    assert '"glad"' in ask(server, request).text
    sent = str(server.last.body)
    assert "'enum': ['glad', 'sad']" in sent
    assert "key" not in sent


def test_sampling_reaches_the_server_only_where_set(server):
    plain = len(str(server.last.body)) if server.received else 0
    ask(server)
    bare = set(flat(server.last.body))
    drawn = Sampling(temperature=0.5, top_p=0.9, max_tokens=77, stop=("END",))
    ask(server, Request("subject", (user("Hi"),), sampling=drawn))
    full = flat(server.last.body)
    assert {0.5, 0.9, 77, "END"} <= set(full.values())
    assert not {"temperature", "topP", "top_p", "seed", "stop"} & bare
    assert plain == 0


def test_an_option_that_the_server_refuses_is_named(server):
    server.faults.append(faults.refuse("temperature"))
    error = failure(server, Request("subject", (user("Hi"),), sampling=Sampling(temperature=0.5)))
    assert (error.kind, error.fatal) == ("refused option", True)
    assert "'temperature'" in str(error)


def test_many_requests_share_one_session_and_all_are_answered(server):
    server.say = lambda body: str(body)[-400:]

    async def many():
        player = resolve(f"{server.family}/m", ModelOptions(base_url=server.url))
        try:
            requests = [Request("subject", (user(f"number {n};"),)) for n in range(60)]
            return await asyncio.gather(*(player.answer(request) for request in requests))
        finally:
            await player.close()

    replies = asyncio.run(many())
    assert all(f"number {n};" in reply.text for n, reply in enumerate(replies))


def test_identity_is_uncertain_at_a_users_own_server_until_a_revision_is_given(server):
    own = resolve(f"{server.family}/m", ModelOptions(base_url=server.url)).identity
    pinned = resolve(f"{server.family}/m", ModelOptions(base_url=server.url, revision="v2")).identity
    hosted = resolve(f"{server.family}/m").identity
    assert (own.certain, pinned.certain, hosted.certain) == (False, True, True)
    assert own.base_url == server.url


def test_texts_get_vectors_in_their_order(key):
    async def embedded(url):
        player = resolve("openai/m", ModelOptions(base_url=url))
        try:
            return await player.embed(["a", "bbb", "cc"] * 100)
        finally:
            await player.close()

    with OpenAIServer() as server:
        vectors = asyncio.run(embedded(server.url))
        assert [vector[0] for vector in vectors] == [1.0, 3.0, 2.0] * 100


def flat(value, name=""):
    """Every leaf of a JSON value by its own name."""
    if isinstance(value, dict):
        return {leaf: found for key, part in value.items() for leaf, found in flat(part, key).items()}
    if isinstance(value, list):
        return {f"{name}": part for part in value if not isinstance(part, dict | list)}
    return {name: value}
