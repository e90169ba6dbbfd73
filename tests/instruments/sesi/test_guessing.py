"""Readers who see only the options: a model of their words, and rules that follow one cue."""

import random

import pytest

from rehearsal import Rehearsal
from sociometer.cli.main import run_command
from sociometer.instruments import load
from sociometer.instruments.sesi import guessing, items
from sociometer.instruments.sesi.build.assembly import official_csv
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve
from sociometer.reading import read_items

BUNDLED = list(read_items(items.BUNDLED, items.Question))
WORDS = ("harbour", "lamp", "ladder", "clock", "orchard", "letter", "ferry", "bakery", "copper", "sparrow", "meadow")


def drawn(count, telltale="", seed=1):
    """Items of random words; the right option contains the telltale word, if there is one."""
    rng = random.Random(seed)
    made = []
    for number in range(count):
        answer = rng.randrange(4)
        texts = [" ".join(rng.choices(WORDS, k=8)) for _ in range(4)]
        texts[answer] += f" {telltale}" if telltale else ""
        made.append(
            items.Question(
                id=f"drawn-{number}", ability="empathy", situation=f"Somebody waits, {number}.", question="Why?",
                options=tuple(texts), answer=answer,
            )
        )  # fmt: skip
    return made


def test_the_model_finds_a_word_that_gives_the_answer_away_and_nothing_in_random_options():
    assert sum(guessing.cross_validated(drawn(80, "indeed"))) / 80 > 0.95
    assert 0.1 < sum(guessing.cross_validated(drawn(80))) / 80 < 0.4


def test_the_model_never_sees_the_item_that_it_answers():
    """Random labels cannot be learnt; a model that had seen them would know them all."""
    earned = [sum(guessing.cross_validated(drawn(60, seed=seed))) / 60 for seed in range(4)]
    assert sum(earned) / 4 < 0.35


def test_the_order_of_the_items_has_no_effect_on_the_model():
    found = drawn(50, "indeed")
    forwards = dict(zip([item.id for item in found], guessing.cross_validated(found), strict=True))
    backwards = dict(zip([item.id for item in found[::-1]], guessing.cross_validated(found[::-1]), strict=True))
    assert forwards == backwards


@pytest.mark.parametrize(
    ("rule", "picks"),
    [
        ("the longest option", 0),
        ("the shortest option", 3),
        ("the most specific option", 1),
        ("the politest option", 2),
    ],
)
def test_each_rule_follows_its_cue(rule, picks):
    options = (
        "Wait until the whole thing has blown over and everybody has forgotten it",
        "Ring Amara at nine on Tuesday",
        "Thank them kindly, please, and listen",
        "Say no",
    )
    values = guessing.RULES[rule](options)
    assert values.index(max(values)) == picks


def test_equal_options_share_a_rules_pick():
    same = [items.Question(**{**_fields(item), "options": ("a", "b", "c", "d")}) for item in BUNDLED[:20]]
    assert guessing.rule_accuracy("the longest option", same) == pytest.approx(0.25)


def _fields(item):
    return {name: getattr(item, name) for name in item.__struct_fields__}


def test_no_reader_without_the_situation_is_eight_points_above_chance_on_the_bundled_items():
    for guess in guessing.guesses(BUNDLED):
        assert guess.accuracy <= 0.25 + guessing.MARGIN, guess


def test_the_stored_shares_are_those_of_the_bundled_items():
    shares = guessing.cross_validated(BUNDLED)
    assert guessing.options_only(BUNDLED) == pytest.approx(sum(shares) / len(shares), abs=0.002)
    assert all(guessing.fingerprint(item) in guessing._guessed() for item in BUNDLED)


def test_the_stored_shares_know_every_official_item(official_data):
    found = list(items.read_official(official_data / "sesi" / "sesi.csv"))
    assert guessing.options_only(found) == pytest.approx(0.62, abs=0.02)


def test_a_changed_option_has_no_stored_share():
    item = BUNDLED[0]
    changed = items.Question(**{**_fields(item), "options": ("other", *item.options[1:])})
    assert guessing.options_only([item]) is not None
    assert guessing.options_only([changed]) is None


@pytest.mark.parametrize(("telltale", "code"), [("indeed", 1), ("", 0)])
def test_lint_fails_on_a_set_that_can_be_guessed_from_its_options(tmp_path, monkeypatch, capsys, telltale, code):
    (tmp_path / "sesi.csv").write_text(official_csv(drawn(80, telltale)), encoding="utf-8")
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    assert run_command(["sesi", "lint", "--data", str(tmp_path)]) == code
    said = capsys.readouterr().out
    assert ("guessable: a classifier of the options' words earns" in said) == bool(code)


def test_few_items_do_not_fail_by_luck():
    """Four of ten by chance is no finding."""
    lucky = [item for item in BUNDLED if len(max(item.options, key=len)) == len(item.options[item.answer])][:4]
    others = [item for item in BUNDLED if item not in lucky and item.options[item.answer] == min(item.options, key=len)]
    longest = next(g for g in guessing.guesses([*lucky, *others[:6]]) if g.reader == "the longest option")
    assert longest.accuracy == pytest.approx(0.4) and not longest.too_good


def test_every_score_shows_the_options_only_baseline_next_to_chance():
    show = Rehearsal(load("sesi"), {"subject": resolve("baseline/first", ModelOptions())}, {})
    summary = show.summarise("questions", BUNDLED[:10])
    assert summary.notes[0].startswith("Options only: a classifier that sees only the options gets ")
    assert "(a random option: 25 %)" in summary.notes[0]
    assert 0 <= summary.series["options only"] <= 1
