"""The conditions of the factor probes: every level of every factor, and its prompt."""

from collections.abc import Iterable
from functools import cache

from msgspec import Struct

from sociometer.core.errors import unknown

CONTROL = "control"
SECOND_PERSON = "second-person"
FACTORS = ("personality", "emotion", "gender", "role", "person", "intelligence")
COMMENT = "comment"
"""The default wording of the instruction: the best comment on the situation, as in the paper."""
NOISE = "noise"
PARAPHRASES = 3
PLACEBO_LENGTHS = {"short": ("gender", "role"), "medium": ("emotion", "intelligence"), "long": ("personality",)}
"""The factors whose texts are about as long as the placebos of each length."""
PLACEBOS = 2
PROMPT_TYPES = ("role", "interpersonal", "audience")

TRAITS = ("extraversion", "agreeableness", "conscientiousness", "neuroticism", "openness")
_ROLE_CLASSES: dict[str, tuple[str, ...]] = {
    "family": ("parent", "mother", "father", "child", "son", "daughter"),
    "romantic": ("partner", "husband", "wife", "girlfriend", "boyfriend"),
    "friend": ("friend",),
    "work": ("coworker", "boss", "colleague"),
    "school": ("student", "tutor"),
    "occupation": ("salesperson", "teacher", "librarian", "programmer"),
}
_IMPLICIT_GENDER: dict[str, tuple[str, ...]] = {
    "male": ("father", "son", "husband", "boyfriend"),
    "neutral": ("parent", "child", "partner"),
    "female": ("mother", "daughter", "wife", "girlfriend"),
}


class Condition(Struct, frozen=True):
    """One level of a factor: the prompt that precedes the item, and the role that fills its placeholder."""

    name: str
    factor: str
    prompt: str = ""
    role: str = ""
    second_person: bool = False
    wording: str = ""


class Contrast(Struct, frozen=True):
    """Two groups of conditions that the paper compares, and what it says about the first."""

    title: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    paper: str


@cache
def conditions() -> dict[str, Condition]:
    """Every condition by name, the control first."""
    made = [Condition(CONTROL, "")]
    made += [
        Condition(f"{trait}-{level}", "personality", f"factor/personality/{trait}-{level}")
        for trait in TRAITS
        for level in ("high", "low")
    ]
    made += [Condition(name, "emotion", f"factor/emotion/{name}") for name in ("boredom", "normal", "anxiety")]
    made += [Condition(f"gender-{name}", "gender", f"factor/gender/{name}") for name in ("male", "female", "neutral")]
    made += [
        Condition(f"{kind}-{role}", "role", f"factor/role/{kind}", role) for kind in PROMPT_TYPES for role in roles()
    ]
    made += [Condition(SECOND_PERSON, "person", second_person=True)]
    made += [
        Condition(f"intelligence-{level}", "intelligence", f"factor/intelligence/{level}") for level in ("high", "low")
    ]
    made += [
        Condition(f"placebo-{length}-{number}", NOISE, f"factor/placebo/{length}-{number}")
        for length in PLACEBO_LENGTHS
        for number in range(1, PLACEBOS + 1)
    ]
    made += [
        Condition(f"paraphrase-{number}", NOISE, wording=f"paraphrase-{number}") for number in range(1, PARAPHRASES + 1)
    ]
    return {condition.name: condition for condition in made}


def condition(name: str) -> Condition:
    """The condition of that name."""
    if name not in conditions():
        raise unknown("condition", name, conditions(), "Run 'sociometer sesi probe --help' for the factors.")
    return conditions()[name]


def roles() -> tuple[str, ...]:
    """The 21 roles of the paper's Extended Data Table 4 (its "saler" is our salesperson)."""
    return tuple(role for members in _ROLE_CLASSES.values() for role in members)


def role_class(role: str) -> str:
    """The class a role belongs to."""
    return next(name for name, members in _ROLE_CLASSES.items() if role in members)


def of_factors(factors: Iterable[str]) -> tuple[Condition, ...]:
    """The conditions of some factors (all if none is named); gender includes the roles that imply one."""
    wanted = tuple(factors) or FACTORS
    for factor in wanted:
        if factor not in FACTORS:
            raise unknown("factor", factor, FACTORS)
    implied = {f"role-{role}" for members in _IMPLICIT_GENDER.values() for role in members}
    return tuple(
        entry
        for entry in conditions().values()
        if entry.factor in wanted or ("gender" in wanted and entry.name in implied)
    )


def noise_for(factors: Iterable[str]) -> tuple[str, ...]:
    """The conditions that change nothing but the words: placebos as long as the factors' texts, and paraphrases."""
    wanted = set(factors)
    lengths = [length for length, served in PLACEBO_LENGTHS.items() if wanted & set(served)]
    placebos = [f"placebo-{length}-{number}" for length in lengths for number in range(1, PLACEBOS + 1)]
    return (*placebos, *(f"paraphrase-{number}" for number in range(1, PARAPHRASES + 1)))


def explicit_gender() -> tuple[str, ...]:
    """The conditions that state a gender: male, neutral, female."""
    return tuple(f"gender-{kind}" for kind in _IMPLICIT_GENDER)


def implied_gender(kind: str) -> tuple[str, ...]:
    """The roles that imply a gender (Extended Data Table 3), as conditions."""
    return tuple(f"role-{role}" for role in _IMPLICIT_GENDER[kind])


def contrasts() -> tuple[Contrast, ...]:
    """The contrasts that the paper reports in section 2.3 and 2.4."""
    male, neutral, female = (implied_gender(kind) for kind in ("male", "neutral", "female"))
    home_and_work = tuple(f"role-{role}" for kind in ("family", "work") for role in _ROLE_CLASSES[kind])
    close = tuple(f"role-{role}" for kind in ("romantic", "friend") for role in _ROLE_CLASSES[kind])
    interpersonal, plain = (tuple(f"{kind}-{role}" for role in roles()) for kind in ("interpersonal", "role"))
    return (
        Contrast("High against low extraversion",
                 ("extraversion-high",), ("extraversion-low",), "higher in all models (Fig. 4a)"),
        Contrast("Low against high agreeableness",
                 ("agreeableness-low",), ("agreeableness-high",), "higher in all models (Fig. 4a)"),
        Contrast("Normal state against boredom and anxiety",
                 ("normal",), ("boredom", "anxiety"), "an inverted U is the hypothesis (4.6)"),
        Contrast("Male against female, stated outright", ("gender-male",), ("gender-female",), "higher (Fig. 4b)"),
        Contrast("Male against female, implied by roles", male, female, "no longer holds (section 2.4)"),
        Contrast("Gendered against neutral roles", male + female, neutral, "not reported"),
        Contrast("Family and work against romantic and friend roles", home_and_work, close, "higher (Fig. 4c)"),
        Contrast("Interpersonal against plain role prompts", interpersonal, plain,
                 "higher, except for boss (Extended Data Fig. 3)"),
        Contrast("Field (second person) against observer (third person)", (SECOND_PERSON,), (CONTROL,),
                 "higher (Fig. 4d)"),
        Contrast("Stated high against stated low social intelligence",
                 ("intelligence-high",), ("intelligence-low",), "lower in all models (Extended Data Fig. 2)"),
    )  # fmt: skip
