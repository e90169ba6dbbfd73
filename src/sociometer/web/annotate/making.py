"""Makes the units of a queue: from a sheet that an instrument wrote, or from the episodes of a run."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random

from msgspec import structs

from sociometer.core.card import Card, MeasureCard, SheetCard
from sociometer.core.errors import DataError, UsageError
from sociometer.core.instrument import Instrument
from sociometer.core.sheets import read_sheet
from sociometer.reporting.evidence import transcript_lines
from sociometer.results.corrected import COUNTS, PART, episode_name
from sociometer.store.book import ALPHABET
from sociometer.store.labels import Asked, Unit
from sociometer.store.stored_run import StoredRun
from sociometer.web.owner import texts

_SHARE = "share"
_SAID = {"user": "A", "reply": "B"}
"""The speakers without their names: the other side, and the one who is measured."""
_SHOWN_ZH = {
    "talk": "对话", "who and what": "人物与经过", "item": "题目", "question": "问题",
    "situation": "情境", "right": "正确选项",
}  # fmt: skip


def kind_of(path: Path, cards: Mapping[str, Card]) -> tuple[str, SheetCard]:
    """The kind of a sheet (INSTRUMENT/SHEET), by its columns."""
    kinds = {f"{name}/{sheet.name}": sheet for name, card in cards.items() for sheet in card.sheet}
    columns = set(read_sheet(path, guarded=True).columns)
    for name, sheet in kinds.items():
        if columns.issuperset((*sheet.key, *sheet.shown, *(one.column for one in sheet.label))):
            return name, sheet
    raise UsageError(f"{path}: no sheet has these columns; known are {', '.join(kinds)}.")


def asked_of(sheet: SheetCard, language: str) -> tuple[Asked, ...]:
    """The questions of a sheet in a language."""
    found = []
    for one in sheet.label:
        question, names = (one.question_zh or one.question, one.values_zh) if language == "zh" else (one.question, ())
        found.append(Asked(one.column, question, one.values, one.low, one.high, names))
    return tuple(found)


def guide_of(instrument: Instrument, name: str, language: str) -> str:
    """What raters are told about a sheet or a measure, in `raters/<language>/<name>.md`; empty if nothing."""
    path = instrument.folder / "raters" / language / f"{name}.md"
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def title_of(sheet: SheetCard, language: str) -> str:
    """The title of a sheet in a language."""
    return sheet.title_zh if language == "zh" and sheet.title_zh else sheet.title


def _shown(sheet: SheetCard, row: Mapping[str, str], language: str) -> dict[str, str]:
    """The part of a row that raters see, with column names in their language."""
    names = sheet.shown_zh if language == "zh" and sheet.shown_zh else sheet.shown
    return {name: row[column] for name, column in zip(names, sheet.shown, strict=True)}


def sheet_units(path: Path, sheet: SheetCard, language: str = "en") -> tuple[tuple[str, ...], list[Unit]]:
    """The columns of a sheet, and its rows as units; labels that are filled in already are left alone."""
    read = read_sheet(path, (*sheet.key, *sheet.shown), guarded=True)
    units = []
    seen: set[tuple[str, ...]] = set()
    for line, row in read.rows:
        key = {name: row[name] for name in sheet.key}
        if tuple(key.values()) in seen:
            raise DataError(f"the row {', '.join(key.values())} appears twice", path, line)
        seen.add(tuple(key.values()))
        units.append(Unit("", key, _shown(sheet, row, language), row))
    if not units:
        raise DataError("the sheet has no rows", path)
    return tuple(read.columns), units


def parts_asked(language: str, wording: str = "") -> Asked:
    """The question about each part of a value that is a mean over yes/no questions, shown with the dialogue."""
    words = texts("rating", language)
    return Asked("value", wording or words["ask part"], ("yes", "no"), names=_names(words["part names"]))


def measure_asked(measure: MeasureCard, language: str, wording: str = "", *, whole: bool = True) -> Asked:
    """The question about a measure: yes or no for a share that is 0 or 1 in each episode, else a number on its scale.

    The wording is the given one, or else the card's, or else one made from the measure's title. `whole` says that each
    episode has 0 or 1: a yes or no is not the same quantity as a share within an episode.
    """
    words = texts("rating", language)
    own = wording or (measure.question_zh if language == "zh" else "") or measure.question
    if measure.unit == _SHARE and not whole:
        measure, own = structs.replace(measure, unit="number", low=0.0, high=1.0), wording
    if measure.unit == _SHARE:
        question = own or words["ask share"].format(title=measure.title)
        return Asked("value", question, ("yes", "no"), names=_names(words["share names"]))
    if measure.low is None or measure.high is None:
        raise UsageError(f"measure '{measure.name}' has no fixed scale, so people cannot be asked for it.")
    question = own or words["ask number"].format(low=measure.low, high=measure.high, title=measure.title)
    return Asked("value", question, (), measure.low, measure.high)


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split("|")) if text else ()


def episode_units(run: StoredRun, task: str, names: Iterable[str], value: str, language: str = "en") -> list[Unit]:
    """Episodes as units: what a judge rated, or what was said to the subject and what it replied; without names.

    A value that is a mean over yes/no questions has one unit for each of them.
    """
    wanted = set(names)
    units = []
    for episode in run.episodes(task):
        name = episode_name(episode.item.id, episode.repeat)
        if name not in wanted:
            continue
        lines = transcript_lines(run.transcript(episode.item.id, task, episode.repeat))
        said = [line for line in lines if line.role == "subject" and line.speaker in _SAID]
        shown = episode.item.for_raters()
        if not shown and said:
            shown = {"talk": "\n\n".join(f"{_SAID[line.speaker]}: {line.text}" for line in said)}
        # Imported scores may come without words; then raters look the item up by its name.
        shown = shown or {"item": episode.item.id}
        parts = episode.item.rated_parts(value)
        for part in parts:
            key = {"episode": name, PART: part.id, COUNTS: f"{part.yes:g}"}
            units.append(Unit("", key, _named({**shown, "question": part.question}, language)))
        if not parts:
            units.append(Unit("", {"episode": name}, _named(shown, language)))
    return units


def _named(shown: Mapping[str, str], language: str) -> dict[str, str]:
    """What raters see, with names in their language."""
    return {_SHOWN_ZH.get(name, name) if language == "zh" else name: text for name, text in shown.items()}


def numbered(units: Sequence[Unit], lots: Random) -> list[Unit]:
    """The units with ids that reveal nothing about them."""
    names: dict[str, None] = {}
    while len(names) < len(units):
        names["u-" + "".join(lots.choice(ALPHABET) for _ in range(6))] = None
    return [structs.replace(unit, id=name) for unit, name in zip(units, names, strict=True)]


def assigned(units: Sequence[Unit], raters: Sequence[str], per_item: int, lots: Random) -> list[tuple[str, str, float]]:
    """Who labels what, and in which order: each unit goes to `per_item` raters."""
    if not 1 <= per_item <= len(raters):
        raise UsageError(f"--per-item must be between 1 and the number of raters ({len(raters)}), not {per_item}.")
    given: dict[str, list[str]] = {rater: [] for rater in raters}
    mixed = list(units)
    lots.shuffle(mixed)
    for unit in mixed:
        # Those with the fewest units so far, at random among equals.
        for rater in sorted(raters, key=lambda rater: (len(given[rater]), lots.random()))[:per_item]:
            given[rater].append(unit.id)
    tasks = []
    for rater, names in given.items():
        lots.shuffle(names)
        tasks += [(rater, name, float(place)) for place, name in enumerate(names)]
    return tasks
