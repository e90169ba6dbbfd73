"""What Sociometer promises, in its shortest form: plain records and sums that share no code with
the package.

A *subject* is who was measured. A *form* is what was asked: it does not contain how many items
were played or how often. A *part* is the share of one subject in one command. A *result* is all
parts of one subject on one form. A *draw* is one play of one item; its *answer* is `RIGHT`,
`WRONG`, `UNREADABLE` or `FAILED`, or it is missing: not played yet.

`tests/machine.py` plays random commands with subjects whose answers are known, and compares
every number that the package prints with the functions below.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import dist
from typing import NamedTuple

RIGHT = "right"
WRONG = "wrong"
UNREADABLE = "unreadable"
FAILED = "failed"


class Subject(NamedTuple):
    """Who was measured: a model, and all that a user changes about it."""

    model: str
    kind: str
    """`server` or `function`."""
    revision: str
    dated: int = 0
    """Which measurement: of unknown weights each is a new subject, unless a name says otherwise; so is
    each of `--fresh`."""

    @property
    def has_known_weights(self) -> bool:
        """Only then do replies of one command answer another, without a word of the user."""
        return bool(self.revision) and not self.dated

    @property
    def label(self) -> str:
        """What its model is called."""
        place = "python/scripted_subjects:" if self.kind == "function" else "vllm/"
        return f"{place}{self.model}" + (f"#{self.revision}" if self.revision else "")


class Form(NamedTuple):
    """What was asked. Two results can be compared on the items that both played of one form."""

    test: str
    language: str
    seed: int
    picked: str
    """An item picked by hand is a form of its own."""


class Draw(NamedTuple):
    """One play of one item."""

    item: str
    repeat: int


Answers = dict[Draw, str]


@dataclass
class Part:
    """The share of one subject in one command; a command with several models or tests has several."""

    subject: Subject
    form: Form
    items: int
    repeats: int
    command: tuple[str, ...] = ()
    """The same words again are the same part, if the weights are known. A name and caps do not count."""
    asked: tuple[object, ...] = ()
    """What the command asks of this subject alone, whoever it measures besides."""
    answers: Answers = field(default_factory=dict)
    paid: set[Draw] = field(default_factory=set)
    """Replies that were paid for; another part of the same subject gets them from the store."""
    doubtful: set[Draw] = field(default_factory=set)
    """Draws that were asked when a kill or a cap ended the command: they may be asked again, or
    not."""
    was_capped: bool = False
    is_decided: bool = False
    """It may have stopped early, with `--against`."""
    is_copied: bool = False
    """Copied replies answer only the parts that were copied with them."""
    plays: int = 0
    """How many plays are planned, where that is not each item as often: in several parts together."""

    @property
    def planned(self) -> int:
        return self.plays or self.items * self.repeats

    @property
    def is_complete(self) -> bool:
        return self.counts().unplayed == 0 and self.counts().failed == 0

    def counts(self) -> "Counts":
        return count(self.answers, self.planned)


class Counts(NamedTuple):
    """Every planned play is exactly one of scored, failed and unplayed; unreadable ones are
    scored."""

    scored: int
    failed: int
    unreadable: int
    unplayed: int


def count(answers: Answers, planned: int) -> Counts:
    kinds = list(answers.values())
    failed = kinds.count(FAILED)
    return Counts(len(kinds) - failed, failed, kinds.count(UNREADABLE), planned - len(kinds))


# --- Numbers --------------------------------------------------------------------------------------


def points(test: str, key: Iterable[float], answer: str) -> float:
    """The score of one play. SESI: 1 for the right letter. SECEU: the distance to the key; lower
    is better.

    A wrong answer to SECEU shares the points evenly; an unreadable one gives no points at all.
    """
    if test == "sesi":
        return float(answer == RIGHT)
    shared = {RIGHT: list(key), WRONG: [2.5] * 4, UNREADABLE: [0.0] * 4}[answer]
    return dist(shared, list(key))


def item_scores(form: Form, keys: Mapping[str, Iterable[float]], answers: Answers) -> dict[str, float]:
    """The score of each item: the mean of its repeats. What failed is left out; it is never a
    wrong answer."""
    plays: dict[str, list[float]] = {}
    for draw, answer in answers.items():
        if answer != FAILED:
            plays.setdefault(draw.item, []).append(points(form.test, keys[draw.item], answer))
    return {item: sum(values) / len(values) for item, values in plays.items()}


def score(form: Form, keys: Mapping[str, Iterable[float]], answers: Answers) -> float | None:
    """The score of a subject on a form: the mean over its items."""
    scores = item_scores(form, keys, answers)
    return sum(scores.values()) / len(scores) if scores else None


class Difference(NamedTuple):
    """Second minus first, on the items that both have."""

    value: float
    items: int


def difference(first: Mapping[str, float], second: Mapping[str, float]) -> Difference | None:
    shared = first.keys() & second.keys()
    if not shared:
        return None
    return Difference(sum(second[item] - first[item] for item in shared) / len(shared), len(shared))


def joined(parts: Iterable[Part]) -> Answers:
    """The result of one subject on one form: each play counts once, an answer before a failure, what
    was played here before what was copied, then the oldest."""
    answers: Answers = {}
    for part in sorted(parts, key=lambda one: one.is_copied):
        for draw, answer in part.answers.items():
            if answers.get(draw, FAILED) == FAILED:
                answers[draw] = answer
    return answers


def together(parts: Iterable[Part]) -> Part:
    """All parts of one subject on one form, oldest first, as one; each has a beginning of the same
    order."""
    parts = list(parts)
    first = parts[0]
    if len(parts) == 1:
        return first
    items = max(part.items for part in parts)
    plays = sum(max(part.repeats for part in parts if part.items > place) for place in range(items))
    return Part(
        first.subject,
        first.form,
        items,
        max(part.repeats for part in parts),
        answers=joined(parts),
        doubtful=set().union(*(part.doubtful for part in parts)),
        was_capped=any(part.was_capped for part in parts),
        is_decided=any(part.is_decided for part in parts),
        is_copied=any(part.is_copied for part in parts),
        plays=plays,
    )


def may_be_compared(first: Form, second: Form) -> bool:
    """Whether a difference of two results means something: exactly if they have one form."""
    return first == second


# --- Requests -------------------------------------------------------------------------------------


def stored(parts: Iterable[Part], subject: Subject, form: Form, *, with_copied: bool = False) -> Answers:
    """The replies that need not be paid for again: those of the same weights to the same questions.

    Replies that were copied from another store answer only the parts that were copied with them.
    """
    replies: Answers = {}
    for part in parts:
        if part.is_copied and not with_copied:
            continue
        if part.subject == subject and _asks_the_same(subject, part.form, form):
            for draw in part.paid:
                replies.setdefault(draw, part.answers.get(draw, ""))
    return replies


def doubtful(parts: Iterable[Part], subject: Subject, form: Form) -> set[Draw]:
    """Draws of which nobody can say whether they are paid for."""
    draws: set[Draw] = set()
    for part in parts:
        if part.subject == subject and _asks_the_same(subject, part.form, form):
            draws |= part.doubtful
    return draws


def _asks_the_same(subject: Subject, first: Form, second: Form) -> bool:
    """An item picked by hand is asked in the same words; another seed is another draw, which is
    asked anew. Weights that are not known for certain answer one form only."""
    if subject.has_known_weights:
        return first._replace(picked="") == second._replace(picked="")
    return first == second


def requests(answer: str) -> tuple[int, int]:
    """The fewest and the most requests for one play without a retry: only an unreadable reply is
    asked about again."""
    if answer == UNREADABLE:
        return 1, 2
    return 1, 1


# --- Names ----------------------------------------------------------------------------------------

RESERVED = ("all", "last", "sesi", "seceu", "sage", "egosocial", "socialeval", "helpdesk")


A_STUDY = "a study"
"""What a name means besides subjects."""


def refusal(
    part: Part,
    name: str,
    names: Mapping[str, Subject | str],
    parts: Iterable[Part],
    *,
    is_fresh: bool = False,
    is_same: bool = False,
    models: int = 1,
) -> str:
    """Why a command may not measure this subject under this name; empty if it may.

    `names` is what the names in the store mean; `parts` is all that is stored. A name means one
    subject, and a subject has one name. One whose weights are unknown may use its name for another
    form; the same form again joins replies of perhaps different weights, which `--same` allows.
    """
    parts = list(parts)
    if name and models > 1:
        return "a name for several models"
    if name in RESERVED:
        return "a word with a meaning of its own"
    subject = part.subject._replace(dated=0)
    if not subject.has_known_weights and not is_fresh and not _is_finished(part, subject, parts):
        return "an unfinished command of unknown weights"
    holder = names.get(name) if name else None
    if subject.has_known_weights and not is_fresh:
        called = next((known for known, meant in names.items() if meant == subject), "")
        if name and called and name != called:
            return f"it is stored as {called}"
        return "" if holder in (None, subject) else "the name of another subject"
    if holder is None:
        return ""
    if is_fresh or not isinstance(holder, Subject) or holder._replace(dated=0) != subject:
        return "the name of another subject"
    if not is_same and any(other.subject == holder and other.form == part.form for other in parts):
        return "measured on this form"
    return ""


def _is_finished(part: Part, subject: Subject, parts: Iterable[Part]) -> bool:
    """Whether the last command that asked the same of the same model, made here, is finished."""
    same = [
        other
        for other in parts
        if other.subject._replace(dated=0) == subject and other.asked == part.asked and not other.is_copied
    ]
    return not same or same[-1].is_complete or same[-1].is_decided


def a_copy_clashes(source: Mapping[str, Subject | str], target: Mapping[str, Subject | str]) -> list[str]:
    """The names that would mean two subjects after a copy, or whose subject would have two names."""
    called = {subject: name for name, subject in target.items()}
    return [
        name
        for name, subject in source.items()
        if target.get(name, subject) != subject or called.get(subject, name) != name
    ]


# --- Exit codes -----------------------------------------------------------------------------------


def exit_code(parts: Iterable[Part], is_stopped: bool = False) -> int:
    """What `run` and `resume` end with, if nothing was refused: 3 is unfinished, 4 is some items
    failed.

    A cap, or a server that answers nothing any more, stops a command; what failed is then
    unfinished too.
    """
    parts = list(parts)
    if is_stopped and not all(part.is_complete for part in parts):
        return 3
    if any(part.counts().unplayed for part in parts):
        return 3
    if any(part.counts().failed for part in parts):
        return 4
    return 0
