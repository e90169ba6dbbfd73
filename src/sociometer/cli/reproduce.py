"""`sociometer paper reproduce`: the published figures, recomputed, with every mismatch shown."""

from collections.abc import Sequence

import click

from sociometer.api import Reproduction, reproduce
from sociometer.cli.output import Display, TableCommand, display_options, option
from sociometer.core.errors import ExitCode
from sociometer.instruments import card_of, cards, load
from sociometer.reporting.progress import track
from sociometer.results.published import claims_sentence


def _reproduce(instruments: tuple[str, ...], data: str, mismatches: bool, display: Display) -> int:
    names = [card_of(name).name for name in instruments] or list(cards())
    able = [name for name in names if load(name).reproduce is not None]
    found = [reproduce(name, data=data) for name in track(able, "recomputing")]
    good = all(one.good for one in found)
    if display.as_json:
        figures, missing = (
            {one.instrument: one.figures for one in found},
            {one.instrument: one.missing for one in found},
        )
        display.json({"reproduced": good, "figures": figures, "not_found": missing})
    else:
        display.show(
            [one.table(mismatches or not display.wide) for one in found],
            finding="\n".join(_finding(one) for one in found),
            notes=[
                *(_what_is_missing(one.instrument, one.missing) for one in found if one.missing),
                *([] if display.wide or mismatches else ["Add --format wide to see the figures that match."]),
            ],
            files=[one.table(mismatches) for one in found],
        )
    return int(ExitCode.OK if good else ExitCode.GATE_FAILED)


def _finding(found: Reproduction) -> str:
    """How many published figures are recomputed, how many differ, and how many claims of the text hold."""
    printed = [figure for figure in found.figures if figure.printed is not None and not figure.claim]
    differ = [figure for figure in printed if not figure.match]
    unknown = [figure for figure in differ if not figure.reason]
    said = f"{found.instrument}: {len(printed) - len(differ)} of {len(printed)} published figures match"
    if differ:
        said += f"; {len(differ)} differ, {len(unknown) or 'none'} of them without a known reason"
    return f"{said}. {claims_sentence(found.figures)}".strip()


def _what_is_missing(name: str, files: Sequence[str]) -> str:
    """Which official files are missing, and how to get them."""
    fetched = {file.name for file in card_of(name).file}
    parts = {file.part for file in card_of(name).file if file.part and any(file.name.startswith(one) for one in files)}
    said = [f"Official files not found: {', '.join(files)}. The figures that need them are left out."]
    if fetched & set(files) or parts:
        options = "".join(f" --{part}" for part in sorted(parts))
        said.append(f"Run 'sociometer get data {name}{options}', or give --data DIR.")
    if not parts and set(files) - fetched:
        said.append("For files that 'get data' does not include, see the instrument's README.")
    return " ".join(said)


REPRODUCE = TableCommand(
    "reproduce",
    callback=_reproduce,
    params=[
        click.Argument(["instruments"], nargs=-1, metavar="[INSTRUMENT…]"),
        option("--data", "Folder that holds the official files.", default=""),
        option("--mismatches", "Show only figures that do not match, also in a file.", is_flag=True),
        *display_options(),
    ],
    help="Recompute the published figures. Exits with code 1 if a figure differs without a known reason.",
)
