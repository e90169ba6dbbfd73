"""The conditions of the factor probes: every level of every factor, and its prompt."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from msgspec import Struct

from sociometer.core.errors import hint, unknown
from sociometer.core.sheets import read_records, read_table

_HERE = Path(__file__).parent
CONTROL = "control"
SECOND_PERSON = "second-person"
FACTORS = ("personality", "emotion", "gender", "role", "person", "intelligence")
COMMENT = "comment"
"""The default wording of the instruction: the best comment on the situation, as in the paper."""
NOISE = "noise"
PROMPT_TYPES = ("role", "interpersonal", "audience")

TRAITS = ("extraversion", "agreeableness", "conscientiousness", "neuroticism", "openness")


class Condition(Struct, frozen=True):
    """One level of a factor: the prompt that precedes the item, and the role that fills its placeholder.

    `gender` is the one that a role implies (Extended Data Table 3), `serves` has the factors whose texts are about as
    long as a placebo.
    """

    name: str
    factor: str = ""
    prompt: str = ""
    role: str = ""
    second_person: bool = False
    wording: str = ""
    role_class: str = ""
    gender: str = ""
    serves: str = ""


class Contrast(Struct, frozen=True):
    """Two groups of conditions that the paper compares in sections 2.3 and 2.4, and what it says about the first."""

    title: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    paper: str


@cache
def conditions() -> dict[str, Condition]:
    """Every condition by name, the control first."""
    return {one.name: one for one in read_records(_HERE / "conditions.csv", Condition)}


@cache
def contrasts() -> tuple[Contrast, ...]:
    """The contrasts that the paper reports."""
    return tuple(
        Contrast(row["title"], tuple(row["first"].split()), tuple(row["second"].split()), row["paper"])
        for row in read_table(_HERE / "contrasts.csv")
    )


def condition(name: str) -> Condition:
    """The condition of that name."""
    if name not in conditions():
        raise unknown("condition", name, conditions(), f"Run '{hint('sesi probe --help')}' for the factors.")
    return conditions()[name]


def roles() -> tuple[str, ...]:
    """The 21 roles of the paper's Extended Data Table 4 (its "saler" is our salesperson)."""
    return tuple(dict.fromkeys(one.role for one in conditions().values() if one.role))


def of_factors(factors: Iterable[str]) -> tuple[Condition, ...]:
    """The conditions of some factors (all if none is named); gender includes the roles that imply one."""
    wanted = tuple(factors) or FACTORS
    for factor in wanted:
        if factor not in FACTORS:
            raise unknown("factor", factor, FACTORS)
    everything = conditions().values()
    return tuple(one for one in everything if one.factor in wanted or ("gender" in wanted and one.gender))


def noise_for(factors: Iterable[str]) -> tuple[str, ...]:
    """The conditions that change nothing but the words: placebos as long as the factors' texts, and paraphrases."""
    wanted, noise = set(factors), [one for one in conditions().values() if one.factor == NOISE]
    return tuple(one.name for one in noise if not one.serves or wanted & set(one.serves.split()))


def implied_gender(kind: str) -> tuple[str, ...]:
    """The roles that imply a gender (Extended Data Table 3), as conditions."""
    return tuple(one.name for one in conditions().values() if one.gender == kind)
