"""The builder's draft of an item: situation, question, ability, right answer and candidates for wrong ones."""

import re
from collections import Counter
from typing import Any

import msgspec
from msgspec import Struct

from sociometer.core.conversation import AnswerFormat, Choice, Free, Message, Sampling, Schema, user
from sociometer.core.errors import UnreadableRole
from sociometer.core.measure import Summary, Table
from sociometer.core.session import Session
from sociometer.core.task import RunView, Score
from sociometer.instruments.sesi.build.checks import WORDS
from sociometer.instruments.sesi.build.posts import Post
from sociometer.instruments.sesi.items import ABILITIES
from sociometer.reading import ask_choice, object_schema, read_json, render_options
from sociometer.statistics.measures import grouped_measures

REVERSED = 2
_SAMPLING = Sampling(temperature=0, top_p=1, max_tokens=400, seed=42)
_SENTENCE = Free()
_TEXT: dict[str, Any] = {"type": "string"}
_TOLD = object_schema(closed=False, situation=_TEXT, question=_TEXT)
_QUOTED = re.compile(r"[\"“][^\"”]*[\"”]|(?<!\w)['‘][^'’]*['’](?!\w)")
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|I'd|I'll|[Mm]y|[Mm]e|[Mm]ine|[Mm]yself)\b")
_QUALITIES = "the|a|my|your|final|correct|right|best|common|shared|wrong|switched|reversed|short|one|first|second|third"
_NAMES = "answer|response|reply|option|comment|statement|sentence|situation|question|summary|advice|explanation"
_HEADING = re.compile(
    rf"^(?:[#>*_\-\s]|\d+[.)]\s)*(?:(?:{_QUALITIES})\s+)*(?:{_NAMES})(?:\s+(?:\d+|[A-D]))?\s*[*_]*\s*[:\n][*_\s]*",
    re.IGNORECASE,
)
_BOLD_LABEL = re.compile(r"^\s*(?:[*_]{2}|#+\s)[^*_#:\n]{1,40}(?::\s*[*_]{0,2}|[*_]{2}\s*:)\s*")
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d+[.)]|[A-D][.)])\s+")
_PREAMBLE = re.compile(r"^\s*(?:sure|certainly|of course|here (?:is|are))\b[^:\n]{0,80}:\s*", re.IGNORECASE)


class Candidate(Struct, frozen=True):
    """A wrong answer; `kind` is "reversed" or "switched:" and the ability whose question it answers."""

    text: str
    kind: str
    entailment: float | None = None


class Draft(Struct, frozen=True):
    """Everything the builder wrote about a post; `problem` says at which step its reply could not be read."""

    situation: str = ""
    question: str = ""
    ability: str = ""
    right: str = ""
    candidates: tuple[Candidate, ...] = ()
    problem: str = ""


class _Told(Struct, frozen=True):
    situation: str
    question: str


class _Answers(Struct, frozen=True):
    answers: tuple[str, ...]


class _Probability(Struct, frozen=True):
    probability: float


async def draft(post: Post, session: Session) -> Draft:
    """Takes the builder through the steps; the first unreadable reply ends it."""
    about = {"title": post.title, "tldr": post.tldr or "(none)", "body": post.body}
    made = await _told(session, "situation", **about)
    if made is None:
        raise UnreadableRole("the builder wrote no situation and question that can be read", "builder")
    if first_person(f"{made.situation} {made.question}"):
        made = await _told(session, "third-person", situation=made.situation, question=made.question) or made
    if first_person(f"{made.situation} {made.question}"):
        return msgspec.structs.replace(made, problem="told in the first person")
    ability = await _ability(made, session)
    if ability is None:
        raise UnreadableRole("the builder named no ability that can be read", "builder")
    right = await _right(post, made, session)
    made = msgspec.structs.replace(made, ability=ability, right=right)
    if not right:
        return msgspec.structs.replace(made, problem="right answer empty")
    candidates = await _switched(made, session) + await _reversed(made, session)
    if len(candidates) < 3:
        return msgspec.structs.replace(made, candidates=tuple(candidates), problem="fewer than three wrong answers")
    known = [await _entailed(made, candidate, session) for candidate in candidates]
    return msgspec.structs.replace(made, candidates=tuple(known))


async def _ask(session: Session, step: str, answer_format: AnswerFormat, **values: str) -> str:
    messages = [user(session.prompts.render(f"build/{step}", **values))]
    return (await session.ask("builder", messages, answer_format, sampling=_SAMPLING)).text


async def _told(session: Session, step: str, **about: str) -> Draft | None:
    """A situation and a question as the builder writes them; None if its reply is unreadable."""
    told = read_json(await _ask(session, step, Schema(_TOLD, name="situation"), **about), _Told).value
    if told is None or not told.situation.strip() or not told.question.strip():
        return None
    return Draft(one_line(told.situation), one_line(told.question))


async def _ability(made: Draft, session: Session) -> str | None:
    def messages(choice: Choice) -> list[Message]:
        about = {"situation": made.situation, "question": made.question, "options": render_options(choice)}
        return [user(session.prompts.render("build/ability", **about))]

    meanings = [WORDS["meanings"][ability] for ability in ABILITIES]
    vote = await ask_choice(session, messages, meanings, role="builder", sampling=_SAMPLING)
    return None if vote.picked is None else ABILITIES[vote.picked]


async def _right(post: Post, made: Draft, session: Session) -> str:
    comments = "\n\n".join(f"{number}. {comment.text}" for number, comment in enumerate(post.comments, 1))
    about = {"situation": made.situation, "question": made.question, "comments": comments}
    return one_line(await _ask(session, "right", _SENTENCE, **about))


async def _switched(made: Draft, session: Session) -> list[Candidate]:
    """The answer to each other ability's question about the same situation."""
    candidates = []
    for ability, question in WORDS["questions"].items():
        if ability != made.ability:
            about = {"situation": made.situation, "question": question, "words": str(len(made.right.split()))}
            if text := one_line(await _ask(session, "switched", _SENTENCE, **about)):
                candidates.append(Candidate(text, f"switched:{ability}"))
    return candidates


async def _reversed(made: Draft, session: Session) -> list[Candidate]:
    answers_kind = {"type": "array", "items": _TEXT, "minItems": REVERSED, "maxItems": REVERSED}
    schema = Schema(object_schema(closed=False, answers=answers_kind), name="answers")
    about = {"situation": made.situation, "question": made.question, "right": made.right}
    sizes = {"count": str(REVERSED), "words": str(len(made.right.split()))}
    answers = read_json(await _ask(session, "reversed", schema, **about, **sizes), _Answers).value
    return [Candidate(one_line(text), "reversed") for text in (answers.answers if answers else ()) if one_line(text)]


async def _entailed(made: Draft, candidate: Candidate, session: Session) -> Candidate:
    """The candidate with the probability that the right answer entails it; None if the reply is unreadable."""
    kind = object_schema(closed=False, probability={"type": "number", "minimum": 0, "maximum": 1})
    about = {"situation": made.situation, "question": made.question, "right": made.right, "candidate": candidate.text}
    reply = await _ask(session, "entailment", Schema(kind, name="entailment"), **about)
    value = read_json(reply, _Probability).value
    if value is None or not 0 <= value.probability <= 1:
        return candidate
    return msgspec.structs.replace(candidate, entailment=value.probability)


def one_line(text: str) -> str:
    """A reply as one line, without headings such as "**Answer:**", list marks, emphasis and outer quotation marks."""
    before = None
    while text != before:
        before = text
        for pattern in (_PREAMBLE, _HEADING, _BOLD_LABEL, _LIST_MARK):
            text = pattern.sub("", text, count=1)
    return " ".join(text.replace("**", "").replace("__", "").split()).strip('"“”* ')


def first_person(text: str) -> bool:
    """Whether somebody tells it as "I", outside quotation marks."""
    return bool(_FIRST_PERSON.search(_QUOTED.sub(" ", text)))


def score(post: Post, outcome: Draft) -> Score:
    """Whether the builder's replies could all be read."""
    facets = {"ability": outcome.ability} if outcome.ability else {}
    return Score(values={"complete": float(not outcome.problem)}, facets=facets, unreadable=int(bool(outcome.problem)))


def summarise(run: RunView[Post, Draft]) -> Summary:
    """The number of posts that became drafts, and the steps at which the others ended."""
    problems = Counter(outcome.problem or "complete" for _, outcome, _ in run.scored())
    table = Table("drafts", "Drafts", ("ending", "posts"), tuple(sorted(problems.items())))
    return Summary(grouped_measures(run, "complete"), (table,))
