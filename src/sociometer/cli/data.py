"""`sociometer data fetch`: brings official files into the user's data folder."""

from pathlib import Path

import click
import msgspec

from sociometer.cli.output import Display, display_options, print_json
from sociometer.cli.progress import downloads
from sociometer.core.errors import UsageError
from sociometer.core.measure import Table
from sociometer.engine.data import CheckedAgainst, data_root, fetch_files
from sociometer.engine.engine import run_loop
from sociometer.instruments import card_of

_NOT_PINNED = (
    "Sociometer knows no checksum of a file that is not pinned: it comes from a pinned commit, and its checksum is"
    " recorded when it is fetched for the first time and checked from then on."
)
_IN_WORDS = {
    CheckedAgainst.PINNED: "matches the pinned checksum",
    CheckedAgainst.FIRST_FETCH: "not pinned: same as at the first fetch",
    CheckedAgainst.NOTHING: "not pinned: recorded now",
}


def _fetch(instrument: str, everything: bool, csv: Path | None, as_json: bool) -> None:
    card = card_of(instrument)
    if not card.file:
        raise UsageError(f"{instrument} has no official files; its items are bundled.")
    with downloads() as told:
        fetched = run_loop(fetch_files(card.file, data_root(), told))
    pinned = [one.verified is CheckedAgainst.PINNED for one in fetched]
    if as_json:
        print_json([{**msgspec.to_builtins(one), "pinned": sure} for one, sure in zip(fetched, pinned, strict=True)])
        return
    note = f"{card.licence} Use them with: sociometer run {instrument} --official --model MODEL".strip()
    table = Table(
        "fetched",
        f"Official files of {instrument} in {data_root()}",
        ("file", "status", "bytes", "checksum"),
        tuple((one.name, one.status, one.bytes, _IN_WORDS[one.verified]) for one in fetched),
        note=note if all(pinned) else f"{_NOT_PINNED} {note}",
    )
    Display(everything, csv).show([table], finding=f"{len(fetched)} official files of {instrument} are here.")


command = click.Group("data", help="Official data of the instruments.")
command.add_command(
    click.Command(
        "fetch",
        callback=_fetch,
        params=[click.Argument(["instrument"]), *display_options()],
        help="Fetch INSTRUMENT's official files at their pinned commit; again to continue or verify.",
    )
)
