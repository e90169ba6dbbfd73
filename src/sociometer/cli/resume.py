"""`sociometer resume`: continues a run that was stopped or killed."""

from typing import Any

import click

from sociometer.cli.options import caps, detail_values, open_stored, quiet_option, run_options, store_option
from sociometer.cli.output import Display, TableCommand, display_options, option
from sociometer.cli.run import exit_code, show_all
from sociometer.core.config import Caps
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import UsageError
from sociometer.core.server_fields import NAME, server_fields
from sociometer.reporting.progress import ProgressDisplay
from sociometer.store.place import StorePlace

_AGAIN = ("in-flight", "insecure-http")
"""The details that may differ from those of the run."""


def _resume(
    run: str, details: tuple[str, ...], quiet: bool, store: StorePlace | None, display: Display, **values: Any
) -> int:
    named = (text.rpartition("=") for text in values["key_variable"])
    key_variables = {role or SUBJECT: variable for role, _, variable in named}
    chosen = detail_values(details)
    for name in details:
        given = name.partition("=")[0]
        if given not in _AGAIN and not ((field := NAME.fullmatch(given)) and field[2] == "header"):
            raise UsageError(f"-o {given} belongs to 'run'; 'resume' takes: {', '.join(_AGAIN)}, header.NAME.")
    in_flight = chosen["in_flight"] if any(one.startswith("in-flight") for one in details) else None
    with ProgressDisplay(quiet) as progress, open_stored(store, progress) as engine:
        played = engine.resume(
            run,
            caps(values),
            in_flight,
            key_variables=key_variables,
            insecure_http=chosen["insecure_http"],
            code=values["code"],
            fields=server_fields(chosen["server_fields"]),
        )
        show_all([played], display)
        return exit_code([played])


def _caps() -> list[click.Parameter]:
    """The caps of `run`; without one, the last given holds."""
    options = run_options(*Caps.__struct_fields__)
    for cap in options:
        assert isinstance(cap, click.Option)
        cap.help = (cap.help or "").replace("no limit", "the last given")
    return options


command = TableCommand(
    "resume",
    callback=_resume,
    params=[
        click.Argument(["run"]),
        *_caps(),
        option("-o details", "Detail of requests, as in 'run'.", multiple=True, metavar="NAME=VALUE"),
        option(  # a name in the store is not enough to send a key
            "--key-variable",
            "Environment variable with the key, if the run used --key-variable; give the same name again.",
            multiple=True,
            metavar="[ROLE=]NAME",
        ),
        option(
            "--code",
            "Function of yours that the run asks; name it again, since a store may come from somebody else.",
            multiple=True,
            metavar="python/MODULE:FUNCTION",
        ),
        quiet_option(),
        store_option(),
        *display_options(),
    ],
    help="Continue RUN. Stored replies are reused, unanswered requests are sent, and failed items are retried.",
)
