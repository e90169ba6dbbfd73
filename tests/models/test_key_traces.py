import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociometer.core.conversation import Reply, TokenLogprob
from sociometer.models.failures import shortened, without_passwords
from sociometer.models.key_traces import reply_without_key, without_key

KEY = "sk-proj-Zq8+R4/tWm2xVb7Lk0Jd9Hs3"


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (f"Wrong key: {KEY}!", "Wrong key: [key]!"),
        ("ends in V b 7 L k 0 J d 9 now", "ends in [key] now"),
        ("begins sk-proj-Zq8…", "begins [key]…"),
        ("sk-proj is how it begins", "sk-proj is how it begins"),
        ("xVb7Lk0", "xVb7Lk0"),
        ("see %73%6B%2D%70%72%6F%6A%2D%5A there", "see %[key] there"),
        ("a s%6B-proj-%5Aq8%2BR4 b", "a [key] b"),
        ("100% sure", "100% sure"),
        ("", ""),
    ],
)
def test_pieces_of_eight_characters_are_taken_out_of_a_servers_words(said, left):
    assert without_key(said, KEY) == left


@given(st.integers(0, len(KEY)), st.integers(0, len(KEY)), st.sampled_from(["", " ", "\n", "-", ".", "\u200b", " - "]))
def test_any_stretch_of_the_key_is_found_with_anything_between(start, end, between):
    piece = KEY[start:end]
    long_enough = sum(letter.isalnum() for letter in piece) >= 8
    assert ("[key]" in without_key(f"== {between.join(piece)} ==", KEY)) == long_enough


def test_an_answer_changes_only_where_it_holds_the_key():
    said = Reply("I think B, xVb7Lk0Jd9.", "because", served_model="gpt-4o-2024")
    assert reply_without_key(said, KEY) is said
    repeated = Reply(f"It is {KEY}.", f"Hm, {' '.join(KEY)}?", served_model=f"m-{KEY[:10]}")
    cleaned = reply_without_key(repeated, KEY)
    assert (cleaned.text, cleaned.reasoning, cleaned.served_model) == ("It is [key].", "Hm, [key]?", "m-[key]")


def test_log_probabilities_are_dropped_where_their_tokens_spell_the_key():
    tokens = tuple(TokenLogprob(KEY[at : at + 3], -0.1) for at in range(0, len(KEY), 3))
    assert reply_without_key(Reply("B", logprobs=tokens), KEY).logprobs == ()
    rivals = (TokenLogprob("B", -0.1, ((KEY, -1.0),)),)
    assert reply_without_key(Reply("B", logprobs=rivals), KEY).logprobs == ()
    kept = Reply("B", logprobs=(TokenLogprob("B", -0.1, (("A", -1.0),)),))
    assert reply_without_key(kept, KEY) is kept


@pytest.mark.parametrize("word", ["x", "none", "ollama", "EMPTY", "placeholder"])
def test_a_word_in_place_of_a_key_is_no_secret(word):
    said = Reply(f"The {word} is B.")
    assert reply_without_key(said, word) is said


@pytest.mark.parametrize("filler", ["a", "%", "%73", "a%73", "sk-proj", "%7", "0" * 50 + "%73"])
def test_a_long_text_is_read_in_reasonable_time(filler):
    began = time.perf_counter()
    reply_without_key(Reply(filler * (400_000 // len(filler))), KEY)
    without_key(filler * (10_000 // len(filler)), KEY)
    assert time.perf_counter() - began < 5


def test_a_password_in_a_url_is_not_shown():
    assert without_passwords("cannot reach http://me:hunter2@proxy:3128 now") == "cannot reach http://proxy:3128 now"
    assert "hunter2" not in shortened("proxy https://me:hunter2@host/v1 refused")
    assert without_passwords("mail me@host") == "mail me@host"
