"""`sociometer show`: one run, or one item of it turn by turn."""

from collections.abc import Iterable, Sequence
from typing import Any

import click
from msgspec import structs

from sociometer.cli.options import open_stored, store_option
from sociometer.cli.output import Display, TableCommand, display_options, option, print_line, print_table, print_text
from sociometer.core.card import MeasureCard
from sociometer.core.conversation import SUBJECT, Exchange
from sociometer.core.errors import UsageError, hint, unknown
from sociometer.core.measure import Cell, Table
from sociometer.core.task import Episode
from sociometer.core.words import counted
from sociometer.instruments import load
from sociometer.reporting.chat import print_chat, record_text, score_text, turns
from sociometer.reporting.evidence import beside
from sociometer.results import summaries
from sociometer.results.candidates import run_labels
from sociometer.results.choice import resolver_of
from sociometer.results.groups import PeopleRun
from sociometer.statistics.formatting import number
from sociometer.store.place import StorePlace
from sociometer.store.stored_run import StoredRun


def _show_items(stored: StoredRun, tasks: Iterable[str], display: Display) -> None:
    """Print the items of a run, each with the value of the primary measure."""
    rows: list[tuple[Cell, ...]] = []
    for task in tasks:
        primary = stored.definition.card.primary_of(task)
        rows += [(task, one.item.id, one.repeat, _result(one, primary)) for one in stored.episodes(task)]
    title = f"{stored.instrument} · {summaries.subject_of(stored)}  ({stored.reference}), in the order of the test"
    table = Table("items", title, ("task", "item", "repeat", "result"), tuple(rows))
    shown = table.only([place for place in range(4) if place in (1, 3) or len({row[place] for row in rows}) > 1])
    how = f"One item turn by turn: {hint('show', stored.reference, 'ITEM')}"
    display.show([shown], notes=[how], data=table.records())


def _result(episode: Episode[Any, Any], primary: MeasureCard | None) -> str:
    """Right, wrong or the value of an item; why it has none."""
    if episode.failure is not None:
        return f"error: {episode.failure.kind}"
    score = episode.score
    if score is None or primary is None or (value := score.values.get(primary.value)) is None:
        return "no value" if score is None else score_text(structs.replace(score, facets={}))
    unread = f" ({score.unreadable} unreadable)" if score.unreadable else ""
    if primary.unit == "share" and value in (0.0, 1.0):
        return ("right" if value else "wrong") + unread
    return number(value, primary.unit) + unread


def _show(
    run: str,
    item: str | None,
    task: str | None,
    repeat: int | None,
    items: bool,
    store: StorePlace | None,
    display: Display,
) -> None:
    if item is None and repeat is not None:
        raise UsageError("--repeat needs an ITEM; --items lists them.")
    if item is not None and items:
        raise UsageError(f"--items lists all items; leave out '{item}'.")
    if item is not None and (display.format == "csv" or (display.to and not display.as_json)):
        raise UsageError("an ITEM is shown as a transcript, which is no table; to write it, give --to FILE.json.")
    with open_stored(store) as engine:
        results = resolver_of(engine.store, load).results(run)
        if isinstance(results[0], PeopleRun) and (items or item):
            answers = hint("study export", run.partition("/")[0], "--to", "FOLDER")
            raise UsageError(f"'{run}' is a study; to see its answers: {answers}")
        if task:
            results = _with_task(results, task)
        if item is not None:
            _show_item(_with_item(results, item, task), item, task, repeat or 0, display)
        elif len(results) > 1 and not items:
            _show_results(results, display)
        elif items:
            stored = resolver_of(engine.store, load).one(run) if len(results) > 1 else results[0]
            _show_items(stored, [task] if task else stored.all_tasks, display)
        else:
            show_run(results[0], task, display)


def _with_task(results: Sequence[StoredRun], task: str) -> list[StoredRun]:
    """The results that have a task; an error lists the tasks."""
    having = [result for result in results if task in result.all_tasks]
    if not having:
        tests = "/".join(dict.fromkeys(result.instrument for result in results))
        raise unknown(f"{tests} task", task, [name for result in results for name in result.all_tasks])
    return having


def _with_item(results: Sequence[StoredRun], item: str, task: str | None) -> StoredRun:
    """The only result that has an item; the first, which says what is wrong, if none has it."""
    having = [result for result in results if _has_item(result, item, task)]
    if len(having) > 1:
        ids = ", ".join(result.id for result in having)
        raise UsageError(f"several results have the item '{item}': {ids}; give one of them.")
    return having[0] if having else results[0]


def _has_item(result: StoredRun, item: str, task: str | None) -> bool:
    tasks = (task,) if task else result.all_tasks
    return any(item in result.repeats(name) for name in tasks)


def _show_results(results: Sequence[StoredRun], display: Display) -> None:
    """Show the scores of several results of one subject."""
    labels = run_labels(results)
    display.show(
        [summaries.summary_table(result, label=labels[result.id]) for result in results],
        finding="\n".join(summaries.finding(result, labels[result.id]) for result in results),
        limits=[summaries.first_rows(result) for result in results],
        files=[summaries.raw_measures(results)],
        data=[summaries.run_json(result) for result in results],
    )


def show_run(stored: StoredRun, only: str | None, display: Display) -> None:
    """Show the scores of a result."""
    display.show(
        [summaries.summary_table(stored, only or "")],
        finding=summaries.finding(stored),
        more=[table for task in ((only,) if only else stored.all_tasks) for table in stored.summary(task).tables],
        notes=[f"{counted(count, 'episode')} failed: {kind}" for kind, count in stored.failures().items()],
        limits=[summaries.first_rows(stored)],
        files=[summaries.raw_measures([stored])],
        data=summaries.run_json(stored),
    )


def _show_item(stored: StoredRun, item: str, task: str | None, repeat: int, display: Display) -> None:
    how = f"'{hint('show', stored.reference, '--items')}' lists them."
    name, episode = stored.find_episode(item, task or "", repeat, how)
    events = stored.transcript(episode, name)
    if display.as_json:
        display.json({"run": stored.id, "task": name, "episode": episode, "events": events})
        return
    title = (stored.reference, stored.subject, name, item, f"repeat {repeat}" if repeat else "")
    print_line(" · ".join(filter(None, title)))
    print_line()
    if display.wide:
        print_line(f"{events}\n")
    else:
        print_chat(turns(events, stored.subject))
    figure = None if name in stored.past else beside(stored, name, episode)
    if figure is not None and figure.table is not None:
        print_table(figure.table)
    if episode.failure is not None:
        print_text(f"failed ({episode.failure.kind}): {episode.failure.message}")
    if episode.outcome is not None:
        print_text(f"outcome: {record_text(episode.outcome)}")
    if episode.score is not None:
        print_text(f"score: {score_text(episode.score)}")
    if not display.wide and any(isinstance(event, Exchange) and event.role != SUBJECT for event in events):
        print_text("Not shown: prompts to other roles. Add --format wide to see every message.")


command = TableCommand(
    "show",
    callback=_show,
    params=[
        click.Argument(["run"]),
        click.Argument(["item"], required=False),
        option("--task", "Task to show [default: all; for an ITEM, the first task that has it]."),
        option("--repeat", "Repeat of the ITEM to show, counting from 0 [default: 0].", type=int),
        option("--items", "List the items, right, wrong or unreadable.", is_flag=True),
        store_option(),
        *display_options(),
    ],
    help="Show the scores of RUN, or one ITEM of it turn by turn. RUN is an id, a name, a subject, or 'last'.",
)
