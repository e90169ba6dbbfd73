"""`sociometer paper`: an instrument's paper filled from your runs, recomputed, or its models run again."""

from pathlib import Path
from typing import Any

import click
from msgspec import structs, to_builtins

from sociometer.api import paper, reproduce
from sociometer.cli import options
from sociometer.cli.output import Display, Group, TableCommand, display_options, option, print_result, print_text
from sociometer.cli.run import exit_code, show_plan
from sociometer.core.card import Card
from sociometer.core.config import RunConfig
from sociometer.core.errors import DataError, ExitCode, MachineryError, UsageError, hint
from sociometer.core.instrument import Result
from sociometer.core.measure import Table
from sociometer.core.paper import Replication, ReplicationPlan
from sociometer.core.settings import PAPER, SETTING
from sociometer.core.words import counted
from sociometer.engine.engine import Engine, PlayedRun
from sociometer.engine.plan import ReadLists, ReadPlan
from sociometer.instruments import card_of, cards, load
from sociometer.reporting.progress import ProgressDisplay, track, working
from sociometer.results.choice import choose_for_paper
from sociometer.results.published import (
    ledger_table,
    missing_files_sentence,
    replicated_figures,
    replication_sentence,
    replication_table,
    reproduction_sentence,
    state_of,
)
from sociometer.store.place import StorePlace
from sociometer.store.records import RunStatus


def _reproduce(instruments: tuple[str, ...], data: str, display: Display) -> int:
    names = [card_of(name).name for name in instruments if "all" not in instruments] or list(cards())
    able = [name for name in names if load(name).reproduce is not None]
    found = [reproduce(name, data=data) for name in track(able, "recomputing")]
    good = all(one.good for one in found)
    figures = {one.instrument: [{**to_builtins(row), "result": state_of(row)} for row in one.figures] for one in found}
    missing = {one.instrument: one.missing for one in found}
    tables = [table for one in found for table in (one.table(not display.wide), one.findings()) if table.rows]
    display.show(
        [structs.replace(table, note="") for table in tables],  # the finding says it
        limits=[len(table.rows) for table in tables],
        finding="\n".join(reproduction_sentence(one.instrument, one.figures) for one in found),
        notes=[
            *(missing_files_sentence(card_of(one.instrument), one.missing) for one in found if one.missing),
            *([] if display.wide else ["Add --format wide to see what holds."]),
        ],
        files=[ledger_table({one.instrument: one.figures for one in found})],
        data={"reproduced": good, "figures": figures, "not_found": missing},
    )
    return int(ExitCode.OK if good else ExitCode.GATE_FAILED)


REPRODUCE = TableCommand(
    "reproduce",
    callback=_reproduce,
    params=[
        click.Argument(["instruments"], nargs=-1, metavar="[INSTRUMENT…|all]"),
        option("--data", "Folder that holds the official files.", default=""),
        *display_options(),
    ],
    help="Recompute a paper's numbers from its official files. 'sociometer get data' fetches these. Exits with code 1"
    " if a number differs without a known reason. Without INSTRUMENT, or with 'all', recompute every paper.",
)


_FIXED = {"models", "tasks", "official", "second_question", "base", "answer", "name", "same", "items"}
"""The options of `run` that a replication does not have: the paper decides."""
_ACCESS = {
    "open": "open weights",
    "served": "served",
    "later": "still served, with newer weights",
    "gone": "withdrawn",
    "unknown": "unknown",
}


_Part = list[tuple[Replication, RunConfig]]
"""One run to play for a row, and what is played instead if the authors' prompt is not available."""
_Failed = dict[str, list[str]]
"""The rows that were not played, by reason."""


def _replicate(
    instrument: str, models: tuple[str, ...], dry_run: bool, rows: bool, quiet: bool, display: Display, **values: Any
) -> int:
    card = card_of(instrument)
    declared = load(card.name).replications
    if declared is None:
        having = ", ".join(name for name in cards() if load(name).replications is not None)
        raise UsageError(f"{card.name} has no published rows to replicate; these have: {having}.")
    plan = declared()
    if rows:
        shown = tuple((one.row, one.model or None, _ACCESS[one.access], one.note) for one in plan.models)
        table = Table("rows", f"{card.name}: published rows", ("row", "--model", "access", "note"), shown)
        display.show([table], notes=plan.remarks, data=plan.models)
        return int(ExitCode.OK)
    parts = _parts(card, plan, models, values)
    with ProgressDisplay(quiet or dry_run) as progress, options.open_engine(values["store"], progress) as engine:
        able, failed = _playable(engine, parts, dry_run)
        if dry_run:
            for line in _not_played(failed):
                print_text(line, err=True)
            return show_plan(engine, [run for _, run in able], display)
        progress.expect(len(able))
        played = _play(engine, able, failed)
    found = [figure for printed, one in played for figure in replicated_figures(one.run, printed)]
    unmeasured = sum(len(printed.figures) for printed, _ in played) - len(found)
    data = {"figures": found, "not_played": failed, "not_measured": unmeasured}
    notes = [*_not_played(failed), *_incomplete(played, unmeasured), *plan.remarks]
    table = replication_table(card.name, found)
    display.show([table], finding=replication_sentence(card.name, found), notes=notes, data=data)
    if (code := exit_code([one for _, one in played])) or failed:
        return code or int(ExitCode.MACHINERY)
    return int(ExitCode.OK if {one.within for one in found} - {None} == {True} else ExitCode.GATE_FAILED)


def _parts(card: Card, plan: ReplicationPlan, models: tuple[str, ...], values: dict[str, Any]) -> list[_Part]:
    """The runs of the chosen rows, with the paper's settings, items and repeats."""
    parts, given = [], values["roles"]
    named = {text.partition("=")[0] for text in given}
    for row, model in plan.chosen(models).items():
        if not model:
            known = next(one for one in plan.models if one.row == row)
            why = f"the model of the row '{row}' is not available ({known.note or _ACCESS[known.access]})"
            raise UsageError(f"{why}; give your own server: --model '{row}=MODEL'.")
        runs = [one for one in plan.runs if one.row == row]
        if not runs and models:
            raise UsageError(f"the paper prints no figure for the row '{row}'.")
        for run in runs:
            fixed = {
                "tasks": (run.task,),
                "official": True,
                "second_question": False,
                "base": False,
                "answer": "reply",
                "name": "",
                "same": False,
                "items": (),
                "repeats": values["repeats"] or run.repeats,
                "roles": (*given, *(f"{role}={who}" for role, who in run.roles.items() if role not in named)),
            }
            chosen = {SETTING: PAPER, **run.settings}
            part = [(run, options.run_config(card, model, {**values, **fixed}, chosen))]
            if run.otherwise:
                ours = structs.replace(run, about=f"{run.about}, not the authors' wording")
                part.append((ours, options.run_config(card, model, {**values, **fixed}, {**chosen, **run.otherwise})))
            parts.append(part)
    if not parts:
        raise UsageError(
            f"no published row of {card.name} can be played; to see all: {hint('paper replicate --rows', card.name)}"
        )
    return parts


def _playable(engine: Engine, parts: list[_Part], dry_run: bool) -> tuple[list[tuple[Replication, ReadPlan]], _Failed]:
    """The parts that can be planned, and why others cannot; an error if none can."""
    able: list[tuple[Replication, ReadPlan]] = []
    read: ReadLists = {}
    failed: _Failed = {}
    first: DataError | UsageError | None = None
    for part in parts:
        for printed, config in part:
            try:
                able.append((printed, engine.plan(config, sends=not dry_run, read=read)))
                break
            except (DataError, UsageError) as error:
                problem = error
        else:
            first = first or problem
            failed.setdefault(str(problem), []).append(_name(part[0][0]))
    if isinstance(first, DataError) and not able:
        raise first
    if not able:
        rows = hint("paper replicate", parts[0][0][1].instrument, "--rows")
        said = f"no row can be played here. All rows: {rows}. To play one with your own model: --model ROW=MODEL"
        raise UsageError("\n".join([said, *_not_played(failed)]))
    return able, failed


def _play(
    engine: Engine, parts: list[tuple[Replication, ReadPlan]], failed: _Failed
) -> list[tuple[Replication, PlayedRun]]:
    """Play the parts, until one is stopped; adds to `failed`."""
    done: list[tuple[Replication, PlayedRun]] = []
    for printed, plan in parts:
        try:
            played = engine.play_plan(plan, continue_unfinished=True)
        except MachineryError as error:
            failed.setdefault(str(error), []).append(_name(printed))
            continue
        done.append((printed, played))
        if played.ending.status is RunStatus.STOPPED:
            failed.setdefault(played.ending.reason, []).append(_name(printed))
        if played.ending.status is RunStatus.STOPPED or exit_code([played]) == ExitCode.INTERRUPTED:
            break
    return done


def _incomplete(played: list[tuple[Replication, PlayedRun]], unmeasured: int) -> list[str]:
    """Why printed figures have no counterpart: a limit, other items, or what the notes of a run without a score say."""
    limits = {one.run.manifest.config.limit for _, one in played} - {None}
    said = [f"Only {limit} items were played (--limit); the printed figures are on all." for limit in limits]
    said += [f"{counted(unmeasured, 'printed figure')} could not be measured."] if unmeasured else []
    for printed, one in played:
        summary = one.run.summary(printed.task)
        found = [summary.find(figure.measure, **figure.group) for figure in printed.figures]
        if any(measure is None or measure.value is None for measure in found):
            said += [f"{_name(printed)}: {note}" for note in summary.notes]
    return said


def _not_played(failed: _Failed) -> list[str]:
    return [f"Not played: {'; '.join(names)}. Reason: {why}" for why, names in failed.items()]


def _name(printed: Replication) -> str:
    return f"{printed.row} ({printed.about})" if printed.about else printed.row


REPLICATE = options.PlayCommand(
    "replicate",
    callback=_replicate,
    params=[
        click.Argument(["instrument"]),
        option(
            "--model models",
            "Published row to play; ROW=MODEL plays it with your own model; repeat for several"
            " [default: every row whose model can be called or downloaded].",
            multiple=True,
            metavar="ROW[=MODEL]",
        ),
        option("--rows", "List the published rows and their models, and play nothing.", is_flag=True),
        options.dry_run_option(),
        options.quiet_option(),
        *(one for one in options.run_options() if one.name not in _FIXED),
        options.store_option(),
        *display_options(),
    ],
    help="Run a paper's models again and compare with its figures. They get the paper's wording, settings, items and"
    " repeats. Exits with code 1 if a printed figure lies outside the interval of its replication, or none can be"
    " judged.",
)


def _paper(
    instrument: str,
    runs: tuple[str, ...],
    folder: Path,
    models: Path | None,
    published: bool,
    store: StorePlace | None,
    display: Display,
) -> int:
    name = card_of(instrument).name
    with options.open_stored(store) as engine:
        chosen = options.told(choose_for_paper(engine.store, load, name, runs, installed=cards()))
        with working("writing tables and figures"):
            pack = paper(chosen, folder, models=models, published=published)
    missing = [part.label for part in pack.of_paper if not part.files]
    said = f"{len(pack.of_paper) - len(missing)} of {len(pack.of_paper)} tables and figures of the paper were written."
    notes = [f"Marked in every file: {'; '.join(pack.partial)}."] if pack.partial else []
    notes += [f"Not used of the file about models: {'; '.join(pack.unused)}."] if pack.unused else []
    notes += [f"Not written: {', '.join(missing)}. README.md in the folder says why."] if missing else []
    wrote = pack.files if display.as_json else (f"{folder} ({counted(len(pack.files), 'file')})",)
    result = Result((pack.table(),), tuple(notes), wrote=wrote, finding=said, data={"parts": list(pack.parts)})
    return print_result(result, display)


_TABLES = TableCommand(
    "tables",
    callback=_paper,
    params=[
        click.Argument(["instrument"]),
        options.runs_argument(),
        option(
            "--to folder",
            "Folder to write: new, empty, or written by 'paper' before, whose files are then replaced.",
            type=click.Path(path_type=Path),
            required=True,
        ),
        option(
            "--models",
            "CSV file with a column `model` and facts about models that the paper shows next to the scores.",
            type=click.Path(path_type=Path, dir_okay=False, exists=True),
        ),
        option("--published", "Add the rows that the paper prints to its tables.", is_flag=True),
        options.store_option(),
        *display_options(to=False),
    ],
    help="Fill a paper's tables and figures from your runs. Tables are CSV and LaTeX, figures SVG and PDF; a text says"
    " how each was computed and what is missing. Without RUN, use the most complete run of each subject and setting on"
    " the official items; 'all' also takes other items.",
)

command = Group(
    "paper",
    commands=[_TABLES, REPRODUCE, REPLICATE],
    help="Fill the tables and figures of an instrument's paper from your runs, recompute its published figures, or run"
    " its models again.",
)
