"""`sociometer bridge`: how much a new form changes the numbers, on stored replies; sends nothing."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sociometer.cli.chosen import runs_argument
from sociometer.cli.opening import open_stored
from sociometer.cli.options import store_option, store_path
from sociometer.cli.output import Display, display_options, print_json
from sociometer.core.card import Card
from sociometer.core.errors import UsageError, unknown
from sociometer.core.form_name import FORM_FILE
from sociometer.core.measure import Cell, Interval, Table
from sociometer.instruments import cards
from sociometer.statistics.formatting import bracketed_interval, in_sentence, number, signed_amount
from sociometer.store.place import StorePlace

if TYPE_CHECKING:
    from sociometer.bridge import Bridge, BridgedMeasure, Side
    from sociometer.core.task import Instrument
    from sociometer.engine.forms import Form
    from sociometer.store.stored_run import StoredRun

_RECORDED = "recorded/"


def _bridge(
    first: str,
    second: str,
    runs: tuple[str, ...],
    models: tuple[str, ...],
    store: StorePlace | None,
    everything: bool,
    csv: Path | None,
    as_json: bool,
) -> None:
    from sociometer.bridge import bridged
    from sociometer.engine.forms import load_form
    from sociometer.instruments import load

    instrument = load(_instrument_of(first))
    forms = load_form(instrument, first), load_form(instrument, second)
    if forms[0].digest == forms[1].digest:
        raise UsageError(f"{first} and {second} are the same form; give two different ones.")
    sides = _of_models(models, instrument, forms)
    if runs or not models:
        for side, more in zip(sides, _of_runs(runs, forms, store), strict=True):
            side.extend(more)
    found = bridged(instrument, (forms[0].name, forms[1].name), (sides[0], sides[1]))
    if as_json:
        print_json({"bridge": found, "changelog": changelog_line(found)})
        return
    Display(everything, csv).show(
        [bridge_table(found)], finding=f"For the changelog: {changelog_line(found)}", notes=found.notes
    )


def _instrument_of(form: str) -> str:
    """The instrument that a form's name or file begins with."""
    from sociometer.engine.forms import read_form

    if form.endswith(FORM_FILE):
        return read_form(Path(form).expanduser()).instrument
    name = form.rpartition("-")[0]
    if name not in cards():
        raise unknown("form", form, map(_current, cards().values()), "Run 'sociometer forms' to see all.")
    return name


def _current(card: Card) -> str:
    return f"{card.name}-{card.version}"


def _of_models(
    models: Sequence[str], instrument: "Instrument", forms: "tuple[Form, Form]"
) -> "tuple[list[Side], list[Side]]":
    """Each recorded model in both forms."""
    from sociometer.bridge import side_of_recording
    from sociometer.models.recorded import load_recording

    sides: tuple[list[Side], list[Side]] = ([], [])
    for model in models:
        if not model.startswith(_RECORDED):
            raise UsageError(f"bridge sends nothing, so --model takes recorded/NAME or recorded/FILE, not '{model}'.")
        recording = load_recording(model.removeprefix(_RECORDED))
        for side, form in zip(sides, forms, strict=True):
            played = side_of_recording(recording, instrument, form)
            side.extend([played] if played.scored else [])
    return sides


def _of_runs(
    runs: Sequence[str], forms: "tuple[Form, Form]", store: StorePlace | None
) -> "tuple[list[Side], list[Side]]":
    """The stored runs of each form, the newest of each subject; the named ones, or all that played it unchanged."""
    from sociometer.bridge import side_of_run

    with open_stored(store_path(store)) as engine:
        chosen = [engine.stored(run) for run in runs] or [
            engine.stored(record.id)
            for record in engine.store.runs.all()
            if record.instrument == forms[0].instrument and not record.manifest.config.step_of
        ]
        names = [form.name for form in forms]
        wrong = [run for run in chosen if runs and run.form not in names]
        if wrong:
            raise UsageError(
                f"run {wrong[0].id} was played in {wrong[0].form or 'no form'}, not in {' or '.join(names)}."
            )
        sides = [[side_of_run(run, form) for run in _newest(chosen, form.name)] for form in forms]
        # Views of stored scores are read while the store is open.
        return _held(sides[0]), _held(sides[1])


def _newest(runs: "Sequence[StoredRun]", form: str) -> "list[StoredRun]":
    return list({run.subject: run for run in runs if run.form == form}.values())


def _held(sides: "list[Side]") -> "list[Side]":
    """The sides with their episodes in memory."""
    from msgspec import structs

    return [
        structs.replace(
            side,
            views={
                task: structs.replace(view, walk=list(view.episodes()).__iter__) for task, view in side.views.items()
            },
        )
        for side in sides
    ]


def bridge_table(found: "Bridge") -> Table:
    """Every measure in both forms, and its change."""
    rows: list[tuple[Cell, ...]] = [
        (
            one.task,
            one.title,
            number(one.first, one.unit, interval=one.interval),
            number(one.second, one.unit, interval=one.interval),
            _change(one.difference, one.interval, one.unit),
            _change(one.shared_difference, one.shared_interval, one.unit),
            one.shared,
            "/".join(map(str, one.items)),
            one.subjects,
        )
        for one in found.measures
    ]
    columns = (
        "task", "measure", found.first, found.second, "change", "on shared items", "shared", "items", "subjects",
    )  # fmt: skip
    title = f"{found.first} to {found.second}: {', '.join(found.subjects)}"
    note = "Changes are means over the subjects, with 95 % intervals. Shared items have the same content in both forms."
    return Table("bridge", title, columns, tuple(rows), note)


def _change(value: float | None, interval: Interval | None, unit: str) -> str | None:
    if value is None or interval is None:
        return None
    shown = signed_amount(value, unit, interval=interval)
    return f"{'+' * (value > 0)}{shown} {'(too few)' if interval.too_few else bracketed_interval(interval, unit)}"


def changelog_line(found: "Bridge") -> str:
    """One line that says how a new form changes the numbers."""
    said = "; ".join(_in_words(one) for one in found.measures) or "no measure can be compared"
    who = f"{len(found.subjects)} subject{'s' * (len(found.subjects) != 1)}"
    return f"`{found.first}` to `{found.second}`, on stored replies of {who}: {said}."


def _in_words(one: "BridgedMeasure") -> str:
    change = _change(one.difference, one.interval, one.unit)
    return (
        f"{one.task}, {in_sentence(one.title)} {change} ({one.items[0]} and {one.items[1]} items, {one.shared} shared)"
    )


command = click.Command(
    "bridge",
    callback=_bridge,
    params=[
        click.Argument(["first"], metavar="FORM_A"),
        click.Argument(["second"], metavar="FORM_B"),
        runs_argument(),
        click.Option(
            ["models", "--model"],
            multiple=True,
            metavar="recorded/NAME",
            help="Recorded model to read in both forms; can be repeated.",
        ),
        store_option(),
        *display_options(),
    ],
    help="Show how much the scores of the same subjects change from FORM_A to FORM_B, with intervals. Uses stored"
    " replies: of RUN…, of recorded models, or of all stored runs of both forms. Sends nothing.",
)
