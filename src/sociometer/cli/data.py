"""`sociometer data fetch`: brings official files into the user's data folder."""

import sys

import click

from sociometer.cli.options import json_option
from sociometer.cli.output import print_json, print_table
from sociometer.core.errors import UsageError
from sociometer.core.measure import Table
from sociometer.engine.data import data_root, fetch_files
from sociometer.engine.engine import run_loop
from sociometer.instruments import card_of


def _fetch(instrument: str, as_json: bool) -> None:
    card = card_of(instrument)
    if not card.file:
        raise UsageError(f"{instrument} has no official files; its items are bundled.")
    fetched = run_loop(fetch_files(card.file, data_root(), _told))
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[2K")
    if as_json:
        print_json(fetched)
        return
    print_table(
        Table(
            "fetched",
            f"Official files of {instrument} in {data_root()}",
            ("file", "status", "bytes", "checked against"),
            tuple((one.name, one.status, one.bytes, one.verified) for one in fetched),
            note=f"{card.licence} Use them with: sociometer run {instrument} --official --model MODEL".strip(),
        )
    )


def _told(name: str, done: int, total: int | None) -> None:
    if sys.stderr.isatty():
        share = f" of {total:,}" if total else ""
        sys.stderr.write(f"\r\x1b[2K{name}: {done:,}{share} bytes")
        sys.stderr.flush()


command = click.Group("data", help="Official data of the instruments.")
command.add_command(
    click.Command(
        "fetch",
        callback=_fetch,
        params=[click.Argument(["instrument"]), json_option()],
        help="Fetch INSTRUMENT's official files at their pinned commit; again to continue or verify.",
    )
)
