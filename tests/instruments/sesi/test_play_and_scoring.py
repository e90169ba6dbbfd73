"""A question is asked as the paper asks it, in one or several orders, and scored by exact match."""

import asyncio

import pytest
from msgspec import structs

from rehearsal import Rehearsal
from sociometer.core.config import RunConfig
from sociometer.core.errors import UsageError
from sociometer.core.reply_summary import summarised
from sociometer.instruments import load
from sociometer.instruments.sesi import items, scoring
from sociometer.instruments.sesi.conditions import NOISE, conditions
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve
from sociometer.models.scripted import Scripted
from sociometer.reading import read_items
from sociometer.store.stored_run import score_safely

SECOND = "4 questions were asked a second time, because the first reply had no answer; 4 of the second replies had one."
FOUND = list(read_items(items.BUNDLED, items.Question))


def rehearse(subject, **settings):
    player = resolve(subject, ModelOptions()) if isinstance(subject, str) else subject
    return Rehearsal(load("sesi"), {"subject": player}, settings)


def asked(show, item):
    return next(e for e in asyncio.run(show.play("questions", item)).events if hasattr(e, "messages"))


def test_the_control_shows_instruction_situation_question_and_lettered_options():
    text = asked(rehearse("baseline/first"), FOUND[0]).messages[-1].content
    places = [text.index(part) for part in (FOUND[0].situation, FOUND[0].question, *FOUND[0].options)]
    assert places == sorted(places)
    assert "A" in text


@pytest.mark.parametrize("name", [name for name, entry in conditions().items() if entry.prompt])
def test_every_condition_has_words_that_stand_before_the_control_prompt(name):
    control = asked(rehearse("baseline/first"), FOUND[0]).messages[-1].content
    text = asked(rehearse("baseline/first", condition=name), FOUND[0]).messages[-1].content
    assert text.endswith(control)
    assert len(text) > len(control) + 10
    assert "{" not in text


def test_an_unknown_condition_is_refused_with_the_nearest():
    with pytest.raises(UsageError, match="did you mean 'boredom'"):
        rehearse("baseline/first", condition="bordom").play_all("questions", FOUND[:1])


def test_a_free_reply_is_read_into_a_letter():
    item = FOUND[0]
    letter = "ABCD"[item.answer]
    show = rehearse(Scripted([f"Well, considering all of it, the best comment is {letter}."]))
    score = asyncio.run(show.play("questions", item)).episode.score
    assert score.values == {"correct": 1.0}
    assert score.facets["ability"] == item.ability


def test_an_unreadable_reply_is_wrong_and_counted():
    summary = rehearse(Scripted(["Hard to say."] * 20)).summarise("questions", FOUND[:10])
    measure = summary.measure("accuracy")
    assert (measure.value, measure.unreadable, measure.items) == (0.0, 10, 10)


def test_what_the_second_question_brings_is_counted_and_the_score_without_it_is_told():
    letters = ["ABCD"[item.answer] for item in FOUND[:10]]
    replies = [reply for at, letter in enumerate(letters) for reply in (["Hm.", letter] if at < 4 else [letter])]
    summary = with_second(replies)
    assert summary.measure("accuracy").value == 1
    assert "First replies without an answer: 4 unreadable; all of them count in the score." in summary.notes
    assert f"{SECOND} Without the second question: accuracy 60 % instead of 100 %." in summary.notes


def with_second(replies):
    show = rehearse(Scripted(replies))
    task, view = show.instrument.task("questions"), show.play_all("questions", FOUND[:10])
    return summarised(task, view)


def test_with_several_orders_the_majority_counts_and_a_position_bias_earns_chance():
    show = rehearse("baseline/first", orders=4)
    run = show.play_all("questions", FOUND[:20])
    for _, answer, score in run.scored():
        assert len(answer.votes) == 4
        assert sorted(vote.picked for vote in answer.votes) == [0, 1, 2, 3]
        assert answer.tied, "each option once is a tie, which is no answer"
        assert (score.values["correct"], score.unreadable) == (0.0, 0), "every reply was read"


@pytest.mark.parametrize(("orders", "chance"), [(1, 1 / 4), (2, 1 / 16), (3, 10 / 64), (4, 49 / 256)])
def test_chance_is_that_of_a_majority_over_the_orders(orders, chance):
    """Three orders: 1 of 64 all right, 9 two right; four: 1 all, 12 three, 36 two against two different ones."""
    assert scoring.majority_chance(orders) == pytest.approx(chance)


def test_several_orders_give_majority_single_orders_and_consistency():
    summary = rehearse("baseline/first", orders=4).summarise("questions", FOUND[:20])
    assert summary.measure("accuracy").value == 0
    assert summary.measure("single").value == pytest.approx(0.25), "the first position is right in one of four orders"
    assert summary.measure("consistency").value == 0, "each order picks another option"
    assert summary.series["chance"]["accuracy"] == pytest.approx(49 / 256)
    assert any("guessing earns 19.1 %" in note for note in summary.notes)
    sure = rehearse("baseline/oracle", orders=3).summarise("questions", FOUND[:20])
    assert [sure.measure(name).value for name in ("accuracy", "single", "consistency")] == [1, 1, 1]
    once = rehearse("baseline/first").summarise("questions", FOUND[:20])
    assert once.find("single") is None and "chance" not in once.series


def test_the_instruction_asks_for_a_comment_on_the_situation_unless_the_wording_says_otherwise():
    comment = asked(rehearse("baseline/first"), FOUND[0]).messages[-1].content
    answer = asked(rehearse("baseline/first", wording="answer"), FOUND[0]).messages[-1].content
    assert "comment on the situation" in comment and "very question" not in comment
    assert "answers this very question best" in answer
    assert comment.partition("Situation:")[2] == answer.partition("Situation:")[2]


def test_noise_conditions_change_the_words_and_nothing_about_the_subject():
    control = asked(rehearse("baseline/first"), FOUND[0]).messages[-1].content
    for name in (name for name, entry in conditions().items() if entry.factor == NOISE):
        text = asked(rehearse("baseline/first", condition=name), FOUND[0]).messages[-1].content
        assert text != control
        assert text.partition("Situation:")[2] == control.partition("Situation:")[2]


def test_ties_stand_apart_from_replies_that_could_not_be_read():
    summary = rehearse("baseline/first", orders=3).summarise("questions", FOUND[:20])
    assert summary.measure("accuracy").unreadable == 0
    assert dict(next(table.rows for table in summary.tables if table.name == "kinds"))["no majority"] == 20
    assert "20 of 20 votes ended in a tie between options; a tie counts as wrong, not as unreadable." in summary.notes
    mumbling = rehearse(Scripted(["Hard to say."] * 120), orders=3).summarise("questions", FOUND[:20])
    assert mumbling.measure("accuracy").unreadable == 60
    assert "no majority" not in dict(next(table.rows for table in mumbling.tables if table.name == "kinds"))
    assert not any("tie" in note for note in mumbling.notes)


def test_accuracy_comes_overall_by_ability_and_by_category_with_intervals():
    summary = rehearse("baseline/oracle").summarise("questions", FOUND)
    assert summary.measure("accuracy").value == 1.0
    assert summary.measure("accuracy").interval.low > 0.9
    by_ability = [summary.measure("accuracy", ability=ability).items for ability in items.ABILITIES]
    by_category = [summary.measure("accuracy", category=name).items for name in ("consciousness", "facility")]
    assert sum(by_ability) == sum(by_category) == len(FOUND)


def test_position_bias_and_kinds_of_options_are_shown():
    summary = rehearse("baseline/first").summarise("questions", FOUND)
    tables = {table.name: table for table in summary.tables}
    assert tables["positions"].rows[0][:2] == ("A", len(FOUND))
    assert f"picked A in {len(FOUND)} of {len(FOUND)} answers" in summary.notes[-1]
    assert not any("Position bias" in note for note in rehearse("baseline/oracle").summarise("questions", FOUND).notes)
    assert "p < .001" in tables["positions"].note
    assert sum(row[1] for row in tables["kinds"].rows) == len(FOUND)


def test_bundled_results_say_that_they_are_not_the_papers():
    assert any("not the paper's" in note for note in rehearse("baseline/first").summarise("questions").notes)


def test_second_person_plays_converted_items():
    show = rehearse("baseline/first", condition="second-person")
    item = next(iter(load("sesi").task("questions").items(show.source())))
    assert "you" in item.situation.lower()
    assert item.situation in asked(show, item).messages[-1].content
    assert item.situation not in {item.situation for item in FOUND}


def test_an_official_score_is_that_of_the_first_replies_and_the_other_stands_beside_it():
    letters = ["ABCD"[item.answer] for item in FOUND[:10]]
    replies = [reply for at, letter in enumerate(letters) for reply in (["Hm.", letter] if at < 4 else [letter])]
    show = rehearse(Scripted(replies))
    task, view = show.instrument.task("questions"), show.play_all("questions", FOUND[:10])
    summary = summarised(task, structs.replace(view, as_in_paper=True))
    assert summary.measure("accuracy").value == 0.6
    assert summary.measure("accuracy").note == "60 % as in the paper; 100 % after asking what was meant"
    told = f"{SECOND} The scores are those of the first replies, as in the paper."
    assert told in summary.notes


def test_by_default_official_items_are_asked_about_where_the_score_without_it_can_be_told():
    config = RunConfig(instrument="sesi", subject="m", official=True)
    assert config.asks_again(True) and not config.asks_again(False)
    assert RunConfig(instrument="sesi", subject="m").asks_again(False)
    assert not structs.replace(config, second_question=False).asks_again(True)
    assert not structs.replace(config, base=True).asks_again(True)


def test_an_official_item_is_stored_with_the_score_of_its_first_reply():
    item, show = FOUND[0], rehearse(Scripted(["Hm.", "ABCD"[FOUND[0].answer]]))
    task = show.instrument.task("questions")
    outcome = next(iter(show.play_all("questions", [item]).episodes())).outcome
    first, last = (score_safely(task, item, outcome, official=official) for official in (True, False))
    assert (sum(first.values.values()), first.unreadable) == (0, 1)
    assert (sum(last.values.values()), last.unreadable) == (1, 0)
    assert first.replies == last.replies
