"""The text of a paper pack (`README.md`): its runs, then how each table and figure was computed and what is missing."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from sociometer.core.card import Card
from sociometer.core.paper import PaperRun
from sociometer.reporting.content import GivenRun

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&!])")


def plain(text: str) -> str:
    """A text that Markdown shows as it is, on one line."""
    return _MARKUP.sub(r"\\\1", " ".join("".join(c if c.isprintable() else " " for c in text).split()))


class WrittenPart(Struct, frozen=True):
    """A table or figure of the paper with its files; without files, `missing` says why."""

    label: str
    title: str
    files: tuple[str, ...]
    how: str
    missing: str


def pack_text(
    card: Card, given: Sequence[GivenRun], runs: Sequence[PaperRun], parts: Sequence[WrittenPart], version: str
) -> str:
    """The whole text."""
    return "\n".join(_lines(card, given, runs, parts, version)) + "\n"


def _lines(
    card: Card, given: Sequence[GivenRun], runs: Sequence[PaperRun], parts: Sequence[WrittenPart], version: str
) -> Iterator[str]:
    filled = sum(bool(part.files) for part in parts)
    yield f"# {plain(card.title)}: the paper's tables and figures"
    yield ""
    yield (
        f"The paper is {plain(card.paper.authors)} ({card.paper.year}), *{plain(card.paper.title)}*. Sociometer"
        f" {plain(version)} filled {filled} of its {len(parts)} tables and figures from the runs below."
    )
    yield ""
    yield (
        "- Tables are CSV and LaTeX (booktabs). The columns `from` and `to`, or the brackets, are the bounds of 95 %"
        " intervals."
    )
    yield "- Figures are SVG and PDF. `all.tex` shows every table and figure in one document."
    yield "- Stand-ins, items other than the paper's and numbers without an interval are marked in every file."
    yield ""
    yield "## Runs"
    yield ""
    yield "| run | form | subject | task | items | played | status | remarks |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    entries = {entry.run.id: entry for entry in given}
    for run in runs:
        entry = entries[run.summarised.run]
        items = max((measure.items for measure in run.summarised.summary.measures), default=0)
        cells = (
            entry.run.id, entry.run.form or "–", run.label, run.task, str(items), entry.created, entry.status,
            "; ".join(run.remarks) or "–",
        )  # fmt: skip
        yield f"| {' | '.join(map(plain, cells))} |"
    yield ""
    yield from _notes(runs)
    for part in parts:
        yield f"## {plain(part.label)}: {plain(part.title)}"
        yield ""
        yield f"Files: {', '.join(f'`{name}`' for name in part.files)}." if part.files else "Not written."
        yield ""
        for word, text in (("How", part.how), ("Missing", part.missing)):
            if text:
                yield f"**{word}.** {plain(text)}"
                yield ""


def _notes(runs: Sequence[PaperRun]) -> Iterator[str]:
    """The caveats of the summaries, each once with the names of the runs."""
    said: dict[str, list[str]] = {}
    for run in runs:
        for note in run.summarised.summary.notes:
            said.setdefault(note, []).append(run.label)
    if not said:
        return
    yield "## Caveats of the runs"
    yield ""
    everyone = {run.label for run in runs}
    for note, names in said.items():
        whose = "" if set(names) == everyone else f"{', '.join(dict.fromkeys(names))}: "
        yield f"- {plain(whose + note)}"
    yield ""
