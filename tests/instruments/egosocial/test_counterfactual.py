import json
from collections import Counter

import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.egosocial.worlds import counterfactual, counterfactual_official, read_domains


def test_there_are_at_least_a_hundred_pairs_of_every_kind_in_many_domains(source):
    scenes = list(counterfactual(source(seed=0)))
    assert len(scenes) >= 100
    kinds = Counter(scene.facets["kind"] for scene in scenes)
    assert set(kinds) == {"direct", "applied", "two-step"}
    assert min(kinds.values()) >= 30
    assert len({scene.facets["domain"] for scene in scenes}) >= 15


def test_twins_share_question_and_options_and_differ_in_rule_and_answer(source):
    for scene in counterfactual(source(seed=1)):
        strange, home = scene.tellings
        assert (strange.name, home.name) == ("counterfactual", "factual")
        assert (strange.question, strange.options) == (home.question, home.options)
        assert strange.answer != home.answer == strange.home
        assert strange.story.splitlines()[0] != home.story.splitlines()[0]
        assert strange.story.splitlines()[1:] == home.story.splitlines()[1:]


def test_no_slot_is_left_open_and_right_answers_stand_in_both_places(source):
    scenes = list(counterfactual(source(seed=2)))
    assert not [s for s in scenes for t in s.tellings if "{" in "".join((t.story, t.question, *t.options))]
    places = Counter(scene.tellings[0].answer for scene in scenes)
    assert min(places.values()) > 0.35 * len(scenes)


def test_seeds_draw_people_and_wordings(source):
    assert list(counterfactual(source(seed=5))) == list(counterfactual(source(seed=5)))
    one, two = (
        ["".join((s.tellings[0].story, s.tellings[0].question)) for s in counterfactual(source(seed=seed))]
        for seed in (5, 6)
    )
    assert sum(a != b for a, b in zip(one, two, strict=True)) > 0.8 * len(one)


BEATS = {"rock": "scissors", "scissors": "paper", "paper": "rock"}


def test_rock_paper_scissors_is_worked_out_by_hand():
    """Checks the data file's answers against the rule itself, played both ways round."""
    (game,) = [domain for domain in read_domains() if domain.name == "rock-paper-scissors"]

    def wins(first, second, strange):
        if first == second:
            return None
        return (BEATS[first] == second) != strange

    for question in game.question:
        for case in question.cases:
            for strange in (True, False):
                answer = case["strange" if strange else "home"]
                if question.kind == "direct":
                    assert answer == ("I win" if wins(case["mine"], case["theirs"], strange) else "{a} wins")
                elif question.kind == "applied":
                    assert wins(answer, case["theirs"], strange)
                else:
                    who, hand = (
                        ("{a}", case["first"])
                        if wins(case["first"], case["second"], strange)
                        else ("{b}", case["second"])
                    )
                    outcome = wins(hand, case["third"], strange)
                    assert answer == (
                        "it is a draw" if outcome is None else f"{who} wins it" if outcome else "{c} wins it"
                    )


@pytest.mark.parametrize(
    ("given", "position"), [("A", 0), ("b", 1), ("(B)", 1), ("B.", 1), ("stop", 1), ("(A) go", 0), (1, 1)]
)
def test_the_official_layout_loads_whatever_the_answer_looks_like(tmp_path, given, position, source):
    row = {"Story": "Red means go.", "Question": "Red?", "Option": ["go", "stop"], "Answer": given}
    (tmp_path / "counterfact.jsonl").write_text(json.dumps(row) + "\n\n")
    (scene,) = counterfactual_official(source(tmp_path))
    assert scene.tellings[0].answer == position
    assert scene.tellings[0].options == ("go", "stop")


@pytest.mark.parametrize("given", ["C", "maybe", 2, -1])
def test_an_answer_that_is_no_option_is_refused(tmp_path, given, source):
    row = {"Story": "Red means go.", "Question": "Red?", "Option": ["go", "stop"], "Answer": given}
    (tmp_path / "counterfact.jsonl").write_text(json.dumps(row))
    with pytest.raises(DataError, match=r"counterfact\.jsonl:1: answer"):
        list(counterfactual_official(source(tmp_path)))
