"""People's allocations as a CSV file: one row a person, four columns a scenario; a bad cell is refused by its line."""

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.instruments.seceu.items import TOTAL

OPTIONS = 4
TOLERANCE = 0.5
_COLUMN = re.compile(r"(?P<scenario>.+)_(?P<place>[1-4])")
_ABOUT = ("person", "sex", "age")
_SEXES = {"f": "female", "female": "female", "woman": "female", "m": "male", "male": "male", "man": "male"}
_SEXES |= {"女": "female", "男": "male"}


class Person(Struct, frozen=True):
    """One person's answers; a scenario that was left out or does not share out ten points is absent."""

    name: str
    answers: dict[str, tuple[float, ...]]
    sex: str = ""
    age: float | None = None
    invalid: int = 0
    """Answers that were given but do not share out the points."""


def read_people(path: Path) -> tuple[tuple[str, ...], list[Person]]:
    """Return the scenarios of the file in order, and its people."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"responses cannot be opened: {error.strerror or error}", path) from None
    except UnicodeDecodeError:
        raise DataError("responses are not UTF-8 text; save the table as CSV in UTF-8", path) from None
    reader = csv.DictReader(io.StringIO(text, newline=""))
    scenarios = _scenarios(reader.fieldnames or (), path)
    people = [_person(row, scenarios, path, number) for number, row in enumerate(reader, 2)]
    _refuse_twins(people, path)
    return scenarios, people


def write_people(scenarios: Sequence[str], people: Iterable[Person]) -> str:
    """Return the CSV text of some people's answers."""
    out = io.StringIO()
    columns = [f"{scenario}_{place}" for scenario in scenarios for place in range(1, OPTIONS + 1)]
    writer = csv.DictWriter(out, [*_ABOUT, *columns], lineterminator="\n")
    writer.writeheader()
    for person in people:
        row: dict[str, object] = {"person": person.name, "sex": person.sex, "age": person.age or ""}
        for scenario, points in person.answers.items():
            row |= {f"{scenario}_{place}": f"{value:.10g}" for place, value in enumerate(points, 1)}
        writer.writerow(row)
    return out.getvalue()


def _scenarios(columns: Iterable[str], path: Path) -> tuple[str, ...]:
    places: dict[str, set[str]] = {}
    for column in columns:
        match = _COLUMN.fullmatch(column.strip())
        if match:
            places.setdefault(match["scenario"], set()).add(match["place"])
    short = [scenario for scenario, found in places.items() if len(found) != OPTIONS]
    if short or not places:
        wanted = "each scenario needs four columns such as ours-01_1 to ours-01_4"
        raise DataError(f"{wanted}; incomplete: {', '.join(short[:5]) or 'no scenario found'}", path, 1)
    return tuple(places)


def _person(row: Mapping[str, str | None], scenarios: Sequence[str], path: Path, line: int) -> Person:
    answers: dict[str, tuple[float, ...]] = {}
    invalid = 0
    for scenario in scenarios:
        cells = [(row.get(f"{scenario}_{place}") or "").strip() for place in range(1, OPTIONS + 1)]
        if not any(cells):
            continue
        points = _points(cells, scenario, path, line)
        if points is None:
            invalid += 1
        else:
            answers[scenario] = points
    about = {name: (row.get(name) or "").strip() for name in _ABOUT}
    return Person(
        about["person"] or f"row {line}", answers, _sex(about["sex"]), _age(about["age"], path, line), invalid
    )


def _points(cells: Sequence[str], scenario: str, path: Path, line: int) -> tuple[float, ...] | None:
    """The points scaled to ten where they nearly sum to it; None where they do not share out ten points."""
    try:
        values = [float(cell) if cell else 0.0 for cell in cells]
    except ValueError:
        raise DataError(f"{scenario} holds {cells}; points are numbers", path, line) from None
    held = math.fsum(values)
    if not all(math.isfinite(value) and value >= 0 for value in values) or abs(held - TOTAL) > TOLERANCE:
        return None
    return tuple(TOTAL * value / held for value in values)


def _sex(text: str) -> str:
    return _SEXES.get(text.lower(), text.lower())


def _age(text: str, path: Path, line: int) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        raise DataError(f"age '{text}' is no number", path, line) from None


def _refuse_twins(people: Sequence[Person], path: Path) -> None:
    seen: set[str] = set()
    for line, person in enumerate(people, 2):
        if person.name in seen:
            raise DataError(f"person '{person.name}' stands twice; a norm counts each person once", path, line)
        seen.add(person.name)
