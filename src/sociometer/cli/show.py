"""`sociometer show`: one run, or one item of it turn by turn."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click
import msgspec

from sociometer.cli.chat import print_chat, record_text, score_text, turns
from sociometer.cli.opening import open_stored
from sociometer.cli.options import store_option, store_path
from sociometer.cli.output import Display, display_options, print_json, print_line, print_table, print_text
from sociometer.cli.summaries import finding, paper_tables, raw_table, run_json, shown_rows, summary_table
from sociometer.cli.unreadable import show_unreadable
from sociometer.core.conversation import SUBJECT, Event, Exchange
from sociometer.core.errors import UsageError, unknown
from sociometer.core.task import Episode
from sociometer.store.place import StorePlace
from sociometer.store.stored_run import StoredRun


def _show(
    run: str,
    item: str | None,
    task: str | None,
    repeat: int,
    unreadable: bool,
    store: StorePlace | None,
    everything: bool,
    csv: Path | None,
    as_json: bool,
) -> None:
    with open_stored(store_path(store)) as engine:
        stored = engine.stored(run)
        if unreadable:
            show_unreadable(stored, [stored.task(task).name] if task else stored.tasks, as_json=as_json)
        elif item is None:
            _show_run(stored, task, as_json, Display(everything, csv))
        else:
            _show_item(stored, item, task, repeat, as_json, everything)


def _show_run(stored: StoredRun, only: str | None, as_json: bool, display: Display) -> None:
    if only is not None and only not in stored.tasks:
        raise unknown(f"{stored.instrument} task", only, stored.tasks)
    if as_json:
        print_json(run_json(stored))
        return
    printed = [] if only else paper_tables([stored])
    display.show(
        [*printed, summary_table(stored, only or "")],
        finding=finding(stored),
        more=[table for task in ((only,) if only else stored.tasks) for table in stored.summary(task).tables],
        notes=[f"{count} episodes failed: {kind}" for kind, count in stored.failures().items()],
        limits=[*(len(table.rows) for table in printed), shown_rows(stored)],
        files=[raw_table([stored]), *printed],
    )


def _show_item(stored: StoredRun, item: str, task: str | None, repeat: int, as_json: bool, everything: bool) -> None:
    name, episode = _find(stored, item, task, repeat)
    events = stored.transcript(item, name, repeat)
    if as_json:
        print_json({"run": stored.id, "task": name, "episode": episode, "events": events})
        return
    print_line(f"{stored.id} · {stored.subject} · {name} · {item}" + (f" · repeat {repeat}" if repeat else ""))
    print_line()
    if everything:
        for line in transcript_lines(events):
            print_line(line)
        print_line()
    else:
        print_chat(turns(events, stored.subject))
    _print_beside(stored, episode)
    if episode.failure is not None:
        print_text(f"failed ({episode.failure.kind}): {episode.failure.message}")
    if episode.outcome is not None:
        print_text(f"outcome: {record_text(episode.outcome)}")
    if episode.score is not None:
        print_text(f"score: {score_text(episode.score)}")
    if not everything and any(isinstance(event, Exchange) and event.role != SUBJECT for event in events):
        print_text("Not shown: prompts to other roles. Add --all or --json to see every message.")


def _print_beside(stored: StoredRun, episode: Episode[Any, Any]) -> None:
    """The replay that the instrument shows next to a transcript, if it is a table."""
    beside = stored.definition.beside
    figure = beside(episode.item, episode.outcome) if beside and episode.outcome is not None else None
    if figure is not None and figure.table is not None:
        print_table(figure.table)


def _find(stored: StoredRun, item: str, task: str | None, repeat: int) -> tuple[str, Episode[Any, Any]]:
    tasks = [task] if task else list(stored.tasks)
    for name in tasks:
        for episode in stored.episodes(name, item):
            if episode.repeat == repeat:
                return name, episode
    known = [episode.item.id for name in tasks for episode in stored.episodes(name)]
    if item in known:
        raise UsageError(f"item '{item}' has no repeat {repeat} in run {stored.id}; repeats are counted from 0.")
    if len(known) > 12:
        near = get_close_matches(item, known, n=1)
        guess = f"did you mean '{near[0]}'?" if near else f"the run has {len(known)} items, the first is '{known[0]}'."
        raise UsageError(f"unknown item '{item}' in run {stored.id}; {guess}")
    raise unknown(f"{stored.instrument} item", item, known)


def transcript_lines(events: Iterable[Event]) -> Iterable[str]:
    """The transcript as text; messages that a role already received are not repeated."""
    seen: dict[tuple[str, str], tuple[Any, ...]] = {}
    for event in events:
        place = f" ({event.branch.strip('/')})" if event.branch else ""
        if not isinstance(event, Exchange):
            facts = "  ".join(f"{key}: {_plain(value)}" for key, value in event.facts.items())
            yield f"  · {event.kind}{place}  {facts}"
            continue
        before = seen.get((event.role, event.branch), ())
        known = len(before) if event.messages[: len(before)] == before else 0
        for message in event.messages[known:]:
            yield ""
            yield f"[{message.role} to {event.role}{place}]"
            yield message.content
        yield ""
        if event.reply.reasoning:
            yield f"[{event.role}{place} thinks]"
            yield event.reply.reasoning
        yield f"[{event.role}{place}: {event.model}]"
        yield event.reply.shown
        said = msgspec.structs.replace(event.messages[0], role="assistant", content=event.reply.text)
        seen[event.role, event.branch] = (*event.messages, said)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


command = click.Command(
    "show",
    callback=_show,
    params=[
        click.Argument(["run"]),
        click.Argument(["item"], required=False),
        click.Option(["--task"], help="Task to show [default: all; for an ITEM, the first task that has it]."),
        click.Option(
            ["--repeat"], type=int, default=0, show_default=True, help="Repeat of the item to show, counting from 0."
        ),
        click.Option(["--unreadable"], is_flag=True, help="List the replies that had no readable answer."),
        store_option(),
        *display_options(),
    ],
    help="Show the scores of RUN, or one ITEM of it turn by turn. RUN is an id, the start of an id, a name, or 'last'.",
)
