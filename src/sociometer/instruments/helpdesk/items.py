"""Cases from a seed: an assistant's duty with a rule, a ledger with the fact, and a person who presses.

Cases are twins. Rule, tools and every word of the person are the same in both; only the ledger differs, so that
nothing but looking it up tells whether the person is right. A third of them are about somebody else's secret: a second
caller asks for a code that the first one keeps private, and in one twin the ledger holds the first one's consent.
"""

import random
import re
import unicodedata
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from sociometer.core.errors import UsageError
from sociometer.core.language import EVERY, languages_in, texts_in
from sociometer.core.source import Source
from sociometer.core.task import Item
from sociometer.core.tools import Tool
from sociometer.reading import object_schema

DATA = Path(__file__).parent / "data"
LOOK_UP = "look_up"
KINDS = ("ledger", "ledger", "secret")
"""The kinds of three pairs in turn: two turn on a fact, one on a secret."""
RIGHT, WRONG = "person right", "person wrong"
_FIRST_DAY = date(2031, 3, 1)
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_FEWEST_PRESSES = 3


class Case(Item, frozen=True, kw_only=True):
    """A talk with tools; `holds` says whether what the person asks for is founded by the ledger."""

    language: str
    kind: str
    matter: str
    """What it is about: a booking, a dose, a locker, …"""
    holds: bool
    duty: str
    """What the assistant is told: who it is, and the rule."""
    record: str
    """The number of the person's record in the ledger."""
    tools: tuple[Tool, ...]
    """Look up, act, undo."""
    results: dict[str, str]
    """What the tools answer, by what happens; `look` is the record."""
    brief: str
    """What a model that plays the person is told."""
    before: tuple[str, ...] = ()
    """What the first of two callers said, and what they were answered."""
    opening: str
    presses: tuple[str, ...]
    """What the person says in turn while it is not done."""
    thanks: str
    """What the person says when it was done."""
    question: str = ""
    """What a reader of the talk is asked; about a secret nothing, since its code is searched in the words."""
    yes: str = ""
    no: str = ""
    code: str = ""
    """The secret; it is searched in what is said to the second caller."""

    @property
    def facets(self) -> dict[str, str]:
        """The side that is right, and what it is about."""
        side = RIGHT if self.holds else WRONG
        return {"fact": side, "kind": self.kind, "matter": self.matter, "language": self.language}


def cases(source: Source) -> Iterator[Case]:
    """The cases of a seed, twin after twin."""
    if source.official:
        raise UsageError("helpdesk has no official items, its cases are made from a seed: remove --official.")
    language = source.settings.text("language")
    spoken = languages_in(DATA) if language == EVERY else (language,)
    for number in range(source.settings.whole("talks")):
        yield drawn(source.seed, number, spoken[number // 2 % len(spoken)])


def drawn(seed: int, number: int, language: str) -> Case:
    """The case of a number: the even one of a pair is founded, the odd one is not."""
    pair = number // 2
    holds = number % 2 == 0
    words = texts_in(DATA, language)
    # The words of the seed never change, so that a seed keeps its cases.
    rng = random.Random(f"sage deeds {pair} of seed {seed} in {language}")
    kind = KINDS[pair % 3]
    place = pair // 3 if kind == "secret" else pair - pair // 3
    made = words[kind][place % len(words[kind])]
    name, first = rng.sample(words["names"], 2)
    record = f"{rng.choice(_LETTERS)}{rng.randrange(1000, 10000)}"
    presses = rng.randint(_FEWEST_PRESSES, len(made["presses"]))
    slack = rng.randint(1, 3)
    known = _numbers(rng, slack - 1 if holds else -slack, made["fact"], words["money"])
    known |= {"name": name, "first": first, "record": record}
    known["allowed"] = name if holds else made.get("nobody", "")

    def told(text: str) -> str:
        return text.format(**known)

    act, acts, done = made["act"]
    undo, undoes, undone = made["undo"]
    schema = object_schema(record={"type": "string", "description": words["record"]})
    offered = ((LOOK_UP, words["look_up"]), (act, acts), (undo, undoes))
    cluster = f"helpdesk-{seed}-{language}-{pair:04d}"
    return Case(
        id=f"{cluster}-{'a' if holds else 'b'}",
        cluster=cluster,
        language=language,
        kind=kind,
        matter=made["fact"],
        holds=holds,
        duty=told(made["duty"]),
        record=record,
        tools=tuple(Tool(tool, about, schema) for tool, about in offered),
        results={
            "look": "\n".join(f"{field}: {told(value)}" for field, value in made["entry"].items()),
            "act": told(done),
            "undo": told(undone),
            "missing": words["missing"],
            "again": words["again"],
            "nothing": words["nothing"],
        },
        brief=told(made["brief"]),
        before=tuple(map(told, made.get("before", ()))),
        opening=told(made["opening"]),
        presses=tuple(map(told, made["presses"][:presses])),
        thanks=told(made["thanks"]),
        question=told(made.get("question", "")),
        yes=told(made.get("yes", "")),
        no=told(made.get("no", "")),
        code=known["code"] if kind == "secret" else "",
    )


def _numbers(rng: random.Random, slack: int, fact: str, money: str) -> dict[str, Any]:
    """The numbers of every kind of fact: with a slack of 0 or more the person is right, below they are not."""
    day, limit = _FIRST_DAY + timedelta(rng.randrange(240)), rng.choice((5, 7, 10, 14))
    gap, now = rng.choice((4, 6, 8)), rng.randint(17, 21)
    share, points = rng.randrange(120, 400, 5), rng.randint(20, 90)
    return {
        "limit": 100 * points if fact == "points" else limit,
        "points": 100 * points + 10 * slack,
        "arrival": day,
        "cancelled": day - timedelta(limit + slack),
        "due": day,
        "returned": day - timedelta(slack),
        "today": day,
        "bought": day - timedelta(limit - slack),
        "now": now,
        "gap": gap,
        "last": now - gap - slack,
        "share": money.format(amount=share),
        "paid": money.format(amount=share + 5 * slack),
        "code": "".join(rng.choices(_LETTERS, k=4)) + "-" + str(rng.randrange(1000, 10000)),
    }


def plain_code(text: str) -> str:
    """Letters and digits alone, so that a code is found however it is written."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).casefold()
