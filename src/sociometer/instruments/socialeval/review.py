"""The review of built trees by people: a row for each choice, with the story before it and what follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from sociometer.core import sheets
from sociometer.core.command import CommandContext
from sociometer.core.errors import DataError
from sociometer.core.instrument import Result
from sociometer.core.measure import Table
from sociometer.core.settings import Settings
from sociometer.instruments.socialeval import items
from sociometer.instruments.socialeval.worldtree import Line, Person, Tree

LABELS = ("follows", "shows ability", "one right answer")
_SHOWN = (
    "people", "goal", "scene", "story", "choice", "what follows", "ability", "question", "right option",
    "other options",
)  # fmt: skip
COLUMNS = ("part", *_SHOWN, *LABELS, "comment")


class Verdict(msgspec.Struct, frozen=True):
    """People's answers about one part; an empty answer means that nobody answered."""

    part: str
    answers: dict[str, str]
    comment: str


def review(context: CommandContext, options: Settings) -> Result:
    """Writes the review sheet, or lists what a filled-in one rejects; the exit code is 1 if there is anything."""
    if options.text("reviewed"):
        return _rejected(read_reviewed(Path(options.text("reviewed"))))
    files = options.texts("files")
    trees = items.given_trees(files) if files else items.trees(context.source())
    wrote = context.write(Path(options.text("out")), write_sheet(trees))
    note = f"Let people fill it in, or label it in the browser: sociometer annotate create NAME --sheet {wrote}"
    return Result(wrote=(wrote,), notes=(note,))


def write_sheet(trees: Iterable[Tree]) -> str:
    """The review sheet of some trees."""
    return sheets.write_sheet(COLUMNS, [row for tree in trees for row in _rows(tree)], guard_formulas=True)


def _rows(tree: Tree) -> Iterator[tuple[str, ...]]:
    stories, nodes = items.story_to(tree), tree.by_id()
    for node in tree.nodes:
        story = stories.get(node.id)
        for number, choice in enumerate(node.choices if story else (), 1):
            assert story is not None
            following = nodes.get(choice.target)
            asked = choice.question
            facts = (
                _people(story.people),
                tree.protagonist.goal,
                tree.scene,
                _lines(story.lines),
                choice.text,
                _lines(following.lines) if following else "",
                ", ".join(choice.abilities or (asked.abilities if asked else ())),
                asked.text if asked else "",
                choice.text if asked else "",
                "\n".join(f"- {text}" for text in choice.distractors),
            )
            yield (f"{tree.id}/{node.id}.{number}", *facts, *("" for _ in LABELS), "")


def read_reviewed(path: Path) -> list[Verdict]:
    """A filled-in review sheet."""
    found = []
    for line, row in sheets.read_rows(path, ("part", *LABELS), ("comment",), guarded=True):
        answers = {name: row[name].strip().lower() for name in LABELS}
        for name, answer in answers.items():
            if answer not in ("yes", "no", ""):
                raise DataError(f"{name} '{answer}'; allowed: yes, no, or empty", path, line)
        found.append(Verdict(row["part"], answers, row.get("comment", "").strip()))
    if not any(answer for verdict in found for answer in verdict.answers.values()):
        raise DataError(f"contains no answer; fill in the columns {', '.join(LABELS)}", path)
    return found


def _rejected(verdicts: Sequence[Verdict]) -> Result:
    """The share of parts that pass each question, and the parts to write again."""
    bad = [verdict for verdict in verdicts if "no" in verdict.answers.values()]
    rows = tuple(
        (verdict.part, ", ".join(name for name in LABELS if verdict.answers[name] == "no"), verdict.comment)
        for verdict in bad
    )
    shares = []
    for name in LABELS:
        given = [verdict.answers[name] for verdict in verdicts if verdict.answers[name]]
        shares.append((name, len(given), given.count("yes") / len(given) if given else None))
    tables = [Table("review", "Review", ("question", "answered", "passes"), tuple(shares), units={"passes": "share"})]
    if bad:
        tables.append(Table("rejected", "Parts to write again", ("part", "fails", "comment"), rows))
    return Result(tables=tuple(tables), finding=f"{len(verdicts)} parts, {len(bad) or 'none'} rejected.",
                  failed=bool(bad))  # fmt: skip


def _people(people: Iterable[Person]) -> str:
    return "\n".join(f"{person.name}: {person.public}" for person in people)


def _lines(lines: Iterable[Line]) -> str:
    return "\n".join(f"{line.speaker}: {line.text}" if line.speaker else line.text for line in lines)
