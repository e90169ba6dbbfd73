"""The case study: one dialogue on one page, with what the person felt and thought at every turn."""

from collections.abc import Sequence
from html import escape
from unicodedata import east_asian_width

from msgspec import Struct

from sociometer.core.measure import Figure
from sociometer.instruments.sage.dialogue import Dialogue
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.text_tokens import count_tokens

WIDTH = 900
_TALK, _SIDE, _MARGIN, _GAP = 560, 250, 24, 26
_SIZE, _LINE, _SMALL, _SMALL_LINE = 14, 20, 12, 17
_PAD, _INDENT = 12, 40
_LONGEST = 600
"""The number of characters of an utterance that are shown."""
_INK, _SOFT, _PAPER, _PERSON, _SUBJECT = "#22292f", "#5d6a75", "#fcfbf8", "#e7eef2", "#f3ece4"
_GOOD, _BAD, _LEVEL = "#3d8b53", "#b8452f", "#1f6f8b"
_CLOSING = "，。、；：！？）》」』”’…,.;:!?)"
_FONT = "Inter, 'Segoe UI', 'Helvetica Neue', Arial, 'Noto Sans', 'Noto Sans CJK SC', sans-serif"


class _Said(Struct, frozen=True):
    """One utterance, its speaker, and the thought and the feeling next to it."""

    person: bool
    words: str
    label: str
    thought: str = ""
    change: int | None = None
    level: int | None = None


def case_study(scenario: Scenario, dialogue: Dialogue, subject: str, name: str = "case") -> Figure:
    """A page with every turn: the words in the middle, the person's emotion and thoughts at the side."""
    said = _utterances(scenario, dialogue, subject)
    body: list[str] = []
    top = 112
    for each in said:
        lines = wrapped(each.words, _TALK - (0 if each.person else _INDENT) - 2 * _PAD, _SIZE)
        aside = wrapped(each.thought, _SIDE, _SMALL)
        label_height = 18
        height = max(len(lines) * _LINE + 2 * _PAD, len(aside) * _SMALL_LINE + (24 if each.level is not None else 0))
        body.append(_bubble(each, lines, aside, top, len(lines) * _LINE + 2 * _PAD))
        top += label_height + height + _GAP - 8
    ending = {"soothed": "the person is content", "lost": "the person gives up", "farewell": "the person says goodbye",
              "turns": "no turns are left"}[dialogue.ending]  # fmt: skip
    body.append(_text(_MARGIN, top + 6, f"Ends at {dialogue.final}: {ending}.", _SIZE, _INK, weight="bold"))
    head = [
        _text(_MARGIN, 38, f"{subject} in scenario {scenario.id}", 19, _INK, weight="bold"),
        *(
            _text(_MARGIN, 64 + row * 18, line, _SMALL + 1, _SOFT)
            for row, line in enumerate(wrapped(_about(scenario, dialogue), WIDTH - 2 * _MARGIN, _SMALL + 1)[:2])
        ),
    ]
    total = top + 34
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {total}" width="{WIDTH}" height="{total}" '
        f'font-family="{escape(_FONT)}"><rect width="{WIDTH}" height="{total}" fill="{_PAPER}"/>'
        f"{''.join(head)}{''.join(body)}</svg>"
    )
    title = f"Emotion {dialogue.start} to {dialogue.final} with {subject}"
    return Figure(name, title, f"Simulator: {dialogue.simulator or 'unknown'}.", svg=svg)


def wrapped(text: str, width: float, size: float) -> list[str]:
    """A text in lines that fit a width at a font size; Chinese breaks anywhere, other words between them."""
    lines: list[str] = []
    for paragraph in text.splitlines() or [""]:
        line, used = "", 0.0
        for piece in _pieces(paragraph):
            wide = _width(piece, size)
            if line and used + wide > width and piece.strip():
                lines.append(line.rstrip())
                line, used = "", 0.0
            if piece.strip() or line:
                line, used = line + piece, used + wide
        if line.strip():
            lines.append(line.rstrip())
    return lines


def _pieces(text: str) -> list[str]:
    """Words, spaces, and single wide characters; no piece begins with a sign that closes a clause."""
    found: list[str] = []
    for letter in text:
        if found and letter in _CLOSING and found[-1] != " ":
            found[-1] += letter
            continue
        joins = found and letter != " " and found[-1] != " " and not _is_wide(letter) and not _is_wide(found[-1][-1])
        if joins and len(found[-1]) < 40:
            found[-1] += letter
        else:
            found.append(letter)
    return found


def _is_wide(letter: str) -> bool:
    return east_asian_width(letter) in "WF"


def _width(text: str, size: float) -> float:
    return size * sum(1.0 if _is_wide(letter) else 0.64 if letter.isupper() else 0.49 for letter in text)


def _about(scenario: Scenario, dialogue: Dialogue) -> str:
    topic = f" Topic: {scenario.topic}." if scenario.topic else ""
    return f"Simulator: {dialogue.simulator or 'unknown'}. Hidden intention: {scenario.hidden}{topic}"


def _utterances(scenario: Scenario, dialogue: Dialogue, subject: str) -> Sequence[_Said]:
    found = [_Said(True, dialogue.opening, "person", level=dialogue.start)]
    for turn in dialogue.turns:
        counted = f"{turn.tokens} tokens" if turn.tokens else f"about {count_tokens(turn.reply)} tokens"
        found.append(_Said(False, _shown(turn.reply) or "…", f"{subject} ({counted})"))
        judged = turn.judgement
        if judged is not None:
            thought = " ".join(filter(None, (judged.activity, judged.feeling)))
            found.append(_Said(True, _shown(turn.words), "person", _shown(thought), judged.moved, judged.after))
    return found


def _shown(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST].rstrip() + " …"


def _bubble(each: _Said, lines: Sequence[str], aside: Sequence[str], top: float, height: float) -> str:
    left = _MARGIN if each.person else _MARGIN + _INDENT
    width = _TALK if each.person else _TALK - _INDENT
    parts = [_text(left, top, each.label, _SMALL, _SOFT)]
    if lines:
        fill = _PERSON if each.person else _SUBJECT
        parts.append(f'<rect x="{left}" y="{top + 8}" width="{width}" height="{height}" rx="10" fill="{fill}"/>')
        parts += [
            _text(left + _PAD, top + 8 + _PAD + 14 + row * _LINE, line, _SIZE, _INK) for row, line in enumerate(lines)
        ]
    side = _MARGIN + _TALK + 28
    down = top + 22
    if each.level is not None:
        parts.append(_level(each, side, down))
        down += 24
    parts += [_text(side, down + 2 + row * _SMALL_LINE, line, _SMALL, _SOFT) for row, line in enumerate(aside)]
    return "".join(parts)


def _level(each: _Said, side: float, down: float) -> str:
    """The emotion as a bar from 0 to 100, its number, and its change."""
    level, change = each.level or 0, each.change
    bar = (
        f'<rect x="{side}" y="{down - 9}" width="120" height="8" rx="4" fill="#d8dde1"/>'
        f'<rect x="{side}" y="{down - 9}" width="{1.2 * level:.0f}" height="8" rx="4" fill="{_LEVEL}"/>'
    )
    number = _text(side + 130, down, str(level), _SIZE, _INK, weight="bold")
    if change is None:
        return bar + number
    colour = _GOOD if change > 0 else _BAD if change < 0 else _SOFT
    moved = f"{change:+d}".replace("-", "\u2212") if change else "±0"
    return bar + number + _text(side + 168, down, moved, _SIZE, colour, weight="bold")


def _text(x: float, y: float, words: str, size: float, colour: str, *, weight: str = "normal") -> str:
    kept = "".join(letter for letter in words if letter.isprintable())
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" fill="{colour}" font-weight="{weight}">{escape(kept)}</text>'
    )
