"""`sociometer paper replicate`: plays published rows as their paper did, and compares the printed figures."""

from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from sociometer.cli.options import (
    PlayCommand,
    dry_run_option,
    open_engine,
    quiet_option,
    run_config,
    run_options,
    store_option,
    store_path,
)
from sociometer.cli.output import Display, display_options, option, print_text
from sociometer.cli.run import exit_code, show_plan
from sociometer.core.card import Card
from sociometer.core.config import RunConfig
from sociometer.core.errors import DataError, ExitCode, MachineryError, UsageError
from sociometer.core.measure import Table
from sociometer.core.paper import Replication, ReplicationPlan
from sociometer.core.settings import PAPER, SETTING
from sociometer.instruments import card_of, cards, load
from sociometer.reporting.progress import ProgressDisplay
from sociometer.results.published import replicated, replication_sentence, replication_table
from sociometer.store.records import RunStatus

if TYPE_CHECKING:
    from sociometer.engine.engine import Engine, PlayedRun
    from sociometer.results.published import ReplicatedFigure

_FIXED = {"models", "tasks", "official", "second_question", "base", "answer", "name", "label", "items"}
"""The options of `run` that a replication does not have: the paper decides."""
_ACCESS = {
    "open": "open weights",
    "served": "served",
    "later": "still served, with newer weights",
    "gone": "withdrawn",
    "unknown": "unknown",
}


class _Part(Struct, frozen=True):
    """One run to play for a row."""

    replication: Replication
    config: RunConfig


class _Outcome(Struct, frozen=True):
    """What was found, and what could not be played or measured."""

    found: "list[ReplicatedFigure]"
    played: "list[PlayedRun]"
    failed: dict[str, list[str]]
    """The rows that were not played, by reason."""
    unmeasured: int = 0
    """How many printed figures the runs give no number for."""


def _replicate(
    instrument: str, models: tuple[str, ...], dry_run: bool, rows: bool, quiet: bool, display: Display, **values: Any
) -> int:
    card, display = card_of(instrument), display
    plan = _plan_of(card)
    if rows:
        display.json(plan.models) if display.as_json else display.show([_rows_table(card, plan)], notes=plan.remarks)
        return int(ExitCode.OK)
    parts = _parts(card, plan, models, values)
    with ProgressDisplay(quiet or dry_run) as progress, open_engine(store_path(values["store"]), progress) as engine:
        able, failed = _playable(engine, parts, dry_run)
        if dry_run:
            for line in _not_played(failed):
                print_text(line, err=True)
            return show_plan(engine, [part.config for part in able], display)
        progress.expect(len(able))
        outcome = _play(engine, able, failed)
    return _show(card, plan, outcome, display)


def _plan_of(card: Card) -> ReplicationPlan:
    declared = load(card.name).replications
    if declared is None:
        having = ", ".join(name for name in cards() if load(name).replications is not None)
        raise UsageError(f"{card.name} has no published rows to replicate; these have: {having}.")
    return declared()


def _parts(card: Card, plan: ReplicationPlan, models: tuple[str, ...], values: dict[str, Any]) -> list[_Part]:
    """The runs of the chosen rows, with the paper's settings, items and repeats."""
    parts = []
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
                "tasks": (run.task,), "official": True, "second_question": False, "base": False, "answer": "reply",
                "name": "", "label": "", "items": (), "repeats": values["repeats"] or run.repeats,
                "roles": (*values["roles"], *_default_roles(run, values["roles"])),
            }  # fmt: skip
            parts.append(_Part(run, run_config(card, model, {**values, **fixed}, {SETTING: PAPER, **run.settings})))
    if not parts:
        raise UsageError(
            f"no published row of {card.name} can be played; 'sociometer paper replicate {card.name} --rows' lists all."
        )
    return parts


def _default_roles(run: Replication, given: tuple[str, ...]) -> list[str]:
    named = {text.partition("=")[0] for text in given}
    return [f"{role}={model}" for role, model in run.roles.items() if role not in named]


def _playable(engine: "Engine", parts: list[_Part], dry_run: bool) -> tuple[list[_Part], dict[str, list[str]]]:
    """The parts that can be planned, and why others cannot; the first reason is raised if none can."""
    able: list[_Part] = []
    failed: dict[str, list[str]] = {}
    first: DataError | UsageError | None = None
    for part in parts:
        try:
            engine.plan(part.config, sends=not dry_run).item_lists()
            able.append(part)
        except (DataError, UsageError) as error:
            first = first or error
            failed.setdefault(str(error), []).append(_name(part))
    if first is not None and not able:
        raise first
    return able, failed


def _play(engine: "Engine", parts: list[_Part], failed: dict[str, list[str]]) -> _Outcome:
    found: list[ReplicatedFigure] = []
    all_played: list[PlayedRun] = []
    printed = 0
    for part in parts:
        try:
            played = engine.run(part.config, continue_unfinished=True)
        except MachineryError as error:
            failed.setdefault(str(error), []).append(_name(part))
            continue
        all_played.append(played)
        printed += len(part.replication.figures)
        found += _figures(part, played)
        if played.ending.status is RunStatus.STOPPED:
            failed.setdefault(played.ending.reason, []).append(_name(part))
            break
    return _Outcome(found, all_played, failed, printed - len(found))


def _figures(part: _Part, played: "PlayedRun") -> "list[ReplicatedFigure]":
    run, task = part.replication, part.replication.task
    known = {card.name: card for card in played.run.definition.card.measures_of(task)}
    summary = played.run.summary(task)
    return [
        replicated(run.row, part.config.subject_label, run.about, figure, known[figure.measure], measure, played.run.id)
        for figure in run.figures
        if (measure := summary.measure(figure.measure, **figure.group)) is not None
    ]


def _show(card: Card, plan: ReplicationPlan, outcome: _Outcome, display: Display) -> int:
    if display.as_json:
        display.json({"figures": outcome.found, "not_played": outcome.failed, "not_measured": outcome.unmeasured})
    else:
        table = replication_table(card.name, outcome.found)
        notes = [*_not_played(outcome.failed), *_incomplete(outcome), *plan.remarks]
        display.show([table], finding=replication_sentence(card.name, outcome.found), notes=notes)
    if (code := exit_code(outcome.played)) or outcome.failed:
        return code or int(ExitCode.MACHINERY)
    return int(ExitCode.GATE_FAILED if any(one.within is False for one in outcome.found) else ExitCode.OK)


def _rows_table(card: Card, plan: ReplicationPlan) -> Table:
    return Table(
        "rows",
        f"{card.name}: published rows",
        ("row", "--model", "access", "note"),
        tuple((one.row, one.model or None, _ACCESS[one.access], one.note) for one in plan.models),
    )


def _incomplete(outcome: _Outcome) -> list[str]:
    limits = {played.run.manifest.config.limit for played in outcome.played} - {None}
    said = [f"Only {limit} items were played (--limit); the printed figures are on all." for limit in limits]
    if outcome.unmeasured:
        said.append(f"{outcome.unmeasured} printed figures have no number here: these items do not cover them.")
    return said


def _not_played(failed: dict[str, list[str]]) -> list[str]:
    return [f"Not played: {'; '.join(names)}. Reason: {why}" for why, names in failed.items()]


def _name(part: _Part) -> str:
    about = f" ({part.replication.about})" if part.replication.about else ""
    return f"{part.replication.row}{about}"


def _options() -> list[click.Parameter]:
    found = [one for one in run_options() if one.name not in _FIXED]
    for one in found:
        if one.name == "data":
            one.help = "Folder that holds the official files."
    return found


REPLICATE = PlayCommand(
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
        dry_run_option(),
        quiet_option(),
        *_options(),
        store_option(),
        *display_options(),
    ],
    help="Run the models in a paper's tables again with the paper's wording, settings, items and repeats, and say"
    " whether each printed figure lies within the interval. Exits with code 1 if one does not.",
)
