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
    """`--fresh` always measures a new subject."""

    @property
    def has_known_weights(self) -> bool:
        """Only then do replies of one command answer another."""
        return bool(self.revision)


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
    """The same words again are the same part, if the weights are known."""
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

    @property
    def planned(self) -> int:
        return self.items * self.repeats

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
    """The result of one subject on one form: each play counts once, an answer before a failure,
    then the oldest."""
    answers: Answers = {}
    for part in parts:
        for draw, answer in part.answers.items():
            if answers.get(draw, FAILED) == FAILED:
                answers[draw] = answer
    return answers


def may_be_compared(first: Form, second: Form) -> bool:
    """Whether a difference of two results means something: exactly if they have one form."""
    return first == second


# --- Requests -------------------------------------------------------------------------------------


def stored(parts: Iterable[Part], subject: Subject, form: Form, *, with_copied: bool = False) -> Answers:
    """The replies that need not be paid for again: those of the same weights to the same questions.

    Replies that were copied from another store answer only the parts that were copied with them.
    """
    replies: Answers = {}
    if not subject.has_known_weights:
        return replies
    for part in parts:
        if part.is_copied and not with_copied:
            continue
        if part.subject == subject and _asks_the_same(part.form, form):
            for draw in part.paid:
                replies.setdefault(draw, part.answers.get(draw, ""))
    return replies


def doubtful(parts: Iterable[Part], subject: Subject, form: Form) -> set[Draw]:
    """Draws of which nobody can say whether they are paid for."""
    draws: set[Draw] = set()
    for part in parts:
        if part.subject == subject and _asks_the_same(part.form, form):
            draws |= part.doubtful
    return draws


def _asks_the_same(first: Form, second: Form) -> bool:
    """An item picked by hand is asked in the same words; another seed is another draw, which is
    asked anew."""
    return first._replace(picked="") == second._replace(picked="")


def requests(answer: str) -> tuple[int, int]:
    """The fewest and the most requests for one play without a retry: only an unreadable reply is
    asked about again."""
    if answer == UNREADABLE:
        return 1, 2
    return 1, 1


# --- Names ----------------------------------------------------------------------------------------

RESERVED = ("all", "last", "sesi", "seceu", "sage", "egosocial", "socialeval", "helpdesk")


def may_have_name(name: str, part: Part, holders: Iterable[Part], models: int) -> bool:
    """Whether a command may call its subject by this name; `holders` are the parts of whoever has
    it now.

    A name means one subject. One whose weights are unknown may use its name for another test;
    the same test again would join replies of perhaps different weights.
    """
    if name in RESERVED or models > 1:
        return False
    for holder in holders:
        if holder.subject != part.subject:
            return False
        if not part.subject.has_known_weights and holder.form == part.form:
            return False
    return True


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
