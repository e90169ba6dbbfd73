"""`sociometer data fetch`: downloads official files into the user's data folder."""

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
    "Sociometer has no checksum for files that are not pinned. They come from a pinned commit; their checksum is"
    " recorded at the first fetch and checked at every later one."
)
_IN_WORDS = {
    CheckedAgainst.PINNED: "matches the pinned checksum",
    CheckedAgainst.FIRST_FETCH: "not pinned: matches the checksum of the first fetch",
    CheckedAgainst.NOTHING: "not pinned: checksum recorded now",
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
    note = f"{card.licence} To use these files: sociometer run {instrument} --official --model MODEL".strip()
    table = Table(
        "fetched",
        f"Official files of {instrument} in {data_root()}",
        ("file", "status", "bytes", "checksum"),
        tuple((one.name, one.status, one.bytes, _IN_WORDS[one.verified]) for one in fetched),
        note=note if all(pinned) else f"{_NOT_PINNED} {note}",
    )
    Display(everything, csv).show([table], finding=f"All {len(fetched)} official files of {instrument} are present.")


command = click.Group("data", help="Fetch official data.")
command.add_command(
    click.Command(
        "fetch",
        callback=_fetch,
        params=[click.Argument(["instrument"]), *display_options()],
        help="Fetch the official files of INSTRUMENT at their pinned commit. Run it again to continue or verify.",
    )
)
