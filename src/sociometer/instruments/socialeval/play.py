"""The conversations: walking a tree to its end, answering an ability question, and speaking before choosing."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct, structs

from sociometer import reading
from sociometer.core.conversation import Choice, Free, Message, Sampling, user
from sociometer.core.errors import FailureKind, MachineryError, UsageError
from sociometer.core.language import ENGLISH, language_of, texts_in
from sociometer.core.session import Session
from sociometer.core.settings import PAPER, Settings, is_paper
from sociometer.core.source import AuthorsPrompt, Source
from sociometer.instruments._authors import from_format, python_text
from sociometer.instruments.socialeval.items import BOTH, WORDS, AbilityQuestion, Crossroads, TreeItem
from sociometer.instruments.socialeval.worldtree import GOAL_OPEN, Line, Node, Person, end_level, horizon, solve

FILE = "socialeval/evalprompt.py"
GOALS, ABILITIES, REPLY = f"{PAPER}/goals", f"{PAPER}/abilities", f"{PAPER}/reply"
_CONSTANTS = {
    GOALS: "Ending_Evaluation_Prompt_zhou",
    ABILITIES: "Skill_Evaluation_Prompt_zhou",
    REPLY: "Response_Prompt",
}
_TASKS = {"goals": (GOALS,), "abilities": (ABILITIES,), "utterances": (REPLY, GOALS)}
_SUFFIX = {"zh": "", "en": "_en"}
_STORY = frozenset(("character_name", "user_profile", "dialogue_context"))
_PLACEHOLDERS = {
    GOALS: _STORY | {"main_profile", "choices"},
    ABILITIES: _STORY | {"public", "private", "goal", "question", "choices"},
    REPLY: _STORY | {"main_profile", "len", "social_skill"},
}
_AUTHORS_NARRATOR = "旁白"
"""The speaker of lines without one; the authors' runner writes it in both languages."""


def authors_prompts(settings: Settings, tasks: Sequence[str]) -> Iterator[AuthorsPrompt]:
    """Yield the prompts that the tasks need, in the languages of the settings."""
    language = settings.text("language")
    if language not in (BOTH, *_SUFFIX):
        raise UsageError(f"the authors' prompts are in {' and '.join(_SUFFIX)}; --wording paper needs one of these.")
    for one in sorted(_SUFFIX) if language == BOTH else (language,):
        for name in dict.fromkeys(name for task in tasks for name in _TASKS.get(task, ())):
            read = partial(read_constant, name=_CONSTANTS[name] + _SUFFIX[one])
            yield AuthorsPrompt(name, _PLACEHOLDERS[name], FILE, read, language=one)


def read_constant(path: Path, *, name: str) -> str:
    """Return a constant of the authors' module with our placeholders."""
    return from_format(python_text(path, name)).strip()


def goal_values(people: Sequence[Person], lines: Iterable[Line]) -> dict[str, str]:
    """The values for the prompts of goals and replies: profiles as JSON, the others in one text."""
    me = people[0]
    others = "\n".join(f"{other.name}: {other.public}" for other in people[1:])
    profile = {"name": me.name, "public": me.public, "private": me.private, "goal": me.goal}
    return {
        "character_name": me.name,
        "main_profile": _json(profile),
        "user_profile": _json(others),
        "dialogue_context": "".join(f"{line.speaker or _AUTHORS_NARRATOR}: {line.text}\n" for line in lines),
    }


def ability_values(people: Sequence[Person], lines: Iterable[Line], question: str) -> dict[str, str]:
    """The values for the prompt of an ability question."""
    me = people[0]
    return {
        "character_name": me.name,
        "public": me.public,
        "private": me.private,
        "goal": me.goal,
        "user_profile": str([{"name": other.name, "info": other.public} for other in people[1:]]),
        "dialogue_context": "\n".join(f"{line.speaker or 'system'}: {line.text}" for line in lines),
        "question": question,
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


WALKING = Sampling(temperature=0.7, max_tokens=200)
ANSWERING = Sampling(temperature=0, max_tokens=200)
SPEAKING = Sampling(temperature=0.7, max_tokens=160)
AUTHORS_SAMPLING = Sampling(temperature=1.0)
"""The sampling of the authors' runner (`--wording paper`)."""
VOTES, AUTHORS_VOTES = 1, 3
Asking = Callable[[Choice], list[Message]]
"""The messages of a question as a function of its options in the order they are shown."""


class _Said(Struct, frozen=True):
    """The part of a reply to the authors' prompt that is used."""

    answer: str


class Step(Struct, frozen=True):
    """One choice of a walk: the node, the votes taken there, and the choice made.

    `drawn` says that no vote could be read and the choice was made at random, so that the story could continue.
    """

    node: int
    votes: tuple[reading.Vote, ...]
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
        """The number of random choices made because none was readable."""
        return sum(step.drawn for step in self.steps)


class Utterance(Struct, frozen=True):
    """The subject's free reply, the similarity of each candidate to it, and the candidate then picked."""

    said: str
    similarities: tuple[float, ...]
    vote: reading.Vote
    embedder: str = ""

    def first_replies(self) -> Utterance:
        """The outcome before any second question."""
        return structs.replace(self, vote=self.vote.first)


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
            text = "\n".join(line.text for line in node.lines)
            session.note("ending", node=node.id, level=end_level(node), text=text)
            return Walk(tuple(steps), node.id, end_level(node), "ending" if node.kind == "ending" else "no choices")
        asking = _asking_for_goal(session, tree.language, people, tree.scene, lines)
        step = await _step(session, tree.language, asking, node, solution.best_choices[node.id][0])
        steps.append(step)
        chosen = node.choices[step.picked]
        following = nodes.get(chosen.target)
        session.note("chose", node=node.id, choice=step.picked + 1, target=chosen.target, drawn=step.drawn)
        if following is None:
            return Walk(tuple(steps), node.id, GOAL_OPEN, "missing node")
        if not is_paper(session.settings):  # the authors' runner goes on without the line that was chosen
            lines.append(Line(tree.protagonist.name, chosen.text))
        node = following
    return Walk(tuple(steps), node.id, GOAL_OPEN, "too long")


async def _step(session: Session, language: str, asking: Asking, node: Node, best: int) -> Step:
    texts = [choice.text for choice in node.choices]
    if len(texts) == 1:
        return Step(node.id, (), 0)
    chosen = await _vote(session, asking, texts, _votes(session), best, WALKING, language)
    lot = session.rng.randrange(len(texts))
    return Step(node.id, chosen.votes, lot if chosen.picked is None else chosen.picked, chosen.picked is None)


async def answer(item: AbilityQuestion, session: Session) -> reading.ChoiceAnswer:
    """Asks which utterance shows the ability, in several orders of the options."""
    if is_paper(session.settings):
        values = ability_values(item.people, item.lines, item.question)
        asking = _in_authors_words(session, ABILITIES, item.language, values, ". ")
    else:
        situation = describe(session, "onlooker", item.language, item.people, item.scene, item.lines)
        me = item.people[0].name
        asking = _asking(session, "ability", item.language, situation=situation, me=me, question=item.question)
    orders = session.settings.whole("orders")
    return await _vote(session, asking, item.options, orders, 0, ANSWERING, item.language)


async def _vote(
    session: Session, asking: Asking, texts: Sequence[str], count: int, key: int, usual: Sampling, language: str
) -> reading.ChoiceAnswer:
    """The most votes over so many random orders of the options."""
    orders = (reading.shuffled(len(texts), session.rng) for _ in range(count))
    sampling = _sampling(session, usual)
    return await reading.ask_votes(
        session, asking, texts, orders, key=key, sampling=sampling, language=language, decide=reading.most_votes
    )


ENGLISH_EMBEDDERS = ("minilm",)


async def speak(item: Crossroads, session: Session) -> Utterance:
    """Asks for a free reply first, then for a choice, and measures the similarity of the candidates to the reply."""
    embedder = session.identity_of("embedder")
    if item.language != ENGLISH and any(name in embedder.lower() for name in ENGLISH_EMBEDDERS):
        told = language_of(item.language).english
        raise MachineryError(
            f"'{embedder}' was made for English and finds any two {told} sentences alike; add --language en, or give"
            " a multilingual model: --role embedder=MODEL.",
            FailureKind.ENGLISH_EMBEDDER,
            fatal=True,
        )
    said = await _said(item, session)
    vectors = await session.embed("embedder", [said or " ", *item.candidates])
    asking = _asking_for_goal(session, item.language, item.people, item.scene, item.lines)
    order = reading.shuffled(len(item.candidates), session.rng)
    vote = await reading.ask_choice(
        session,
        asking,
        item.candidates,
        order=order,
        key=0,
        sampling=_sampling(session, ANSWERING),
        language=item.language,
    )
    near = tuple(cosine(vectors[0], vector) for vector in vectors[1:])
    return Utterance(said, near, vote, embedder)


async def _said(item: Crossroads, session: Session) -> str:
    """What the subject says in its own words; the authors' prompt names the candidates' skills and a target length."""
    me = item.people[0].name
    if is_paper(session.settings):
        length = round(sum(map(len, item.candidates)) / len(item.candidates))
        values = goal_values(item.people, item.lines)
        skills = ", ".join(item.abilities)
        prompt = session.prompts.render(REPLY, item.language, **values, len=length, social_skill=skills)
    else:
        situation = describe(session, "situation", item.language, item.people, item.scene, item.lines)
        prompt = session.prompts.render("say", item.language, situation=situation, me=me)
    sampling = AUTHORS_SAMPLING if is_paper(session.settings) else SPEAKING
    reply = await session.ask("subject", [user(prompt)], Free(key=item.candidates[0]), sampling=sampling)
    said = reading.read_json(reply.text, _Said).value if is_paper(session.settings) else None
    return (reply.text if said is None else said.answer).strip().removeprefix(f"{me}:").strip()


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle between two vectors; zero if one of them has no length."""
    length = math.sqrt(sum(x * x for x in one)) * math.sqrt(sum(x * x for x in other))
    return sum(x * y for x, y in zip(one, other, strict=True)) / length if length else 0.0


def _votes(session: Session) -> int:
    """The number of option orders of a choice: the setting, or else one, and three in the authors' words."""
    given = session.settings["votes"]
    return (
        (AUTHORS_VOTES if is_paper(session.settings) else VOTES) if given is None else session.settings.whole("votes")
    )


def _sampling(session: Session, usual: Sampling) -> Sampling:
    return AUTHORS_SAMPLING if is_paper(session.settings) else reading.with_room(session, usual)


def _asking_for_goal(
    session: Session, language: str, people: Sequence[Person], scene: str, lines: Sequence[Line]
) -> Asking:
    """The prompt that asks for the protagonist's next move, in the wording of the settings."""
    if not is_paper(session.settings):
        return _asking(
            session, "choose", language, situation=describe(session, "situation", language, people, scene, lines)
        )
    return _in_authors_words(session, GOALS, language, goal_values(people, lines), f": {people[0].name}: ")


def _in_authors_words(session: Session, prompt: str, language: str, values: dict[str, str], between: str) -> Asking:
    """The authors' prompt as a function of the options in the order they are shown; `between` follows a label."""

    def messages(choice: Choice) -> list[Message]:
        shown = (f"{label}{between}{option}" for label, option in zip(choice.labels, choice.options, strict=True))
        return [user(session.prompts.render(prompt, language, **values, choices="\n".join(shown)))]

    return messages


def _asking(session: Session, prompt: str, language: str, **values: str) -> Asking:
    """The prompt as a function of the options in the order they are shown."""

    def messages(choice: Choice) -> list[Message]:
        shown = {"options": reading.render_options(choice)}
        shown["how"] = reading.answer_line(session, language, letters="/".join(choice.labels))
        return [user(session.prompts.render(prompt, language, **shown, **values))]

    return messages


def describe(
    session: Session | Source, prompt: str, language: str, people: Sequence[Person], scene: str, lines: Sequence[Line]
) -> str:
    """Who is there, what the protagonist wants, and what has been said; the others' secrets stay secret."""
    me, seen, words = people[0], dict[str, Person](), texts_in(WORDS, language)
    for other in people[1:]:
        seen.setdefault(other.name, other)
    return session.prompts.render(
        prompt,
        language,
        me=me.name,
        public=me.public or words["nothing"],
        private=me.private or words["nothing"],
        goal=me.goal or words["nothing"],
        others="\n".join(f"- {other.name}: {other.public}" for other in seen.values()) or words["nobody"],
        scene=scene or words["nothing"],
        story="\n".join(f"{line.speaker or words['narrator']}: {line.text}" for line in lines) or words["nothing"],
    )
