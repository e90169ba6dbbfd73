"""Patterns of section 5.4 found by rule, on published predictions and worked examples; what constant players earn."""

from statistics import fmean

import pytest

from sociometer.instruments.egosocial.games.numbers.rules import is_right
from sociometer.instruments.egosocial.games.numbers.scoring import error_of, find
from sociometer.instruments.egosocial.published.reproduce import TRUE_NUMBERS, number_rows, predictions, printed

LEVEL_2 = TRUE_NUMBERS[2]


def published(model, level):
    return [number for number, _ in predictions()[model, level]]


def test_every_accuracy_of_table_two_is_recomputed_exactly():
    found = list(number_rows())
    assert len(found) == 27
    assert all(row.match for row in found)
    exact = [row for row in found if not row.reason]
    assert len(exact) == 16
    assert all("level 3" not in row.what for row in exact)


def test_what_was_counted_from_ticks_says_so():
    ticked = [row for row in number_rows() if row.reason]
    assert all("ticks" in row.reason for row in ticked)
    assert {row.what.split(", ")[1] for row in ticked if "level 3" not in row.what} == {"o1-preview"}


def test_table_two_has_all_nine_models():
    assert len({model for model, _ in printed()}) == 10


@pytest.mark.parametrize("model", ["GPT-4-Turbo", "GPT-4o", "LLaMa-3-70B-Chat"])
def test_mid_point_belief_is_found_where_the_first_prediction_is_fifty(model):
    assert find(published(model, 2), LEVEL_2).mid_point_belief


def test_gpt_four_turbo_makes_a_strange_guess_in_the_third_round_of_level_two():
    """It expects 48 after 50 and 45."""
    assert find(published("GPT-4-Turbo", 2), LEVEL_2).strange_guess == 3


def test_ever_smaller_predictions_that_miss_the_rule_are_found():
    assert find(published("LLaMa-3-70B-Chat", 2), LEVEL_2).always_smaller
    assert not find(published("GPT-4o", 2), LEVEL_2).always_smaller


def test_back_on_track_needs_a_strange_guess_before_it_and_two_right_in_a_row():
    predicted = [50, 70, 60, 35, 30, 25, 20, 15, 10, 5]
    found = find(predicted, LEVEL_2)
    assert (found.strange_guess, found.back_on_track, found.learnt_at) == (2, 4, 4)
    assert find([50, 45, 40, 35, 30, 25, 20, 15, 10, 5], LEVEL_2).back_on_track is None


def test_a_guess_is_not_strange_after_the_opponent_itself_went_up():
    assert find([50, 52, 60], [50, 55, 60]).strange_guess is None


def test_claude_has_learnt_level_one_from_the_sixth_round():
    assert find(published("Claude-3-5-Sonnet", 1), TRUE_NUMBERS[1]).learnt_at == 6


def test_an_absent_prediction_is_never_right_and_breaks_no_rule():
    assert not is_right(None, 50)
    found = find([None] * 10, LEVEL_2)
    assert not found.mid_point_belief
    assert found.strange_guess is found.learnt_at is None
    assert not found.always_smaller


@pytest.mark.parametrize(("guess", "right"), [(49.6, True), (50.4, True), (49.5, False)])
def test_less_than_half_a_step_is_near_enough(guess, right):
    assert is_right(guess, 50) is right


def test_one_number_predicted_until_it_comes_is_nothing_learnt():
    """ "Predict 1, choose 1" against the paper's level 3: the opponent falls to 1 and stays there."""
    actual = [50, 20.4, 8.56, 3.82, 1.93, 1.17, 1, 1, 1, 1]
    assert find([1] * 10, actual).learnt_at is None
    assert find([50, 50, 50, 50], [50] * 4).learnt_at == 1


def test_two_right_predictions_at_the_end_are_too_few_to_have_learnt():
    assert find([50, 50, 40, 35], [50, 45, 40, 35]).learnt_at is None
    assert find([50, 45, 40, 35], [50, 45, 40, 35]).learnt_at == 1


def test_a_prediction_between_two_whole_numbers_names_neither():
    assert not is_right(39.5, 39) and not is_right(39.5, 40)
    assert is_right(13, 12.5) and is_right(12, 12.5)


def test_a_round_without_a_prediction_is_as_far_off_as_one_can_be():
    assert error_of(None, 20) == 80 and error_of(None, 90) == 89 and error_of(24, 20) == 4


def repeating(choice):
    """A player who predicts the opponent's last number and chooses by a function of the round."""

    def answer(request):
        lines = [line for line in request.messages[1].content.splitlines() if "your opponent chose" in line]
        last = lines[-1].partition("your opponent chose ")[2].partition(";")[0] if lines else "50"
        return f'{{"prediction": {last}, "choice": {choice(len(lines))}}}'

    return answer


def test_a_constant_choice_earns_nothing_beyond_repeating_the_last_number(script, rehearsal):
    """Against replies a constant choice makes the opponent constant, so that repeating its number is right."""

    def shares(choice):
        run = rehearsal(script(repeating(choice)), drawn=4).play_all("numbers")
        scores = [score.values for item, _, score in run.scored() if item.opponent == "reply"]
        return [fmean(values[name] for values in scores) for name in ("right", "beyond")]

    frozen, varied = shares(lambda number: 40), shares(lambda number: (40, 71, 12, 55, 88, 23)[number % 6])
    assert frozen[0] > varied[0] + 0.3
    assert frozen[1] == varied[1] == 0


CONSTANTS = {"one and one": (1, 1), "fifty and a best reply": (50, 33), "a hundred": (100, 100), "twelve": (12, 1)}


@pytest.mark.slow
@pytest.mark.parametrize("name", CONSTANTS)
def test_constant_players_earn_next_to_nothing_and_have_learnt_nothing(name, script, rehearsal):
    prediction, choice = CONSTANTS[name]
    subject = script(f'{{"prediction": {prediction}, "choice": {choice}}}')
    summary = rehearsal(subject, drawn=36).summarise("numbers")
    assert summary.measure("accuracy").value < 0.10
    assert summary.measure("learnt").value <= 1 / 36
    assert summary.measure("beyond_repeating").value < 0


def test_accuracy_is_given_by_round_beside_that_of_repeating_the_last_number(baseline, rehearsal):
    summary = rehearsal(baseline("oracle"), drawn=7).summarise("numbers")
    by_round = summary.series["by_round"]
    assert [point["round"] for point in by_round] == list(range(1, 11))
    assert all(point["accuracy"] == 1 for point in by_round)
    assert by_round[0]["repeating"] == 0 < by_round[3]["repeating"] < 1, "before the first round there is no number"
    assert summary.tables[0].columns == ("round", "accuracy", "repeating", "matches")
    assert {point["accuracy"] for point in summary.tables[0].records()} == {"100 % (too few)"}
