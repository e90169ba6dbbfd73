import asyncio
import json

import msgspec
import pytest

from fake_runs import summarised_run
from sociometer.core.task import Episode, Failure, RunView
from sociometer.instruments.sage.analyses import relationship, stability
from sociometer.instruments.sage.dialogue import Dialogue, Judgement, StoredDialogue, Turn
from sociometer.instruments.sage.items import bundled

from ..people import Chair, InTurn, Person, Says, emotion_json  # noqa: TID252

SCENARIOS = list(bundled("en"))


def stored(scenario, *changes, reply="I hear you.", subject="model", run="r1"):
    level, turns = 40, []
    for number, change in enumerate(changes):
        after = min(100, level + change)
        judgement = Judgement("s", "p", f"thought {number}", "feeling", change, level, after)
        turns.append(Turn(f"{reply} {number}", judgement, None, f"words {number}"))
        level = after
    turns.append(Turn("the last reply"))
    dialogue = Dialogue(scenario.first_words, 40, tuple(turns), "turns", "someone")
    return StoredDialogue(
        id=scenario.id, cluster=scenario.cluster, run=run, subject=subject, scenario=scenario, dialogue=dialogue
    )


def play(show, task, item, repeat=0):
    return asyncio.run(show.play(task, item, repeat)).episode


class Judge(Chair):
    """Gives fixed answers by what is asked for."""

    def __init__(self, **answers):
        super().__init__("judge")
        self._answers = answers

    def say(self, request):
        return json.dumps(self._answers[request.answer_format.name])


def test_relationship_by_hand(rehearse):
    # dimension one: 6, 6 and a reversed 1 are all full marks; the others in the middle or at the foot
    ratings = [6, 6, 1, 1, 1, 6, 3, 4, 4, 6, 1, 6]
    judge = Judge(relationship={"ratings": ratings}, utterances={"flow": 1, "attentiveness": 6, "depth": 3})
    episode = play(rehearse(judge=judge), "relationship", stored(SCENARIOS[0], 5, -3))
    values = episode.score.values
    assert values["understanding"] == 100
    assert values["regard"] == 0
    assert values["congruence"] == pytest.approx(100 * (2 + 3 + 2) / 15)
    assert values["unconditionality"] == pytest.approx(100 * (5 + 0 + 0) / 15)
    assert values["relationship"] == pytest.approx((100 + 0 + 100 * 7 / 15 + 100 / 3) / 4)
    assert (values["flow"], values["attentiveness"], values["depth"]) == (1, 5, pytest.approx(1 + 4 * 2 / 5))
    assert values["emotion"] == 42
    assert len(episode.outcome.inventories) == len(episode.outcome.qualities) == 3


def test_the_inventory_is_judged_from_thoughts_alone(rehearse):
    judge = Judge(relationship={"ratings": [3] * 12}, utterances={"flow": 3, "attentiveness": 3, "depth": 3})
    play(rehearse(judge=judge), "relationship", stored(SCENARIOS[0], 5))
    inventory, talk = dict.fromkeys(request.messages[0].content for request in judge.asked)
    assert "thought 0" in inventory and "I hear you." not in inventory and "words 0" not in inventory
    assert "I hear you." in talk and "thought 0" not in talk


@pytest.mark.parametrize("ratings", [[7] * 12, [0] * 12, [3] * 11, [3] * 13, ["3 or 4"] * 12])
def test_a_rating_off_the_scale_is_unreadable(rehearse, ratings):
    judge = Judge(relationship={"ratings": ratings}, utterances={"flow": 3, "attentiveness": 3, "depth": 3})
    episode = play(rehearse(judge=judge), "relationship", stored(SCENARIOS[0], 5))
    assert episode.failure.kind == "unreadable judge"


def test_all_scales_are_symmetric():
    low = relationship.Inventory((1, 1, 6) * 4)
    high = relationship.Inventory((6, 6, 1) * 4)
    assert set(relationship.dimension_scores(low).values()) == {0}
    assert set(relationship.dimension_scores(high).values()) == {100}


def test_strategies_are_labelled_reply_by_reply(rehearse):
    judge = InTurn(*(json.dumps({"strategies": codes}) for codes in (["B-1", "F-2"], ["B-1", "F-2"], ["B-1", "F-4"])))
    item = stored(SCENARIOS[0], 6, -4)
    show = rehearse(judge=judge)
    episode = play(show, "strategies", item)
    assert episode.outcome.replies == (("B-1", "F-2"), ("B-1", "F-2"), ("B-1", "F-4"))
    assert episode.score.values["repetition"] == pytest.approx(0.75)
    run = RunView(lambda: iter([episode]), show.settings)
    summary = show.instrument.task("strategies").summarise(run)
    assert summary.measure("share", strategy="B-1").value == 1
    assert summary.measure("share", strategy="F-2").value == pytest.approx(2 / 3)
    assert summary.measure("effectiveness", strategy="F-2").value == pytest.approx((6 - 4) / 2)
    assert summary.measure("effectiveness", strategy="F-4").value is None, "the last reply was never judged"
    assert any("not below" in note for note in summary.notes)


def test_the_repetition_rate_is_the_mean_over_dialogues(rehearse, sage):
    # dialogue one repeats at 3/4, dialogue two never, dialogue three has a single reply and says nothing
    said = ((["B-1", "F-2"], ["B-1", "F-2"], ["B-1", "F-4"]), (["A-1"], ["D-2"]), (["A-1"],))
    items = [stored(SCENARIOS[0], 1, 1), stored(SCENARIOS[1], 1), stored(SCENARIOS[2])]
    show = rehearse(judge=InTurn(*(json.dumps({"strategies": codes}) for codes in sum(said, ()))))
    summary = show.summarise("strategies", items)
    assert summary.measure("repetition").value == pytest.approx((0.75 + 0) / 2)
    assert summary.measure("repetition").items == 2
    assert any("is below" in note for note in summary.notes)


def test_an_unknown_strategy_is_unreadable(rehearse):
    episode = play(rehearse(judge=Says('{"strategies": ["Z-9"]}')), "strategies", stored(SCENARIOS[0], 1))
    assert episode.failure.kind == "unreadable judge" and "Z-9" in episode.failure.message


def test_an_unknown_strategy_does_not_discard_the_others(rehearse):
    judge = Says('{"strategies": ["Z-9", "d2 (asks)"]}')
    episode = play(rehearse(judge=judge), "strategies", stored(SCENARIOS[0], 1))
    assert set(episode.outcome.replies) == {("D-2",)}
    assert len(judge.asked) == len(episode.outcome.replies)


def test_coordinate_has_a_mean_and_a_spread(rehearse):
    show = rehearse(judge=InTurn(*(json.dumps({"reason": "r", "solution": s, "creative": 0}) for s in (-4, 6))))
    episodes = [play(show, "coordinate", stored(scenario, 1)) for scenario in SCENARIOS[:2]]
    summary = show.instrument.task("coordinate").summarise(RunView(lambda: iter(episodes), show.settings))
    assert summary.measure("solution").value == 1
    assert summary.measure("solution-spread").value == 5


def test_stability_is_the_share_of_the_commonest_direction(rehearse):
    [context, *_] = stability.contexts(stored(SCENARIOS[0], 5))
    simulator = InTurn(*(emotion_json(change) for change in (3, 5, 1, 2, 10, 4, 8, 0, -1, 6)))
    episode = play(rehearse(simulator=simulator), "stability", context)
    assert episode.outcome.changes == (3, 5, 1, 2, 10, 4, 8, 0, -1, 6)
    assert episode.score.values["stability"] == episode.score.values["agrees"] == 0.8
    assert all(request.sampling.temperature == 0.5 for request in simulator.asked)
    assert len({request.messages for request in simulator.asked}) == 1, "ten draws of one and the same request"


def test_a_failed_context_is_counted_in_its_half_of_the_dialogue(rehearse):
    first, second, third = stability.contexts(stored(SCENARIOS[0], 5, -3, 2))
    show = rehearse(simulator=Says(emotion_json(3)))
    episodes = [play(show, "stability", first)]
    episodes += [Episode(one, 0, None, None, Failure("timeout", "no answer")) for one in (second, third)]
    summary = show.instrument.task("stability").summarise(RunView(lambda: iter(episodes), show.settings))
    former, latter = (summary.measure("stability", half=half) for half in ("former", "latter"))
    assert (former.value, former.errors, latter.value, latter.errors) == (1.0, 0, None, 2)


def test_contexts_hold_what_was_said_before_the_judgement():
    first, second, third = stability.contexts(stored(SCENARIOS[0], 5, -3, 2))
    assert first.talk == (("person", SCENARIOS[0].first_words), ("subject", "I hear you. 0"))
    assert second.talk[-2:] == (("person", "words 0"), ("subject", "I hear you. 1"))
    assert [context.latter for context in (first, second, third)] == [False, True, True]
    assert second.judgement.before == 45


def test_rejudging_keeps_the_words_and_changes_the_feelings(rehearse):
    item = stored(SCENARIOS[0], 5, -3)
    outcome = play(rehearse(simulator=Person(-2, -2, name="stern")), "rejudge", item).outcome
    assert outcome.trajectory == (40, 38, 36)
    assert [turn.reply for turn in outcome.turns] == [turn.reply for turn in item.dialogue.turns]
    assert outcome.simulator == "stern"
    assert outcome.turns[-1].judgement is None


def test_every_analysis_has_its_figures(rehearse, sage):
    from sociometer.instruments.sage.figures import figures

    items = [stored(scenario, 5, -3) for scenario in SCENARIOS[:3]]
    judge = Judge(
        relationship={"ratings": [4] * 12},
        utterances={"flow": 4, "attentiveness": 4, "depth": 4},
        strategies={"strategies": ["B-3", "F-5"]},
        coordinate={"reason": "r", "solution": 1, "creative": -1},
    )
    show = rehearse({"turns": 3}, judge=judge, subject=Says("on"), simulator=Person(1))
    given = {
        "relationship": items,
        "strategies": items,
        "coordinate": items,
        "rejudge": items,
        "stability": [context for item in items for context in stability.contexts(item)],
    }
    names = set()
    for task, of_task in given.items():
        runs = [summarised_run(f"r{n}", task, f"m{n}", {}, show.summarise(task, of_task)) for n in range(3)]
        drawn = figures(runs)
        assert drawn, task
        names |= {figure.name for figure in drawn}
        json.dumps([figure.chart for figure in drawn])
    assert {"repetition", "effectiveness", "coordinate", "stability", "relationship-emotion", "talk"} <= names


def test_what_two_subjects_said_does_not_keep_their_analyses_from_being_compared():
    one, two = stored(SCENARIOS[0], 5, subject="a", run="r1"), stored(SCENARIOS[0], -5, subject="b", run="r2")
    assert one != two and one.compared() == two.compared()
    assert one.compared() != stored(SCENARIOS[1], 5).compared()
    other = msgspec.structs.replace(one, dialogue=msgspec.structs.replace(one.dialogue, simulator="another"))
    assert one.compared() != other.compared()
