"""A model's place among the people of a norm: ties, the interval with both errors, items that stand out."""

from functools import partial
from statistics import fmean

import msgspec
import numpy as np
import pytest

from sociometer.core.card import MeasureCard
from sociometer.core.errors import DataError, UsageError
from sociometer.core.measure import Interval
from sociometer.core.task import Item
from sociometer.instruments import card_of
from sociometer.statistics.intervals import clustered_mean_interval, wilson
from sociometer.statistics.item_values import ItemValue
from sociometer.statistics.norms import ItemNorm, NormFile, TaskNorm, misfit, read_norm_file, surprises, unlike
from sociometer.statistics.people import (
    curve_of,
    groups_of,
    histogram,
    place_among,
    place_interval,
    sample_text,
    share_worse,
    told_groups,
)

ACCURACY = MeasureCard("t", "accuracy", "Accuracy", value="correct")
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Law:
    """People with abilities and items with difficulties of one logit, and models with an effect on each item."""

    def __init__(self, items, seed):
        self.items, self.lots = items, np.random.default_rng(seed)
        crowd = self.lots.normal(size=(2_000, 1))
        draws = [self.lots.normal(size=items) for _ in range(100)]
        self.deviations = np.sort(
            np.concatenate([self.answers(crowd - hard).mean(axis=1) - self.easiness(hard).mean() for hard in draws])
        )

    def answers(self, logits):
        return (self.lots.random(logits.shape) < sigmoid(logits)).astype(float)

    def easiness(self, hard):
        """The share of all people who are right, for abilities with a standard deviation of one logit."""
        at, weights = np.polynomial.hermite_e.hermegauss(21)
        return sigmoid(at[:, None] - hard).T @ weights / weights.sum()

    def model_at(self, share):
        """The ability of a model whose true score is better than this share of people."""
        hard, own = self.lots.normal(size=40_000), self.lots.normal(size=40_000)
        wanted = np.quantile(self.deviations, share)
        low, high = -6.0, 6.0
        for _ in range(40):
            middle = (low + high) / 2
            gap = (sigmoid(middle - hard + own) - self.easiness(hard)).mean()
            low, high = (middle, high) if gap < wanted else (low, middle)
        return low

    def taken(self, people, ability):
        """The answers of the people of one study, and those of one run of the model, on new items."""
        hard, own = self.lots.normal(size=self.items), self.lots.normal(size=self.items)
        return self.answers(self.lots.normal(size=(people, 1)) - hard), self.answers(ability - hard + own)

    def compared(self, people, ability):
        """The interval of the place of the model, as `compare STUDY RUN` gives it."""
        return beside(*self.taken(people, ability)).interval

    def interval(self, people, ability):
        """The interval of one study and one run of the model on new items, as on a norm."""
        return on_norm(*self.taken(people, ability))


def beside(taken, model):
    """The place of a model among people whose answers these are."""
    of, sides = tuple(range(len(taken))), ({}, {})
    for number, answers in enumerate(taken.T.tolist()):
        name, own = str(number), float(model[number])
        sides[0][name] = ItemValue(name, name, fmean(answers), tuple(answers), {}, b"", of)
        sides[1][name] = ItemValue(name, name, own, (own,), {}, b"", (0,))
    return place_among(*sides, 1.0)


def on_norm(taken, model):
    """The interval of its percentile on a norm of the same people."""
    gaps = model - taken.mean(axis=0)
    around = clustered_mean_interval(gaps, binary=False)
    worse = partial(share_worse, curve_of(taken.mean(axis=1), lower_is_better=False))
    return place_interval(worse, len(taken), model.mean(), around.scaled(1, taken.mean()))


def test_beside_people_a_percentile_has_the_same_interval_as_on_a_norm_of_them():
    lots = np.random.default_rng(5)
    for _ in range(5):
        taken = (lots.random((18, 12)) < 0.4).astype(float)
        model = lots.permutation(taken[3])  # it ties with a person, so both give the same share
        one, other = beside(taken, model).interval, on_norm(taken, model)
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("how", [Law.interval, Law.compared])
@pytest.mark.parametrize("people", [60, 200])
def test_the_interval_of_a_percentile_covers(people, how):
    law = Law(items=84, seed=63)
    models = {share: law.model_at(share) for share in LEVELS}
    inside = []
    for number in range(1_000):
        share = LEVELS[number % len(LEVELS)]
        found = how(law, people, models[share])
        inside.append(found.low <= share <= found.high)
    assert 0.93 <= np.mean(inside) <= 0.975


def test_a_tie_counts_half():
    curve = curve_of(np.array([0.2] * 4 + [0.5] * 4 + [0.8] * 2), lower_is_better=False)
    assert share_worse(curve, 0.5) == pytest.approx(0.6)
    assert share_worse(curve, 0.8) == pytest.approx(0.9)
    assert (share_worse(curve, 0.1), share_worse(curve, 0.9)) == (0.0, 1.0)


def test_less_is_better_where_the_card_says_so():
    scores = np.linspace(1, 3, 21)
    curve = curve_of(scores, lower_is_better=True)
    assert share_worse(curve, 1.1) == pytest.approx(1 - share_worse(curve_of(scores, lower_is_better=False), 1.1))
    assert (share_worse(curve, 0.5), share_worse(curve, 3.5)) == (1.0, 0.0)
    alike = curve_of(np.ones(12), lower_is_better=True)
    assert [share_worse(alike, at, lower_is_better=True) for at in (0.5, 1.0, 1.5)] == [1.0, 0.5, 0.0]


def test_the_interval_has_the_error_of_the_people_and_that_of_the_score():
    worse = partial(share_worse, curve_of(np.linspace(0, 1, 101), lower_is_better=False))
    people_only = place_interval(worse, 101, 0.5, Interval(0.5, 0.5))
    assert (people_only.low, people_only.high) == pytest.approx(wilson(0.5, 101))
    both = place_interval(worse, 101, 0.5, Interval(0.4, 0.6))
    items_only = 0.1 * 100 / 101
    assert 0.5 - both.low == pytest.approx(np.hypot(0.5 - people_only.low, items_only), abs=1e-6)
    few = place_interval(worse, 101, 0.5, Interval(None, None, clusters=3))
    assert few.too_few


def items_of(shares, people=400):
    """Items of which these shares of people are right."""
    return {
        f"i{at}": ItemNorm("", people, share, float(np.sqrt(share * (1 - share) * people / (people - 1))))
        for at, share in enumerate(shares)
    }


def answers_of(rows):
    return {
        f"i{at}": ItemValue(f"i{at}", f"i{at}", float(np.mean(row)), tuple(map(float, row)), {}, b"")
        for at, row in enumerate(rows)
    }


def test_items_stand_out_in_both_directions():
    shares, rows = [0.95, 0.05, 0.5, 0.5, 0.6, 0.4], [[0] * 8, [1] * 8, [0, 1] * 4, [1, 0] * 4, [1, 1, 0, 1], [0, 1, 0]]
    found = surprises(answers_of(rows), items_of(shares), ACCURACY)
    assert [(row[0], row[3]) for row in found.rows] == [("i0", "people"), ("i1", "the subject")]
    lower = surprises(answers_of(rows), items_of(shares), msgspec.structs.replace(ACCURACY, better="lower"))
    assert [(row[0], row[3]) for row in lower.rows] == [("i0", "the subject"), ("i1", "people")]


def test_the_false_discovery_rate_holds_for_a_subject_like_the_people():
    lots, found = np.random.default_rng(7), 0
    for _ in range(30):
        shares = lots.uniform(0.2, 0.95, 40)
        seen = (lots.random((200, 40)) < shares).mean(axis=0)
        rows = (lots.random((40, 5)) < shares[:, None]).astype(float)
        found += bool(surprises(answers_of(rows), items_of(seen.tolist(), 200), ACCURACY).rows)
    assert found <= 4, "5 % of 30 subjects without a difference, and chance"


def test_values_between_right_and_wrong_are_tested_by_the_spread_of_people():
    norms = {f"i{at}": ItemNorm("", 60, 2.5, 0.5) for at in range(20)}
    table = answers_of([[2.5 if at else 6.0] for at in range(20)])
    found = surprises(table, norms, msgspec.structs.replace(ACCURACY, unit="number", better="lower"))
    assert [(row[0], row[3]) for row in found.rows] == [("i0", "people")]


def test_one_answer_that_cannot_stand_out_is_said():
    found = surprises(answers_of([[0]] * 80), items_of([0.9] * 80, 60), ACCURACY)
    assert "play the run with --repeats" in found.note or found.rows


def file_of(**changed):
    curve = curve_of(np.linspace(0, 1, 12), lower_is_better=False)
    norm = TaskNorm("spring", "12 people", "accuracy", 12, 0.5, 0.3, curve, items_of([0.5], 12), 1.0)
    made = NormFile(1, "sesi", card_of("sesi").version, "en", {"condition": "control"}, {"questions": norm})
    return msgspec.structs.replace(made, **changed)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"instrument": "seceu"}, "its people took instrument 'seceu', this run has 'sesi'"),
        ({"version": "1"}, "its people took version '1', this run has"),
        ({"language": "zh"}, "its people took language 'zh', this run has 'en'"),
        ({"settings": {"condition": "other"}}, "its people took condition 'other', this run has 'control'"),
        ({"tasks": {}}, "it has no task 'questions'"),
    ],
)
def test_a_norm_of_another_test_is_refused_in_a_sentence(changed, said):
    settings = {"language": "en", "condition": "control"}
    assert file_of().task(card_of("sesi"), "questions", settings).people == 12
    with pytest.raises(UsageError, match=said):
        file_of(**changed).task(card_of("sesi"), "questions", settings)


def test_a_norm_file_is_checked_when_it_is_read(tmp_path):
    path = tmp_path / "norm.json"
    path.write_bytes(msgspec.json.encode(file_of()))
    assert read_norm_file(path) == file_of()
    whole = msgspec.to_builtins(file_of())
    for wrong in ({"people": 9}, {"curve": [[0.5, 0.5, 0.1]]}, {"curve": [[1, 0.9, 0], [0, 0.1, 0]]}, {"items": {}}):
        bad = {**whole, "tasks": {"questions": {**whole["tasks"]["questions"], **wrong}}}
        path.write_bytes(msgspec.json.encode(bad))
        with pytest.raises(DataError, match="not a norm file"):
            read_norm_file(path)


def test_other_items_are_refused_in_a_sentence():
    one, two = Item(id="a"), Item(id="b")
    contents = {"a": one.asked_digest().hex()}
    assert unlike(contents, [one], "spring") == ""
    assert "1 of the 2 chosen ones, such as 'b', are not among them" in unlike(contents, [one, two], "spring")
    assert "1 items, such as 'a', differ" in unlike(contents, [Item(id="a", cluster="new")], "spring")


def test_another_model_in_a_role_of_the_people_is_refused():
    norm = msgspec.structs.replace(
        file_of().tasks["questions"], roles={"simulator": "a"}, items={"x": items_of([0.5])["i0"]}
    )
    stored, roles = msgspec.to_builtins(norm), {"subject": "m", "reader": "r", "simulator": "a"}
    assert misfit(stored, [Item(id="x")], roles) == ""
    assert misfit(stored, [Item(id="x")], {**roles, "simulator": "b"}) == (
        "the people of norm 'spring' had a as simulator, this run has b."
    )
    assert misfit(None, [Item(id="x")], {}) == ""


def test_no_small_group_is_told_even_by_subtraction():
    people = [{"sex": "female", "age": "under 30"}] * 30 + [{"sex": "male", "age": "30 to 49"}] * 14
    people += [{"sex": "other"}] * 3
    told = told_groups(people)
    assert told == {("sex", "female"): 30, ("age", "under 30"): 30}, "14 men would leave three others"
    assert told_groups([{"sex": "male"}] * 20) == {}, "everybody is no group"
    assert sample_text(people, 3, 2) == "47 people, 3 flagged, 2 excluded; sex female (30); age under 30 (30)"


def test_groups_are_sex_and_bands_of_age():
    assert groups_of({"性别": "女", "年龄": "31", "PROLIFIC_PID": "x"}) == {"sex": "female", "age": "30 to 49"}
    assert groups_of({"gender": " M ", "age": "sixty"}) == {"sex": "male"}
    assert groups_of({"Sex": "F", "Age": "25", "gender": ""}) == {"sex": "female", "age": "under 30"}


def test_each_score_of_a_short_test_is_the_centre_of_its_column():
    scores = [0, 1 / 12, 1 / 12, 1 / 4, 5 / 6, 11 / 12, 1, 1]
    counts, edges = histogram(scores)
    assert counts == [1, 2, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 2]
    assert edges == pytest.approx([(at - 0.5) / 12 for at in range(14)])
    counts, edges = histogram([1 / 12, 1 / 4, 1 / 2])
    assert counts == [1, 0, 1, 0, 0, 1] and edges[0] == pytest.approx(1 / 24), "the step is half of the least gap"
    assert histogram(scores, 0, 1)[0] == histogram(scores)[0] and histogram(scores, 0, 1)[1][::13] == [0, 1]


def test_other_scores_of_people_have_columns_between_the_lowest_and_the_highest():
    for scores in (np.random.default_rng(1).normal(size=50).tolist(), [at / 60 for at in range(61)], [2.0, 2.0]):
        counts, edges = histogram(scores)
        known = np.histogram(scores, bins="auto")
        assert (counts, edges) == (known[0].tolist(), known[1].tolist())
