"""`sociometer work`: plays a part of a run that other processes play too, on this or other machines."""

import os
import signal
import sys
import threading
from typing import Any

import click

from sociometer.cli.crews import lease_option
from sociometer.cli.opening import open_stored
from sociometer.cli.options import insecure_http_option, json_option, store_option, store_path
from sociometer.cli.output import print_json, print_line
from sociometer.cli.resume import key_variable_again_option, key_variables_by_role
from sociometer.cli.run import exit_code
from sociometer.core.errors import UsageError
from sociometer.reporting.progress import ProgressDisplay
from sociometer.store.place import StorePlace, StoreUrl


def _work(
    run: str,
    order: str,
    lease: float,
    quiet: bool,
    store: StorePlace | None,
    as_json: bool,
    **values: Any,
) -> int:
    place = store_path(store)
    if not isinstance(place, StoreUrl):
        raise UsageError(
            f"'work' needs a store that several processes can share, and {place} is a file; give --store"
            " postgresql://USER@HOST/DATABASE."
        )
    if bool(run) == bool(order):
        raise UsageError("'work' needs the RUN to work on; 'sociometer runs' lists the runs.")
    with ProgressDisplay(quiet) as progress, open_stored(place, progress) as engine:
        if order:
            return _obey(engine)
        engine.lease_seconds = lease
        variables = key_variables_by_role(values["key_variable"])
        played = engine.resume(run, key_variables=variables, insecure_http=values["insecure_http"])
        if as_json:
            print_json({"run": played.run.id, "ending": played.ending, "done": played.progress.done})
        else:
            print_line(f"{played.run.id}: {played.run.state}.")
        return exit_code([played])


def _obey(engine: Any) -> int:
    """Work for the process that started this one, as long as that process exists."""
    import msgspec

    from sociometer.engine.engine import run_loop
    from sociometer.engine.workers.launching import Order

    told = msgspec.json.decode(sys.stdin.buffer.readline(), type=Order)
    threading.Thread(target=_end_with_the_other, name="other-end", daemon=True).start()
    engine.lease_seconds = told.lease_seconds
    played = run_loop(engine.play(engine.prepare_again(told.run, told.config, key_variables=told.key_variables)))
    sys.stdout.buffer.write(msgspec.json.encode(played.ending) + b"\n")
    return exit_code([played])


def _end_with_the_other() -> None:
    """Drain as on Ctrl-C when the process at the other end of standard input is gone."""
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


command = click.Command(
    "work",
    callback=_work,
    params=[
        click.Argument(["run"], required=False, default=""),
        click.Option(["--order"], default="", hidden=True, help="Instructions of the process that started this one."),
        lease_option(),
        key_variable_again_option(),
        insecure_http_option(),
        click.Option(["--quiet"], is_flag=True, help="Hide progress."),
        store_option(),
        json_option(),
    ],
    help="Play a part of RUN, together with other workers on any machine that reaches the store. Ends when nothing is"
    " left to play; Ctrl-C ends this worker after its requests in flight.",
)
