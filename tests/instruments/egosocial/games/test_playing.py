"""Matches played to the end by all kinds of players: an oracle, a guesser, a cheat, a model in the other chair."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from rehearsal import Rehearsal
from sociometer.core.errors import UsageError
from sociometer.instruments import load
from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.players import SteadyOpponent

TASKS = ("blackjack", "numbers", "holdem")
CHEAT = {
    "blackjack": '{"self_belief": "My total is 21.", "own_total": 21, "own_kind": "hard", "own_bust_percent": "0%", '
    '"external_belief": "The dealer has 5.", "open_card_value": 5, "dealer_bust_percent": "40%", '
    '"dealer_final_total": 17, "action": "peek"}',
    "numbers": '{"prediction": 50, "choice": 1000}',
    "holdem": '{"action": "steal the pot"}',
}


@pytest.mark.parametrize("task", TASKS)
def test_whoever_always_cheats_plays_to_the_end_by_the_default_and_every_fault_is_counted(task, script, play):
    played = play(task, script(CHEAT[task]))
    outcome, score = played.episode.outcome, played.episode.score
    faults = {
        "blackjack": lambda: [decision.faults for decision in outcome.decisions],
        "numbers": lambda: [one.faults for one in outcome.rounds],
        "holdem": lambda: [outcome.subject_faults],
    }[task]()
    assert all(fault.defaulted for fault in faults)
    assert score.values["faults"] == 2
    notes = [event for event in played.events if getattr(event, "kind", "") == "read"]
    assert notes
    assert {note.facts["rule"] for note in notes} <= {"illegal", "unreadable"}
    assert score.replies["asked again"] > 0
    assert sum(getattr(event, "kind", "") == "default" for event in played.events) >= 1


@pytest.mark.parametrize(("task", "namings"), [("blackjack", 0), ("numbers", 0), ("holdem", 1)])
def test_unreadable_counts_every_answer_for_which_a_default_had_to_stand(task, namings, script, play):
    played = play(task, script(CHEAT[task]))
    defaults = sum(getattr(event, "kind", "") == "default" for event in played.events)
    assert defaults >= 1
    # a style that could not be read has no default and counts beside the moves
    assert played.episode.score.unreadable == defaults + namings


def test_a_bad_mover_who_names_the_style_still_shows_unreadable_decisions(script, play):
    subject = script(lambda request: "A" if "A. " in request.messages[1].content else "what?")
    played = play("holdem", subject, hands=2)
    moves = [move for hand in played.episode.outcome.hands for move in hand.moves if move.player == 0]
    assert played.episode.outcome.namings[-1].style is not None
    assert played.episode.score.unreadable == len(moves) > 0


def test_an_unusable_answer_to_the_question_for_the_style_is_a_fault_too(script, play):
    subject = script(lambda request: "no idea" if "A. " in request.messages[1].content else "fold")
    played = play("holdem", subject)
    decisions = sum(move.player == 0 for hand in played.episode.outcome.hands for move in hand.moves)
    assert played.episode.score.values["faults"] == pytest.approx(2 / (decisions + 1))


def test_a_retry_that_succeeds_is_a_fault_and_not_unreadable(script, play):
    subject = script("???", lambda request: "A" if "A. " in request.messages[1].content else "fold")
    score = play("holdem", subject).episode.score
    assert score.values["faults"] > 0
    assert score.unreadable == 0


def test_the_cheats_default_moves_are_the_stated_ones(script, play):
    assert [d.action for d in play("blackjack", script(CHEAT["blackjack"])).episode.outcome.decisions] == ["stand"]
    assert {one.choice for one in play("numbers", script(CHEAT["numbers"])).episode.outcome.rounds} == {50}
    moves = play("holdem", script(CHEAT["holdem"])).episode.outcome.hands[0].moves
    assert {move.action for move in moves if move.player == 0} <= {"check", "fold"}


@pytest.mark.parametrize("task", TASKS)
def test_a_second_reply_with_a_legal_move_counts_and_the_first_fault_is_kept(task, script, play):
    good = {
        "blackjack": '{"self_belief": "My total is 15.", "external_belief": "", "action": "stand"}',
        "numbers": '{"prediction": 50, "choice": 40}',
        "holdem": lambda request: "A" if "A. " in request.messages[1].content else "fold",
    }[task]
    subject = script("???", good)
    played = play(task, subject)
    again = subject.asked[1].messages
    assert again[-2].content == "???"
    assert "legal answers are" in again[-1].content
    assert played.episode.score.values["faults"] > 0
    assert not any(getattr(event, "kind", "") == "default" for event in played.events)


@pytest.mark.parametrize("task", TASKS)
def test_the_oracle_reaches_the_top_and_the_guesser_does_not(task, baseline, rehearsal):
    few = {"deals": 12, "matches": 12, "drawn": 7}
    assert rehearsal(baseline("oracle"), **few).summarise(task).measure("accuracy").value == 1
    assert rehearsal(baseline("random"), **few).summarise(task).measure("accuracy").value < 0.95


@pytest.mark.parametrize("task", TASKS)
def test_no_word_to_a_model_gives_away_what_it_should_find_out(task, script, rehearsal, first_item):
    subject = script(CHEAT[task])
    show = rehearsal(subject, opponents=("level-2",))
    item = first_item(task, show)
    asyncio.run(show.play(task, item))
    texts = "\n".join(message.content for request in subject.asked for message in request.messages).lower()
    if task == "numbers":
        assert "level" not in texts
        assert "arithmetic" not in texts
    if task == "holdem":
        before = [r for r in subject.asked if "what you may do" in r.messages[1].content.lower()]
        shown = "\n".join(message.content for request in before for message in request.messages)
        for card in item.deals[0].hole[1]:
            assert cards.name(card) not in shown
        assert item.style not in shown.lower()


def test_the_opponent_is_never_shown_the_subjects_cards(script, baseline, rehearsal, first_item):
    opponent = script('{"action": "call"}', name="steady")
    show = rehearsal(baseline("random"), opponent)
    item = first_item("holdem", show)
    asyncio.run(show.play("holdem", item))
    for request in opponent.asked:
        assert request.messages[0].content.startswith("You are player 1 of two")
        hand = next(line for line in request.messages[1].content.splitlines() if line.startswith("Your cards"))
        assert hand in {"Your cards: " + ", ".join(cards.names(deal.hole[1])) for deal in item.deals}


def test_both_players_choose_numbers_without_seeing_the_others(script, play):
    subject = script('{"prediction": 12, "choice": 34}')
    opponent = script('{"prediction": 56, "choice": 78}', name="steady")
    played = play("numbers", subject, opponent, rounds=2)
    assert "78" not in subject.asked[0].messages[1].content
    assert "34" not in opponent.asked[0].messages[1].content
    assert "your opponent chose 78" in subject.asked[1].messages[1].content
    assert "you chose 78, your opponent chose 34" in opponent.asked[1].messages[1].content
    assert [one.opponent for one in played.episode.outcome.rounds] == [78, 78]


@pytest.mark.parametrize("task", ["numbers", "holdem"])
def test_another_model_is_refused_as_the_opponent(task, script, baseline, play):
    with pytest.raises(UsageError, match="the opponent is the same for all subjects, not 'other-model'"):
        play(task, baseline("random"), script('{"prediction": 40, "choice": 27}', name="other-model"))


def test_the_same_deals_meet_every_subject_and_more_hands_keep_the_first_ones(baseline, rehearsal):
    short, long = (
        list(show.instrument.task("holdem").items(show.source()))
        for show in (rehearsal(baseline("random"), matches=4), rehearsal(baseline("oracle"), matches=4, hands=3))
    )
    assert [item.deals[0] for item in short] == [item.deals[0] for item in long]
    assert {item.style for item in short[:2]} == {item.style for item in short[2:]} == {"aggressive", "conservative"}


@pytest.mark.parametrize("setting", [{"deals": 0}, {"rounds": 0}, {"drawn": 0}, {"matches": 0}, {"hands": 0}])
def test_a_setting_that_leaves_nothing_to_play_is_refused(setting, baseline, rehearsal):
    with pytest.raises(UsageError, match="must be at least 1, not 0"):
        rehearsal(baseline("random"), **setting)


def test_rounds_lost_to_refusals_are_not_right_and_stay_in_the_score(baseline, rehearsal):
    summary = rehearsal(baseline("refuse"), opponents=("level-1",)).summarise("numbers")
    assert summary.measure("accuracy").value == 0
    assert summary.measure("accuracy").unreadable == 10
    assert summary.measure("absolute_error").value == 50


def test_the_order_of_the_styles_is_balanced_for_both_of_them(baseline, rehearsal):
    show = rehearsal(baseline("random"), matches=40)
    items = list(show.instrument.task("holdem").items(show.source()))
    firsts = Counter((item.style, item.options[0]) for item in items)
    assert set(firsts.values()) == {10}


@pytest.mark.parametrize("letter", ["A", "B"])
def test_the_same_letter_every_time_is_right_in_half_of_the_matches(letter, script, rehearsal):
    subject = script(lambda request: letter if "style of play" in request.messages[1].content else "call")
    summary = rehearsal(subject, matches=20).summarise("holdem")
    assert summary.measure("accuracy").value == 0.5


def test_the_prompts_say_the_aim_the_button_the_order_of_play_and_what_the_words_mean(script, play):
    subject = script(lambda request: "A" if "style of play" in request.messages[1].content else "call")
    play("holdem", subject)
    system, action = (message.content for message in subject.asked[0].messages)
    for words in ("your aim is to win", "posts the small blind of 1", "The button acts first before the flop"):
        assert words in system
    assert "The button: player 0" in action
    asked = subject.asked[-1].messages[1].content
    assert "An aggressive player raises often" in asked
    assert "A conservative player folds weak cards" in asked


def test_official_matches_have_one_hand_and_the_papers_wording(script):
    subject = script(lambda request: "A" if "style of play" in request.messages[1].content else "call")
    players = {"subject": subject, "opponent": SteadyOpponent()}
    show = Rehearsal(load("egosocial"), players, {"matches": 4}, data=Path())
    items = list(show.instrument.task("holdem").items(show.source()))
    assert [len(item.deals) for item in items] == [1] * 4
    assert {item.options for item in items} == {("aggressive", "conservative")}
    asyncio.run(show.play("holdem", items[0]))
    texts = "\n".join(message.content for request in subject.asked for message in request.messages)
    assert "raises often" not in texts
    assert "The button" not in texts
