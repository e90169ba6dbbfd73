"""The paper's printed tables, and numbers rounded as the paper rounds them."""

from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from sociometer.core.sheets import read_table

FOLDER = Path(__file__).parent


def table(name: str) -> list[dict[str, str]]:
    """The rows of a printed table."""
    return read_table(FOLDER / f"{name}.csv")


def rounded(value: float, places: int = 1) -> float:
    """A number as a table prints it: halves go up."""
    return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))
