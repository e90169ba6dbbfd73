"""`sociometer adapters`: lists the other tools that Sociometer works with."""

from importlib.util import find_spec
from pathlib import Path

import click

import sociometer.adapters
from sociometer.adapters.extras import PACKAGES
from sociometer.cli.options import json_option
from sociometer.cli.output import print_json, print_line, print_table
from sociometer.core.measure import Table

_HOW = {
    "inspect": "inspect eval sociometer/INSTRUMENT; --model inspect/PROVIDER/NAME; import inspect; export --to FILE",
    "verifiers": "vf-eval sociometer-training --env.taskset.environment numbers: training environments",
    "lm-eval": "lm_eval --tasks sociometer_sesi --include_path $(sociometer adapters lm-eval); import lm-eval",
}


def _adapters(name: str | None, as_json: bool) -> None:
    if name is not None:
        folder = str(Path(sociometer.adapters.__file__).parent / "lm_eval")
        if find_spec(PACKAGES[name]) is None:
            click.echo(f"note: the extra '{name}' is not installed: pip install 'sociometer[{name}]'.", err=True)
        print_json({"folder": folder}) if as_json else print_line(folder)
        return
    found = [(extra, find_spec(PACKAGES[extra]) is not None, how) for extra, how in _HOW.items()]
    if as_json:
        print_json([{"name": extra, "installed": here, "how": how} for extra, here, how in found])
        return
    note = "To install an extra: pip install 'sociometer[NAME]'."
    print_table(Table("adapters", "Other tools", ("extra", "installed", "how"), tuple(found), note))


command = click.Command(
    "adapters",
    callback=_adapters,
    params=[click.Argument(["name"], required=False, type=click.Choice(["lm-eval"])), json_option()],
    help="List the other tools and what each needs. `adapters lm-eval` prints the folder for --include_path.",
)
