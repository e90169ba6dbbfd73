"""Relationship quality from the inner thoughts (after Barrett-Lennard), and conversation quality from the words."""

import asyncio
from statistics import fmean
from typing import Annotated

from msgspec import Meta, Struct

from sociometer.core.conversation import Sampling
from sociometer.core.measure import Summary
from sociometer.core.session import Session
from sociometer.core.task import RunView, Score
from sociometer.instruments.sage.dialogue import StoredDialogue
from sociometer.instruments.sage.judges.asking import ask_judge, rendered, simulators_met
from sociometer.instruments.sage.person.talk import quote_mark
from sociometer.reading import object_schema
from sociometer.reading.quotation import quote
from sociometer.statistics.measures import grouped_measures

DIMENSIONS = ("understanding", "regard", "congruence", "unconditionality")
QUALITIES = ("flow", "attentiveness", "depth")
STATEMENTS_EACH = 3
PASSES = 3
REVERSED = (2, 5, 8, 11)
"""The positions of the reversed statements."""
_LOW, _HIGH = 1, 6
Rating = Annotated[int, Meta(ge=_LOW, le=_HIGH)]


class Inventory(Struct, frozen=True, forbid_unknown_fields=True):
    """One pass over the twelve statements."""

    ratings: Annotated[tuple[Rating, ...], Meta(min_length=12, max_length=12)]


class Qualities(Struct, frozen=True, forbid_unknown_fields=True):
    """One pass over the three scales of conversation quality."""

    flow: Rating
    attentiveness: Rating
    depth: Rating


class Relationship(Struct, frozen=True):
    """All passes of the judge over one dialogue."""

    inventories: tuple[Inventory, ...]
    qualities: tuple[Qualities, ...]


_RATING = {"type": "integer", "minimum": _LOW, "maximum": _HIGH}
INVENTORY_SCHEMA = object_schema(ratings={"type": "array", "items": _RATING, "minItems": 12, "maxItems": 12})
QUALITY_SCHEMA = object_schema(dict.fromkeys(QUALITIES, _RATING))
_SAMPLING = Sampling(temperature=0.5, max_tokens=1000)


async def judge_relationship(item: StoredDialogue, session: Session) -> Relationship:
    """Three passes of both ratings, run concurrently."""
    passes = [session.branch(f"pass-{number}") for number in range(PASSES)]
    inventories = await asyncio.gather(*(_inventory(item, each) for each in passes))
    qualities = await asyncio.gather(*(_qualities(item, each) for each in passes))
    return Relationship(tuple(inventories), tuple(qualities))


def thoughts(item: StoredDialogue, mark: str) -> str:
    """The inner thoughts of a dialogue, turn by turn, without what was said."""
    return "\n\n".join(
        f"{number}.\n{quote(turn.judgement.activity + chr(10) + turn.judgement.feeling, mark)}"
        for number, turn in enumerate(item.dialogue.turns, 1)
        if turn.judgement is not None
    )


def dimension_scores(inventory: Inventory) -> dict[str, float]:
    """The four dimensions from 0 to 100; reversed statements are turned around."""
    turned = [_LOW + _HIGH - rating if place in REVERSED else rating for place, rating in enumerate(inventory.ratings)]
    return {
        name: 100 * (fmean(turned[start : start + STATEMENTS_EACH]) - _LOW) / (_HIGH - _LOW)
        for name, start in zip(DIMENSIONS, range(0, 12, STATEMENTS_EACH), strict=True)
    }


def quality_scores(qualities: Qualities) -> dict[str, float]:
    """The three scales of conversation quality from 1 to 5."""
    return {name: 1 + 4 * (getattr(qualities, name) - _LOW) / (_HIGH - _LOW) for name in QUALITIES}


def score(item: StoredDialogue, outcome: Relationship) -> Score:
    """The averaged passes, with the dialogue's emotion."""
    values = {
        **_mean([dimension_scores(each) for each in outcome.inventories]),
        **_mean([quality_scores(each) for each in outcome.qualities]),
        "emotion": float(item.dialogue.final),
    }
    values["relationship"] = sum(values[name] for name in DIMENSIONS) / len(DIMENSIONS)
    values["talk"] = sum(values[name] for name in QUALITIES) / len(QUALITIES)
    return Score(values=values, facets={"intention": item.scenario.intention})


def summarise(run: RunView[StoredDialogue, Relationship]) -> Summary:
    """Every dimension and scale with its interval, and the emotion."""
    names = ("relationship", *DIMENSIONS, "talk", *QUALITIES, "emotion")
    measures = [measure for name in names for measure in grouped_measures(run, name, binary=False)]
    return Summary(tuple(measures), series={"simulators": simulators_met(run)})


async def _inventory(item: StoredDialogue, session: Session) -> Inventory:
    language, mark = item.scenario.language, quote_mark(item.scenario, item.dialogue.said(len(item.dialogue.turns)))
    prompt = session.prompts.render("relationship", language, mark=mark, thoughts=thoughts(item, mark))
    return await ask_judge(session, prompt, INVENTORY_SCHEMA, Inventory, "relationship", language, sampling=_SAMPLING)


async def _qualities(item: StoredDialogue, session: Session) -> Qualities:
    language, talk = item.scenario.language, item.dialogue.said(len(item.dialogue.turns))
    mark = quote_mark(item.scenario, talk)
    prompt = session.prompts.render("utterances", language, mark=mark, talk=rendered(talk, mark, session, language))
    return await ask_judge(session, prompt, QUALITY_SCHEMA, Qualities, "utterances", language, sampling=_SAMPLING)


def _mean(passes: list[dict[str, float]]) -> dict[str, float]:
    return {name: sum(each[name] for each in passes) / len(passes) for name in passes[0]}
