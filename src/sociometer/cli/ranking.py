"""`sociometer compare` with more than two runs: subjects on shared items, with intervals for scores and ranks."""

from collections import Counter
from collections.abc import Sequence

from msgspec import structs

from sociometer.cli.chosen import EVERY, not_chosen
from sociometer.cli.output import Display
from sociometer.core.errors import UsageError
from sociometer.core.measure import Cell, Table
from sociometer.engine.engine import Engine
from sociometer.reporting.progress import track
from sociometer.results.leaderboard import (
    Leaderboard,
    leaderboard,
    leaderboard_sentence,
    leaderboard_table,
    overview_table,
)
from sociometer.results.runs import candidates
from sociometer.store.stored_run import StoredRun

_BOARDS_IN_FULL = 3


def show_ranking(
    engine: Engine,
    chosen: dict[str, list[StoredRun]],
    words: Sequence[str],
    *,
    task: str,
    measure: str,
    include_short: bool,
    display: Display,
) -> None:
    """Print where the subjects of several runs stand on the items they share, with an interval for each rank."""
    boards: list[Leaderboard] = []
    unranked: list[str] = []
    named = any(word != EVERY and word not in chosen for word in words)
    for test, mine in chosen.items():
        known = candidates(mine, task)
        for name in track(list(dict.fromkeys(candidate.task for candidate in known)), f"ranking {test}"):
            if not any(card.value for card in mine[0].definition.card.measures_of(name)):
                continue
            try:
                board = leaderboard([c for c in known if c.task == name], measure, include_short)
                left = () if named else tuple(not_chosen(engine, mine, name))
                board = structs.replace(board, left_out=(*board.left_out, *left))
                boards.append(board)
            except UsageError as error:
                if len(chosen) == 1:
                    raise
                unranked.append(f"{test}/{name} has no ranking: {error}")
    if display.as_json:
        display.json(boards)
        return
    shown = [leaderboard_table(board) for board in boards]
    several = len(boards) > _BOARDS_IN_FULL
    display.show(
        [overview_table(boards)] if several else shown,
        finding=_firsts(boards) if several else "\n".join(map(leaderboard_sentence, boards)),
        more=shown if several else (),
        notes=unranked,
        files=[_raw_table(boards)],
    )


def _firsts(boards: list[Leaderboard]) -> str:
    """The number of tasks on which each subject is first among several."""
    contested = [board for board in boards if len(board.standings) > 1]
    if not contested:
        return "No task has two subjects that can be ranked."
    counts = Counter(board.standings[0].subject for board in contested).most_common()
    said = [f"{subject} on {count} of {len(contested)} tasks" for subject, count in counts]
    return f"First: {', '.join(said[:4])}{' …' if len(said) > 4 else ''}."


def _raw_table(boards: list[Leaderboard]) -> Table:
    columns = (
        "instrument", "task", "measure", "unit", "rank", "rank low", "rank high", "subject", "value", "low",
        "high", "items", "beats",
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for board in boards:
        what = (board.instrument, board.task, board.measure, board.unit)
        rows += [
            (*what, one.rank, one.ranks.low, one.ranks.high, one.subject, one.value, one.interval.low,
             one.interval.high, one.items, "; ".join(one.beats))
            for one in board.standings
        ]  # fmt: skip
    return Table("leaderboard", "Leaderboard", columns, tuple(rows))
