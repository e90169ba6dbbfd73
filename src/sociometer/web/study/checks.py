"""Attention checks: a question that only asks for a given word."""

from collections.abc import Collection, Sequence

from msgspec import Struct

from sociometer.store.studies import Study, check_lots, check_places
from sociometer.web.language import texts


class Check(Struct, frozen=True):
    """One attention check; it is asked once `after` items are done."""

    number: int
    after: int
    options: tuple[str, ...]
    right: str


def checks_of(study: Study, participant: str, planned: int) -> tuple[Check, ...]:
    """The checks of a participant: always the same ones, at random places."""
    lots = check_lots(study, participant)
    made = []
    for number, after in enumerate(check_places(study, lots, planned)):
        options = texts("study", study.language)["check options"].split("|")
        lots.shuffle(options)
        made.append(Check(number, after, tuple(options), lots.choice(options)))
    return tuple(made)


def check_due(checks: Sequence[Check], answered: Collection[int], done: int) -> Check | None:
    """The check to ask now, if one is due and not answered yet."""
    return next((check for check in checks if check.after <= done and check.number not in answered), None)
