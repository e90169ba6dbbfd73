"""`sociometer resume`: plays on a run that was stopped or killed."""

from pathlib import Path
from typing import Any

import click

from sociometer.cli.opening import open_stored
from sociometer.cli.options import cap_options, caps, insecure_http_option, store_option, store_path
from sociometer.cli.output import Display, display_options, print_json
from sociometer.cli.progress import ProgressDisplay
from sociometer.cli.run import exit_code, show_played
from sociometer.cli.summaries import played_json
from sociometer.engine.roles import SUBJECT


def _resume(
    run: str,
    in_flight: int | None,
    quiet: bool,
    store: Path | None,
    everything: bool,
    csv: Path | None,
    as_json: bool,
    **values: Any,
) -> int:
    key_variables = _by_role(values["key_variable"])
    with ProgressDisplay(quiet) as progress, open_stored(store_path(store), progress) as engine:
        played = engine.resume(
            run, caps(values), in_flight, key_variables=key_variables, insecure_http=values["insecure_http"]
        )
        if as_json:
            print_json(played_json(played))
        else:
            show_played([played.run], Display(everything, csv))
        return exit_code([played])


def _by_role(given: tuple[str, ...]) -> dict[str, str]:
    """The variables by role; one without a role is the subject's."""
    pairs = (text.rpartition("=") for text in given)
    return {role or SUBJECT: variable for role, _, variable in pairs}


command = click.Command(
    "resume",
    callback=_resume,
    params=[
        click.Argument(["run"]),
        *cap_options(),
        click.Option(["--in-flight"], type=int, help="Most requests in flight at one server."),
        click.Option(
            ["--key-variable"],
            multiple=True,
            metavar="[ROLE=]NAME",
            help="Environment variable that holds the key, for a server that is not the preset's; repeat it here.",
        ),
        insecure_http_option(),
        click.Option(["--quiet"], is_flag=True, help="Show no progress."),
        store_option(),
        *display_options(),
    ],
    help="Play on RUN from the journal: only what was not yet answered is sent, failed items are tried again.",
)
