"""`sociometer plan`: what a run would ask and cost."""

from typing import Any

from sociometer.cli.project import with_defaults
from sociometer.cli.run import RunCommand, fixed_parameters, play


def _plan(**values: Any) -> int:
    return play(**{**values, "dry_run": True})


command = RunCommand(
    "plan",
    callback=with_defaults(_plan),
    params=fixed_parameters(),
    help="Show what 'run' with the same options would ask and cost, estimated by playing a few items with a baseline."
    " Nothing is sent.",
)
