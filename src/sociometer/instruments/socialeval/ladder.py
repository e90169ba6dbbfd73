"""The ladder: rounds of visits to people whose wishes must be inferred, drawn by a seed and harder at every level."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import TypeVar

import msgspec
from msgspec import Struct

from sociometer.core.conversation import Choice, Message, Sampling, user
from sociometer.core.errors import UsageError
from sociometer.core.language import ENGLISH, language_of
from sociometer.core.measure import Summary, Table
from sociometer.core.session import Session
from sociometer.core.source import Source
from sociometer.core.task import Item, RunView, Score
from sociometer.instruments.socialeval.items import BOTH
from sociometer.instruments.socialeval.visits import LEAVE, LISTEN, UNIT, Hint, Plan, Policy, Round, Turn, Visited
from sociometer.instruments.socialeval.worldtree import PAPER_LANGUAGES
from sociometer.reading import Vote, answer_line, ask_choice, render_options, shuffled, vote_counts, with_room
from sociometer.statistics.measures import grouped_measures

HIGHEST_LEVEL = 10
WORTHS = (100, 200, 300)
PLAN_WORTHS = (200, 400, 600)
HIGHEST_TARGET = 1600
FAIR = (0.3, 0.8)
"""The chances that the best visitor may have of reaching the target."""
FRANK = 0.4
SLOW = 0.4
ASIDES_FROM = 2
"""The lowest level at which people also talk about others, which says nothing about themselves."""
SAMPLING = Sampling(temperature=0, max_tokens=200)
T = TypeVar("T")


class Rung(Struct, frozen=True):
    """What a round of a level has; a plan needs `members` people."""

    people: int
    things: int
    decisions: int
    plans: int
    members: int
    quarrels: int


def rung(level: int) -> Rung:
    """The difficulty of a level: one more person, quarrel and turn than below, and every second another plan.

    Every third level has one more turn. From the third on there is another thing to give, from the fourth on plans take
    another person.
    """
    if not 1 <= level <= HIGHEST_LEVEL:
        raise UsageError(f"level {level} does not exist; --level takes 1 to {HIGHEST_LEVEL}.")
    return Rung(4 + level, 4 + (level > 2), 7 + 4 * level // 3, 1 + level // 2, 2 + (level > 3), 1 + level)


class Person(Struct, frozen=True):
    """Somebody who can be called on; `group` names the favour."""

    name: str
    she: bool
    group: str
    favour: str
    who: str
    door: str


class Theme(Struct, frozen=True):
    """What people say about the kind of worry they have, or what is known of it."""

    self: list[str]
    other: list[str]


class Thing(Struct, frozen=True):
    """Something that can be promised once, and what people say who do not want it."""

    theme: int
    short: str
    offers: list[str]
    not_self: list[str]
    not_other: list[str]


class Inquiry(Struct, frozen=True):
    """A way to ask how somebody is, and how answers to it may begin."""

    ask: str
    openings: list[str]


class Words(Struct, frozen=True):
    """The texts of a language."""

    occasions: list[str]
    plans: list[str]
    quarrels: list[str]
    last_and: str
    saves: str
    he: tuple[str, str, str]
    she: tuple[str, str, str]
    you: str
    says: str
    aside_then: str
    over: str
    people: list[Person]
    lists: dict[str, list[str]]
    """What may be said or told on an occasion, by its name."""
    questions: list[Inquiry]
    themes: list[Theme]
    things: list[Thing]


@lru_cache
def words(language: str) -> Words:
    """The texts of a language."""
    path = Path(__file__).parent / "data" / "ladder" / f"{language}.toml"
    return msgspec.toml.decode(path.read_bytes(), type=Words, strict=True)


class Visits(Item, frozen=True, kw_only=True):
    """One round of visits, named by what it is drawn from."""

    seed: int
    level: int
    number: int
    language: str


class Drawn(Struct, frozen=True):
    """A round as it was drawn: who is called on (numbers of people), what they want, and what is known at first."""

    round: Round
    target: int
    people: tuple[int, ...]
    things: tuple[int, ...]
    wishes: tuple[int, ...]
    known: tuple[Hint | None, ...]
    quarrels: tuple[tuple[int, int], ...]
    """The places of two people; the second does not come if the first agrees."""


@lru_cache(maxsize=64)
def drawn(seed: int, level: int, number: int) -> Drawn:
    """The round of a number at a level; the same in every language and for every subject."""
    wanted, rng, text = rung(level), random.Random(f"socialeval ladder {seed} {level} {number}"), words(ENGLISH)
    things: list[int] = []
    while len({text.things[thing].theme for thing in things}) < len(text.themes):
        things = sorted(rng.sample(range(len(text.things)), wanted.things))
    themes = tuple(text.things[thing].theme for thing in things)
    groups: dict[str, list[int]] = {}
    for who, person in enumerate(text.people):
        groups.setdefault(person.group, []).append(who)
    pairs = [rng.sample(pair, 2) for pair in rng.sample(list(groups.values()), len(groups))]
    chosen = [who for turn in zip(*pairs, strict=True) for who in turn][: wanted.people]
    rng.shuffle(chosen)
    found, wishes, known = list[Visited](), list[int](), list[Hint | None]()
    plain = Round((), themes, 0)
    for _ in chosen:
        wishes.append(rng.randrange(len(things)))
        hint, mind = _said(plain, (1 << len(things)) - 1, wishes[-1], rng)
        known.append(hint)
        found.append(Visited(rng.choice(WORTHS), rng.random() < FRANK, mind, rng.random() < SLOW))
    plans = [
        Plan(rng.choice(PLAN_WORTHS), frozenset(rng.sample(range(wanted.people), wanted.members)))
        for _ in range(wanted.plans)
    ]
    at_odds = [  # two people of one plan get on, so that quarrels set plan against plan
        pair for pair in combinations(range(wanted.people), 2) if not any(plan.members >= {*pair} for plan in plans)
    ]
    quarrels = sorted(rng.sample(at_odds, wanted.quarrels))
    for first, second in quarrels:
        found[first] = found[first]._replace(bars=found[first].bars | {second})
    rules = (tuple(found), themes, wanted.decisions, tuple(plans), HIGHEST_TARGET)
    game = Round(*rules)
    return Drawn(
        game, _target(game, Round(*rules)), tuple(chosen), tuple(things), tuple(wishes), tuple(known), tuple(quarrels)
    )


def _target(game: Round, again: Round) -> int:
    """The target at which saving as much as one can does worst; without a fair one, that nearest to an even chance.

    `again` is the same round: what it works out about saving as much as one can is not needed afterwards.
    """
    targets = range(UNIT, HIGHEST_TARGET + 1, UNIT)
    lowest, highest = FAIR
    fair = [target for target in targets if lowest <= game.odds(target) <= highest]
    if not fair:
        return min(targets, key=lambda target: abs(game.odds(target) - 0.5))

    def share(target: int) -> float:
        chance = game.odds(target, Policy.RANDOM)
        return (again.odds(target, Policy.RICHEST) - chance) / (game.odds(target) - chance)

    return min(fair, key=share)


def _said(game: Round, mind: int, wish: int, rng: random.Random) -> tuple[Hint | None, int]:
    """What is said about a wish; everything new that is true of it is equally likely."""
    return rng.choice([(hint, rest) for hint, _, rest in game.told(mind) if rest >> wish & 1])


class Afternoon:
    """A round while it is played: the state, what was promised to whom, and the story so far."""

    def __init__(self, item: Visits) -> None:
        self.item, self.drawn, self.words = item, drawn(item.seed, item.level, item.number), words(item.language)
        self.round = self.drawn.round
        self.state, self.promised, self.saved = self.round.start, dict[int, str](), 0
        self._rng = random.Random(f"socialeval ladder words {item.seed} {item.level} {item.number}")
        self._decks: dict[int, list[int]] = {}
        self.occasion, self._inquiry = self._next(self.words.occasions), self.words.questions[0]
        self._sketches = [self._sketch(place) for place in range(len(self.round.people))]
        self._plans = [self._next(self.words.plans) for _ in self.round.plans]
        self._quarrels = [self._quarrel(*pair) for pair in self.drawn.quarrels]
        self.lines = [self.person().door]

    @property
    def taken(self) -> int:
        """The things already promised, as bits."""
        return sum(1 << thing for thing in self.promised)

    def person(self, place: int | None = None) -> Person:
        """The person at a place of the round, or the one you are with."""
        return self.words.people[self.drawn.people[self.state.place if place is None else place]]

    @property
    def over(self) -> bool:
        """Whether nothing that can still be said makes a difference."""
        return self.round.over(self.state) or not self.missing or not self.chance

    @property
    def missing(self) -> int:
        """What is missing to the target, in units."""
        return max(0, self.drawn.target - self.saved) // UNIT

    @property
    def chance(self) -> float:
        """The chance of reaching the target if every choice from here on is the best."""
        return float(self.round.solve(self.state)[self.missing, self.taken])

    def _next(self, texts: Sequence[T]) -> T:
        """The next of a list of texts in a random order, so that none comes again before all were used."""
        deck = self._decks.setdefault(id(texts), [])
        if not deck:
            deck += self._rng.sample(range(len(texts)), len(texts))
        return texts[deck.pop()]

    def _pick(self, texts: Sequence[str], person: Person, **more: str) -> str:
        """The next of a list of texts about a person."""
        he, his, him = self.words.she if person.she else self.words.he
        forms = {"he": he, "his": his, "him": him, "He": he.capitalize(), "His": his.capitalize()}
        favour = person.favour
        more |= {"favour": favour, "Favour": favour[:1].upper() + favour[1:], "name": person.name}
        return self._next(texts).format(**forms, **more)

    def _sketch(self, place: int) -> str:
        """Who somebody is, how they take a wrong promise, and what is known of what they want."""
        person, visited, hint = self.person(place), self.round.people[place], self.drawn.known[place]
        manner = self._pick(self.words.lists["frank" if visited.frank else "polite"], person)
        space = language_of(self.item.language).space
        told = [] if hint is None else [self._pick(self._hints(hint, other=True), person)]
        if self._rng.random() < 0.5:
            told.insert(0, manner)
        else:
            told.append(manner)
        if visited.slow:
            told.append(self._pick(self.words.lists["slow"], person))
        saves = self.words.saves.format(name=person.name, favour=person.favour, worth=visited.worth)
        return f"- {saves}{space}{space.join([person.who, *told])}"

    def _quarrel(self, first: int, second: int) -> str:
        return self._next(self.words.quarrels).format(first=self.person(first).name, second=self.person(second).name)

    def _hints(self, hint: Hint, *, other: bool) -> list[str]:
        if hint.kind is None:
            theme = self.words.themes[hint.theme or 0]
            return theme.other if other else theme.self
        thing = self.words.things[self.drawn.things[hint.kind]]
        return thing.not_other if other else thing.not_self

    def facts(self) -> dict[str, str]:
        """What the prompt says besides the options."""
        comma = language_of(self.item.language).comma
        plans = []
        for text, plan in zip(self._plans, self.round.plans, strict=True):
            *names, last = (self.person(place).name for place in sorted(plan.members))
            plans.append(f"- {text.format(names=comma.join(names) + self.words.last_and + last, worth=plan.worth)}")
        return {
            "occasion": self.occasion,
            "people": "\n".join(self._sketches),
            "plans": "\n".join(plans),
            "quarrels": "\n".join(f"- {quarrel}" for quarrel in self._quarrels),
            "things": "\n".join(f"- {self.words.things[thing].short}" for thing in self.drawn.things),
            "decisions": str(self.round.decisions),
            "target": str(self.drawn.target),
            "saved": str(self.saved),
            "story": "\n".join(self.lines),
            "name": self.person().name,
            "left": str(self.state.left),
        }

    def options(self) -> list[str]:
        """What can be said now, in the order of the round's choices."""
        offers = [self._next(self.words.things[thing].offers) for thing in self.drawn.things]
        self._inquiry = self._next(self.words.questions)
        return [*offers, self._inquiry.ask, self._next(self.words.lists["leave"])]

    def say(self, choice: int, text: str) -> Turn:
        """Say one of the options, and what comes of it."""
        turn, person = self._turn(choice), self.person()
        self._tell(self.words.you, text)
        if turn.what == "heard":
            self.lines.append(self._pick(self.words.lists["scenes"], person))
            said = self._next(self._hints(turn.hint, other=False) if turn.hint else self.words.lists["nothing"])
            if turn.hint and self.item.level >= ASIDES_FROM and self._rng.random() < 0.5:
                said = self.words.aside_then.format(aside=self._next(self.words.lists["asides"]), text=said)
            if turn.hint:
                said = self.words.aside_then.format(aside=self._next(self._inquiry.openings), text=said)
            self._tell(person.name, said)
        elif turn.what != "left":
            reply = self._pick(self.words.lists[turn.what], person, other=self.promised.get(choice, ""))
            self._tell(person.name, reply)
        if turn.promised:
            self.promised[choice] = person.name
        onward, self.state, self.saved = turn.state.place > self.state.place, turn.state, self.saved + turn.gain
        if self.over:
            self.lines.append(self.words.over)
        elif onward:
            self.lines += ["", self.person().door]
        return turn

    def _turn(self, choice: int) -> Turn:
        """How a choice turns out with the wish that this person has."""
        wish = self.drawn.wishes[self.state.place]
        turns = list(self.round.turns(self.state, choice, taken=choice in self.promised))
        if choice == LISTEN:
            item, place = self.item, self.state.place
            lots = random.Random(
                f"socialeval ladder hint {item.seed} {item.level} {item.number} {place} {self.state.mind}"
            )
            hint, _ = _said(self.round, self.state.mind, wish, lots)
            return next(turn for turn in turns if turn.hint == hint)
        fitting = [turn for turn in turns if turn.what == "agrees"]
        return fitting[0] if choice == wish and fitting else turns[-1]

    def _tell(self, name: str, text: str) -> None:
        self.lines.append(self.words.says.format(name=name, text=text))


class Step(Struct, frozen=True):
    """One thing said; `drawn` says that no reply could be read and the choice was made at random."""

    vote: Vote
    choice: int
    drawn: bool = False


class Visiting(Struct, frozen=True):
    """What was said on a round; everything else follows from it."""

    steps: tuple[Step, ...]


def rounds(source: Source) -> Iterator[Visits]:
    """The rounds of a seed; with both languages they take turns."""
    level, chosen = source.settings.whole("level"), source.settings.text("language")
    rung(level)
    languages = sorted(PAPER_LANGUAGES) if chosen == BOTH else (chosen,)
    for number in range(source.settings.whole("rounds")):
        language = languages[number % len(languages)]
        name = f"ladder-{source.seed}-{level}-{number:03d}-{language}"
        yield Visits(id=name, cluster=name, seed=source.seed, level=level, number=number, language=language)


async def visit(item: Visits, session: Session) -> Visiting:
    """Play a round to its end."""
    afternoon, steps = Afternoon(item), list[Step]()
    choices = afternoon.round.choices
    while not afternoon.over:
        facts, options, values = afternoon.facts(), afternoon.options(), await asyncio.to_thread(worths, afternoon)

        def messages(choice: Choice, facts: dict[str, str] = facts) -> list[Message]:
            how = answer_line(session, item.language)
            return [
                user(session.prompts.render("ladder", item.language, **facts, options=render_options(choice), how=how))
            ]

        vote = await ask_choice(
            session, messages, options, order=shuffled(len(options), session.rng), key=values.index(max(values)),
            sampling=with_room(session, SAMPLING), language=item.language,
        )  # fmt: skip
        place = session.rng.randrange(len(options)) if vote.picked is None else vote.picked
        steps.append(Step(vote, choices[place], vote.picked is None))
        turn = afternoon.say(choices[place], options[place])
        session.note("turned out", what=turn.what, lost=round(max(values) - values[place], 3), gain=turn.gain)
    return Visiting(tuple(steps))


def worths(afternoon: Afternoon) -> list[float]:
    """The chance of reaching the target after each choice if all later ones are the best."""
    game, state, here = afternoon.round, afternoon.state, (afternoon.missing, afternoon.taken)
    return [float(game.value(state, choice)[here]) for choice in game.choices]


def losses(item: Visits, outcome: Visiting) -> tuple[list[tuple[str, float]], bool]:
    """Each choice with its cost in points, and whether the target was reached.

    A random choice costs what it costs on average.
    """
    afternoon = Afternoon(item)
    game, found = afternoon.round, list[tuple[str, float]]()
    best, chance = (game.odds(afternoon.drawn.target, policy) for policy in (Policy.BEST, Policy.RANDOM))
    for step in outcome.steps:
        values = worths(afternoon)
        reached = fmean(values) if step.drawn else values[game.choices.index(step.choice)]
        found.append((_kind(afternoon, step), 100 * (max(values) - reached) / (best - chance)))
        options = afternoon.options()
        afternoon.say(step.choice, options[game.choices.index(step.choice)])
    return found, not afternoon.missing


def _kind(afternoon: Afternoon, step: Step) -> str:
    """A choice in the words of the table."""
    state, choice = afternoon.state, step.choice
    if step.drawn:
        return "no readable answer"
    if choice in (LISTEN, LEAVE):
        return "asked how they are" if choice == LISTEN else "said goodbye"
    if choice in afternoon.promised:
        return "promised what was already promised"
    if not state.mind >> choice & 1:
        return "promised what is ruled out"
    return (
        "promised the only thing possible" if state.mind.bit_count() == 1 else "promised one of several things possible"
    )


def score(item: Visits, outcome: Visiting) -> Score:
    """The value reached: 0 for a random walk, 100 for the ideal; luck is taken out.

    Each choice is valued by the chance of reaching the target after it, however it turned out.
    """
    lost, target = losses(item, outcome)
    values = {"reached": 100 - sum(points for _, points in lost), "target": float(target)}
    values["best"] = fmean(float(points < 1e-3) for _, points in lost)
    votes = [step.vote for step in outcome.steps]
    unreadable = sum(step.drawn for step in outcome.steps)
    facets = {"language": item.language, "level": str(item.level)}
    return Score(values=values, facets=facets, unreadable=unreadable, replies=vote_counts(votes))


def summarise(run: RunView[Visits, Visiting]) -> Summary:
    """The value reached, the share of best choices, and which choices cost most."""
    measures = [*grouped_measures(run, "reached", by=["language"]), *grouped_measures(run, "best", binary=False)]
    kinds: dict[str, list[float]] = {}
    played = 0
    for item, outcome, _ in run.scored():
        played += 1
        for what, points in losses(item, outcome)[0]:
            kinds.setdefault(what, []).append(points)
    rows = [
        (what, len(lost) / played, sum(lost) / played)
        for what, lost in sorted(kinds.items(), key=lambda pair: -sum(pair[1]))
    ]
    columns = ("choice", "times a round", "points lost a round")
    return Summary(tuple(measures), (Table("losses", "What the choices cost", columns, tuple(rows)),))
