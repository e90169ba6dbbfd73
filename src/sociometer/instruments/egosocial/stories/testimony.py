"""The tiers `told` and `deep`: people learn by word of mouth.

Stories are acted out step by step: what anybody says follows from what the oracle finds that they believe. Each
question hinges on such evidence: without it the answer would be different.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, permutations, product

import msgspec

from sociometer.instruments.egosocial.stories.events import (
    Enter,
    Event,
    Exit,
    Forget,
    Glimpse,
    Hear,
    Lose,
    Move,
    Place,
    Question,
    Send,
    Story,
    Tell,
    holdings,
)
from sociometer.instruments.egosocial.stories.mind import Oracle, has_one_news
from sociometer.instruments.egosocial.stories.telling import Vocabulary

EVIDENCE = ("lie", "mistake", "overheard", "relayed", "lost message", "correction", "heard", "glimpse", "forgetting")
ROLES = ("real", "first", "other")
"""Where the thing really is, where it was at first, and the third place: each is the answer equally often."""
ATTEMPTS = 4000
COMPARED = 4
"""How many stories are found before the one that balances the answers best is told."""
WEIGHED = 5
"""How many questions with the same role of the answer are examined."""
_Hinge = Callable[[Question, str], str]
_PLAIN = ("exit", "enter", "move", "told")
_WEIGHTS = {"exit": 5, "enter": 2, "move": 6, "told": 1, "glimpse": 1, "forgetting": 1}


class Tier(msgspec.Struct, frozen=True):
    """How long the stories of a tier are, and what is asked about each: kind and order of the questions.

    `hinges` is how many questions must hinge on evidence; a `tangled` story has several kinds of it.
    """

    name: str
    people: int
    steps: int
    moves: int
    asked: tuple[tuple[str, int], ...]
    hinges: int
    tangled: bool


TOLD = Tier("told", 4, 5, 2, (("belief", 1), ("belief", 2), ("say", 1)), 2, False)
DEEP = Tier("deep", 4, 9, 3, (("belief", 2), ("belief", 3), ("belief", 4), ("say", 3)), 3, True)
TIERS = {tier.name: tier for tier in (TOLD, DEEP)}


class Hinged(msgspec.Struct, frozen=True):
    """A question with the evidence that it hinges on."""

    question: Question
    evidence: str


class Testified(msgspec.Struct, frozen=True):
    """A story with the testimony of several people, and its questions."""

    story: Story
    asked: tuple[Hinged, ...]


class _Happening(msgspec.Struct, frozen=True):
    """Something that may happen next: its events, and the kind of evidence that they are (empty: none)."""

    kind: str
    events: tuple[Event, ...]


class AnswerCounts:
    """How often each role has been an answer so far, in all and for each kind and order of question."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, ...]] = Counter()

    def cost(self, roles: Sequence[str], tier: Tier) -> float:
        """How far the answers would be from an even share of the roles."""
        counts = self._counts.copy()
        counts.update(self._keys(roles, tier))
        return sum(count * count for count in counts.values())

    def enter(self, roles: Sequence[str], tier: Tier) -> None:
        """Count the answers of a story."""
        self._counts.update(self._keys(roles, tier))

    def _keys(self, roles: Sequence[str], tier: Tier) -> Iterator[tuple[str, ...]]:
        for role, (kind, order) in zip(roles, tier.asked, strict=True):
            yield (role,)
            yield (role, kind, str(order))


def testify(rng: random.Random, tier: Tier, words: Vocabulary, number: int, counts: AnswerCounts) -> Testified:
    """The story of this number: kinds of evidence take turns; of several stories, the one that balances the answers."""
    wanted = EVIDENCE[number % len(EVIDENCE)]
    found: list[tuple[float, _ActedStory, tuple[str, ...], tuple[Hinged, ...]]] = []
    for _ in range(ATTEMPTS):
        scene = _ActedStory(rng, tier, words)
        if not scene.act(wanted):
            continue
        made = _questions(rng, scene, tier, wanted, counts)
        if made is not None:
            roles, asked = made
            found.append((counts.cost(roles, tier), scene, roles, asked))
            if len(found) == COMPARED:
                break
    if not found:
        raise RuntimeError(f"no story with {wanted} found in {ATTEMPTS} attempts for the tier {tier.name}")
    _, scene, roles, asked = min(found, key=lambda one: one[0])
    counts.enter(roles, tier)
    return Testified(scene.story(), asked)


class _ActedStory:
    """One story while it is acted out."""

    def __init__(self, rng: random.Random, tier: Tier, words: Vocabulary) -> None:
        self.rng, self.tier = rng, tier
        self.people = rng.sample(words.people, tier.people)
        self.room = rng.choice(words.rooms)
        self.thing = rng.choice(words.things)
        self.boxes = rng.sample(words.containers, len(ROLES))
        self.inside: list[str] = []
        self.events: list[Event] = []
        self.evidence: list[_Happening] = []
        self.oracle = Oracle(self.story())

    def story(self, without: Sequence[Event] = ()) -> Story:
        """The story so far, with or without some of its events."""
        left_out = set(map(id, without))
        events = tuple(event for event in self.events if id(event) not in left_out)
        return Story(events, dict.fromkeys(self.boxes, self.room))

    def real(self) -> str:
        return holdings(self.events, self.thing)[-1]

    def act(self, wanted: str) -> bool:
        """Act the story out; whether the wanted kind of evidence came up."""
        self._open()
        steps = self.tier.steps + self.rng.randint(0, 2)
        for left in range(steps, 0, -1):
            done = {step.kind for step in self.evidence}
            options = [step for step in self._next() if step.kind not in done]
            mine = [step for step in options if step.kind == wanted]
            due = wanted not in done and (left <= 2 or self.rng.random() < 0.4)
            if mine and due:
                self._do(self.rng.choice(mine))
                continue
            usual = (*_PLAIN, "lie") if wanted == "correction" else _PLAIN
            kinds = sorted({step.kind for step in options if self.tier.tangled or step.kind in usual})
            if not kinds:
                return False
            kind = self.rng.choices(kinds, [_WEIGHTS.get(kind, 2) for kind in kinds])[0]
            self._do(self.rng.choice([step for step in options if step.kind == kind]))
        places = holdings(self.events, self.thing)
        self.oracle = Oracle(self.story(), self.oracle)
        named = {event.container for event in self.events if isinstance(event, Place | Move | Tell)}
        found = any(step.kind == wanted for step in self.evidence)
        return found and places[-1] != places[0] and named == set(self.boxes)

    def _open(self) -> None:
        for position, name in enumerate(self.people):
            if position == 2:
                self._do(_Happening("", (Place(self.thing, self.boxes[0]),)))
            self._do(_Happening("enter", (Enter(name, self.room),)))

    def _do(self, step: _Happening) -> None:
        for event in step.events:
            if isinstance(event, Enter):
                self.inside.append(event.person)
            elif isinstance(event, Exit):
                self.inside.remove(event.person)
        self.events += step.events
        if step.kind in EVIDENCE:
            self.evidence.append(step)

    def _next(self) -> Iterator[_Happening]:
        outside = [name for name in self.people if name not in self.inside]
        oracle = Oracle(self.story(), self.oracle)
        belief = {name: oracle.belief((name,), self.thing) for name in self.people}
        yield from self._comings(outside)
        yield from self._moves(outside)
        for teller, listener in permutations(outside, 2):
            held = belief[teller]
            if held is not None:
                yield from self._tellings(teller, listener, held, belief, outside, oracle)
        for name in outside:
            moved = [event.person for event in self.events if isinstance(event, Move)]
            if has_one_news(oracle.timeline(name), self.thing) and name not in moved:
                yield _Happening("forgetting", (Forget(name, self.thing),))

    def _comings(self, outside: Sequence[str]) -> Iterator[_Happening]:
        last = self.events[-1]
        for name in self.inside:
            if len(self.inside) > 1 and not (isinstance(last, Enter) and last.person == name):
                yield _Happening("exit", (Exit(name, self.room),))
        for name in outside:
            if not isinstance(last, Exit) and any(isinstance(event, Move) for event in self.events):
                yield _Happening("enter", (Enter(name, self.room),))

    def _moves(self, outside: Sequence[str]) -> Iterator[_Happening]:
        made = sum(isinstance(event, Move) for event in self.events)
        if not outside or made >= self.tier.moves or isinstance(self.events[-1], Move):
            return
        for name, box in product(self.inside, self.boxes):
            if box == self.real():
                continue
            move = Move(name, self.thing, box)
            yield _Happening("move", (move,))
            for listener in outside:
                yield _Happening("heard", (move, Hear(listener, name, self.thing, box)))
                yield _Happening("glimpse", (move, Glimpse(listener, name, box)))

    def _tellings(
        self,
        teller: str,
        listener: str,
        held: str,
        belief: dict[str, str | None],
        outside: Sequence[str],
        oracle: Oracle,
    ) -> Iterator[_Happening]:
        def news(speaker: str, hearer: str, box: str) -> bool:
            """Whether it is news to the hearer, and not what they suppose that the speaker believes for want of it."""
            return belief[hearer] != box and oracle.belief((hearer, speaker), self.thing) != box

        others = [name for name in outside if name not in (teller, listener)]
        told = [event for event in self.events if isinstance(event, Tell) and event.listener == listener]
        lied = any(not event.honest and event.teller == teller for event in told)
        if news(teller, listener, held) and not lied:
            corrects = bool(told) and told[-1].container == belief[listener] and told[-1].teller != teller
            kind = "mistake" if held != self.real() else "correction" if corrects else "told"
            yield _Happening(kind, (Tell(teller, listener, self.thing, held, corrects=kind == "correction"),))
            for hearer in others:
                if news(teller, hearer, held):
                    yield _Happening("overheard", (Tell(teller, listener, self.thing, held, hearers=(hearer,)),))
            for messenger in others:
                if not news(messenger, listener, held) or not (
                    belief[messenger] == held or news(teller, messenger, held)
                ):
                    continue
                sent = Send(teller, messenger, listener, self.thing, held)
                yield _Happening("relayed", (sent, Tell(messenger, listener, self.thing, held, source=teller)))
                yield _Happening("lost message", (sent, Lose(messenger, listener)))
        for box in self.boxes:
            if box != held and news(teller, listener, box):
                yield _Happening("lie", (Tell(teller, listener, self.thing, box, honest=False),))


def _questions(
    rng: random.Random, scene: _ActedStory, tier: Tier, wanted: str, counts: AnswerCounts
) -> tuple[tuple[str, ...], tuple[Hinged, ...]] | None:
    """One question for each kind and order of the tier, with the roles of their answers that were rarest so far.

    None if too few of them hinge on evidence, or none on the wanted kind.
    """
    hinge = _hinges(scene, wanted)
    fitting = [_by_role(rng, scene, kind, order, hinge) for kind, order in tier.asked]
    choices = [roles for roles in product(ROLES, repeat=len(fitting)) if all(map(dict.get, fitting, roles))]
    rng.shuffle(choices)
    for roles in sorted(choices, key=lambda roles: counts.cost(roles, tier)):
        asked = []
        for found, role in zip(fitting, roles, strict=True):
            best = [one for one in found[role] if one.evidence == wanted]
            some = [one for one in found[role] if one.evidence]
            asked.append(rng.choice(best or some or found[role]))
        if sum(bool(one.evidence) for one in asked) >= tier.hinges and any(one.evidence == wanted for one in asked):
            return roles, tuple(asked)
    return None


def _by_role(rng: random.Random, scene: _ActedStory, kind: str, order: int, hinge: _Hinge) -> dict[str, list[Hinged]]:
    """Some settled questions of a kind and order by the role of their answer, each with what it hinges on."""
    oracle, real, first = scene.oracle, scene.real(), scene.boxes[0]
    found: dict[str, list[Hinged]] = {role: [] for role in ROLES}
    questions = list(_askable(scene, kind, order))
    rng.shuffle(questions)
    for question in questions:
        if all(len(mine) == WEIGHED for mine in found.values()):
            break
        right = oracle.answer(question)
        if right is None:
            continue
        mine = found["real" if right == real else "first" if right == first else "other"]
        if len(mine) < WEIGHED and oracle.settled(question):
            mine.append(Hinged(question, hinge(question, right)))
    return found


def _askable(scene: _ActedStory, kind: str, order: int) -> Iterator[Question]:
    for chain in product(scene.people, repeat=order):
        if any(one == two for one, two in pairwise(chain)):
            continue
        if kind == "belief":
            yield Question("belief", scene.thing, chain)
            continue
        for listener in scene.people:
            if listener not in chain[-2:] or (order > 1 and listener == chain[-2]):
                yield Question("say", scene.thing, chain, listener)


def _hinges(scene: _ActedStory, wanted: str) -> _Hinge:
    """The kind of evidence that a question hinges on: without it the answer would be different.

    The wanted kind is looked for first; empty if there is none.
    """
    without = [
        (step, Oracle(scene.story([event for event in step.events if not isinstance(event, Move)]), scene.oracle))
        for step in sorted(scene.evidence, key=lambda step: step.kind != wanted)
    ]

    def kind(question: Question, right: str) -> str:
        for step, oracle in without:
            known = step.events[-1]
            if isinstance(known, Glimpse):
                # It teaches nothing: asked is about somebody who would be wrong to make something of it.
                hinges = question.chain[-1] == known.person and right != known.container == scene.real()
            elif isinstance(known, Lose) and question.chain in ((known.listener,), (known.messenger, known.listener)):
                hinges = True
            else:
                hinges = oracle.answer(question) != right
            if hinges:
                return step.kind
        return ""

    return kind
