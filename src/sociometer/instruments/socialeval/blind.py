"""What a reader without the story can guess: blind sheets, their scores, and readers that follow a surface cue."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import msgspec

from sociometer.core.command import CommandContext
from sociometer.core.errors import DataError, UsageError
from sociometer.core.instrument import Result
from sociometer.core.measure import Table
from sociometer.core.settings import Settings
from sociometer.instruments.socialeval import items
from sociometer.instruments.socialeval.lint import reachable
from sociometer.instruments.socialeval.solution import end_level, horizon, solve
from sociometer.instruments.socialeval.worldtree import GOAL_FULL, Node, Tree

Policy = Mapping[int, Sequence[float]]
"""For each node, the probability of each choice; a node that is missing is chosen from at random."""
Reader = Callable[[str, Sequence[str]], list[float]]
"""A scripted reader's number for each option, given a goal or question; it takes the highest."""

_Kind = TypeVar("_Kind")
_LETTERS = "ABCDEFGHIJ"
_WORD = re.compile(r"[a-z']+|[一-鿿]")
_NUMBER = re.compile(
    r"\d+|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|quarter|dozen|hundred|thousand|"
    r"(?:twen|thir|for|fif|six|seven|eigh|nine)(?:teen|ty))\b|[一二两三四五六七八九十百千半]+",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<![.!?:…\"'(] )(?<!^)\b[A-Z][a-zé]+")
_POLITE = re.compile(
    r"\b(?:please|thank\w*|sorry|madam\w*|sir|mr|ms|mrs|kind\w*|dear|grateful|glad\w*|welcome|may i|would you|"
    r"let's|together|we'll)\b|您|(?<!申)请|谢|对不住|抱歉|太太|先生|咱们|一起|行行好",
    re.IGNORECASE,
)


class SheetQuestion(msgspec.Struct, frozen=True):
    """One branch of a tree without its story: the protagonist's goal, and the choices by letter."""

    number: int
    goal: str
    choices: dict[str, str]


class Sheet(msgspec.Struct, frozen=True):
    """The branches of all trees of one language in random order, with the instruction for the reader."""

    language: str
    instruction: str
    questions: tuple[SheetQuestion, ...]


class BlindResult(msgspec.Struct, frozen=True):
    """How often a reader kept the best level at branches where a choice can lose it, and the value for chance."""

    tree: str
    branches: int
    kept: float
    chance: float
    reached: float
    """The probability that a walk by these answers reaches the full goal."""
    random: float


INSTRUCTIONS = {
    "en": "You see a person's goal and what they can say or do next, without the story. For each question choose the "
    "letter that serves the goal best in the long run. Answer with JSON: an object from question number to letter.",
    "zh": "你只看到一个人的目标和接下来可以说的话或做的事，看不到故事。每题选出从长远看最有助于实现目标的一项。"
    "请用JSON回答：一个对象，键是题号，值是字母。",
}


def sheet(trees: Iterable[Tree], language: str, seed: int) -> Sheet:
    """The blind sheet of a language; the same trees and seed give the same sheet."""
    rng = random.Random(seed)
    entries = [(tree, node) for tree in trees if tree.language == language for node in branches(tree)]
    rng.shuffle(entries)
    questions = []
    for number, (tree, node) in enumerate(entries, start=1):
        texts = [choice.text for choice in node.choices]
        rng.shuffle(texts)
        questions.append(SheetQuestion(number, tree.protagonist.goal, dict(zip(_LETTERS, texts, strict=False))))
    return Sheet(language, INSTRUCTIONS[language], tuple(questions))


def branches(tree: Tree) -> Iterator[Node]:
    """The reachable nodes with two choices or more."""
    reached = reachable(tree)
    return (node for node in tree.by_id().values() if node.id in reached and len(node.choices) > 1)


def read_sheet(path: Path) -> Sheet:
    """A sheet from its file."""
    return _read(path, Sheet, "not a blind sheet; make one with 'sociometer socialeval blind --to FOLDER'")


def read_answers(path: Path) -> dict[str, str]:
    """A reader's answers: an object from question number to letter."""
    return _read(path, dict[str, str], 'not a list of answers; needed: an object such as {"1": "B", "2": "A"}')


def _read(path: Path, kind: type[_Kind], advice: str) -> _Kind:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        raise DataError(f"no such file; {advice}", path) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{advice} ({error})", path) from None


def policies(given: Sheet, answers: Mapping[str, str], trees: Iterable[Tree]) -> tuple[dict[str, Policy], int]:
    """The answers as a policy for each tree of the sheet's language, and how many questions no tree has now."""
    found: dict[str, dict[int, Sequence[float]]] = {}
    places = {
        (tree.protagonist.goal, frozenset(choice.text for choice in node.choices)): (tree, node)
        for tree in trees
        if tree.language == given.language
        for node in branches(tree)
    }
    changed = 0
    for question in given.questions:
        place = places.get((question.goal, frozenset(question.choices.values())))
        letter = str(answers.get(str(question.number), "")).strip().upper()
        if place is None:
            changed += 1
        elif letter in question.choices:
            tree, node = place
            picked = question.choices[letter]
            found.setdefault(tree.id, {})[node.id] = [float(choice.text == picked) for choice in node.choices]
    return dict(found), changed


def result(tree: Tree, policy: Policy) -> BlindResult:
    """The score of a policy on one tree."""
    solution = solve(tree)
    kept, chances = [], []
    for node in branches(tree):
        keeps = set(solution.best_choices[node.id])
        if solution.best_at[node.id] < GOAL_FULL or len(keeps) == len(node.choices):
            continue
        chances.append(len(keeps) / len(node.choices))
        taken = policy.get(node.id)
        kept.append(sum(taken[i] for i in keeps) if taken else chances[-1])
    count = len(kept)
    return BlindResult(
        tree=tree.id,
        branches=count,
        kept=sum(kept) / count if count else 0.0,
        chance=sum(chances) / count if count else 0.0,
        reached=reaching(tree, policy),
        random=solution.random.full,
    )


def reaching(tree: Tree, policy: Policy) -> float:
    """The probability that a walk by a policy reaches the full goal."""
    nodes = tree.by_id()
    value = {id_: float(node.is_end and end_level(node) == GOAL_FULL) for id_, node in nodes.items()}
    for _ in range(horizon(tree)):
        for node in nodes.values():
            if not node.is_end:
                shares = policy.get(node.id) or [1 / len(node.choices)] * len(node.choices)
                value[node.id] = sum(
                    share * value.get(choice.target, 0.0) for share, choice in zip(shares, node.choices, strict=True)
                )
    return value[tree.root.id]


def scripted(tree: Tree, reader: Reader) -> Policy:
    """The policy of a scripted reader, who sees goal and choices; ties are broken at random."""
    return {
        node.id: take(reader(tree.protagonist.goal, [choice.text for choice in node.choices]))
        for node in branches(tree)
    }


def take(values: Sequence[float]) -> list[float]:
    """The probability of each option for a reader who takes the highest value."""
    best = max(values)
    count = sum(value == best for value in values)
    return [float(value == best) / count for value in values]


def _shared(asked: str, options: Sequence[str]) -> list[float]:
    wanted = _units(asked)
    return [len(wanted & units) / (len(units) or 1) ** 0.5 for units in map(_units, options)]


def _units(text: str) -> set[str]:
    """Words of an English text; pairs of neighbouring characters of a Chinese one."""
    words = _WORD.findall(text.lower())
    if not any("一" <= word <= "鿿" for word in words):
        return set(words)
    return {one + two for one, two in pairwise(words)}


READERS: dict[str, Reader] = {
    "most shared words": _shared,
    "longest": lambda asked, options: [float(len(text)) for text in options],
    "shortest": lambda asked, options: [-float(len(text)) for text in options],
    "most polite": lambda asked, options: [float(len(_POLITE.findall(text))) for text in options],
    "most specific": lambda asked, options: [
        float(len(_NUMBER.findall(text)) + len(_NAME.findall(text))) for text in options
    ],
}
"""Readers that follow one surface cue; specific means numbers and names."""


def blind(context: CommandContext, options: Settings) -> Result:
    """Writes blind sheets, or scores answers to one; without either, plays the scripted readers."""
    files = options.texts("files")
    trees = items.given_trees(files) if files else items.trees(context.source())
    if options.texts("answers") or options.text("sheet"):
        return _score_answers(trees, options)
    wrote = []
    if options.text("out"):
        for language in sorted({tree.language for tree in trees}):
            text = _text(sheet(trees, language, context.seed))
            wrote.append(context.write(Path(options.text("out")) / f"sheet-{language}.json", text))
    by_reader = {name: _scripted(trees, reader) for name, reader in READERS.items()}
    rows = tuple(
        (name, language, *_pooled([r for r in found if r.tree.endswith(f"-{language}")]))
        for name, found in by_reader.items()
        for language in sorted({tree.language for tree in trees})
    )
    tables = (
        _blind_table("readers", "Scripted readers who see goals and choices only", "language", rows),
        _cues(trees),
    )
    return Result(tables=tables, wrote=tuple(wrote))


def _blind_table(name: str, title: str, of: str, rows: tuple[tuple[str | int | float, ...], ...]) -> Table:
    shares = ("kept the goal", "by chance", "goal reached", "random walk (exact)")
    units = dict.fromkeys(shares, "share")
    return Table(name, title, ("reader", of, "branches", *shares), rows, units=units)


def _scripted(trees: list[Tree], reader: Reader) -> list[BlindResult]:
    return [result(tree, scripted(tree, reader)) for tree in trees]


def _pooled(found: list[BlindResult]) -> tuple[int, float, float, float, float]:
    """Means over the branches of all trees, and over the trees."""
    count = sum(r.branches for r in found)
    kept, chance = (sum(getattr(r, name) * r.branches for r in found) / (count or 1) for name in ("kept", "chance"))
    reached, lot = (sum(getattr(r, name) for r in found) / (len(found) or 1) for name in ("reached", "random"))
    return count, kept, chance, reached, lot


def _cues(trees: list[Tree]) -> Table:
    """How often a surface cue finds the right utterance of an ability question."""
    rows = []
    for language in sorted({tree.language for tree in trees}):
        asked = list(items.questions_of([tree for tree in trees if tree.language == language]))
        for name, reader in READERS.items():
            right = [take(reader(question.question, question.options))[0] for question in asked]
            chance = [1 / len(question.options) for question in asked]
            count = len(asked) or 1
            rows.append((name, language, len(asked), sum(right) / count, sum(chance) / count))
    columns = ("cue", "language", "questions", "right", "by chance")
    units = {"right": "share", "by chance": "share"}
    return Table("cues", "Ability questions answered by a surface cue", columns, tuple(rows), units=units)


def _score_answers(trees: list[Tree], options: Settings) -> Result:
    if not options.texts("answers") or not options.text("sheet"):
        raise UsageError(
            "--answers needs --sheet and --sheet needs --answers: the sheet, and one file for each reader."
        )
    sheet = read_sheet(Path(options.text("sheet")))
    rows: list[tuple[str | int | float, ...]] = []
    notes = []
    for name in options.texts("answers"):
        found, changed = policies(sheet, read_answers(Path(name)), trees)
        results = [result(tree, found[tree.id]) for tree in trees if tree.id in found]
        rows += [(Path(name).stem, r.tree, *_pooled([r])) for r in results]
        rows.append((Path(name).stem, "all", *_pooled(results)))
        unanswered = len(sheet.questions) - len(read_answers(Path(name)))
        if unanswered > 0:
            notes.append(
                f"{Path(name).name}: {unanswered} questions have no answer; where a tree has other answers they count"
                " as chance, and trees without any are left out."
            )
        if changed:
            notes.append(f"{Path(name).name}: {changed} questions of the sheet are in no tree; they were left out.")
    table = _blind_table("blind", "Readers who saw goals and choices only", "tree", tuple(rows))
    return Result(tables=(table,), notes=tuple(notes))


def _text(sheet: Sheet) -> str:
    return msgspec.json.format(msgspec.json.encode(sheet), indent=2).decode() + "\n"
