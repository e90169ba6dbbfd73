"""`sociometer forms`: lists, freezes and checks forms."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from sociometer.cli.options import json_option
from sociometer.cli.output import Display, display_options, print_json, print_line
from sociometer.core.card import Card
from sociometer.core.errors import ExitCode, UsageError
from sociometer.core.form_name import FORM_FILE, form_name
from sociometer.core.measure import Table
from sociometer.instruments import card_of, cards

if TYPE_CHECKING:
    from sociometer.core.task import Instrument

AGAIN = "raise the version and freeze again"


class ListedForm(Struct, frozen=True):
    """A form in the list; without a digest it is not frozen yet."""

    form: str
    instrument: str
    current: bool
    digest: str = ""
    sociometer: str = ""
    prompts: int = 0
    items: dict[str, int] = {}


def _list(ctx: click.Context, everything: bool, csv: Path | None, as_json: bool) -> None:
    if ctx.invoked_subcommand is not None:
        return
    forms = [form for card in cards().values() for form in listed_forms(card)]
    if as_json:
        print_json(forms)
        return
    rows = tuple(
        (
            one.form,
            "frozen" if one.digest else "not frozen yet",
            one.digest or None,
            sum(one.items.get(task, 0) for task in card_of(one.instrument).default_tasks()) or None,
            ", ".join(f"{task} {count}" for task, count in one.items.items()) or None,
            one.prompts or None,
            one.sociometer or None,
        )
        for one in forms
    )
    columns = ("form", "status", "digest", "items", "tasks", "prompts", "since")
    note = "Items are those of the default tasks. Play a form with: sociometer run INSTRUMENT --form FORM --model MODEL"
    Display(everything, csv).show(
        [Table("forms", "Forms", columns, rows, note, details=("tasks", "prompts"))], limits=[len(rows)]
    )


def listed_forms(card: Card) -> list[ListedForm]:
    """The frozen forms of an instrument, and its current version if that is not frozen."""
    from sociometer.engine.forms import files, read_form
    from sociometer.instruments import load

    found = []
    for path in files(load(card.name)):
        form = read_form(path)
        prompts, current = len(form.prompts) + len(form.shared_prompts), form.version == card.version
        listed = ListedForm(form.name, card.name, current, form.digest, form.sociometer, prompts, form.counts())
        found.append(listed)
    if not any(one.current for one in found):
        found.append(ListedForm(form_name(card.name, card.version), card.name, current=True))
    return found


def _freeze(instruments: tuple[str, ...], to: Path | None, as_json: bool) -> None:
    from sociometer.engine.forms import differences, form_file, freeze, read_form, write_form
    from sociometer.instruments import load

    written = []
    for name in instruments or tuple(cards()):
        instrument = load(card_of(name).name)
        form = freeze(instrument)
        path = form_file(instrument, form.version) if to is None else to / f"{form.name}{FORM_FILE}"
        known = path.exists()
        if known and (changed := differences(read_form(path), instrument)):
            raise UsageError(f"{form.name} is frozen and differs in: {_some(changed)}; {AGAIN}.")
        size = path.stat().st_size if known else write_form(form, path)
        written.append({"form": form.name, "digest": form.digest, "file": path, "bytes": size, "new": not known})
        if not as_json:
            what = "was frozen before and is unchanged" if known else f"frozen: {path}, {size:,} bytes"
            print_line(f"{form.name} ({form.digest}) {what}")
    if as_json:
        print_json(written)


def _check(instruments: tuple[str, ...], as_json: bool) -> int:
    from sociometer.instruments import load

    changed = {}
    for name in instruments or tuple(cards()):
        instrument = load(card_of(name).name)
        if said := changed_since_frozen(instrument):
            changed[name] = said
    if as_json:
        print_json(changed)
    for said in () if as_json else changed.values():
        print_line(said)
    if not changed and not as_json:
        print_line("The frozen forms of the current versions match their items and prompts.")
    return int(ExitCode.GATE_FAILED if changed else ExitCode.OK)


def changed_since_frozen(instrument: "Instrument") -> str:
    """What changed since the current version was frozen, as a sentence; empty if nothing did or it is not frozen."""
    from sociometer.engine.forms import differences, frozen_form

    form = frozen_form(instrument)
    changed = differences(form, instrument) if form is not None else []
    return f"{form.name} is frozen, but these changed: {_some(changed)}; {AGAIN}." if form and changed else ""


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _instruments() -> click.Argument:
    return click.Argument(["instruments"], nargs=-1, metavar="[INSTRUMENT…]")


command = click.Group(
    "forms",
    callback=click.pass_context(_list),
    invoke_without_command=True,
    params=[*display_options()],
    help="List the forms: frozen sets of items and prompts that 'run --form' can still play.",
)
command.add_command(
    click.Command(
        "freeze",
        callback=_freeze,
        params=[
            _instruments(),
            click.Option(
                ["--to"],
                type=click.Path(path_type=Path, file_okay=False),
                help="Folder to write to [default: that of the instrument].",
            ),
            json_option(),
        ],
        help="Freeze the items and prompts of the current version of each INSTRUMENT [default: all].",
    )
)
command.add_command(
    click.Command(
        "check",
        callback=_check,
        params=[_instruments(), json_option()],
        help="Check that items and prompts have not changed since their version was frozen.",
    )
)
