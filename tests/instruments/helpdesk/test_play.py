"""Assistants by rule under pressure: what they do is read from the ledger, what they say by a reader without calls."""

import json

import pytest

import assistants
import sociometer as sm
from sociometer.core.conversation import Exchange
from sociometer.core.errors import UsageError
from sociometer.instruments.helpdesk.items import drawn
from sociometer.instruments.helpdesk.play import Ledger, is_done

TALKS = 24


def played(tmp_path, policy, *, judge=True, talks=TALKS, **options):
    """A run of an assistant that is told of its tools."""
    roles = {"judge": assistants.reader} if judge else {}
    settings = {"talks": talks, **options.pop("settings", {})}
    return sm.run(
        "helpdesk", assistants.told(policy), roles=roles, settings=settings, store=tmp_path / "s.db", **options
    )


def values(run, *names, **group):
    summary = run.summary("cases")
    found = [summary.find(name, **group) for name in names]
    return tuple(None if one is None else one.value for one in found)


@pytest.mark.parametrize(
    ("policy", "deeds", "words", "right"),
    [
        (assistants.stubborn, 0.0, 0.0, 0.5),
        (assistants.yielding, 0.0, 0.0, 0.5),
        (assistants.late, 0.0, 0.0, 0.5),
        (assistants.discerning, 1.0, 1.0, 1.0),
    ],
)
def test_only_who_looks_it_up_discerns(tmp_path, policy, deeds, words, right):
    run = played(tmp_path, policy)
    assert values(run, "discernment", "discernment-of-words", "right") == (deeds, words, right)
    assert values(run, "all-right") == (float(right == 1),)
    assert values(run, "looked") == (float(policy is assistants.discerning),)
    assert run.summary("cases").measure("discernment").items == TALKS // 2


def test_who_says_no_and_does_yes_is_found(tmp_path):
    run = played(tmp_path, assistants.two_faced)
    assert values(run, "did", "agreed", "no-but-did", "yes-but-did-not") == (1.0, 0.0, 1.0, 0.0)


def test_who_says_yes_and_does_no_is_found(tmp_path):
    run = played(tmp_path, assistants.all_talk)
    assert values(run, "did", "agreed", "no-but-did", "yes-but-did-not") == (0.0, 1.0, 0.0, 1.0)


def test_who_takes_it_back_has_not_done_it_and_is_told_apart(tmp_path):
    assert values(played(tmp_path, assistants.rueful), "did", "undid", "discernment") == (0.0, 1.0, 0.0)


def test_a_secret_that_is_spelled_is_passed_on_without_a_reader(tmp_path):
    run = played(tmp_path, assistants.leaking, judge=False)
    assert values(run, "leaked") == (1.0,)
    assert values(run, "discernment-of-words") == (None,)
    by_kind = {one.item.kind: one.score.values["did"] for one in run.episodes("cases")}
    assert by_kind == {"ledger": 0.0, "secret": 1.0}


def test_tools_that_do_not_exist_are_answered_counted_and_end_the_talk(tmp_path):
    run = played(tmp_path, assistants.lost, talks=4)
    assert values(run, "bad-calls", "ended", "did", "discernment") == (5.0, 1.0, 0.0, 0.0)
    (first, *_) = run.episodes("cases")
    assert first.outcome.bad == {"unknown tool": 5}
    assert first.failure is None


def test_the_reader_sees_no_call_and_no_ledger(tmp_path):
    run = played(tmp_path, assistants.discerning, talks=2)
    for episode in run.episodes("cases"):
        events = [one for one in run.transcript(episode.item.id, "cases") if isinstance(one, Exchange)]
        (read,) = [one.messages[0].content for one in events if one.role == "judge"]
        assert "look_up" not in read
        assert episode.item.results["look"].split("\n")[-1] not in read
        pressed = [one.messages[0].content for one in events if one.role == "person"]
        assert pressed
        assert not any("look_up" in one or "→" in one for one in pressed)


def test_the_person_presses_by_rule_until_it_is_done_and_then_thanks(tmp_path):
    def said(policy):
        (episode, *_) = played(tmp_path, policy, talks=2, judge=False).episodes("cases")
        return episode.item, [words for who, words in episode.outcome.talk if who == "person"]

    item, heard = said(assistants.stubborn)
    assert heard == [item.opening, *item.presses]
    item, heard = said(assistants.yielding)
    assert heard == [item.opening, item.thanks]
    item, heard = said(assistants.late)
    assert heard == [item.opening, *item.presses[:2], *((item.thanks,) if len(item.presses) > 2 else ())]


def test_a_model_or_a_function_may_play_the_person(tmp_path):
    asked = []

    def person(messages):
        asked.append(messages[-1]["content"])
        return json.dumps({"words": "Thank you." if "it was done" in asked[-1] else "But I want it."})

    run = played(tmp_path, assistants.yielding, talks=2, judge=False)
    other = sm.run(
        "helpdesk", assistants.told(assistants.stubborn), roles={"person": person},
        settings={"talks": 2}, store=tmp_path / "s.db",
    )  # fmt: skip
    first = next(iter(other.episodes("cases")))
    said = [words for who, words in first.outcome.talk if who == "person"]
    assert said[1:] == ["But I want it."] * len(first.item.presses)
    assert all("Offer no new fact" in one for one in asked)
    assert "not a model" in " ".join(run.summary("cases").notes)
    assert "not a model" not in " ".join(other.summary("cases").notes)


def test_the_same_in_chinese_and_in_all_languages(tmp_path):
    run = played(tmp_path, assistants.discerning, judge=False, settings={"language": "all"})
    assert {episode.item.language for episode in run.episodes("cases")} == {"en", "zh"}
    assert values(run, "discernment") == (1.0,)


def test_pairs_are_drawn_whole(tmp_path):
    run = played(tmp_path, assistants.stubborn, judge=False, limit=3)
    clusters = [episode.item.cluster for episode in run.episodes("cases")]
    assert len(clusters) == 6
    assert len(set(clusters)) == 3


def test_there_are_no_official_items(tmp_path):
    with pytest.raises(UsageError, match="made from a seed"):
        played(tmp_path, assistants.stubborn, official=True)


def test_the_ledger_is_a_pure_function_of_its_calls():
    item = drawn(0, 0, "en")
    look, act, undo = (tool.name for tool in item.tools)
    ledger, right = Ledger(item), {"record": f" {item.record.lower()} "}
    assert ledger.run(undo, right) == item.results["nothing"]
    assert ledger.run(act, {"record": "Z0000"}) == "There is no record Z0000."
    assert ledger.run(look, right) == item.results["look"]
    assert ledger.run(act, right) == item.results["act"]
    assert ledger.run(act, right) == item.results["again"]
    assert is_done(ledger.trace)
    assert ledger.run(undo, right) == item.results["undo"]
    assert not is_done(ledger.trace)
    assert ledger.trace == ["look", "act", "undo"]
    assert ledger.run(look, {"record": "{record}" * 99})[:40] == "There is no record {record}{record}{reco"
