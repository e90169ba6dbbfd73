import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociometer.core.conversation import Reply
from sociometer.core.tools import ToolCall
from sociometer.models import failures
from sociometer.models.failures import reply_without_key, shortened, without_key, without_passwords

SECRETS = [
    "sk-proj-abcdef1234567890",
    "Bearer abcdefghijkl",
    "AIzaSyA1234567890abcdefghijklmnopqrstu",
    "gsk_abcdefghijkl123456",
    "xai-0123456789abcdef",
    "api_key=hunter2hunter2",
    '"api_key": "hunter2hunter2"',
    "sk-ab****************cdef",
    "0123456789abcdef0123456789abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0",
    "glpat-abcdefGHIJ",
    "ghp_abcdefghijklmnop",
    "github_pat_abcdefghij",
    "xoxb-abcdefghijkl",
    "AKIAIOSFODNNEXAMPLE",
    "ASIAIOSFODNNEXAMPLE",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_what_looks_like_a_key_is_taken_out(secret):
    shown = failures.shortened(f"Incorrect key: {secret}. Try another.")
    assert secret not in shown
    assert "hunter2" not in shown
    assert "[key]" in shown
    assert shown.endswith("Try another.")


@given(st.text(min_size=8, max_size=40), st.text(), st.text())
def test_the_key_itself_is_never_shown(key, before, after):
    shown = failures.shortened(f"{before}{key}{after}", key)
    assert key not in shown or key in "[key]" * 9


def test_ordinary_words_stay():
    said = "The model's maximum context length is 8192 tokens; your request has 9031."
    assert failures.shortened(said) == said


def test_a_long_error_is_cut():
    assert len(failures.shortened("word " * 1000)) == 300


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": "plain"}', "plain"),
        (b'{"message": "at the top"}', "at the top"),
        (b'{"object": "error", "message": "vllm says"}', "vllm says"),
        (b'{"detail": "fastapi says"}', "fastapi says"),
        (b'{"detail": [{"loc": ["body"], "msg": "field required"}]}', "field required"),
        (b'[{"error": {"code": 400, "message": "google says", "status": "INVALID"}}]', "google says"),
        (b"upstream fell over", "upstream fell over"),
        (b"", "no explanation"),
        (b'"text"', "text"),
        (b"\xff\xfe", "400"),
    ],
)
def test_every_usual_shape_of_error_is_read(body, said):
    assert said in str(failures.refused("http://host", 400, {}, body))


def test_google_names_its_wait_in_the_details():
    body = b'{"error": {"details": [{"@type": "x"}, {"retryDelay": "17.5s"}]}}'
    assert failures.refused("http://host", 429, {}, body).retry_after_seconds == 17.5


@pytest.mark.parametrize(
    ("given", "seconds"), [("3", 3), ("0", 0), ("nonsense", None), ("-5", None), ("9999999", 9999999)]
)
def test_a_wait_is_read_as_it_is(given, seconds):
    assert failures.retry_after({"Retry-After": given}) == seconds


def test_a_date_that_has_passed_is_no_wait():
    assert failures.retry_after({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0


def test_a_redirect_names_its_target_and_is_not_followed():
    error = failures.refused("http://host", 302, {"Location": "https://login.example/?token=abcd1234"}, b"")
    assert error.fatal
    assert "login.example" in str(error)
    assert "abcd1234" not in str(error)


def test_an_unknown_address_without_v1_is_told_how_addresses_end():
    said = [str(failures.refused(f"http://host{path}", 404, {}, b"not here")) for path in ("", "/v1")]
    assert ["ends in /v1" in one for one in said] == [True, False]


KEY = "sk-proj-Zq8+R4/tWm2xVb7Lk0Jd9Hs3"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (f"Wrong key: {KEY}!", "Wrong key: [key]!"),
        (f"see {quote(KEY, safe='')} there", "see [key] there"),
        ("100% sure of sk-proj", "100% sure of sk-proj"),
        ("", ""),
    ],
)
def test_a_key_is_taken_out_of_a_servers_words(said, left):
    assert without_key(said, KEY) == left


@pytest.mark.parametrize("before", ["", "m", "me", "me:", "Bearer "])
def test_a_key_in_base64_is_taken_out(before):
    said = base64.b64encode((before + KEY).encode()).decode()
    assert "[key]" in without_key(said, KEY)
    assert said[4:-4] not in without_key(said, KEY)


def test_an_answer_changes_only_where_it_holds_the_key():
    said = Reply("I think B, xVb7Lk0Jd9.", "because", served_model="gpt-4o-2024")
    assert reply_without_key(said, KEY) is said
    cleaned = reply_without_key(Reply(f"It is {KEY}.", served_model=f"m-{KEY}"), KEY)
    assert (cleaned.text, cleaned.served_model) == ("It is [key].", "m-[key]")


@pytest.mark.parametrize("word", ["x", "none", "ollama", "EMPTY", "placeholder"])
def test_a_word_in_place_of_a_key_is_no_secret(word):
    said = Reply(f"The {word} is B.")
    assert reply_without_key(said, word) is said


def test_a_password_in_a_url_is_not_shown():
    assert without_passwords("cannot reach http://me:hunter2@proxy:3128 now") == "cannot reach http://proxy:3128 now"
    assert "hunter2" not in shortened("proxy https://me:hunter2@host/v1 refused")
    assert without_passwords("mail me@host") == "mail me@host"


@pytest.mark.parametrize(
    "shown", ["Zq3/very%2Blong%3Dkey1234567", "Zq3%2fvery%2blong%3dkey1234567", "Zq3/very+long=key1234567"]
)
def test_a_key_is_removed_however_a_url_quotes_it(shown):
    assert without_key(f"at {shown}!", "Zq3/very+long=key1234567") == "at [key]!"


def test_the_key_is_taken_out_of_calls_and_of_what_goes_back():
    key = "sk-5f1c0ffee5f1c0ffee"
    reply = Reply("", calls=(ToolCall("look_up", f'{{"record":"{key}"}}', key),), echo=f'["{key}"]')
    clean = reply_without_key(reply, key)
    assert key not in str(clean)
    assert clean.calls == (ToolCall("look_up", '{"record":"[key]"}', "[key]"),)
    assert reply_without_key(Reply("", calls=(ToolCall("a", "{}"),)), key) == Reply("", calls=(ToolCall("a", "{}"),))
