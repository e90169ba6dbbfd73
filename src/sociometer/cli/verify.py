"""`sociometer verify`: checks the store for damaged or inconsistent records."""

from pathlib import Path

import click

from sociometer.cli.options import open_stored, store_option, store_path
from sociometer.cli.output import Display, display_options, print_json
from sociometer.core.errors import ExitCode
from sociometer.core.measure import Table
from sociometer.instruments import cards
from sociometer.reporting.progress import track
from sociometer.store.place import StorePlace
from sociometer.store.verify import Finding, verify_file, verify_run


def _verify(run: str | None, store: StorePlace | None, everything: bool, csv: Path | None, as_json: bool) -> int:
    found: list[Finding] = []
    left_out: list[str] = []
    with open_stored(store_path(store)) as engine:
        if run is None:
            found += verify_file(engine.store)
        records = list(engine.store.runs.all()) if run is None else [engine.store.runs.get(run)]
        checked = 0
        for record in track(records, "checking runs"):
            if record.damage:
                continue
            if record.instrument not in cards() and record.manifest.card is None:
                left_out.append(record.id)
                continue
            checked += 1
            found += verify_run(engine.stored(record.id))
    if as_json:
        print_json({"findings": found, "runs": checked, "left_out": left_out})
    else:
        rows = tuple((one.where, one.what, one.next_step) for one in found)
        table = Table("findings", "Findings", ("where", "what", "next step"), rows)
        absent = f"Not checked, because the instrument is not installed: {', '.join(left_out)}."
        Display(everything, csv).show(
            [table] if found else [],
            finding=f"{checked} runs checked: {len(found) or 'no'} findings.",
            notes=[absent] if left_out else [],
        )
    return int(ExitCode.GATE_FAILED if found else ExitCode.OK)


command = click.Command(
    "verify",
    callback=_verify,
    params=[click.Argument(["run"], required=False), store_option(), *display_options()],
    help="Check RUN, or the whole store: checksums, scores against outcomes, and summaries against scores.",
)
