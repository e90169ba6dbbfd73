"""The runs that commands on stored runs reject, and the notes that they show with the numbers."""

from collections.abc import Iterable
from typing import Any

from sociometer.core.command import Run
from sociometer.core.errors import UsageError
from sociometer.core.task import RunView
from sociometer.statistics.stand_ins import other_stand_ins, stand_ins_sentence, subject_stand_in

_TEST = "questions"


def view_of_test(run: Run) -> RunView[Any, Any]:
    """The run as a run of the test; a run of another task (a judge's, a builder's) raises an error."""
    if _TEST not in run.tasks:
        raise UsageError(
            f"run {run.id} is of the task '{', '.join(run.tasks)}', not of '{_TEST}'; "
            "name a run of the test (see 'sociometer runs')."
        )
    return run.view(_TEST)


def stand_in_notes(views: Iterable[RunView[Any, Any]]) -> list[str]:
    """The stand-ins in any role, and the subjects that are not models."""
    played = list(views)
    beside = dict.fromkeys(name for view in played for name in other_stand_ins(view.stand_ins))
    notes = [stand_ins_sentence(beside)] if beside else []
    subjects = {view.subject: what for view in played if (what := subject_stand_in(view.stand_ins))}
    return notes + [f"{subject} is a {what}, not a model to be measured." for subject, what in subjects.items()]
