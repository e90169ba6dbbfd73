"""Sheets for raters: what is drawn and written for them, and what they filled in."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from sociometer.core.card import Card, LabelCard, MeasureCard, SheetCard
from sociometer.core.errors import DataError, UsageError, hint
from sociometer.core.instrument import Instrument
from sociometer.core.language import languages_in, texts_in
from sociometer.core.sheets import read_sheet, write_sheet
from sociometer.core.task import SheetRow
from sociometer.reporting.evidence import transcript_lines
from sociometer.results.corrected import episode_name, judged_episodes, measure_of
from sociometer.statistics.prediction_powered import random_sample
from sociometer.store.book import ALPHABET
from sociometer.store.labels import Label, LabelBook, LabelQuestion, LabelSheet, Measured, Unit
from sociometer.store.stored_run import StoredRun

UNIT = "unit"
"""The column that says which row of which draw it is."""
_EPISODES = 40
_SHARE = "share"
_YES_NO = ("yes", "no")
_SAID = {"user": "A", "reply": "B"}
"""The speakers without their names: the other side, and the one who is measured."""
_TEXTS = Path(__file__).parent / "sheet_texts"
_GUIDES = "raters"
"""The folder of an instrument with guides for raters, by language."""


def rater_languages() -> tuple[str, ...]:
    """The languages that have texts for raters."""
    return languages_in(_TEXTS)


class Drawn(Struct, frozen=True):
    """A sheet with its units in the order of the file, and the words that its guide has in place of others."""

    sheet: LabelSheet
    units: tuple[Unit, ...]
    words: dict[str, str]


def draw_rows(
    instrument: Instrument, card: SheetCard, rows: Iterable[SheetRow], seed: int, language: str = "en"
) -> Drawn:
    """A sheet of an instrument's card, from rows of its runs."""
    words = _words(instrument, language, card.name)
    asked = tuple(_question(one, words) for one in card.label)
    kind = f"{instrument.card.name}/{card.name}"
    title = words.get(card.title, card.title)
    guide = _guide(instrument, card.name, language)
    sheet = LabelSheet("", title, asked, kind, language, seed=seed, guide=guide)
    units = [
        Unit("", dict(zip(card.key, row.key, strict=True)), _shown(card.shown, row.shown, words), {"run": row.run})
        for row in rows
    ]
    return _named(sheet, units, words)


def draw_measure(
    run: StoredRun, task: str, measure: str, sample: int | None = None, seed: int = 0, language: str = "en"
) -> Drawn:
    """A random sample of the episodes of a run, to be rated on a measure."""
    primary = [one.name for one in run.definition.card.measures_of(task) if one.value and one.primary]
    if not measure and not primary:
        raise UsageError(f"the task '{task}' of run {run.reference} has no primary measure; name a measure with --of.")
    card = measure_of(run, task, measure or primary[0])
    measured = Measured(run.id, task, card.name, card.value)
    judged = judged_episodes(run, measured, {})
    if not judged:
        raise UsageError(f"run {run.reference} has no episode with a value of '{card.name}'.")
    chosen = random_sample([one.id for one in judged], sample or _EPISODES, seed)
    words = _words(run.definition, language)
    card = structs.replace(card, question=words.get(card.question, card.question))
    asked = _asked(card, words, whole={one.judge for one in judged} <= {0.0, 1.0})
    title = words["title"] or card.title
    guide = _guide(run.definition, card.name, language)
    sheet = LabelSheet("", title, (asked,), "run", language, measured, seed, guide)
    return _named(sheet, _episodes(run, task, chosen, words), words)


def _named(sheet: LabelSheet, units: Sequence[Unit], words: dict[str, str]) -> Drawn:
    """The same with names that say nothing about a unit, in an order that follows from them.

    They follow from everything that was drawn: the same draw has the same name, another draw another one.
    """
    body = repr((structs.astuple(sheet), [(unit.key, unit.shown, unit.row) for unit in units])).encode()
    name = _letters(hashlib.blake2b(body, digest_size=8).digest())
    mixed = sorted(units, key=lambda unit: hashlib.blake2b(f"{name}/{unit.key}".encode()).digest())
    named = tuple(structs.replace(unit, id=f"{name}-{place:03}") for place, unit in enumerate(mixed, 1))
    return Drawn(structs.replace(sheet, name=name), named, words)


def _letters(digest: bytes) -> str:
    return "".join(ALPHABET[byte % len(ALPHABET)] for byte in digest)


def _words(instrument: Instrument, language: str, sheet: str = "") -> dict[str, str]:
    """What raters read in a language, by the English texts: the words of all sheets, then the instrument's own."""
    texts = dict(texts_in(_TEXTS, language))
    shown = texts.pop("shown")
    return {**texts, **shown, **instrument.for_raters(language, sheet)}


def _question(card: LabelCard, words: Mapping[str, str]) -> LabelQuestion:
    return LabelQuestion(card.column, words.get(card.question, card.question), card.values, card.low, card.high)


def _asked(measure: MeasureCard, words: Mapping[str, str], *, whole: bool) -> LabelQuestion:
    """The question about a measure: yes or no for a share that is 0 or 1 in each episode, else a number on its scale.

    The wording is the card's, or else one made from the measure's title. `whole` says that each episode has 0 or 1: a
    yes or no is not the same quantity as a share within an episode.
    """
    if measure.unit == _SHARE and not whole:
        measure = structs.replace(measure, unit="number", low=0.0, high=1.0, question="")
    if measure.unit == _SHARE:
        question = measure.question or words["ask share"].format(title=measure.title)
        return LabelQuestion("value", question, _YES_NO)
    if measure.low is None or measure.high is None:
        raise UsageError(f"measure '{measure.name}' has no fixed scale, so people cannot be asked for it.")
    question = measure.question or words["ask number"].format(low=measure.low, high=measure.high, title=measure.title)
    return LabelQuestion("value", question, (), measure.low, measure.high)


def _guide(instrument: Instrument, name: str, language: str) -> str:
    """What raters are told about a sheet or a measure, in `raters/<language>/<name>.md`; empty if nothing."""
    path = instrument.folder / _GUIDES / language / f"{name}.md"
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def _episodes(run: StoredRun, task: str, names: Iterable[str], words: Mapping[str, str]) -> list[Unit]:
    """Episodes as units: what a judge rated, or what was said to the subject and what it replied; without names."""
    wanted = set(names)
    units = []
    for episode in run.episodes(task):
        name = episode_name(episode.item.id, episode.repeat)
        if name not in wanted:
            continue
        shown = episode.item.for_raters()
        if not shown:
            lines = transcript_lines(run.transcript(episode, task))
            said = [line for line in lines if line.role == "subject" and line.speaker in _SAID]
            talk = "\n\n".join(f"{_SAID[line.speaker]}: {line.text}" for line in said)
            # Imported scores may come without words; then raters look the item up by its name.
            shown = {"talk": talk} if talk else {"item": episode.item.id}
        units.append(Unit("", {"episode": name}, _shown(shown, shown.values(), words)))
    return units


def _shown(names: Iterable[str], texts: Iterable[str], words: Mapping[str, str]) -> dict[str, str]:
    return {words.get(name, name): text for name, text in zip(names, texts, strict=True)}


def sheet_text(drawn: Drawn) -> str:
    """The sheet as CSV: a unit a row with what raters see, and empty columns for their answers."""
    shown = list(dict.fromkeys(name for unit in drawn.units for name in unit.shown))
    asked = [question.column for question in drawn.sheet.asked]
    unanswered = [""] * len(asked)
    rows = []
    for unit in drawn.units:
        texts = [unit.shown.get(name, "") for name in shown]
        rows.append([unit.id, *texts, *unanswered])
    return write_sheet([UNIT, *shown, *asked], rows, guard_formulas=True)


def guide_text(drawn: Drawn) -> str:
    """What raters read beside the sheet: how to fill it in, the questions, and the instrument's guide."""
    sheet, words = drawn.sheet, drawn.words
    parts = [f"# {sheet.title}", words["columns" if len(sheet.asked) > 1 else "fill in"]]
    parts += [f"`{question.column}`: {question.question} {_allowed(question, words)}" for question in sheet.asked]
    return "\n\n".join(filter(None, (*parts, sheet.guide))) + "\n"


def _allowed(question: LabelQuestion, words: Mapping[str, str]) -> str:
    """What may be written in a column."""
    if question.values:
        yes_no = words["yes no"].split("|") if question.values == _YES_NO and words["yes no"] else ()
        named = dict(zip(question.values, yes_no, strict=False))
        meanings = [(value, named.get(value) or words.get(value, value)) for value in question.values]
        return words["answers"].format(answers=", ".join(_with_meaning(*pair) for pair in meanings))
    if question.low is None or question.high is None:
        return words["any number"]
    return words["number"].format(low=question.low, high=question.high)


def _with_meaning(value: str, meaning: str) -> str:
    return f"`{value}`" if value == meaning else f"`{value}` ({meaning})"


class Filled(Struct, frozen=True):
    """A filled-in sheet: the labels of one rater on units of one sheet."""

    sheet: LabelSheet
    units: dict[str, Unit]
    labels: tuple[Label, ...]


def read_filled(path: Path, rater: str, book: LabelBook | None, cards: Mapping[str, Card]) -> Filled:
    """What a rater filled in: on a sheet that was drawn from a store, or on one of items that a command wrote.

    A row that was not drawn, or belongs to another draw than the first row, is an error.
    """
    of_items = [column for card in cards.values() for one in card.sheet for column in one.columns]
    read = read_sheet(path, optional=(UNIT, *of_items), guarded=True)
    if not read.rows:
        raise DataError("the sheet has no rows", path)
    if UNIT in read.columns:
        line, first = read.rows[0]
        sheet = book.sheet_with(first[UNIT]) if book is not None else None
        if sheet is None or book is None:
            drew = hint("sheet write")
            raise DataError(f"row '{first[UNIT]}' is of no sheet that '{drew}' drew from this store", path, line)
        units = book.units(sheet.name)
        keys = {line: row[UNIT] for line, row in read.rows}
    else:
        kind, card = _kind_of(read.columns, path, cards)
        sheet = LabelSheet("", card.title, tuple(_question(one, {}) for one in card.label), kind)
        keys = {}
        units = {}
        for line, row in read.rows:
            place = {name: row[name] for name in card.key}
            key = ", ".join(place.values())
            keys[line] = key
            units[key] = Unit(key, place, {})
    labels: dict[str, Label] = {}
    for line, row in read_sheet(path, [question.column for question in sheet.asked], guarded=True).rows:
        unit = keys[line]
        if unit not in units:
            raise DataError(f"row '{unit}' is not of the same sheet as the first row, {sheet.title}", path, line)
        if unit in labels:
            raise DataError(f"row '{unit}' appears twice", path, line)
        labels[unit] = Label(unit, rater, _answers(row, sheet, path, line), imported=True)
    given = tuple(label for label in labels.values() if label.answers)
    if not given:
        columns = ", ".join(question.column for question in sheet.asked)
        raise DataError(f"no answer is filled in; the columns for answers are: {columns}", path)
    return Filled(sheet, units, given)


def _answers(row: Mapping[str, str], sheet: LabelSheet, path: Path, line: int) -> dict[str, str]:
    """The answers in a row; an answer may have capitals and spaces around it."""
    answers = {}
    for question in sheet.asked:
        said = row[question.column].strip()
        said = next((value for value in question.values if value.lower() == said.lower()), said)
        if not said:
            continue
        if problem := question.problem(said):
            raise DataError(f"{question.column} '{said}'; {problem}", path, line)
        answers[question.column] = said
    return answers


def _kind_of(columns: Sequence[str], path: Path, cards: Mapping[str, Card]) -> tuple[str, SheetCard]:
    """The kind of a sheet of items (INSTRUMENT/SHEET), by its columns."""
    kinds = {f"{name}/{sheet.name}": sheet for name, card in cards.items() for sheet in card.sheet if not sheet.entry}
    for name, sheet in kinds.items():
        if set(columns).issuperset(sheet.columns):
            return name, sheet
    raise DataError(f"has no column '{UNIT}', and no sheet of items has its columns ({', '.join(kinds)})", path)
