"""`sociometer resume`: continues a run that was stopped or killed."""

from pathlib import Path
from typing import Any

import click

from sociometer.cli.options import cap_options, caps, insecure_http_option, open_stored, store_option, store_path
from sociometer.cli.output import Display, display_options, print_json
from sociometer.cli.run import exit_code, show_played
from sociometer.cli.summaries import played_json
from sociometer.core.conversation import SUBJECT
from sociometer.reporting.progress import ProgressDisplay
from sociometer.store.place import StorePlace


def _resume(
    run: str,
    in_flight: int | None,
    quiet: bool,
    store: StorePlace | None,
    everything: bool,
    csv: Path | None,
    as_json: bool,
    **values: Any,
) -> int:
    key_variables = key_variables_by_role(values["key_variable"])
    with ProgressDisplay(quiet) as progress, open_stored(store_path(store), progress) as engine:
        played = engine.resume(
            run, caps(values), in_flight, key_variables=key_variables, insecure_http=values["insecure_http"],
            code=values["code"],
        )  # fmt: skip
        if as_json:
            print_json(played_json(played))
        else:
            show_played([played.run], Display(everything, csv))
        return exit_code([played])


def key_variables_by_role(given: tuple[str, ...]) -> dict[str, str]:
    """The variables by role; one without a role is the subject's."""
    pairs = (text.rpartition("=") for text in given)
    return {role or SUBJECT: variable for role, _, variable in pairs}


def key_variable_again_option() -> click.Option:
    """The variables of keys, named again: a name in the store is not enough to send a key."""
    return click.Option(
        ["--key-variable"],
        multiple=True,
        metavar="[ROLE=]NAME",
        help="Environment variable with the key, if the run used --key-variable; give the same name again.",
    )


command = click.Command(
    "resume",
    callback=_resume,
    params=[
        click.Argument(["run"]),
        *cap_options(),
        click.Option(["--in-flight"], type=int, help="Maximum number of requests in flight per server."),
        key_variable_again_option(),
        insecure_http_option(),
        click.Option(
            ["--code"],
            multiple=True,
            metavar="python/MODULE:FUNCTION",
            help="Function of yours that the run asks; name it again, since a store may come from somebody else.",
        ),
        click.Option(["--quiet"], is_flag=True, help="Hide progress."),
        store_option(),
        *display_options(),
    ],
    help="Continue RUN. Stored replies are reused, unanswered requests are sent, and failed items are retried.",
)
