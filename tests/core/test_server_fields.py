import msgspec
import pytest

from sociometer.core.conversation import Request, Sampling, Schema, system, user
from sociometer.core.errors import UsageError
from sociometer.core.server_fields import NONE, server_fields
from sociometer.models.anthropic import messages_body
from sociometer.models.openai import chat_body, text_body
from sociometer.models.presets import presets

EVERYTHING = Sampling(0.5, 0.9, 7, 3, ("END",), "low")


def refusal(name, value="x"):
    with pytest.raises(UsageError) as caught:
        server_fields({name: value})["subject"].check()
    return str(caught.value)


def test_fields_are_sorted_by_role_and_part():
    found = server_fields({"body.top_k": 20, "header.X-Team": "a", "query.v": "1", "judge.body.top_k": 1})
    assert found["subject"].body == {"top_k": 20}
    assert found["subject"].headers == {"x-team": "a"}
    assert found["subject"].query == {"v": "1"}
    assert found["judge"].body == {"top_k": 1}
    for fields in found.values():
        fields.check()


def test_every_field_that_sociometer_sends_is_refused():
    messages = (system("s"), user("u"))
    request = Request("s", messages, Schema("answer", {"type": "object"}), sampling=EVERYTHING)
    bodies = [chat_body("m", request, preset) for preset in presets().values()]
    bodies += [
        messages_body("m", request),
        messages_body("m", Request("s", messages, sampling=Sampling(reasoning_effort="9"))),
    ]
    bodies.append(text_body("m", request))
    for name in {name for body in bodies for name in body}:
        assert refusal(f"body.{name}")


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("temperature", "-o temperature"),
        ("top_p", "-o top-p"),
        ("seed", "-o sampling-seed"),
        ("stop_sequences", "-o stop"),
        ("max_tokens", "-o reply-tokens"),
        ("max_completion_tokens", "-o reply-tokens"),
        ("max_new_tokens", "-o reply-tokens"),
        ("num_predict", "-o reply-tokens"),
        ("thinking_token_budget", "-o reply-tokens"),
        ("logprobs", "log-probabilities are not read"),
        ("thinking", "-o reasoning-effort"),
        ("model", "--model"),
    ],
)
def test_a_refusal_names_the_option(name, option):
    assert option in refusal(f"body.{name}", 5)


@pytest.mark.parametrize("name", ["messages", "stream", "n", "best_of", "tools", "models", "fallbacks", "api_key"])
def test_what_would_break_caps_and_readers_is_refused(name):
    assert f"{name}" in refusal(f"body.{name}")


def test_a_limit_inside_another_field_is_refused():
    assert "-o reply-tokens" in refusal("body.reasoning", {"deep": [{"max_tokens": 9}]})


@pytest.mark.parametrize(
    "name",
    ["Authorization", "Host", "Cookie", "Content-Length", "X-Api-Key", "X-Auth-Token", "api-key", "Ocp-Apim-Key"],
)
def test_headers_of_ours_and_keys_are_refused(name):
    assert "--key-variable" in refusal(f"header.{name}")


@pytest.mark.parametrize(("name", "value"), [("a b", "x"), ("x-a", "one\r\nHost: two"), ("x-ä", "x"), ("x-a", "ä")])
def test_what_is_no_header_is_refused(name, value):
    assert "not a header" in refusal(f"header.{name}", value)


@pytest.mark.parametrize("name", ["api_key", "access_token", "sig", "password"])
def test_keys_in_a_query_are_refused(name):
    assert "looks like a key" in refusal(f"query.{name}")


@pytest.mark.parametrize(
    "name", ["top_k", "min_p", "chat_template_kwargs", "provider", "skip_special_tokens", "reasoning", "guided_choice"]
)
def test_what_servers_offer_besides_is_accepted(name):
    server_fields({f"body.{name}": {"enable_thinking": False}})["subject"].check()


def test_values_of_headers_are_neither_stored_nor_published():
    fields = server_fields({"header.X-Team": "blue team", "body.a": 1})["subject"]
    for kept in (fields.stored, fields.published, fields.stored.stored):
        assert "blue" not in msgspec.json.encode(kept).decode()
    assert fields.stored.stored == fields.stored
    assert fields.published.header_digests == {"x-team": ""}
    assert fields.digest == fields.stored.digest
    assert fields.digest != server_fields({"header.X-Team": "red", "body.a": 1})["subject"].digest
    assert NONE.digest == ""
