"""The owner's page of a queue: progress, agreement as labels arrive, open units, and the judge compared with people."""

import asyncio
from collections.abc import Callable, Collection

from aiohttp import web
from msgspec import Struct

from sociometer.core.measure import Cell, Interval, Table
from sociometer.results.corrected import JudgeAndPeople
from sociometer.statistics.agreement import Agreement, Ratings, alpha_of, pairwise_kappa, settled
from sociometer.statistics.formatting import number
from sociometer.store.labels import Asked, Label, LabelBook, Queue, Unit
from sociometer.web.annotate.rating import BOOK, QUEUE
from sociometer.web.guard import OWNER, only, visitor_of
from sociometer.web.owner import owner_page

FIND_RUN: web.AppKey[Callable[[Queue], JudgeAndPeople | None]] = web.AppKey("find_run", object)  # type: ignore[arg-type]
MOST_SHOWN = 50


class Board(Struct, frozen=True):
    """Everything that the owner's page shows."""

    queue: Queue
    units: int
    labelled: int
    open: int
    raters: Table
    agreement: Table
    disagreements: Table


def ratings_of(
    asked: Asked, units: dict[str, Unit], labels: list[Label], raters: list[str], settling: Collection[tuple[str, str]]
) -> Ratings:
    """The labels of one question by rater and unit.

    `settling` are the raters and units of labels that settle a dispute: they exist only where others disagree.
    """
    found: dict[str, dict[str, str]] = {rater: {} for rater in raters}
    for label in labels:
        if (label.rater, label.unit) in settling:
            continue
        if asked.column in label.answers and label.unit in units:
            found.setdefault(label.rater, {})[label.unit] = label.answers[asked.column]
    return found


def board_of(book: LabelBook, name: str) -> Board:
    """The state of a queue now."""
    queue, units, labels, raters = book.queue(name), book.units(name), book.labels(name), book.raters(name)
    settling = book.settling(name)
    ratings = {asked.column: ratings_of(asked, units, labels, raters, settling) for asked in queue.asked}
    apart = _apart(queue, labels)
    return Board(
        queue,
        len(units),
        len({label.unit for label in labels if label.answers} & units.keys()),
        len(apart),
        _raters_table(book, queue, labels, raters),
        _agreement_table(queue, ratings),
        Table(
            "disagreements", "Not settled", ("unit", "question", "labels"), tuple(apart[:MOST_SHOWN]),
            f"{len(apart) - MOST_SHOWN} more are not shown." if len(apart) > MOST_SHOWN else "",
        ),
    )  # fmt: skip


def _apart(queue: Queue, labels: list[Label]) -> list[tuple[Cell, ...]]:
    """The units that raters disagree on, and what each said."""
    rows: list[tuple[Cell, ...]] = []
    for asked in queue.asked:
        said: dict[str, list[Label]] = {}
        for label in labels:
            if asked.values and asked.column in label.answers:
                said.setdefault(label.unit, []).append(label)
        for unit, given in said.items():
            if len(given) > 1 and settled([label.answers[asked.column] for label in given]) is None:
                told = ", ".join(f"{label.rater}: {label.answers[asked.column]}" for label in given)
                rows.append((unit, asked.column, told))
    return rows


def _raters_table(book: LabelBook, queue: Queue, labels: list[Label], raters: list[str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for rater in raters:
        mine = [label for label in labels if label.rater == rater]
        seconds = [label.seconds for label in mine if label.answers and not label.imported]
        rows.append(
            (
                rater,
                sum(bool(label.answers) for label in mine),
                len(book.tasks(queue.name, rater)),
                sum(bool(label.skipped) for label in mine),
                round(sum(seconds) / len(seconds), 1) if seconds else None,
            )
        )
    columns = ("rater", "labelled", "assigned", "skipped", "seconds per unit")
    return Table("raters", "Raters", columns, tuple(rows))


def _agreement_table(queue: Queue, ratings: dict[str, Ratings]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for asked in queue.asked:
        each = {rater: labels for rater, labels in ratings[asked.column].items() if labels}
        try:
            alpha = alpha_of(each, asked.values, "nominal" if asked.values else "interval")
        except ValueError:
            continue
        rows.append((asked.column, "all", alpha.coefficient, *_agreement_cells(alpha)))
        if asked.values:
            rows += [
                (asked.column, f"{one} and {two}", kappa.coefficient, *_agreement_cells(kappa))
                for one, two, kappa in pairwise_kappa(each)
            ]
    return Table(
        "agreement", "Agreement", ("question", "raters", "coefficient", "value", "95 % interval", "units"), tuple(rows)
    )


def _agreement_cells(found: Agreement) -> tuple[Cell, ...]:
    interval = found.interval
    bounds = "" if interval is None or interval.low is None else f"{interval.low:.2f} to {interval.high:.2f}"
    # All labels the same: there is no expected disagreement, and no coefficient.
    value = None if found.value != found.value else round(found.value, 3)
    return value, bounds, found.units


def judge_rows(found: JudgeAndPeople) -> tuple[tuple[tuple[str, str], ...], Table]:
    """A measure according to the judge and to people, and the episodes on which they differ most."""
    unit, corrected = found.measure.unit, found.corrected
    facts: list[tuple[str, str]] = [("labels", str(found.labels))]
    if corrected is not None:
        facts += [
            ("judge", number(corrected.judge, unit)),
            ("corrected by people", _between(corrected.value, corrected.interval, unit)),
            ("bias of the judge", _between(corrected.bias, corrected.bias_interval, unit)),
        ]
    rows = tuple((one.episode, number(one.judge, unit), number(one.people, unit)) for one in found.apart[:MOST_SHOWN])
    return tuple(facts), Table("apart", "Judge and people differ", ("episode", "judge", "people"), rows)


def _between(value: float, interval: Interval, unit: str) -> str:
    return f"{number(value, unit)} [{number(interval.low, unit)}, {number(interval.high, unit)}]"


@only(OWNER)
async def board_page(request: web.Request) -> web.StreamResponse:
    """The state of the queue."""
    book, queue = request.app[BOOK], request.app[QUEUE]
    board = await asyncio.to_thread(board_of, book, queue.name)
    found = await asyncio.to_thread(request.app[FIND_RUN], queue) if queue.measured else None
    facts, apart = judge_rows(found) if found is not None else ((), None)
    return owner_page(
        request, "rate_board.html", visitor=visitor_of(request), board=board, queue=queue, facts=facts, apart=apart
    )
