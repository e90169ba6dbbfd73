"""The numbers of a chart as a table, for readers whose browser runs no script."""

from collections.abc import Iterator
from typing import Any

from sociometer.analysis.charts.spec import Spec
from sociometer.core.measure import Cell, Table

MOST_ROWS = 120
"""A chart of more values has no table."""
_HIDDEN = ("lap", "place", "name_dx", "name_dy", "name_align")
_WORDS = {"x_spread": "spread across", "y_spread": "spread up", "y_low": "from", "y_high": "to"}
_WORDS |= {"low": "from", "high": "to", "label": "row", "path": "dialogue"}


def chart_table(name: str, title: str, spec: Spec) -> Table | None:
    """The values of a chart, one row each; None if it has none or too many for a table."""
    values = list(_values(spec))
    if not values or len(values) > MOST_ROWS:
        return None
    fields = [field for field in values[0] if field not in _HIDDEN]
    fields = [field for field in fields if any(value.get(field) not in (None, "") for value in values)]
    rows = tuple(tuple(_cell(value.get(field)) for field in fields) for value in values)
    return Table(name, title, tuple(_WORDS.get(field, field) for field in fields), rows)


def _values(spec: Spec) -> Iterator[dict[str, Any]]:
    """The inline values of a chart; for layers with their own data, those that have labels."""
    own = spec.get("data", {}).get("values", ())
    if own:
        yield from own
        return
    seen: set[tuple[Any, ...]] = set()
    for layer in spec.get("layer", ()):
        for value in _values(layer):
            key = tuple(value.values())
            if "label" in value and key not in seen:
                seen.add(key)
                yield value


def _cell(value: Any) -> Cell:
    return "" if value is None else value if isinstance(value, str | int | float) else str(value)
