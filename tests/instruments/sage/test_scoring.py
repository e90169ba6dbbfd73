from itertools import pairwise

import pytest

from sociometer.core.errors import FailureKind, MachineryError
from sociometer.instruments.sage.dialogue import Dialogue, Judgement, Turn
from sociometer.instruments.sage.items import bundled
from sociometer.instruments.sage.scoring import score

from .people import Chair, Person, Says, emotion_json, reply_json


def dialogue(*after, tokens=10, ending="turns"):
    levels = [40, *after]
    turns = tuple(
        Turn("four", Judgement("", "", "", "", b - a, a, b), None, "words", tokens=tokens) for a, b in pairwise(levels)
    )
    return Dialogue("hello", 40, turns, ending)


def test_final_emotion_success_and_failure(care_home):
    assert score(care_home, dialogue(50, 45)).values["emotion"] == 45
    assert score(care_home, dialogue(95, 100)).values["success"] == 1
    assert score(care_home, dialogue(20, 9)).values["failure"] == 1
    assert score(care_home, dialogue(20, 10)).values["failure"] == 0


def test_efficiency_is_points_gained_per_thousand_tokens(care_home):
    values = score(care_home, dialogue(50, 60)).values
    assert values["tokens"] == 20
    assert values["efficiency"] == pytest.approx(1000 * 20 / 20)
    assert values["characters"] == 8


def test_without_a_token_count_there_is_no_efficiency(care_home):
    values = score(care_home, dialogue(50, tokens=None)).values
    assert "tokens" not in values and "efficiency" not in values


class Breaks(Chair):
    """Breaks on the scenario with these first words."""

    def __init__(self, first_words):
        super().__init__("breaks")
        self._first_words = first_words

    def say(self, request):
        if request.messages[1].content == self._first_words:
            raise MachineryError("no answer", FailureKind.TIMEOUT)
        return "I see."


def test_dialogues_without_an_outcome_bound_the_score_and_do_not_help_it(rehearse):
    scenarios = list(bundled("en"))[:4]
    simulator = Person(-10)
    whole = rehearse(subject=Says("x"), simulator=simulator).summarise("dialogue", scenarios)
    assert whole.measure("sentient").cases == () and not any("failed" in note for note in whole.notes)
    failing = rehearse(subject=Says("x"), simulator=Says("unreadable")).summarise("dialogue", scenarios)
    assert failing.measure("sentient").value is None
    assert failing.measure("sentient").errors == 4


def test_bounds_by_hand(rehearse):
    one, two = list(bundled("en"))[:2]
    summary = rehearse(subject=Breaks(two.first_words), simulator=Person(0)).summarise("dialogue", [one, two])
    assert (summary.measure("sentient").value, summary.measure("sentient").errors) == (40, 1)
    assert [case.value for case in summary.measure("sentient").cases] == [(40 + 0) / 2, (40 + 100) / 2]


def test_scores_are_grouped_by_hidden_intention(rehearse):
    summary = rehearse(subject=Says("x"), simulator=Person(0)).summarise("dialogue")
    groups = [m.group["intention"] for m in summary.measures if m.name == "sentient" and "intention" in m.group]
    assert len(groups) == 8
    assert all(measure.value == 40 for measure in summary.measures if measure.name == "sentient")
    assert len(summary.series["dialogues"]) == 24


def test_unreadable_says_that_it_counts_turns_and_in_how_many_dialogues(rehearse):
    scenarios = list(bundled("en"))[:3]
    summary = rehearse(subject=Says(""), simulator=Person(-10)).summarise("dialogue", scenarios)
    turns = summary.measure("sentient").unreadable
    assert turns > 3
    assert any(f"counts turns: {turns} of the subject's replies, in 3 dialogues" in note for note in summary.notes)
    spoken = rehearse(subject=Says("I see."), simulator=Person(-10)).summarise("dialogue", scenarios)
    assert not any("counts turns" in note for note in spoken.notes)


def test_efficiency_states_its_unit(rehearse):
    summary = rehearse(subject=Says("I see."), simulator=Person(5)).summarise("dialogue", list(bundled("en"))[:2])
    found = summary.measure("efficiency")
    assert found is None or "per 1,000 tokens" in found.note


class Wavers(Chair):
    """Feels better after the first talk about a scenario and worse after the second, except in the care home."""

    def say(self, request):
        if request.view.hop == "reply":
            return reply_json("And then she left.")
        name = request.view.scenario.id
        again = sum(one.view.scenario.id == name and one.view.hop == "emotion" for one in self.asked) > 1
        return emotion_json(-5 if again and name != "en-care-home" else 5)


def test_repeats_that_end_on_different_sides_of_the_first_feeling_are_shown_beside_the_score(care_home, rehearse):
    items = [care_home, next(each for each in bundled("en") if each.id != care_home.id)]
    show = rehearse({"turns": 2}, subject=Says("I see."), simulator=Wavers("wavers"))
    found = show.summarise("dialogue", items, repeats=2).measure("fragile")
    assert (found.value, found.items) == (0.5, 2)
    assert show.summarise("dialogue", items).find("fragile") is None
