"""The conversations: walking a tree to its end, answering an ability question, and speaking before choosing."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from sociometer.core.answer_format import Choice as ChoiceFormat
from sociometer.core.answer_format import Free
from sociometer.core.conversation import Sampling, user
from sociometer.core.task import Session
from sociometer.elicit import arrange, read_choice, render_options, shuffled
from sociometer.instruments.socialeval.items import AbilityQuestion, Crossroads, TreeItem
from sociometer.instruments.socialeval.solution import end_level, horizon, solve
from sociometer.instruments.socialeval.worldtree import GOAL_OPEN, Line, Node, Person

WALKING = Sampling(temperature=0.7, max_tokens=200)
ANSWERING = Sampling(temperature=0, max_tokens=200)
SPEAKING = Sampling(temperature=0.7, max_tokens=160)
_NARRATOR = {"en": "(narration)", "zh": "（旁白）"}
_NOBODY = {"en": "(nobody else)", "zh": "（没有别人）"}
_NOTHING = {"en": "(nothing)", "zh": "（无）"}


class Vote(Struct, frozen=True):
    """One asking: the order the options stood in, the option read (None: unreadable), and the rule that read it."""

    order: tuple[int, ...]
    picked: int | None
    rule: str

    @property
    def position(self) -> int | None:
        """The place, from zero, of the option that was picked."""
        return None if self.picked is None else self.order.index(self.picked)


class Step(Struct, frozen=True):
    """One choice of a walk: the node, the votes taken there, and the choice made.

    `drawn` says that no vote could be read and the choice was drawn by lot, so that the story could go on.
    """

    node: int
    votes: tuple[Vote, ...]
    picked: int
    drawn: bool = False


class Walk(Struct, frozen=True):
    """A walk through a tree: its steps, the node it stopped at and the goal level there."""

    steps: tuple[Step, ...]
    last: int
    level: int
    stopped: str
    """Why it stopped: ending, no choices, missing node, too long."""

    @property
    def drawn(self) -> int:
        """How many choices were drawn by lot because none could be read."""
        return sum(step.drawn for step in self.steps)


class Answer(Struct, frozen=True):
    """The outcome of an ability question: one vote for each order, and the option they add up to."""

    votes: tuple[Vote, ...]
    picked: int | None


class Utterance(Struct, frozen=True):
    """What the subject said of its own accord, how near each candidate is to it, and the candidate then picked."""

    said: str
    similarities: tuple[float, ...]
    vote: Vote
    embedder: str = ""


async def walk(item: TreeItem, session: Session) -> Walk:
    """Plays the protagonist from the beginning until the story ends."""
    tree = item.tree
    nodes = tree.by_id()
    solution = solve(tree)
    people, lines = list(tree.people), list[Line]()
    steps: list[Step] = []
    node = tree.root
    for _ in range(horizon(tree) + 1):
        people += node.enters
        lines += node.lines
        if node.is_end:
            session.note("ending", node=node.id, level=end_level(node))
            return Walk(tuple(steps), node.id, end_level(node), "ending" if node.kind == "ending" else "no choices")
        situation = describe(session, "situation", tree.language, people, tree.scene, lines)
        step = await _step(session, tree.language, situation, node, solution.best_choices[node.id][0])
        steps.append(step)
        chosen = node.choices[step.picked]
        following = nodes.get(chosen.target)
        session.note("chose", node=node.id, choice=step.picked + 1, target=chosen.target, drawn=step.drawn)
        if following is None:
            return Walk(tuple(steps), node.id, GOAL_OPEN, "missing node")
        lines.append(Line(tree.protagonist.name, chosen.text))
        node = following
    return Walk(tuple(steps), node.id, GOAL_OPEN, "too long")


async def _step(session: Session, language: str, situation: str, node: Node, best: int) -> Step:
    texts = [choice.text for choice in node.choices]
    if len(texts) == 1:
        return Step(node.id, (), 0)
    votes = [
        await _vote(session, "choose", language, texts, best, WALKING, situation=situation)
        for _ in range(session.settings.whole("votes"))
    ]
    picked = settle(votes)
    lot = session.rng.randrange(len(texts))
    return Step(node.id, tuple(votes), lot if picked is None else picked, picked is None)


async def answer(item: AbilityQuestion, session: Session) -> Answer:
    """Asks which utterance shows the ability, in several orders of the options."""
    situation = describe(session, "onlooker", item.language, item.people, item.scene, item.lines)
    votes = [
        await _vote(
            session,
            "ability",
            item.language,
            item.options,
            0,
            ANSWERING,
            situation=situation,
            me=item.people[0].name,
            question=item.question,
        )
        for _ in range(session.settings.whole("orders"))
    ]
    return Answer(tuple(votes), settle(votes))


async def speak(item: Crossroads, session: Session) -> Utterance:
    """Lets the subject say its own line first, then choose, and measures how near the candidates are to the line."""
    situation = describe(session, "situation", item.language, item.people, item.scene, item.lines)
    prompt = session.prompts.render("say", item.language, situation=situation, me=item.people[0].name)
    reply = await session.ask("subject", [user(prompt)], Free(key=item.candidates[0]), sampling=SPEAKING)
    said = reply.text.strip()
    vectors = await session.embed("embedder", [said or " ", *item.candidates])
    vote = await _vote(session, "choose", item.language, item.candidates, 0, ANSWERING, situation=situation)
    near = tuple(cosine(vectors[0], vector) for vector in vectors[1:])
    return Utterance(said, near, vote, session.identity_of("embedder"))


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle between two vectors; zero where one of them has no length."""
    length = math.sqrt(sum(x * x for x in one)) * math.sqrt(sum(x * x for x in other))
    return sum(x * y for x, y in zip(one, other, strict=True)) / length if length else 0.0


async def _vote(
    session: Session,
    prompt: str,
    language: str,
    texts: Sequence[str],
    key: int,
    sampling: Sampling,
    **values: str,
) -> Vote:
    order = shuffled(len(texts), session.rng)
    answer_format = ChoiceFormat(arrange(tuple(texts), order), key=order.index(key))
    options = render_options(answer_format.options, answer_format.labels)
    words = session.prompts.render(prompt, language, options=options, letters="/".join(answer_format.labels), **values)
    reply = await session.ask("subject", [user(words)], answer_format, sampling=sampling)
    reading = read_choice(reply.text, answer_format.options, answer_format.labels)
    session.note("read", rule=reading.rule)
    return Vote(order, None if reading.index is None else order[reading.index], reading.rule)


def settle(votes: Sequence[Vote]) -> int | None:
    """The option with most readable votes; among equals the one voted for first, so that guessing stays at chance."""
    picked = [vote.picked for vote in votes if vote.picked is not None]
    return max(dict.fromkeys(picked), key=picked.count) if picked else None


def describe(
    session: Session, prompt: str, language: str, people: Sequence[Person], scene: str, lines: Sequence[Line]
) -> str:
    """Who is there, what the protagonist wants, and what has been said; the others' secrets stay secret."""
    me, seen = people[0], dict[str, Person]()
    for other in people[1:]:
        seen.setdefault(other.name, other)
    return session.prompts.render(
        prompt,
        language,
        me=me.name,
        public=me.public or _NOTHING[language],
        private=me.private or _NOTHING[language],
        goal=me.goal or _NOTHING[language],
        others="\n".join(f"- {other.name}: {other.public}" for other in seen.values()) or _NOBODY[language],
        scene=scene or _NOTHING[language],
        story="\n".join(f"{line.speaker or _NARRATOR[language]}: {line.text}" for line in lines) or _NOTHING[language],
    )
