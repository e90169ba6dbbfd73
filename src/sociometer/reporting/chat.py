"""An item as it was played, turn by turn: the conversation, its notes, the outcome and the score in plain words."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from sociometer.core.conversation import SUBJECT, Event, Exchange, with_new_messages
from sociometer.core.lazy import lazy
from sociometer.core.task import Score
from sociometer.core.words import plain_number
from sociometer.reporting.terminal import harmless, print_line

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
    prompt = ""
    for place, (event, messages) in enumerate(with_new_messages(known)):
        if not isinstance(event, Exchange):
            yield Turn("note", event.kind, note_text(event.facts))
        elif event.role != SUBJECT:
            thought = _thought(event.reply.text, known[:place], known[place + 1 :])
            if thought:
                yield Turn("thought", event.role, thought)
        else:
            for message in messages:
                if message.role in ("user", "text"):
                    yield Turn("words", other, _without_repeated(message.content, prompt))
                    prompt = message.content
                elif message.role in ("assistant", "calls"):
                    yield Turn("subject", subject, message.shown)
                elif message.role == "result":
                    yield Turn("note", "result", message.shown)
                elif message.content != told[event.role]:
                    yield Turn("instructions", f"instructions to {event.role}", message.content)
            if event.reply.reasoning:
                yield Turn("thought", f"{subject} thinks", event.reply.reasoning)
            yield Turn("subject", subject, without_json(event.reply.shown) or "(no words)")


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
        indent = 4 if turn.kind in ("note", "thought") else 0
        if _inline(turn):
            said = rich_text.Text.assemble((f"{name}: ", f"bold {style}"), (text, style))
        else:
            speaker = rich_text.Text(name, style=f"bold {style}")
            console.print(rich_padding.Padding(speaker, (0, 0, 0, indent)))
            said, indent = rich_text.Text(text, style=style), indent + 2
        console.print(rich_padding.Padding(said, (0, 0, 0 if turn.kind == "thought" else 1, indent)))


def _inline(turn: Turn) -> bool:
    """Whether a turn is printed on the line of its speaker."""
    return "\n" not in turn.text.strip()
