"""`sociometer show`: one run, or one item of it turn by turn."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import click
import msgspec
from msgspec import Struct, structs

from sociometer.cli.options import open_stored, store_option, store_path
from sociometer.cli.output import (
    Display,
    TableCommand,
    display_options,
    harmless,
    option,
    print_line,
    print_table,
    print_text,
)
from sociometer.cli.summaries import finding, raw_table, reference, run_json, shown_rows, subject_of, summary_table
from sociometer.core.card import MeasureCard
from sociometer.core.conversation import SUBJECT, Event, Exchange
from sociometer.core.errors import UsageError, unknown
from sociometer.core.lazy import lazy
from sociometer.core.measure import Cell, Table
from sociometer.core.task import Episode, Score
from sociometer.core.words import plain_number
from sociometer.statistics.formatting import number
from sociometer.store.place import StorePlace
from sociometer.store.stored_run import StoredRun

rich_console = lazy("rich.console")
rich_padding = lazy("rich.padding")
rich_text = lazy("rich.text")

SIMULATOR = "simulator"
_MOST_CHARACTERS = 100
"""Longer facts are left out of the line of an outcome."""

_LINES_REPEATED = 4
"""A prompt that repeats at least this many first lines of the previous prompt is shown without them."""


class Turn(Struct, frozen=True):
    """One part of a conversation: instructions to a role, words of a speaker, what a role thought, or a note."""

    kind: Literal["instructions", "words", "subject", "thought", "note"]
    speaker: str
    text: str


def turns(events: Iterable[Event], subject: str) -> Iterator[Turn]:
    """What each role was told, once; then the conversation of the subject, with what other roles thought about it.

    Prompts to other roles are left out, and so are their replies if the next prompt to the subject contains them.
    """
    known = list(events)
    exchanges = [event for event in known if isinstance(event, Exchange)]
    other = SIMULATOR if any(event.role == SIMULATOR for event in exchanges) else "prompt"
    told: dict[str, str] = {}
    for exchange in exchanges:
        instructions = next((m.content for m in exchange.messages if m.role == "system"), "")
        if instructions and exchange.role not in told:
            told[exchange.role] = instructions
            yield Turn("instructions", f"instructions to {exchange.role}", instructions)
    heard: dict[str, tuple[Any, ...]] = {}
    prompt = ""
    for place, event in enumerate(known):
        if not isinstance(event, Exchange):
            yield Turn("note", event.kind, note_text(event.facts))
        elif event.role != SUBJECT:
            thought = _thought(event.reply.text, known[:place], known[place + 1 :])
            if thought:
                yield Turn("thought", event.role, thought)
        else:
            before = heard.get(event.branch, ())
            start = len(before) if event.messages[: len(before)] == before else 0
            for message in event.messages[start:]:
                if message.role in ("user", "text"):
                    yield Turn("words", other, _without_repeated(message.content, prompt))
                    prompt = message.content
                elif message.role == "assistant":
                    yield Turn("subject", subject, message.content)
                elif message.content != told[event.role]:
                    yield Turn("instructions", f"instructions to {event.role}", message.content)
            if event.reply.reasoning:
                yield Turn("thought", f"{subject} thinks", event.reply.reasoning)
            yield Turn("subject", subject, without_json(event.reply.shown) or "(no words)")
            said = msgspec.structs.replace(event.messages[0], role="assistant", content=event.reply.text)
            heard[event.branch] = (*event.messages, said)


def _without_repeated(prompt: str, before: str) -> str:
    """The prompt, with an ellipsis in place of first lines that the previous prompt has too."""
    lines, earlier = prompt.split("\n"), before.split("\n")
    same = next(
        (n for n, (a, b) in enumerate(zip(lines, earlier, strict=False)) if a != b), min(len(lines), len(earlier))
    )
    return "\n".join(["…", *lines[same:]]) if _LINES_REPEATED <= same < len(lines) else prompt


def _thought(text: str, earlier: Sequence[Event], later: Sequence[Event]) -> str:
    """What another role thought, without the subject's own words; empty if the subject hears it next."""
    fields = json_object(text)
    parts = {"": text} if fields is None else {name: value for name, value in fields.items() if isinstance(value, str)}
    following = next((event for event in later if isinstance(event, Exchange) and event.role == SUBJECT), None)
    if following is not None and any(
        part.strip() and part in following.messages[-1].content for part in parts.values()
    ):
        return ""
    if fields is None:
        return text
    last = next((event for event in reversed(earlier) if isinstance(event, Exchange) and event.role == SUBJECT), None)
    noted = bool(later) and not isinstance(later[0], Exchange)
    return " · ".join(
        f"{name}: {plain(value)}"
        for name, value in fields.items()
        if not (noted and isinstance(value, int | float)) and not (last is not None and value == last.reply.text)
    )


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object of a reply that is nothing else, or None."""
    bare = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    if not bare.startswith("{"):
        return None
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def without_json(text: str) -> str:
    """The text; a reply that is one JSON object is given as lines of names and values."""
    fields = json_object(text)
    return text if fields is None else "\n".join(f"{name}: {plain(value)}" for name, value in fields.items())


def note_text(facts: Mapping[str, Any]) -> str:
    """The facts of a note in words; a change is given as “40 → 39 (−1)”."""
    rest = dict(facts)
    said = []
    if {"before", "after"} <= rest.keys():
        moved = rest.pop("change", None)
        change = f" ({'+' if isinstance(moved, int | float) and moved > 0 else ''}{plain(moved)})" if moved else ""
        said.append(f"{plain(rest.pop('before'))} → {plain(rest.pop('after'))}{change}")
    said += [f"{name} {plain(value)}" for name, value in rest.items() if value not in (None, "", [], {})]
    return ", ".join(said)


def plain(value: Any) -> str:
    """A value of a fact in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return plain_number(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(plain, value))
    if isinstance(value, dict):
        return "; ".join(f"{name} {plain(part)}" for name, part in value.items())
    return "–" if value is None else str(value)


def record_text(record: Any) -> str:
    """The short facts of an outcome or a score in one line; longer texts are in the conversation itself."""
    fields = msgspec.to_builtins(record)
    if not isinstance(fields, dict):
        return plain(fields)
    known = {name: value for name, value in fields.items() if value not in ("", [], {}, None)}
    parts = [f"{name.replace('_', ' ')}: {plain(value)}" for name, value in known.items()]
    return " · ".join(part for part in parts if len(part) <= _MOST_CHARACTERS)


def score_text(score: Score) -> str:
    """The values of a score, and the groups that its item belongs to."""
    values = ", ".join(f"{name} {plain(value)}" for name, value in score.values.items()) or "no value"
    groups = ", ".join(f"{name} {level}" for name, level in score.facets.items())
    unreadable = f"; {score.unreadable} unreadable" if score.unreadable else ""
    return values + unreadable + (f"  ({groups})" if groups else "")


def print_chat(conversation: Iterable[Turn]) -> None:
    """The conversation on standard output: wrapped and coloured on a terminal, plain when piped."""
    if not sys.stdout.isatty():
        for turn in conversation:
            mark = "  · " if turn.kind in ("note", "thought") else ""
            print_line(f"{mark}{turn.speaker}:{' ' if _inline(turn) else chr(10)}{turn.text.strip()}")
            if turn.kind != "thought":
                print_line()
        return

    console = rich_console.Console(highlight=False)
    styles = {"instructions": "dim", "words": "", "subject": "cyan", "thought": "dim italic", "note": "yellow"}
    for turn in conversation:
        text, style, name = harmless(turn.text.strip()), styles[turn.kind], harmless(turn.speaker)
        aside = turn.kind in ("note", "thought")
        space = (0, 0, 0 if turn.kind == "thought" else 1, 4 if aside else 0)
        if _inline(turn):
            console.print(
                rich_padding.Padding(rich_text.Text.assemble((f"{name}: ", f"bold {style}"), (text, style)), space)
            )
        else:
            console.print(
                rich_padding.Padding(rich_text.Text(name, style=f"bold {style}"), (0, 0, 0, 4 if aside else 0))
            )
            console.print(rich_padding.Padding(rich_text.Text(text, style=style), (0, 0, space[2], 6 if aside else 2)))


def _inline(turn: Turn) -> bool:
    """Whether a turn is printed on the line of its speaker."""
    return "\n" not in turn.text.strip()


def _show_items(stored: StoredRun, tasks: Iterable[str], display: Display) -> None:
    """Print the items of a run, each with the value of the primary measure."""
    rows: list[tuple[Cell, ...]] = []
    for task in tasks:
        primary = next((one for one in stored.definition.card.measures_of(task) if one.primary and one.value), None)
        rows += [(task, one.item.id, one.repeat, _result(one, primary)) for one in stored.episodes(task)]
    columns = ("task", "item", "repeat", "result")
    if display.as_json:
        display.json([dict(zip(columns, row, strict=True)) for row in rows])
        return
    kept = [place for place in range(len(columns)) if place not in (0, 2) or len({row[place] for row in rows}) > 1]
    table = Table(
        "items",
        f"{stored.instrument} · {subject_of(stored)}  ({reference(stored)})",
        tuple(columns[place] for place in kept),
        tuple(tuple(row[place] for place in kept) for row in rows),
    )
    display.show([table], notes=[f"One item turn by turn: sociometer show {reference(stored)} ITEM"])


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
    with open_stored(store_path(store)) as engine:
        stored = engine.stored(run)
        if items:
            _show_items(stored, [stored.task(task).name] if task else stored.tasks, display)
        elif item is None:
            _show_run(stored, task, display)
        else:
            _show_item(stored, item, task, repeat or 0, display)


def _show_run(stored: StoredRun, only: str | None, display: Display) -> None:
    if only is not None and only not in stored.tasks:
        raise unknown(f"{stored.instrument} task", only, stored.tasks)
    if display.as_json:
        display.json(run_json(stored))
        return
    display.show(
        [summary_table(stored, only or "")],
        finding=finding(stored),
        more=[table for task in ((only,) if only else stored.tasks) for table in stored.summary(task).tables],
        notes=[f"{count} episodes failed: {kind}" for kind, count in stored.failures().items()],
        limits=[shown_rows(stored)],
        files=[raw_table([stored])],
    )


def _show_item(stored: StoredRun, item: str, task: str | None, repeat: int, display: Display) -> None:
    name, episode = _find(stored, item, task, repeat)
    events = stored.transcript(item, name, repeat)
    if display.as_json:
        display.json({"run": stored.id, "task": name, "episode": episode, "events": events})
        return
    title = (reference(stored), stored.subject, name, item, f"repeat {repeat}" if repeat else "")
    print_line(" · ".join(filter(None, title)))
    print_line()
    if display.wide:
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
    if not display.wide and any(isinstance(event, Exchange) and event.role != SUBJECT for event in events):
        print_text("Not shown: prompts to other roles. Add --format wide to see every message.")


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
    raise unknown(
        f"{stored.instrument} item", item, known, f"'sociometer show {reference(stored)} --items' lists them."
    )


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
    help="Show the scores of RUN, or one ITEM of it turn by turn. RUN is an id, the start of an id, a name, or 'last'.",
)
