"""Stand-ins of a run: scripts, rules or very small models that take a role of a real model, listed as `role: name`."""

from collections.abc import Iterable, Sequence

from sociometer.core.conversation import SUBJECT

TINY = "stand-in"


def other_stand_ins(stand_ins: Sequence[str]) -> tuple[str, ...]:
    """The stand-ins in roles other than the subject's. One that is the subject is visible from its name."""
    return tuple(name for name in stand_ins if not name.startswith(f"{SUBJECT}: "))


def stand_ins_sentence(names: Iterable[str]) -> str:
    """The stand-ins, each as `role: name`, in one sentence."""
    split = [name.partition(": ") for name in names]
    return f"Stand-ins, not real models: {', '.join(f'{name} ({role})' for role, _, name in split)}."


def subject_stand_in(stand_ins: Sequence[str]) -> str:
    """The kind of stand-in that takes the role of the subject, `script` or `stand-in`; empty if there is none."""
    names = [name.removeprefix(f"{SUBJECT}: ") for name in stand_ins if name.startswith(f"{SUBJECT}: ")]
    return "" if not names else "script" if names[0].startswith("scripted/") else TINY
