"""Summary -> figures and tables, as the paper shows them; the games add theirs."""

from collections.abc import Sequence
from typing import Any

from sociometer.core.measure import Figure, Table
from sociometer.core.task import SummarisedRun
from sociometer.instruments.egosocial import scene_figures
from sociometer.instruments.egosocial.games.figures import figures as game_figures
from sociometer.instruments.egosocial.games.replay import replay
from sociometer.instruments.egosocial.play import Picks
from sociometer.instruments.egosocial.scene import Scene


def figures(runs: Sequence[SummarisedRun]) -> Sequence[Figure]:
    """The figures of every scenario that was played."""
    return (*scene_figures.figures(runs), *game_figures(runs))


def beside(item: Any, outcome: Any) -> Figure | None:
    """The figure shown next to a transcript: each telling's options, or a game move by move."""
    if not isinstance(item, Scene) or not isinstance(outcome, Picks):
        return replay(item, outcome)
    rows = tuple(
        (telling.name, option, pick.picked == place, telling.answer == place)
        for telling in item.tellings
        if (pick := outcome.of(telling.name)) is not None
        for place, option in enumerate(telling.options)
    )
    table = Table("options", "Options", ("telling", "option", "picked", "right"), rows)
    return Figure("options", table.title, table=table)
