"""The static scenarios played to the end: what is asked, how it is scored, what the summary says."""

import asyncio
import json

import pytest

from fake_runs import summarised_run
from rehearsal import Rehearsal
from sociometer.core.conversation import Identity, Reply
from sociometer.core.measure import Measure, Summary
from sociometer.core.player import RulePlayer
from sociometer.instruments import load
from sociometer.instruments.egosocial.scene import Scene, Telling, arranged
from sociometer.instruments.egosocial.tombench.first_person import shipped
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve

INSTRUMENT = load("egosocial")


class Subject(RulePlayer):
    """Answers each telling by its own letter, found by a word of its system message or story."""

    identity = Identity("test", "subject")

    def __init__(self, replies, default="A"):
        self.replies = replies
        self.default = default
        self.seen = []

    async def answer(self, request):
        self.seen.append(request)
        text = "\n".join(message.content for message in request.messages)
        return Reply(next((reply for word, reply in self.replies.items() if word in text), self.default))


def show(subject, settings=None, data=None):
    player = resolve(subject, ModelOptions()) if isinstance(subject, str) else subject
    return Rehearsal(INSTRUMENT, {"subject": player}, settings, data=data)


def pair(name="pair-1", cluster="story-1", **facets):
    return Scene(
        id=name,
        cluster=cluster,
        tellings=(
            Telling("third", "Uma left.", "Where will Uma look?", ("tin", "jar"), 1, official=0),
            Telling("first", "You left.", "Where will you look?", ("tin", "jar"), 1, official=0),
        ),
        facets={"order": "1", "story type": "true_belief", "cause": "agrees", **facets},
        ego="Uma",
    )


def test_each_person_is_asked_on_its_own_with_its_own_system_message():
    subject = Subject({"You left.": "B"})
    rehearsed = asyncio.run(show(subject).play("tomi", pair()))
    first, third = subject.seen[1].messages, subject.seen[0].messages
    assert [message.role for message in first] == ["system", "user"]
    assert "your own life" in first[0].content
    assert "your own life" not in third[0].content
    assert "Uma" not in first[1].content
    assert rehearsed.episode.score.values == {"third": 0.0, "third_official": 1.0, "first": 1.0, "first_official": 0.0}


@pytest.mark.parametrize(
    ("perspective", "asked"), [("third", ["third"]), ("first", ["first"]), ("both", ["third", "first"])]
)
def test_one_person_alone_can_be_asked(perspective, asked):
    episode = asyncio.run(show(Subject({}), {"perspective": perspective}).play("tomi", pair())).episode
    assert [pick.telling for pick in episode.outcome.picks] == asked


def test_an_unreadable_reply_is_wrong_and_counted():
    score = asyncio.run(show(Subject({}, "I would rather not say")).play("tomi", pair())).episode.score
    assert score.values["first"] == score.values["third"] == 0.0
    assert score.unreadable == 2


def test_unreadable_replies_are_counted_with_their_own_telling():
    summary = show(Subject({"You left.": "no idea"}, "B")).summarise("tomi", [pair()])
    assert summary.measure("first").unreadable == summary.measure("first_official").unreadable == 1
    assert summary.measure("first", order="1").unreadable == 1
    assert summary.measure("third").unreadable == 0


def test_the_key_never_reaches_the_subject():
    subject = Subject({})
    asyncio.run(show(subject).play("tomi", pair()))
    for request in subject.seen:
        assert request.answer_format.key == 1
        assert "key" not in "".join(message.content for message in request.messages)


def test_options_stand_in_an_order_that_follows_from_the_id_alone():
    assert arranged("abcd", "a", "a-pair") == arranged("abcd", "a", "a-pair")
    firsts = {arranged("abcd", "a", f"pair-{n}")[0][0] for n in range(40)}
    assert firsts == set("abcd")


def test_the_paired_contrast_is_worked_out_by_hand():
    """Ten stories: first person right in nine, third in four; never right in the third alone."""
    scenes = [pair(f"p{n}", f"s{n}") for n in range(10)]
    items = [
        Scene(
            id=scene.id,
            cluster=scene.cluster,
            tellings=tuple(
                Telling(t.name, f"{t.story} {t.name}{n}.", t.question, t.options, t.answer, t.official)
                for t in scene.tellings
            ),
            facets=scene.facets,
        )
        for n, scene in enumerate(scenes)
    ]
    right = {f"third{n}.": "B" for n in range(4)} | {f"first{n}.": "B" for n in range(9)}
    summary = show(Subject(right)).summarise("tomi", items)
    assert summary.measure("third").value == pytest.approx(0.4)
    assert summary.measure("first").value == pytest.approx(0.9)
    gain = summary.measure("gain")
    assert gain.value == pytest.approx(0.5)
    assert gain.interval.low < 0.5 < gain.interval.high
    # five discordant stories, all in one direction: 2 / 2^5
    assert gain.note.endswith("p = .062")
    (table,) = [table for table in summary.tables if table.name == "gain"]
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert row["p (McNemar)"] == pytest.approx(0.0625)
    assert summary.measure("gain", order="1").value == pytest.approx(0.5)


def test_official_and_corrected_key_are_both_reported(official):
    summary = show("baseline/oracle", data=official).summarise("tomi")
    assert summary.measure("first").value == summary.measure("third").value == 1.0
    assert summary.measure("first_official").value == pytest.approx(1 - 361 / 2664)
    assert "corrected key" in summary.notes[0]
    (key,) = [table for table in summary.tables if table.name == "key"]
    assert ("unseen-return", 103) in key.rows


def test_the_guesser_stands_at_chance_on_second_order_and_false_belief_items(official):
    guessed = show("baseline/random", data=official)
    summary = guessed.summarise("tomi", list(INSTRUMENT.task("tomi").items(guessed.source()))[::3])
    for group in ({"order": "2"}, {"belief": "misses reality"}):
        measure = summary.measure("first", **group)
        # Over 14 seeds and all items the mean is .496 and the scatter .013.
        assert abs(measure.value - 0.5) < measure.interval.high - measure.interval.low


def test_the_oracle_is_right_on_fresh_second_order_and_false_belief_items():
    summary = show("baseline/oracle", {"stories": 3}).summarise("generated")
    assert {m.value for m in summary.measures if m.name in ("first", "third")} == {1.0}
    assert {m.group["order"] for m in summary.measures if set(m.group) == {"order"}} == {"memory", "reality", *"1234"}


def test_tombench_plays_in_both_languages_by_ability(official):
    for language in ("en", "zh"):
        summary = show("baseline/oracle", {"language": language}, official).summarise("tombench")
        assert (
            summary.measure("first").items
            == summary.measure("third").items
            == len(shipped(language)) - (language == "en")
            > 400
        )
        assert summary.measure("first").value == 1
        assert 0.25 < summary.series["chance"]["third"] < 0.3


def test_all_of_tombench_is_played_in_the_third_person_alone(official):
    summary = show("baseline/oracle", {"perspective": "third"}, official).summarise("tombench")
    assert summary.measure("third").items == 2860
    assert summary.measure("third", ability="desire").items == 180
    assert summary.measure("first").items == 0


def test_an_invented_world_tells_home_answers_from_other_errors():
    scenes = list(INSTRUMENT.task("worlds").items(show("baseline/first").source()))
    replies = {}
    for number, scene in enumerate(scenes):
        telling = scene.tellings[0]
        place = telling.answer if number % 2 else telling.home
        replies[telling.story] = "ABCD"[place]
    summary = show(Subject(replies)).summarise("worlds", scenes)
    assert summary.measure("worlds").value == summary.measure("home").value == 0.5
    assert summary.measure("home_among_errors").value == 1.0


def test_the_gap_is_factual_minus_counterfactual():
    scenes = list(INSTRUMENT.task("counterfactual").items(show("baseline/first").source()))
    replies = {t.story + "\n\n" + t.question: "AB"[t.answer] for s in scenes for t in s.tellings[1:]}
    replies |= {s.tellings[0].story + "\n\n" + s.tellings[0].question: "AB"[s.tellings[0].home] for s in scenes}
    summary = show(Subject(replies)).summarise("counterfactual", scenes)
    assert summary.measure("factual").value == 1.0
    assert summary.measure("counterfactual").value == 0.0
    assert summary.measure("gap").value == 1.0


def test_paired_contrasts_of_our_own_items_are_drawn():
    runs = [
        summarised_run("r", task, "guesser", {}, show("baseline/random", {"stories": 2}).summarise(task))
        for task in ("generated", "counterfactual", "worlds")
    ]
    drawn = {figure.name: json.dumps(figure.chart) for figure in INSTRUMENT.figures(runs)}
    assert set(drawn) == {"generated-gain", "counterfactual-gap"}
    assert (
        '"order: 1"' in drawn["generated-gain"] and "First \\u2212 third person, in points" in drawn["generated-gain"]
    )
    assert all("' %'" not in chart for chart in drawn.values())


def references(figure):
    return {
        line["name"]: line["at"]
        for layer in figure.chart["layer"]
        for line in layer.get("data", {}).get("values", ())
        if "name" in line
    }


def test_the_chance_that_is_drawn_is_that_of_the_options_asked():
    summary = show("baseline/random", {"stories": 2}).summarise("generated")
    assert summary.series["chance"] == {"first": 0.5, "third": 0.5}
    runs = [
        summarised_run(
            name, "socialfirst", name, {}, Summary((Measure("first", 0.5),), series={"chance": {"first": chance}})
        )
        for name, chance in (("some", 0.25), ("all", 0.3))
    ]
    (alone,) = INSTRUMENT.figures(runs[:1])
    assert references(alone)["chance"] == 0.25
    (both,) = INSTRUMENT.figures(runs)
    assert (references(both)["chance (some)"], references(both)["chance (all)"]) == (0.25, 0.3)


@pytest.mark.parametrize(
    ("task", "measure", "group", "name", "o1", "people"),
    [
        ("holdem", "accuracy", {}, "holdem-accuracy", 0.72, 0.82),
        ("blackjack", "accuracy", {}, "blackjack-accuracy", 0.972, 0.97),
        ("numbers", "accuracy", {"opponent": "level-1"}, "numbers-accuracy-level-1", 0.9, 0.9),
        ("numbers", "accuracy", {"opponent": "level-3"}, "numbers-accuracy-level-3", 0.9, 0.73),
        ("socialfirst", "first", {"ability": "emotion"}, "socialfirst-first-emotion", 0.91, 0.92),
        ("newworld", "newworld", {}, "newworld-newworld", 0.867, 0.933),
    ],
)
def test_the_games_and_abilities_stand_beside_the_paper_too(task, measure, group, name, o1, people):
    summary = Summary((Measure(measure, 0.5, group),))
    figures = {figure.name: figure for figure in INSTRUMENT.figures([summarised_run("r", task, "mine", {}, summary)])}
    values = {dot["label"]: dot["value"] for dot in figures[name].chart["data"]["values"]}
    assert values["mine"] == 0.5
    assert len(values) == 10
    assert values["o1-preview"] == pytest.approx(o1)
    assert references(figures[name])["people (paper)"] == pytest.approx(people)


def test_beside_a_transcript_stand_the_options_with_pick_and_key():
    episode = asyncio.run(show(Subject({})).play("tomi", pair())).episode
    rows = INSTRUMENT.beside(episode.item, episode.outcome).table.rows
    assert ("third", "A", "tin", True, False) in rows
    assert ("first", "B", "jar", False, True) in rows
