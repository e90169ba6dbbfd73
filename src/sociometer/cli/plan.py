"""`sociometer plan`: what a run would ask, cost and can show."""

from typing import Any

from sociometer.cli.run import RunCommand, fixed_parameters, play
from sociometer.core.errors import UsageError

_ANY = "vllm/MODEL"
"""Stands for the subject if none is given: it has no price, and items and requests do not depend on it."""


def _plan(**values: Any) -> int:
    if not values["models"]:
        if values["max_cost"] is not None:
            raise UsageError(f"--max-cost {values['max_cost']:g} needs --model MODEL, whose price it counts.")
        values |= {"models": (_ANY,), "priced": False, "name": values["name"] or "MODEL"}
    return play(**{**values, "dry_run": True})


command = RunCommand(
    "plan",
    callback=_plan,
    params=fixed_parameters(),
    help="Show what 'run' with the same options would ask, cost and can show, estimated by playing a few items with a"
    " baseline. Nothing is sent. Without --model, it shows all but the cost.",
)
