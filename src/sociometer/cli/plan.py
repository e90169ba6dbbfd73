"""`sociometer plan`: what a run would ask, cost and detect."""

from typing import Any

from sociometer.cli.output import Number, option
from sociometer.cli.run import RunCommand, fixed_parameters, play

_DETECT = option(
    "--detect",
    "Difference between two models to detect with 80 % power, as the measure is shown: shows the items and repeats that"
    " this takes. Needs no --model.",
    type=Number(),
    metavar="SIZE",
)

_ANY = "baseline/random"
"""Stands for the subject if none is given: the items do not depend on it."""


class PlanCommand(RunCommand):
    """`run` that sends nothing, with the difference to detect."""

    own = (_DETECT,)
    everyday = (*(name for name in RunCommand.everyday if name != "watch"), "detect")


def _plan(**values: Any) -> int:
    if values["detect"] is not None and not values["models"]:
        values |= {"models": (_ANY,), "priced": False}
    return play(**{**values, "dry_run": True})


command = PlanCommand(
    "plan",
    callback=_plan,
    params=[*fixed_parameters(), _DETECT],
    help="Show what 'run' with the same options would ask, cost and detect, estimated by playing a few items with a"
    " baseline. Nothing is sent.",
)
