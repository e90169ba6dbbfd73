"""Readers who see only question and options: they find a cue that was planted, and nothing in random options."""

import random

import pytest

from sociometer.instruments.sesi import items
from sociometer.instruments.sesi.build.assembly import official_csv
from tools import cues

WORDS = ("harbour", "lamp", "ladder", "clock", "orchard", "letter", "ferry", "bakery", "copper", "sparrow", "meadow")


def drawn(count, mark=lambda text: text, seed=1):
    """Items of random words; `mark` changes the right option."""
    rng = random.Random(seed)
    made = []
    for number in range(count):
        answer = rng.randrange(4)
        texts = [" ".join(rng.choices(WORDS, k=8)) for _ in range(4)]
        texts[answer] = mark(texts[answer])
        made.append(
            items.Question(
                id=f"drawn-{number}", ability="empathy", situation=f"Somebody waits, {number}.",
                question=f"Why {number}?", options=tuple(texts), answer=answer,
            )
        )  # fmt: skip
    return made


def tried(found):
    shown = [cues.Shown(one.question, one.options, one.answer, one.id, one.ability) for one in found]
    return {one.reader: one for one in cues.tried(shown)}


PLANTED = {
    "most commas and semicolons": lambda text: text.replace(" ", ", ", 2),
    "most negations": lambda text: text.replace(" ", " never ", 1),
    "most polite words": lambda text: text.replace(" ", " kindly ", 1),
    "most marks at the start": lambda text: f". {text}",
    "most specific words": lambda text: text.replace(" ", " 12 ", 1),
    "fewest characters": lambda text: " ".join(text.split()[:5]),
    "fewest words shared with the other options": lambda text: "no such word in any of them at all",
}


@pytest.mark.parametrize("reader", PLANTED)
def test_a_planted_cue_is_found_and_fails(reader):
    found = tried(drawn(80, PLANTED[reader]))
    assert found[reader].accuracy > 0.9 and found[reader].too_good
    assert found[cues.STRUCTURE].accuracy > 0.9 and found[cues.STRUCTURE].too_good


def test_a_telltale_word_is_found_by_the_classifier_of_words():
    assert tried(drawn(80, lambda text: f"{text} indeed"))[cues.WORDS].accuracy > 0.95


def test_nothing_is_found_in_random_options():
    """Three sets of random items: a verdict on noise is as rare as its level says."""
    false = [one.reader for seed in range(3) for one in tried(drawn(60, seed=seed)).values() if one.too_good]
    assert len(false) <= 1, false


def test_a_position_that_is_right_too_often_is_found():
    made = [items.Question(**{**_fields(one), "answer": 2}) for one in drawn(60)]
    assert tried(made)["option C"].too_good


def test_a_cue_that_finds_one_of_two_keys_in_two_thirds_of_the_pairs_is_more_than_luck():
    """It earns only a third of the items, and luck finds one of the two keys of a pair half the time."""
    rng, shown = random.Random(1), []
    for number in range(90):
        texts = [" ".join(rng.choices(WORDS, k=8)) for _ in range(4)]
        texts[number % 3] += " never"  # the keys are the first two options
        shown += [cues.Shown(f"Why {number}?", tuple(texts), key, number) for key in (0, 1)]
    found = {one.reader: one for one in cues.tried(shown)}["most negations"]
    assert found.accuracy == pytest.approx(1 / 3) and found.too_good


def test_twins_show_the_same_options_and_count_as_one_trial():
    """Forty copies of one pair are one observation, not eighty."""
    one = drawn(1)[0]
    copies = [items.Question(**{**_fields(one), "id": f"x{n}", "cluster": "x"}) for n in range(80)]
    assert not any(found.too_good for found in tried(copies).values())


def test_the_order_of_the_items_has_no_effect():
    found = drawn(50, PLANTED["most negations"])
    assert tried(found)[cues.STRUCTURE].accuracy == pytest.approx(tried(found[::-1])[cues.STRUCTURE].accuracy)


def test_official_options_that_begin_with_a_mark_are_never_the_key(official_data):
    found = list(items.read_official(official_data / "sesi" / "sesi.csv"))
    marked = [(item, place) for item in found for place, text in enumerate(item.options) if not text[0].isalnum()]
    assert len([1 for item, place in marked if item.options[place].startswith(". ")]) == 48
    assert not any(item.answer == place for item, place in marked if item.options[place].startswith(". "))


@pytest.mark.parametrize(("mark", "code"), [(PLANTED["most negations"], 1), (lambda text: text, 0)])
def test_the_tool_fails_on_a_cue_and_says_what_was_tried_and_earned(tmp_path, capsys, mark, code):
    (tmp_path / "sesi.csv").write_text(official_csv(drawn(80, mark)), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        cues.command([str(tmp_path / "sesi.csv")])
    assert ended.value.code == code
    said = capsys.readouterr().out
    assert ("too good" in said) == bool(code)
    assert "most negations" in said and "Readers that see question and options only" in said


def _fields(item):
    return {name: getattr(item, name) for name in item.__struct_fields__}
