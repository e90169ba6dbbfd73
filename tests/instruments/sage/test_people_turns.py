"""Which turns of people's talks a simulator is asked about, and with which other reply."""

import random

import msgspec

from sociometer.instruments.sage.passport.people import TalkOf, drawn, people_probes
from sociometer.instruments.sage.passport.talks import PersonTalk, PersonTurn


def told(person, number, kind="bread", turns=3, store="a"):
    said = tuple(
        PersonTurn(f"Reply {person}.{number}.{turn}", 1 + (person + turn) % 5, f"Words {turn}") for turn in range(turns)
    )
    talk = PersonTalk(f"Matter of {kind}", f"Opening {person}.{number}", None, said, report="stars", kind=kind)
    return TalkOf(f"{store}-{person}", f"run-{store}-{person}/{number}", "people", talk)


def talks(store="a", people=12):
    return [
        told(person, number, kind, store=store)
        for person in range(people)
        for number, kind in enumerate(("bread", "cake"))
    ]


def test_whole_talks_are_drawn_one_of_each_person_before_a_second():
    chosen = drawn(talks(), 40, seed=0)
    assert sum(len(each.talk.reports) for each in chosen) == 42
    assert len({each.person for each in chosen[:12]}) == 12 and len(chosen) == 14
    assert len(drawn(talks(), 10_000, seed=0)) == 24


def test_the_draw_is_the_same_in_every_store():
    """Runs and people have other ids in each store."""
    elsewhere = talks(store="b")
    random.Random(3).shuffle(elsewhere)
    here = people_probes("s", talks(), 30, 5, seed=1)
    there = people_probes("s", elsewhere, 30, 5, seed=1)
    assert [(each.asks, each.talk) for each in here if each.asks != "words"] == [
        (each.asks, each.talk) for each in there if each.asks != "words"
    ]
    assert [each.talk for each in here] != [each.talk for each in people_probes("s", talks(), 30, 5, seed=2)]


def test_another_reply_is_of_another_person_to_the_same_kind_at_the_same_turn():
    probes = people_probes("s", talks(), 10_000, 0, seed=0)
    reports = {each.turn_id: each for each in probes if each.asks == "report"}
    others = [each for each in probes if each.asks == "other"]
    assert len(others) == len(reports) == 72
    for other in others:
        probe = reports[other.turn_id]
        person, number, turn = other.reply.removeprefix("Reply ").split(".")
        assert probe.talk[:-1] == other.talk[:-1] and probe.state.earlier == other.state.earlier
        assert f"a-{person}" != probe.cluster and int(turn) + 1 == probe.turn
        assert (number == "0") == (probe.kind == "bread")
        assert other.other_of.startswith("run-a-"), "a withdrawal of that person finds it"


def test_a_simulator_sees_no_report_of_the_turn_or_before():
    for probe in people_probes("s", talks(), 10_000, 0, seed=0):
        assert len(probe.earlier) == probe.turn - 1
        assert all(words.startswith(("Reply", "Opening", "Words")) for _, words in probe.talk)


def test_the_end_is_asked_where_both_intensities_are_known():
    known = [
        msgspec.structs.replace(
            each, talk=msgspec.structs.replace(each.talk, intensity_before=4, intensity_after=2 if place else None)
        )
        for place, each in enumerate(talks()[:4])
    ]
    ends = [each for each in people_probes("s", known, 10_000, 0, seed=0) if each.asks == "intensity"]
    assert len(ends) == 3 and all(each.scale == (1, 5) and len(each.talk) == 7 for each in ends)
