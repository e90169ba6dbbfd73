"""Scores worked by hand, summaries, and the findings as tables."""

import pytest
from scipy import stats

import sociometer as sm
from sociometer.core.settings import Settings
from sociometer.core.task import Episode, RunView
from sociometer.instruments.socialeval import scoring
from sociometer.instruments.socialeval.items import AbilityQuestion, TreeItem
from sociometer.instruments.socialeval.play import Step, Walk
from sociometer.instruments.socialeval.worldtree import Person
from sociometer.reading import ChoiceAnswer, Vote
from sociometer.statistics.formatting import estimate


def step(node, picked):
    return Step(node, (Vote((0, 1, 2), picked, "bare"),), picked)


def walk(*steps, last, level):
    return Walk(tuple(steps), last, level, "ending")


@pytest.fixture
def forked(draw, at):
    """At 0 the first choice keeps the goal, the second favours others and gives it up."""

    def make(**fields):
        root = at(0, 1, 2, abilities=("leadership skill", "capacity for trust"), stances=((1, -1), (0, 1)))
        end = at(1, 3, 4, abilities=("goal regulation", "persuasive skill"), stances=((1, -1), (1, -1)))
        return draw(root, end, at(2, goal=0), at(3, goal=2), at(4, goal=1), **fields)

    return make


def item_of(tree):
    return TreeItem(id=tree.id, cluster=tree.twin, tree=tree)


def run_of(task, pairs):
    episodes = [
        Episode(item, repeat, outcome, task(item, outcome), None) for repeat, (item, outcome) in enumerate(pairs)
    ]
    return RunView(lambda: iter(episodes), Settings({}), subject="test")


def test_a_walk_to_the_goal_has_no_regret(forked):
    item = item_of(forked())
    values = scoring.score_walk(item, walk(step(0, 0), step(1, 0), last=3, level=2)).values
    assert (values["achieved"], values["regret"], values["left"]) == (1, 0, 0)
    assert values["random"] == 0.25
    assert values["best"] == 1.0
    assert values["prosocial_loss"] == 0.0
    assert "left_step" not in values


def test_a_walk_that_leaves_the_best_path_has_its_step_and_regret(forked):
    item = item_of(forked())
    values = scoring.score_walk(item, walk(step(0, 0), step(1, 1), last=4, level=1)).values
    assert (values["partly"], values["regret"], values["left_step"]) == (1, 1, 2)


def test_a_prosocial_choice_that_gives_the_goal_up_is_counted_where_it_offers_itself(forked):
    item = item_of(forked())
    assert scoring.prosocial_losses(item, walk(step(0, 1), last=2, level=0)) == (1, 1)
    assert scoring.prosocial_losses(item, walk(step(0, 0), step(1, 1), last=4, level=1)) == (0, 1)


def test_levels_of_a_score_add_up_to_one(forked):
    item = item_of(forked())
    for level in (-1, 0, 1, 2):
        values = scoring.score_walk(item, walk(step(0, 1), last=2, level=level)).values
        assert values["achieved"] + values["partly"] + values["missed"] + values["open"] == 1


def many_trees(forked, count, orientation, language, goal):
    for number in range(count):
        item = item_of(forked(orientation=orientation, name=f"{number}", language=language))
        outcome = walk(step(0, 0), step(1, 0), last=3, level=2) if goal(number) else walk(step(0, 1), last=2, level=0)
        yield item, outcome


def test_fewer_than_ten_trees_say_so_and_ten_have_an_interval(forked):
    pairs = list(many_trees(forked, 10, "cooperation", "en", lambda n: n < 5))
    pairs += many_trees(forked, 9, "conflict", "en", lambda n: n < 3)
    summary = scoring.summarise_walks(run_of(scoring.score_walk, pairs))
    assert summary.measure("achieved", category="prosocial").value == 0.5
    assert not summary.measure("achieved", category="prosocial").interval.too_few
    assert summary.measure("achieved", category="antisocial").interval.too_few
    assert summary.measure("achieved").value == pytest.approx(8 / 19)
    goals = next(table for table in summary.tables if table.name == "goals")
    row = next(row for row in goals.rows if row[0] == "conflict")
    assert row[1:4] == (9, "33 % (too few)", "0 % (too few)")


def test_trees_weigh_the_same_whatever_their_walks(forked):
    item, other = item_of(forked(name="a")), item_of(forked(name="b"))
    won, lost = walk(step(0, 0), step(1, 0), last=3, level=2), walk(step(0, 1), last=2, level=0)
    run = run_of(scoring.score_walk, [(item, won), (item, won), (item, won), (other, lost)])
    assert scoring.summarise_walks(run).measure("achieved").value == 0.5


def test_prosocial_preference_stands_beside_peoples(forked):
    pairs = list(many_trees(forked, 12, "assistance", "zh", lambda n: n < 9))
    pairs += many_trees(forked, 10, "induction", "zh", lambda n: n < 2)
    summary = scoring.summarise_walks(run_of(scoring.score_walk, pairs))
    gap = summary.measure("prosocial_gap", language="zh")
    assert gap.value == pytest.approx(0.75 - 0.2)
    welch = stats.ttest_ind([1] * 9 + [0] * 3, [1] * 2 + [0] * 8, equal_var=False).confidence_interval()
    assert (gap.interval.low, gap.interval.high) == pytest.approx((welch.low, welch.high), rel=1e-12)
    table = next(table for table in summary.tables if table.name == "prosocial")
    assert table.rows[0][1:] == (estimate(gap.value, "share-points", gap.interval), 0.0, 0.0, 0.136)
    assert summary.measure("prosocial_loss").value == pytest.approx((3 + 8) / 22)


def test_the_gap_stands_beside_the_random_walks_and_in_shares_of_what_is_attainable(draw, at):
    """Twelve easy prosocial trees (random 1/2, best 1), ten antisocial ones (random 1/4), two of them hopeless."""

    def walks():
        for n in range(12):
            item = item_of(draw(at(0, 1, 2), at(1, goal=2), at(2, goal=0), orientation="assistance", name=f"a{n}"))
            yield item, walk(step(0, 0), last=1, level=2) if n < 9 else walk(step(0, 1), last=2, level=0)
        for n in range(10):
            nodes = at(0, 1, 2, 2, 2), at(1, goal=2 if n < 8 else 1), at(2, goal=0)
            item = item_of(draw(*nodes, orientation="conflict", name=f"c{n}"))
            yield item, walk(step(0, 0), last=1, level=2) if n < 4 else walk(step(0, 1), last=2, level=0)

    summary = scoring.summarise_walks(run_of(scoring.score_walk, list(walks())))
    assert summary.measure("prosocial_gap", language="en").value == pytest.approx(0.75 - 0.4)
    assert summary.measure("prosocial_gap_random", language="en").value == pytest.approx(0.5 - 0.8 * 0.25)
    assert summary.measure("prosocial_gap_best", language="en").value == pytest.approx(1 - 0.8)
    share = summary.measure("prosocial_gap_attainable", language="en")
    assert share.value == pytest.approx((0.75 - 0.5) / (1 - 0.5) - (0.4 - 0.2) / (0.8 - 0.2))
    first = [(hit - 0.5) / 0.5 for hit in [1] * 9 + [0] * 3]
    second = [(hit - lot) / 0.6 for hit, lot in zip([1] * 4 + [0] * 6, [0.25] * 8 + [0, 0], strict=True)]
    welch = stats.ttest_ind(first, second, equal_var=False).confidence_interval()
    assert (share.interval.low, share.interval.high) == pytest.approx((welch.low, welch.high), rel=1e-9)
    rows = {row[0]: row for row in next(table for table in summary.tables if table.name == "prosocial").rows}
    assert rows["prosocial − antisocial rate, en"][2:] == pytest.approx((0.3, 0.2, 0.099))
    assert rows["the same as shares of what is attainable, en"][2:4] == (0.0, 0.0)


@pytest.mark.parametrize("policy", ["random", "best"])
def test_a_random_and_a_perfect_subject_have_no_gap_in_shares_of_what_is_attainable(draw, at, policy):
    pairs = []
    for n in range(10):
        easy = item_of(draw(at(0, 1, 2), at(1, goal=2), at(2, goal=0), orientation="assistance", name=f"a{n}"))
        hard = item_of(draw(at(0, 1, 2, 2, 2), at(1, goal=2), at(2, goal=0), orientation="conflict", name=f"c{n}"))
        for item, ways in ((easy, 2), (hard, 4)):
            taken = range(ways) if policy == "random" else [0]
            pairs += [(item, walk(step(0, i), last=2 if i else 1, level=0 if i else 2)) for i in taken]
    summary = scoring.summarise_walks(run_of(scoring.score_walk, pairs))
    assert summary.measure("prosocial_gap_attainable", language="en").value == pytest.approx(0)
    plain = summary.measure("prosocial_gap", language="en").value
    assert plain == pytest.approx(summary.measure(f"prosocial_gap_{policy}", language="en").value)


def test_exact_values_are_not_rounded_in_tables(draw, at):
    tree = draw(at(0, 1, 2, 2), at(1, goal=2), at(2, goal=0))
    summary = scoring.summarise_walks(run_of(scoring.score_walk, [(item_of(tree), walk(step(0, 0), last=1, level=2))]))
    for name, column in (("goals", "random walk (exact)"), ("trees", "random walk (exact)")):
        table = next(table for table in summary.tables if table.name == name)
        assert table.rows[0][table.columns.index(column)] == 1 / 3


def test_a_walk_by_lot_kept_to_no_path(forked):
    item = item_of(forked())
    unread = Step(0, (Vote((0, 1), None, "none"),), 0, drawn=True)
    own, lot = step(0, 0), Step(1, (Vote((0, 1), None, "none"),), 0, drawn=True)
    walks = [
        walk(unread, step(1, 1), last=4, level=1),
        walk(own, lot, last=3, level=2),
        walk(step(0, 1), last=2, level=0),
        walk(own, step(1, 0), last=3, level=2),
    ]
    summary = scoring.summarise_walks(run_of(scoring.score_walk, [(item, each) for each in walks]))
    assert summary.measure("left").value == 0.75


def test_languages_are_compared_over_pairs_of_trees(forked):
    pairs = list(many_trees(forked, 12, "altruism", "en", lambda n: False))
    pairs += many_trees(forked, 12, "altruism", "zh", lambda n: n < 8)
    table = next(t for t in scoring.summarise_walks(run_of(scoring.score_walk, pairs)).tables if t.name == "languages")
    trees, english, chinese, differing, _, p_value, effect = table.rows[0]
    assert (trees, english, chinese, differing, effect) == (12, "0 % [0, 24]", "67 % [39, 86]", 8, 1.0)
    assert p_value < 0.01


def question(name, abilities=("persuasive skill",), language="en", cluster="t"):
    return AbilityQuestion(
        id=name,
        cluster=cluster,
        language=language,
        orientation="conflict",
        category="antisocial",
        abilities=abilities,
        people=(Person("A"),),
        scene="",
        lines=(),
        question="?",
        options=("right", "x", "y", "z"),
    )


def answer(*picks):
    votes = tuple(Vote((3, 2, 1, 0), pick, "bare") for pick in picks)
    first = max(picks, key=picks.count)
    return ChoiceAnswer(votes, first)


def test_an_answer_counts_by_its_majority_and_unreadable_votes_are_counted():
    score = scoring.score_answer(question("a"), answer(0, 0, None))
    assert score.values == {"correct": 1.0, "single": pytest.approx(2 / 3), "chance": 0.25}
    assert score.unreadable == 1
    assert score.facets["dimension"] == "social engagement"


def test_a_question_with_two_abilities_counts_for_both():
    pairs = [
        (question("a", ("persuasive skill", "anger management")), answer(0, 0, 0)),
        (question("b", ("persuasive skill",)), answer(1, 1, 1)),
        (question("c", ("none of the 32 for certain",)), answer(1, 1, 1)),
    ]
    summary = scoring.summarise_answers(run_of(scoring.score_answer, pairs))
    assert summary.measure("accuracy", ability="persuasive skill").value == 0.5
    assert summary.measure("accuracy", ability="anger management").value == 1.0
    assert summary.measure("accuracy", dimension="emotional resilience").items == 1
    assert summary.measure("accuracy", ability="none of the 32 for certain").value == 0.0
    assert summary.measure("accuracy").value == pytest.approx(1 / 3)
    assert any("No question for 30 of the 32" in note for note in summary.notes)


def test_position_bias_counts_where_the_picked_option_stood():
    pairs = [(question(f"q{i}"), answer(3, 3, 3)) for i in range(20)]
    summary = scoring.summarise_answers(run_of(scoring.score_answer, pairs))
    assert summary.tables[0].rows[0] == ("A", 60, 0, 15.0)
    assert summary.tables[0].rows[3][2] == 60
    assert any(note.startswith("Position bias: picked A in 60 of 60 answers") for note in summary.notes)


def test_a_run_without_a_readable_answer_has_a_summary():
    summary = scoring.summarise_answers(
        run_of(scoring.score_answer, [(question("a"), ChoiceAnswer((Vote((0, 1, 2, 3), None, "none"),), None))])
    )
    assert summary.measure("accuracy").value == 0.0
    assert "No answer could be read." in summary.notes


def test_chance_is_the_random_walk_on_the_trees_played(tmp_path):
    summary = sm.run(
        "socialeval", model="baseline/random", tasks=("goals",), limit=2, store=tmp_path / "s.db"
    ).summary()
    assert summary.series["chance"] == {"achieved": summary.measure("random").value}
    assert summary.measure("random").value != pytest.approx(0.0527, abs=1e-4)
