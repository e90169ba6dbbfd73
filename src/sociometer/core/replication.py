"""What `sociometer replicate` plays: the published rows, the models behind them, and the figures printed for them."""

from typing import Literal

from msgspec import Struct

from sociometer.core.errors import unknown
from sociometer.core.settings import SettingValue

Access = Literal["open", "served", "later", "gone", "unknown"]
"""Whether a model is still available: open weights; served by its provider; its name is served with later weights;
withdrawn; or unknown."""


class PublishedModel(Struct, frozen=True):
    """A row of a published table, and how its model is reached today."""

    row: str
    model: str = ""
    """The value of `--model`; empty if the model is not available."""
    access: Access = "unknown"
    note: str = ""

    @property
    def callable(self) -> bool:
        """Whether the row can be played without a server of the user's own."""
        return bool(self.model) and self.access != "gone"


class PrintedFigure(Struct, frozen=True):
    """A figure as printed, in the unit of the measure; `step` is one unit of its last printed digit."""

    where: str
    measure: str
    value: float
    step: float
    group: dict[str, str] = {}


class Replication(Struct, frozen=True):
    """One run of a row, as the paper ran it, and the figures that the paper prints for it."""

    row: str
    task: str
    figures: tuple[PrintedFigure, ...]
    settings: dict[str, SettingValue] = {}
    roles: dict[str, str] = {}
    """The models in other roles; the user may choose others."""
    repeats: int | None = None
    about: str = ""
    """What distinguishes this run from the row's other runs, such as the prompting method."""


class ReplicationPlan(Struct, frozen=True):
    """All published rows of an instrument, and the runs that replicate them."""

    models: tuple[PublishedModel, ...]
    runs: tuple[Replication, ...]
    remarks: tuple[str, ...] = ()
    """The parts of the paper's procedure that cannot be repeated."""

    def chosen(self, given: tuple[str, ...]) -> dict[str, str]:
        """The model of each row to play: all callable rows, or those named as ROW, as MODEL or as ROW=MODEL."""
        rows = {one.row: one for one in self.models}
        if not given:
            return {one.row: one.model for one in self.models if one.callable}
        found: dict[str, str] = {}
        for text in given:
            row, equals, model = text.partition("=")
            named = row if row in rows else next((one.row for one in self.models if one.model == text), "")
            if not named:
                raise unknown("published row", row, rows, "Give --model ROW, or --model ROW=MODEL for your own model.")
            found[named] = model if equals and row in rows else rows[named].model
        return found


def printed_figure(where: str, measure: str, text: str, *, percent: bool = False, **group: str) -> PrintedFigure:
    """A figure from the text of a table's cell; a percentage becomes a share."""
    scale = 100 if percent else 1
    digits = len(text.partition(".")[2])
    return PrintedFigure(where, measure, float(text) / scale, 10**-digits / scale, group)
