"""People's allocations as a CSV file: one row per person, four columns per scenario; errors name the line."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.core.measure import Cell
from sociometer.core.sheets import read_sheet, write_sheet
from sociometer.instruments.seceu.items import TOTAL

OPTIONS = 4
TOLERANCE = 0.5
_COLUMN = re.compile(r"(?P<scenario>.+)_(?P<place>[1-4])")
_ABOUT = ("person", "sex", "age")
_SEXES = {"f": "female", "female": "female", "woman": "female", "m": "male", "male": "male", "man": "male"}
_SEXES |= {"女": "female", "男": "male"}


class Person(Struct, frozen=True):
    """One person's answers; a scenario that is unanswered or does not add up to ten points is absent."""

    name: str
    answers: dict[str, tuple[float, ...]]
    sex: str = ""
    age: float | None = None
    invalid: int = 0
    """Given answers that do not add up to the points."""
    groups: dict[str, str] = {}
    """Further columns about the person, such as a language or a country."""

    def group(self, column: str) -> str:
        """The person's value in a column; empty if unknown."""
        if column == "sex":
            return self.sex
        if column == "age":
            return "" if self.age is None else f"{self.age:g}"
        return self.groups.get(column, "")


def read_people(path: Path) -> tuple[tuple[str, ...], list[Person]]:
    """Return the scenarios of the file in order, and its people."""
    sheet = read_sheet(path, guarded=True)
    scenarios = _scenarios(sheet.columns, path)
    people: dict[str, Person] = {}
    for line, row in sheet.rows:
        person = _person(row, scenarios, path, line)
        if person.name in people:
            raise DataError(f"person '{person.name}' appears twice; a norm counts each person once", path, line)
        people[person.name] = person
    return scenarios, list(people.values())


def write_people(scenarios: Sequence[str], people: Iterable[Person]) -> str:
    """Return the CSV text of some people's answers."""
    everyone = list(people)
    more = list(dict.fromkeys(name for person in everyone for name in person.groups))
    columns = [f"{scenario}_{place}" for scenario in scenarios for place in range(1, OPTIONS + 1)]
    rows = [_row(person, scenarios, more) for person in everyone]
    return write_sheet([*_ABOUT, *more, *columns], rows, guard_formulas=True)


def _row(person: Person, scenarios: Sequence[str], more: Sequence[str]) -> list[Cell]:
    row: list[Cell] = [person.name, person.sex, "" if person.age is None else person.age]
    row += [person.groups.get(name, "") for name in more]
    for scenario in scenarios:
        points = person.answers.get(scenario)
        row += [""] * OPTIONS if points is None else [f"{value:.10g}" for value in points]
    return row


def _scenarios(columns: Iterable[str], path: Path) -> tuple[str, ...]:
    places: dict[str, set[str]] = {}
    for column in columns:
        match = _COLUMN.fullmatch(column.strip())
        if match:
            places.setdefault(match["scenario"], set()).add(match["place"])
    short = [scenario for scenario, found in places.items() if len(found) != OPTIONS]
    if short or not places:
        wanted = "each story needs four columns such as ours-01_1 to ours-01_4"
        raise DataError(f"{wanted}; incomplete: {', '.join(short[:5]) or 'no story found'}", path, 1)
    return tuple(places)


def _person(row: Mapping[str, str], scenarios: Sequence[str], path: Path, line: int) -> Person:
    answers: dict[str, tuple[float, ...]] = {}
    invalid = 0
    for scenario in scenarios:
        cells = [row[f"{scenario}_{place}"].strip() for place in range(1, OPTIONS + 1)]
        if not any(cells):
            continue
        points = _points(cells, scenario, path, line)
        if points is None:
            invalid += 1
        else:
            answers[scenario] = points
    about = {name: row.get(name, "").strip() for name in _ABOUT}
    answered = {f"{scenario}_{place}" for scenario in scenarios for place in range(1, OPTIONS + 1)}
    groups = {
        name: cell.strip()
        for name, cell in row.items()
        if name and name not in about and name not in answered and cell.strip()
    }
    return Person(
        about["person"] or f"row {line}",
        answers,
        _sex(about["sex"]),
        _age(about["age"], path, line),
        invalid,
        groups,
    )


def _points(cells: Sequence[str], scenario: str, path: Path, line: int) -> tuple[float, ...] | None:
    """The points scaled to ten if they nearly add up to it; None otherwise."""
    try:
        values = [float(cell) if cell else 0.0 for cell in cells]
    except ValueError:
        raise DataError(f"{scenario} contains {cells}; points must be numbers", path, line) from None
    held = math.fsum(values)
    if not all(math.isfinite(value) and value >= 0 for value in values) or abs(held - TOTAL) > TOLERANCE:
        return None
    return tuple(TOTAL * value / held for value in values)


def _sex(text: str) -> str:
    return _SEXES.get(text.lower(), text.lower())


def _age(text: str, path: Path, line: int) -> float | None:
    try:
        age = float(text) if text else None
    except ValueError:
        raise DataError(f"age '{text}' is not a number", path, line) from None
    if age is not None and not math.isfinite(age):
        raise DataError(f"age '{text}' is not a number; leave the cell empty if it is unknown", path, line)
    return age
