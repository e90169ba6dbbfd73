"""The gate of the rule-based person: whoever listens scores above whoever only tries to please it.

All play the same scenarios. The listeners had not seen the rules, and were recorded again after remarks of earlier
listeners had changed the person's words (see listeners/README.md). Every dialogue is cut after the same number of
replies.
"""

import io
import shutil
from functools import cache
from statistics import fmean

import pytest

from rehearsal import Rehearsal
from sociometer.instruments import load
from sociometer.instruments.sage.items import bundled

from .adversaries import ADVERSARIES
from .record_listener import main as record
from .recorded_listeners import FOLDER, LISTENERS, REPLIES, Recorded, recordings

PLAYED = {
    "en": ("strike-vote", "bedtime-story", "left-out", "phone-call", "interpreter", "two-families", "choir", "tree"),
    "zh": ("bedtime-story", "house", "choir", "empty-room"),
}


def scenarios(language):
    wanted = {f"{language}-{name}" for name in PLAYED[language]}
    return [scenario for scenario in bundled(language) if scenario.id in wanted]


@cache
def dialogues(kind, name, language):
    """What a listener or an adversary makes of the scenarios, by scenario."""
    sage = load("sage")
    players = {"subject": kind(name), "simulator": sage.players["appraisal"]()}
    rehearsal = Rehearsal(sage, players, {"turns": REPLIES, "judge-last": True})
    return {each.item.id: each.outcome for each in rehearsal.play_all("dialogue", scenarios(language)).episodes()}


def finals(kind, name, language):
    return [dialogue.final for dialogue in dialogues(kind, name, language).values()]


def both_sides(language):
    """The final emotions in the scenarios, by listener and by adversary."""
    honest = {who: finals(Recorded, who, language) for who in LISTENERS}
    return honest, {kind.__name__: finals(kind, kind.__name__, language) for kind in ADVERSARIES}


def table(language):
    """The means of all, best first, with the final emotion in each scenario."""
    honest, pleasing = both_sides(language)
    rows = sorted((honest | pleasing).items(), key=lambda row: -fmean(row[1]))
    return "\n".join(f"{who:18} {fmean(felt):5.1f}  {' '.join(f'{each:3}' for each in felt)}" for who, felt in rows)


def test_three_listeners_were_recorded_on_every_scenario():
    played = {scenario.id for language in PLAYED for scenario in scenarios(language)}
    assert len(played) == 12
    assert len(LISTENERS) == 3
    assert {who: set(Recorded(who).said) for who in LISTENERS} == dict.fromkeys(LISTENERS, played)


@pytest.mark.parametrize("language", PLAYED)
@pytest.mark.parametrize("listener", LISTENERS)
def test_the_person_says_what_it_said_to_a_listener(listener, language):
    for scenario, dialogue in dialogues(Recorded, listener, language).items():
        recorded = Recorded(listener).said[scenario]
        said = [dialogue.opening, *(turn.words for turn in dialogue.turns if turn.words)]
        again = f"record {listener} again on {scenario}"
        assert said == recorded[::2][: len(said)], f"the person's words changed; {again}"
        assert len(dialogue.turns) <= len(recorded[1::2]), f"the recording has fewer than {REPLIES} replies; {again}"


@pytest.mark.parametrize("language", PLAYED)
def test_every_listener_scores_above_every_adversary(language):
    honest, pleasing = both_sides(language)
    least = min(fmean(felt) for felt in honest.values())
    most = max(fmean(felt) for felt in pleasing.values())
    assert least > most, f"mean final emotion in {language}, then each scenario:\n{table(language)}"


def test_a_listener_is_recorded_again_in_place_of_the_earlier_dialogue(tmp_path, monkeypatch):
    path, before = tmp_path / "anna.jsonl", Recorded("anna").said
    shutil.copy(FOLDER / "anna.jsonl", path)
    monkeypatch.setattr("sys.stdin", io.StringIO("Hm.\n" * REPLIES))
    record(path, "en-choir")
    after = recordings(path)
    assert {name for name in before if before[name] != after[name]} == {"en-choir"}
    assert after["en-choir"][:2] == [before["en-choir"][0], "Hm."]
