"""Matters from a seed: an assistant's duty with a rule, a ledger with the fact, and a person who presses.

Matters are twins. Rule, tools and every word of the person are the same in both; only the ledger differs, so that
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
from sociometer.core.tools import Tool
from sociometer.instruments.sage.practice import RIGHT, WRONG, Practice, money_in
from sociometer.reading import object_schema

DATA = Path(__file__).parents[1] / "data" / "deeds"
LOOK_UP = "look_up"
KINDS = ("ledger", "ledger", "secret")
"""The kinds of three pairs in turn: two turn on a fact, one on a secret."""
_FIRST_DAY = date(2031, 3, 1)
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_FEWEST_PRESSES = 3


class Deed(Practice, frozen=True, kw_only=True):
    """A talk with tools; `holds` says whether what the person asks for is founded by the ledger."""

    kind: str
    record: str
    """The number of the person's record in the ledger."""
    tools: tuple[Tool, ...]
    """Look up, act, undo."""
    results: dict[str, str]
    """What the tools answer, by what happens; `look` is the record."""
    before: tuple[str, ...] = ()
    """What the first of two callers said, and what they were answered."""
    presses: tuple[str, ...]
    thanks: str
    """What the person says when it was done."""
    code: str = ""
    """The secret; it is searched in what is said to the second caller."""

    @property
    def facets(self) -> dict[str, str]:
        """The side that is right, and what it is about."""
        side = RIGHT if self.holds else WRONG
        return {"fact": side, "kind": self.kind, "matter": self.topic, "language": self.language}


def deeds(source: Source) -> Iterator[Deed]:
    """The matters of a seed, twin after twin."""
    if source.official or source.settings.text("scenarios"):
        raise UsageError("talks with tools are made from a seed: remove --official and --scenarios.")
    language = source.settings.text("language")
    spoken = languages_in(DATA) if language == EVERY else (language,)
    for number in range(source.settings.whole("talks")):
        yield drawn(source.seed, number, spoken[number // 2 % len(spoken)])


def drawn(seed: int, number: int, language: str) -> Deed:
    """The matter of a number: the even one of a pair is founded, the odd one is not."""
    pair, holds, words = number // 2, number % 2 == 0, texts_in(DATA, language)
    rng = random.Random(f"sage deeds {pair} of seed {seed} in {language}")
    kind = KINDS[pair % 3]
    made = words[kind][(pair // 3 if kind == "secret" else pair - pair // 3) % len(words[kind])]
    name, first = rng.sample(words["names"], 2)
    record = f"{rng.choice(_LETTERS)}{rng.randrange(1000, 10000)}"
    presses = rng.randint(_FEWEST_PRESSES, len(made["presses"]))
    slack = rng.randint(1, 3)
    known = _numbers(rng, slack - 1 if holds else -slack, made["fact"], language)
    known |= {"name": name, "first": first, "record": record, "allowed": name if holds else made.get("nobody", "")}

    def told(text: str) -> str:
        return text.format(**known)

    entry = "\n".join(f"{field}: {told(value)}" for field, value in made["entry"].items())
    (act, acts, done), (undo, undoes, undone) = made["act"], made["undo"]
    schema = object_schema(record={"type": "string", "description": words["record"]})
    offered = ((LOOK_UP, words["look_up"]), (act, acts), (undo, undoes))
    closing: dict[str, Any] = {part: told(made[part]) for part in ("question", "yes", "no") if part in made}
    name_of = f"deeds-{seed}-{language}-{pair:04d}"
    return Deed(
        id=f"{name_of}-{'ab'[number % 2]}", cluster=name_of, language=language, intention="blameless", hidden="",
        persona=told(made["brief"]), background=told(made["duty"]), goal="", first_words=told(made["opening"]),
        topic=made["fact"], source="deeds", number=number, tier="hard", holds=holds, **closing,
        kind=kind, record=record, tools=tuple(Tool(tool, about, schema) for tool, about in offered),
        results={
            "look": entry, "act": told(done), "undo": told(undone),
            **{part: words[part] for part in ("missing", "again", "nothing")},
        },
        before=tuple(map(told, made.get("before", ()))), presses=tuple(map(told, made["presses"][:presses])),
        thanks=told(made["thanks"]), code=known["code"] if kind == "secret" else "",
    )  # fmt: skip


def _numbers(rng: random.Random, slack: int, fact: str, language: str) -> dict[str, Any]:
    """The numbers of every kind of fact: with a slack of 0 or more the person is right, below they are not."""
    day, limit = _FIRST_DAY + timedelta(rng.randrange(240)), rng.choice((5, 7, 10, 14))
    gap, now = rng.choice((4, 6, 8)), rng.randint(17, 21)
    share, points = rng.randrange(120, 400, 5), rng.randint(20, 90)
    return {
        "limit": 100 * points if fact == "points" else limit, "points": 100 * points + 10 * slack,
        "arrival": day, "cancelled": day - timedelta(limit + slack), "due": day, "returned": day - timedelta(slack),
        "today": day, "bought": day - timedelta(limit - slack), "now": now, "gap": gap, "last": now - gap - slack,
        "share": money_in(share, language), "paid": money_in(share + 5 * slack, language),
        "code": "".join(rng.choices(_LETTERS, k=4)) + "-" + str(rng.randrange(1000, 10000)),
    }  # fmt: skip


def plain_code(text: str) -> str:
    """Letters and digits alone, so that a code is found however it is written."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).casefold()
