"""What a set of items is made of, as in Fig. 5 of the paper."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sociometer.core.measure import Figure, Table
from sociometer.instruments.sesi.build.checks import NOT_NAMES, WORDS
from sociometer.instruments.sesi.items import ABILITIES, TABLES, Question

_WORD = re.compile(r"[a-zà-ž]+(?:-[a-zà-ž]+)*", re.IGNORECASE)
_NAME = re.compile(r"(?<=[a-zà-ž,;:] )(?:(?:Mr|Mrs|Ms|Dr|Sr|Miss) )?([A-ZÀ-Ž][a-zà-ž]+)")
_WORDS = {word: relation for relation, words in WORDS["relations"].items() for word in words.split()}


def characters(item: Question) -> int:
    """The number of active characters in the situation, estimated: the person, each relation and each name."""
    words = [word.lower() for word in _WORD.findall(item.situation)]
    named = {name for name in _NAME.findall(item.situation) if name not in NOT_NAMES}
    return 1 + len({word.removesuffix("s") for word in words if word in _WORDS and word != "family"} | named)


def relation(item: Question) -> str:
    """The kind of relationship whose words the situation uses most (the first of them on a tie)."""
    words = (word.lower() for word in _WORD.findall(item.situation))
    found = Counter(_WORDS[word] for word in words if word in _WORDS)
    return found.most_common(1)[0][0] if found else "other"


def set_tables(items: Sequence[Question]) -> list[Table]:
    """Fig. 5 a to e as tables."""
    lengths = Counter(_bin(len(item.situation.split()), 10) for item in items)
    answers = Counter(
        (_bin(len(text.split()), 5), "right" if place == item.answer else "wrong")
        for item in items
        for place, text in enumerate(item.options)
    )
    people = Counter(characters(item) for item in items)
    abilities = Counter(str(item.ability) for item in items)
    relations = Counter(relation(item) for item in items)
    mean = sum(len(item.situation.split()) for item in items) / len(items) if items else 0.0
    answer_mean = sum(len(text.split()) for item in items for text in item.options) / (4 * len(items)) if items else 0.0
    by_length = sorted(lengths.items(), key=lambda entry: _start(entry[0]))
    shares = (
        (start, kind, answers[start, kind] / (len(items) * (1 if kind == "right" else 3)))
        for start in sorted({start for start, _ in answers}, key=_start)
        for kind in ("right", "wrong")
    )
    return [
        TABLES("set/situations", by_length, mean=mean),
        TABLES("set/answers", shares, mean=answer_mean),
        TABLES("set/characters", sorted(people.items())),
        TABLES("set/abilities", ((name, abilities[name]) for name in ABILITIES)),
        TABLES("set/relations", relations.most_common()),
    ]


def set_figures(items: Sequence[Question]) -> list[Figure]:
    """The same as bar charts."""
    return [Figure(table.name, table.title, table.note, chart=_bars(table)) for table in set_tables(items)]


def _bars(table: Table) -> dict[str, Any]:
    first, second = table.columns[0], table.columns[-1]
    values = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    order = list(dict.fromkeys(str(row[0]) for row in table.rows))
    encoding: dict[str, Any] = {
        "x": {"field": first, "type": "nominal", "sort": order, "axis": {"labelAngle": 0}},
        "y": {"field": second, "type": "quantitative"},
    }
    if len(table.columns) == 3:
        encoding |= {"xOffset": {"field": table.columns[1]}, "color": {"field": table.columns[1], "type": "nominal"}}
    return {"data": {"values": values}, "width": "container", "height": 220, "mark": "bar", "encoding": encoding}


def _bin(count: int, width: int) -> str:
    low = count // width * width
    return f"{low}-{low + width - 1}"


def _start(label: str) -> int:
    return int(label.partition("-")[0])
