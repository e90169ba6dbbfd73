"""The records of a study: what is asked of whom, and who takes part."""

from typing import Literal

from msgspec import Struct, field

from sociometer.core.config import RunConfig

Shows = Literal["nothing", "score", "place"]
Order = Literal["fixed", "random"]
SUBJECT = "human"
"""The subject of every run of a study; the participant is the revision."""


class Study(Struct, frozen=True):
    """A study: one instrument, and everything that its owner chose."""

    name: str
    config: RunConfig
    """What every participant's run is made of."""
    language: str = "en"
    sample: int = field(default=0, name="form")
    """The number of items of each task for a participant, drawn at random; 0 means all. Stored as `form`."""
    consent: str = ""
    questions: tuple[str, ...] = ()
    """What participants are asked about themselves; nothing of it is required."""
    shows: Shows = "nothing"
    quota: int = 1_000
    secret: str = ""
    """The part of the link that lets people in."""
    withdrawn: int = 0
    """How many participants withdrew; nothing else is stored about them."""
    order: Order = "fixed"
    """Whether the items come in the order of the files, or in a random order for each participant."""
    attention: int = 0
    """The number of attention checks for each participant."""
    most_failed: int = 0
    """How many of them may fail before the participant is excluded."""
    fastest_seconds: float = 0.0
    """Participants with a shorter median response time are excluded; 0 means nobody."""


class Participant(Struct, frozen=True):
    """A person who agreed to take part."""

    id: str
    study: str
    joined: float
    about: dict[str, str] = {}
    run: str = ""


class Timing(Struct, frozen=True):
    """How long a participant looked at one question, in seconds."""

    participant: str
    question: int
    seconds: float
    pattern: str = ""
    """How the form was filled in, where the same answer everywhere would show that nobody read the questions."""


def run_name(study: str, participant: str) -> str:
    """The name of a participant's run, by which `norms seceu --study` and other commands find it."""
    return f"{study}.{participant}"
