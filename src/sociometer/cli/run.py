"""`sociometer run`: runs instruments on models."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import click
from msgspec import structs

from sociometer.cli.options import (
    HELP_ALL,
    PlayCommand,
    chosen_settings,
    open_engine,
    run_config,
    setting_options,
    shared_options,
)
from sociometer.cli.output import SCREEN, Display, print_text
from sociometer.core.card import Card
from sociometer.core.config import Caps, RunConfig
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import ExitCode, NeverAnswered, StopCause, UsageError, hint, unknown
from sociometer.core.measure import Table
from sociometer.core.settings import Setting
from sociometer.core.words import first_of, grouped
from sociometer.engine.engine import Engine, PlayedRun
from sociometer.engine.estimate import RoleEstimate, estimate, how_estimated
from sociometer.engine.plan import ReadPlan
from sociometer.engine.prices import entry_of
from sociometer.engine.run_options import with_shared_rule
from sociometer.instruments import card_of, cards
from sociometer.reporting.progress import ProgressDisplay
from sociometer.results import summaries
from sociometer.store.bundle import plan_digest, plan_text, public_manifest
from sociometer.store.records import RunStatus
from sociometer.store.stored_run import StoredRun

_PLAN_COLUMNS = (
    "instrument", "task", "role", "model", "items", "repeats", "requests", "tokens in", "tokens out", "cost $",
    "requests from", "requests at most", "tokens out at most", "cost $ at most", "prices of",
)  # fmt: skip
_COUNTED: dict[str, Callable[[RoleEstimate], float]] = {
    "max_cost": lambda row: row.cost or 0.0,
    "max_requests": lambda row: row.requests,
    "max_tokens": lambda row: row.input_tokens + row.output_tokens,
}
"""What each spending limit counts of an estimate."""


class RunCommand(PlayCommand):
    """Accepts the settings of the named instruments as options."""

    everyday = tuple(name for name in PlayCommand.everyday if name != "dry_run")  # 'plan' is a dry run

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and not args[0].startswith("-") and args[0] != "all" and "/" not in args[0]:
            card_of(args[0])
        named = [cards()[word] for word in args if word in cards()]
        chosen = list(cards().values()) if "all" in args else named
        if "--set" in args:
            given = " ".join(args[args.index("--set") :][:2]).partition("=")[0]
            flags = (f"--{setting.name}" for setting in _merged(chosen))
            raise unknown("option", given, flags, "Each setting is an option of its own here.")
        self.params = [*fixed_parameters(), *setting_options(_merged(chosen))]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options; without a test, also the names of the options that only one test has."""
        super().format_options(ctx, formatter)
        if ctx.meta.get(HELP_ALL) and len(self.params) == len(fixed_parameters()):
            with formatter.section(f"Options of one test (described by '{hint('run NAME --help')}')"):
                flags = {card.name: [f"--{one.name}" for one in card.setting] for card in cards().values()}
                formatter.write_dl([(name, " ".join(own)) for name, own in flags.items() if own])


def fixed_parameters() -> list[click.Parameter]:
    """The argument of `run` and the options that every instrument has."""
    argument = click.Argument(["instruments"], nargs=-1, required=True, metavar="INSTRUMENT…|all")
    return [argument, *shared_options()]


def _merged(chosen: list[Card]) -> tuple[Setting, ...]:
    """The settings of several instruments; one that several declare is offered once."""
    first = {setting.name: setting for card in reversed(chosen) for setting in card.setting}
    return tuple({setting.name: first[setting.name] for card in chosen for setting in card.setting}.values())


def configs_of(instruments: tuple[str, ...], values: dict[str, Any]) -> list[RunConfig]:
    """One configuration for each model and instrument, from the values of the options of `run`."""
    names = list(dict.fromkeys(instruments))
    if "all" in instruments:
        names = [name for name, card in cards().items() if card.paper.title or not values["official"]]
    if "all" in instruments and len(set(instruments)) > 1:
        raise UsageError("'all' includes every instrument; give either 'all' or instrument names.")
    for name in names:
        if "/" in name:
            raise UsageError(f"'{name}' is not an instrument; give a model as --model {name}.")
    models = values["models"]
    if not models:
        raise UsageError(f"no model given; use --model MODEL ('{hint('list models')}' lists the accepted values).")
    if values["name"] and len(models) > 1:
        raise UsageError("--name works with a single --model, not with several.")
    known_roles = {role.name for name in names for role in card_of(name).role} - {"subject"}
    for text in values["roles"]:
        if (role := text.partition("=")[0]) not in known_roles and "=" in text and role != "subject":
            raise unknown("role", role, known_roles, f"Run '{hint('list', names[0])}' to see the roles.")
    configs = []
    for model in dict.fromkeys(models):
        for name in names:
            card = card_of(name)
            given = dict(values)
            if len(names) > 1:
                known = {role.name for role in card.role}
                given["roles"] = tuple(text for text in values["roles"] if text.partition("=")[0] in known)
            crossed = _crossed(given["roles"])
            settings = chosen_settings(card.setting, values)
            configs += [run_config(card, model, {**given, "roles": roles}, settings) for roles in crossed]
    return with_shared_rule(configs)


def _crossed(given: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Every combination of the models of roles that are given more than once; the other roles are the same in all."""
    models = grouped((text.partition("=")[0], text) for text in dict.fromkeys(given))
    return list(product(*models.values()))


def play(
    instruments: tuple[str, ...], dry_run: bool, quiet: bool, display: Display, priced: bool = True, **values: Any
) -> int:
    """Play, or with `dry_run` show the plan; not `priced` without a model."""
    configs = configs_of(instruments, values)
    with ProgressDisplay(quiet or dry_run) as progress, open_engine(values["store"], progress) as engine:
        plans = engine.plans(configs, sends=not dry_run)
        for plan in plans:
            for lacking in (*plan.skipped, *plan.incomplete):
                fetch = f"run '{hint('get data', plan.config.instrument)}' or give --data DIR"
                print_text(f"{plan.config.instrument}: {lacking}; {fetch}.", err=True)
        if dry_run:
            return show_plan(engine, plans, display, priced)
        if not quiet:
            _tell_of_stand_ins(plans)
            _tell_the_limits(configs[0].caps)
        engine.require_playable(plans)
        engine.share_limits(plans)
        progress.expect(len(plans))
        return _play_all(engine, plans, display)


def _tell_of_stand_ins(plans: list[ReadPlan]) -> None:
    """Print which roles a stand-in takes by default, what a model adds, and what the instrument says of the others."""
    said = [
        sentence
        for plan in plans
        for role, sentence in plan.instrument.card.default_stand_ins().items()
        if role not in plan.config.roles and role in plan.bindings
    ]
    for plan in plans:
        players = {role: binding.label for role, binding in plan.bindings.items()}
        said += plan.instrument.notices(players, plan.config.roles, plan.instrument.card.version)
    for sentence in dict.fromkeys(said):
        print_text(sentence, err=True)


def _tell_the_limits(caps: Caps) -> None:
    """Print the spending limits before anything is sent."""
    costs = [] if caps.max_cost is None else [f"${caps.max_cost:g}"]
    counts = ((caps.max_requests, "requests"), (caps.max_tokens, "tokens"))
    limits = costs + [f"{most:,} {what}" for most, what in counts if most is not None]
    if limits:
        listed = ", ".join(limits)
        print_text(f"Spending limit, counting all roles, restarts and runs of one command: {listed}.", err=True)


def _play_all(engine: Engine, plans: list[ReadPlan], display: Display) -> int:
    played: list[PlayedRun] = []
    silent: dict[str, list[str]] = {}
    for plan, following in zip(plans, (*plans[1:], None), strict=True):
        try:
            played.append(engine.play_plan(plan, following))
        except NeverAnswered as error:
            silent.setdefault(str(error), []).append(f"{plan.config.subject_label} on {plan.config.instrument}")
            continue
        ending, away = played[-1].ending, StopCause.UNREACHABLE  # the next run may ask another server
        if ending.cause is StopCause.INTERRUPTED or (ending.status is RunStatus.STOPPED and ending.cause is not away):
            break
    messages = [why if len(plans) == 1 else f"{', '.join(who)}: {why}" for why, who in silent.items()]
    if not played:
        raise NeverAnswered(" ".join(messages))
    for message in messages:
        print_text(f"error: {message}", err=True)
    show_all(played, display)
    return exit_code(played) or int(ExitCode.MACHINERY if silent else ExitCode.OK)


def show_all(played: list[PlayedRun], display: Display) -> None:
    """Show what was played."""
    if display.as_json:
        display.json([played_json(one) for one in played])
    else:
        show_played([one.run for one in played], display)


def show_played(runs: list[StoredRun], display: Display) -> None:
    """What was played: one run with its measures, or all in one table with the verdicts between the subjects."""
    if len(runs) == 1:
        table = summaries.summary_table(runs[0])
        first = next((episode.item.id for task in runs[0].tasks for episode in runs[0].episodes(task)), "ITEM")
        note = f"Transcripts: {hint('show', runs[0].reference, first)}"
        display.show(
            [table],
            finding=summaries.finding(runs[0]),
            notes=[note],
            limits=[summaries.first_rows(runs[0])],
            files=[summaries.raw_measures(runs)],
        )
        return
    from sociometer.results.comparison_tables import verdicts_between  # here, since it loads numpy

    table = summaries.joint_table(runs)
    display.show(
        [table if display.has_room(table) else summaries.joint_table(runs, most=0)],
        limits=[SCREEN],
        finding=verdicts_between(runs) or "\n".join(summaries.finding(run) for run in runs),
        more=[summaries.summary_table(run) for run in runs],
        files=[summaries.raw_measures(runs)],
    )


def played_json(played: PlayedRun) -> dict[str, Any]:
    """A run with its summaries, progress counts and ending."""
    progress, spent = played.progress, played.progress.budget.spent
    return {
        **summaries.run_json(played.run),
        "ending": played.ending,
        "done": progress.done,
        "errors": dict(progress.failed),
        "sent": progress.sent,
        "from_journal": progress.from_journal,
        "retries": progress.retries,
        "input_tokens": spent.input_tokens,
        "output_tokens": spent.output_tokens,
        "cost": None if spent.unpriced and not spent.priced else spent.cost,
        "unpriced_replies": spent.unpriced,
        "unmetered_replies": spent.unmetered,
        "seconds": round(progress.elapsed_seconds, 3),
    }


def exit_code(played: list[PlayedRun]) -> int:
    """Interrupted (though the last run may be finished) before stopped before failed before finished."""
    if any(one.ending.cause is StopCause.INTERRUPTED for one in played):
        return int(ExitCode.INTERRUPTED)
    if any(one.ending.status is RunStatus.STOPPED for one in played):
        return int(ExitCode.STOPPED)
    if any(one.ending.status is RunStatus.FAILED or one.progress.failed for one in played):
        return int(ExitCode.MACHINERY)
    return int(ExitCode.OK)


def show_plan(engine: Engine, plans: list[ReadPlan], display: Display, priced: bool = True) -> int:
    """Print what the runs would ask and cost, and what they could show; nothing is sent."""
    decided = [_decided(one) if priced else {} for one in plans]
    found = [(nth, row) for nth, one in enumerate(plans) for row in estimate(one, engine.store)]
    rows = [(plans[nth].config.instrument, row) for nth, row in found]
    if display.as_json:
        told: list[dict[str, Any]] = [
            {"instrument": plans[nth].config.instrument, "estimate": row, **decided[nth]} for nth, row in found
        ]
        display.json(told)
        return 0
    table = Table(
        "plan",
        "Plan (nothing was sent)",
        _PLAN_COLUMNS,
        tuple(
            (name, row.task, row.role, row.model, row.items, row.repeats, row.requests, row.input_tokens,
             row.output_tokens, _dollars(row.cost), row.fewest_requests, row.most_requests, row.most_output_tokens,
             _dollars(row.most_cost), row.prices_as_of or None)
            for name, row in rows
        ),
        note=how_estimated(row for _, row in rows),
        details=("repeats", "requests from", "tokens out at most", "prices of"),
    )  # fmt: skip
    tables = [table] if rows else []
    digests = [
        f"Digest of the plan, which you can publish before the run: {text['plan']}  {one.config.instrument} ·"
        f" {one.config.subject_label}"
        for one, text in zip(plans if display.wide and priced else (), decided, strict=False)
    ]
    unpriced = dict.fromkeys(plans[nth].bindings[row.role].spec for nth, row in found if row.cost is None)
    prices = [f"No known price: {spec}. To see its cost, add {entry_of(spec)}." for spec in unpriced]
    prices = prices if priced else ["For the cost, give --model MODEL."]
    notes = [*_total(rows), *prices, *_limits(plans, found), *_what_items_show(plans), *digests]
    display.show(tables, notes=notes, limits=[len(one.rows) for one in tables])
    return 0


def _limits(plans: list[ReadPlan], found: list[tuple[int, RoleEstimate]]) -> Iterator[str]:
    """Whether each spending limit is expected to stop the runs, which share it, and after how many items."""
    for name, cap in structs.asdict(plans[0].config.caps).items() if plans else ():
        if cap is None:
            continue
        left, played, items = float(cap), 0.0, 0
        for nth, plan in enumerate(plans):
            asked = [row for at, row in found if at == nth and plan.bindings[row.role].player.journaled]
            needed = sum(map(_COUNTED[name], asked))
            own = sum(plan.lists[task.name].count * plan.repeats(task.name) for task in plan.tasks)
            part = min(1.0, left / needed) if needed else 1.0
            left, played, items = left - part * needed, played + part * own, items + own
        reached = f"will probably stop the run after about {int(played)} of {items} items"
        told = reached if int(played) < items else f"is probably enough for all {items} items"
        yield f"--{name.replace('_', '-')} {cap:.12g} {told}."


def _dollars(cost: float | None) -> float | str:
    return "unknown" if cost is None else round(cost, 4)


def _decided(plan: ReadPlan) -> dict[str, str]:
    """What is decided before the first request, and its digest."""
    manifest = public_manifest(plan.manifest, plan.instrument.card)
    return {"plan": plan_digest(manifest), "decided": plan_text(manifest)}


def _what_items_show(plans: list[ReadPlan]) -> list[str]:
    """For each task, a sentence on the smallest difference that its items can show."""
    from sociometer.results.planning import planned_sentence  # here, since it loads numpy

    said = []
    for plan in plans:
        for task, items in plan.lists.items():
            sentence = planned_sentence(plan.instrument, task, items, plan.repeats(task))
            if sentence:
                said.append(f"{plan.config.instrument}/{task}: {sentence}")
    return list(dict.fromkeys(said))


def _total(rows: list[tuple[str, RoleEstimate]]) -> list[str]:
    """The expected cost of all roles, and the most that they can cost; nothing if they cost nothing."""
    costs, most = [row.cost for _, row in rows], [row.most_cost for _, row in rows]
    if not any(costs):
        return []
    totals = (sum(cost for cost in each if cost is not None) for each in (costs, most))
    known, highest = (f"${cost:.2f}" if cost >= 0.1 else f"${cost:.2g}" for cost in totals)
    expected = f"about {known}" + (" and what has no known price" if None in costs else "")
    at_most = f"at most {highest}"
    if endless := dict.fromkeys(
        f"{row.model} ({row.role}) has no "
        + ("known price" if row.cost is None else "limit on its replies" + " (-o reply-tokens)" * (row.role == SUBJECT))
        for _, row in rows
        if row.most_cost is None
    ):
        at_most = f"no limit, because {first_of(list(endless), 3)}"
    return [f"In all: {expected}; {at_most}."]


command = RunCommand(
    "run",
    callback=play,
    params=fixed_parameters(),
    help="Run instruments on models. To continue an unfinished run, repeat the command or use 'resume'; stored replies"
    " are not paid for again. Your own server or function is measured anew by each command, unless its weights have a"
    " name (MODEL#REVISION), or --name and --same say that they have not changed.",
)
