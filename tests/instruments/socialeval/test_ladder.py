"""The ladder of visits: its exact values against another computation, and what a walk scores."""

import random
from fractions import Fraction
from itertools import pairwise, product
from statistics import fmean

import pytest

from sociometer.core.errors import UsageError
from sociometer.instruments.socialeval.ladder import (
    HIGHEST_LEVEL,
    Afternoon,
    Step,
    Visiting,
    Visits,
    drawn,
    rung,
    score,
    words,
    worths,
)
from sociometer.instruments.socialeval.visits import LEAVE, LISTEN, Plan, Policy, Round, Visited
from sociometer.reading import Vote


def test_every_level_is_harder_than_the_one_before():
    for lower, higher in pairwise(rung(level) for level in range(1, HIGHEST_LEVEL + 1)):
        assert higher.decisions > lower.decisions
        assert higher.people > lower.people
        assert higher.quarrels > lower.quarrels
        assert (higher.things, higher.plans, higher.members) >= (lower.things, lower.plans, lower.members)
    with pytest.raises(UsageError, match="level 11"):
        rung(11)


class ByHistory:
    """The chance of reaching a target, from the rules in words: all that is said is remembered, and weighed by Bayes.

    It shares no code with `visits`: no sets, no states that are merged, exact fractions.
    """

    def __init__(self, people, themes, turns, plans, target):
        self.people, self.themes, self.turns, self.plans, self.target = people, themes, turns, plans, target
        self.kinds = range(len(themes))

    def begin(self):
        """The joint chances of all wishes, given what was known at first."""
        each = [[kind for kind in self.kinds if person.known >> kind & 1] for person in self.people]
        every = list(product(*each))
        return dict.fromkeys(every, Fraction(1, len(every)))

    def best(self, chances=None, place=0, left=None, promised=(), tries=0, won=(), pick=max):
        chances = self.begin() if chances is None else chances
        left = self.turns if left is None else left
        if place == len(self.people) or left <= 0:
            done = [plan.worth for plan in self.plans if plan.members <= set(won)]
            return Fraction(sum(done) + sum(self.people[who].worth for who in won) >= self.target)
        values = []
        for choice in (*self.kinds, LISTEN, LEAVE):
            value = Fraction(0)
            for what, chance, after in self.outcomes(chances, place, choice, promised):
                spent, gone, told, now_promised, now_tries, now_won = left - 1, True, after, promised, 0, won
                if what == "heard":
                    gone = False
                elif what == "taken":
                    spent -= 1
                elif what == "agrees":
                    now_promised, now_won, spent = (*promised, choice), (*won, place), spent - self.people[place].slow
                elif what == "thanks":
                    now_promised = (*promised, choice)
                elif what == "refuses":
                    gone, now_tries = tries + 1 == 2, tries + 1
                now_tries = 0 if gone else max(now_tries, tries)
                following = place + gone
                while any(following in self.people[who].bars for who in now_won):
                    following += 1
                value += chance * self.best(told, following, spent, now_promised, now_tries, now_won, pick)
            values.append(value)
        return pick(values)

    def outcomes(self, chances, place, choice, promised):
        """What may happen, how likely it is, and what one then believes."""
        found = {}
        for wishes, chance in chances.items():
            wish = wishes[place]
            if choice == LEAVE:
                happens = [("left", None, 1)]
            elif choice == LISTEN:
                said = self.sayings(chances, place, wish)
                happens = [("heard", one, Fraction(1, len(said))) for one in said]
            elif choice in promised:
                happens = [("taken", None, 1)]
            elif choice == wish:
                happens = [("agrees", None, 1)]
            else:
                happens = [("refuses" if self.people[place].frank else "thanks", None, 1)]
            for what, detail, share in happens:
                found.setdefault((what, detail), {})[wishes] = chance * share
        for (what, _), joint in found.items():
            total = sum(joint.values())
            yield what, total, {wishes: chance / total for wishes, chance in joint.items()}

    def sayings(self, chances, place, wish):
        """Everything new that is true of a wish: a thing that it is not, or its theme."""
        possible = {wishes[place] for wishes in chances}
        said = [("not", kind) for kind in sorted(possible - {wish})]
        if len({self.themes[kind] for kind in possible}) > 1:
            said.append(("theme", self.themes[wish]))
        return said or ["nothing new"]


ROUNDS = [
    ([Visited(300, True, 0b111), Visited(200, False, 0b111)], (0, 0, 1), 4, [], (200, 300, 500)),
    (
        [Visited(200, False, 0b011), Visited(100, True, 0b111), Visited(100, False, 0b110)],
        (0, 1, 1), 4, [{0, 2}], (200, 900),
    ),
    (
        [Visited(300, True, 0b101), Visited(100, True, 0b001), Visited(200, False, 0b011)],
        (0, 1, 2), 4, [{0, 1}, {1, 2}], (300, 1000),
    ),
    (
        [
            Visited(300, True, 0b101, slow=True), Visited(100, False, 0b011, bars=frozenset({2})),
            Visited(300, True, 0b011), Visited(200, False, 0b111),
        ], (0, 1, 2), 5, [{0, 2}, {1, 3}], (1000,),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("people", "themes", "turns", "plans", "targets"), ROUNDS)
def test_the_chances_are_those_of_a_computation_from_the_rules(people, themes, turns, plans, targets):
    made = tuple(Plan(700, frozenset(members)) for members in plans)
    game = Round(tuple(people), themes, turns, made, max(targets))
    for target in targets:
        second = ByHistory(people, themes, turns, made, target)
        assert game.odds(target) == pytest.approx(float(second.best()))
    mean = second.best(pick=lambda values: sum(values) / len(values))
    assert game.odds(target, Policy.RANDOM) == pytest.approx(float(mean))


def test_who_saves_as_much_as_possible_may_miss_a_target():
    # the first person's sure 200 takes both turns; an even chance of 300 takes a goodbye and a promise
    game = Round((Visited(200, True, 0b1, slow=True), Visited(300, False, 0b11)), (0, 1), 2, (), 300)
    assert game.solve(game.start)[:, 0].tolist() == [1, 1, 1, 0.5]
    assert game.solve(game.start, Policy.RICHEST)[:, 0].tolist() == [1, 1, 1, 0]


def walk(item, pick):
    afternoon, steps = Afternoon(item), []
    while not afternoon.over:
        values, options = worths(afternoon), afternoon.options()
        place = pick(values)
        steps.append(Step(Vote((), place, ""), afternoon.round.choices[place]))
        afternoon.say(steps[-1].choice, options[place])
    return Visiting(tuple(steps)), afternoon


def item(number, level=1, language="en"):
    return Visits(id=str(number), seed=3, level=level, number=number, language=language)


def test_the_ideal_scores_100_and_a_random_walk_0_on_average():
    rng, by_chance = random.Random(1), []
    for number in range(8):
        best, _ = walk(item(number), lambda values: values.index(max(values)))
        assert score(item(number), best).values["reached"] == pytest.approx(100, abs=1e-3)
        some, _ = walk(item(number), lambda values: rng.randrange(len(values)))
        by_chance.append(score(item(number), some).values["reached"])
    assert abs(fmean(by_chance)) < 33, "the standard error is about 11"


def test_an_unreadable_reply_costs_what_a_random_choice_costs():
    best, afternoon = walk(item(0), lambda values: values.index(max(values)))
    first, *others = best.steps
    lucky = Visiting((Step(first.vote, first.choice, drawn=True), *others))
    values, game = worths(Afternoon(item(0))), afternoon.round
    span = game.odds(afternoon.drawn.target) - game.odds(afternoon.drawn.target, Policy.RANDOM)
    cost = 100 * (max(values) - fmean(values)) / span
    assert score(item(0), lucky).values["reached"] == pytest.approx(100 - cost, abs=1e-3)


def test_both_languages_tell_the_same_round():
    for level in (2, 3):
        english, afternoon = walk(item(4, level), lambda values: values.index(max(values)))
        chinese, other = walk(item(4, level, "zh"), lambda values: values.index(max(values)))
        assert [step.choice for step in english.steps] == [step.choice for step in chinese.steps]
        assert afternoon.saved == other.saved
        assert len(afternoon.lines) == len(other.lines)
        assert not any("{" in line for line in (*afternoon.lines, *other.lines))


def test_the_texts_of_the_languages_correspond():
    english, chinese = words("en"), words("zh")
    for name in english.__struct_fields__:
        one, two = getattr(english, name), getattr(chinese, name)
        assert len(one) == len(two) or isinstance(one, str), name
    assert {name: len(texts) for name, texts in english.lists.items()} == {
        name: len(texts) for name, texts in chinese.lists.items()
    }
    assert [(who.she, who.group) for who in english.people] == [(who.she, who.group) for who in chinese.people]
    assert [thing.theme for thing in english.things] == [thing.theme for thing in chinese.things]


def test_a_round_can_be_won():
    for number in range(5):
        found = drawn(1, 2, number)
        assert all(person.known >> wish & 1 for person, wish in zip(found.round.people, found.wishes, strict=True))
        assert 0.2 < found.round.odds(found.target) < 0.95, "the target is neither easy nor hopeless"
