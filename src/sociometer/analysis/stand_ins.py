"""Stand-ins of a run: models that take a role for demonstration, listed as `role: model`."""

from collections.abc import Sequence

SUBJECT = "subject"
"""The role of the model that is measured."""
TINY = "tiny model"


def other_stand_ins(stand_ins: Sequence[str]) -> tuple[str, ...]:
    """The stand-ins in roles other than the subject's. A baseline as the subject is known by its name."""
    return tuple(name for name in stand_ins if not name.startswith(f"{SUBJECT}: "))


def subject_stand_in(stand_ins: Sequence[str]) -> str:
    """What takes the subject's role if it is not a model to be measured: `script` or `tiny model`; else empty."""
    names = [name.removeprefix(f"{SUBJECT}: ") for name in stand_ins if name.startswith(f"{SUBJECT}: ")]
    return "" if not names else "script" if names[0].startswith("scripted/") else TINY
