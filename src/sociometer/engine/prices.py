"""Prices of models, with dates; users can add their own, and an unknown price is not counted as zero."""

import math
import os
import tomllib
from datetime import date
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct
from platformdirs import user_config_path

from sociometer.core.config import split_spec
from sociometer.core.conversation import SUBJECT, Usage
from sociometer.core.errors import DataError, hint
from sociometer.core.session import RoleBinding

_BUNDLED = Path(__file__).with_name("prices.toml")


class Price(Struct, frozen=True, forbid_unknown_fields=True):
    """The price of a model in US dollars per million tokens, and its date."""

    input: float
    output: float
    as_of: date
    max_output: int | None = None
    """The maximum number of tokens in a reply; None if unknown."""

    def __post_init__(self) -> None:
        if not all(0 <= part < math.inf for part in (self.input, self.output)):
            raise ValueError("a price must be a number of at least 0")

    def of(self, usage: Usage) -> float | None:
        """The cost of a reply, or None if the server did not report its tokens."""
        if self.input == self.output == 0:
            return 0.0
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / 1e6


_ENTRY = "input and output, in dollars per million tokens, and as_of, a date,"
_FREE = Price(0.0, 0.0, date(2026, 1, 1))
_IN_PROCESS = frozenset(("local", "hf", "scripted", "human", SUBJECT))
"""What runs in this process, and people: nobody charges for them. What other packages ask may cost."""
Prices = dict[str, Price]


def price_of(prices: Prices, binding: RoleBinding) -> Price | None:
    """The price of a role's model by name (`openai/gpt-4o-mini`), or None if unknown; rules and weights are free."""
    player = binding.player
    if not player.journaled or (player.identity.wire in _IN_PROCESS and not player.identity.base_url):
        return _FREE
    # Inspect's names of models are those of the price list.
    return prices.get(split_spec(binding.spec)[0], prices.get(player.identity.name))


def entry_of(spec: str) -> str:
    """What a user adds to the own price list for a model, in words."""
    return f"[\"{split_spec(spec)[0]}\"] with {_ENTRY} to your price list ('{hint('check')}' prints its path)"


def user_file() -> Path:
    """The file with the user's own prices, which may not exist."""
    given = os.environ.get("SOCIOMETER_PRICES")
    return Path(given) if given else user_config_path("sociometer", appauthor=False) / "prices.toml"


def read_prices() -> Prices:
    """The bundled prices, overridden by the user's own."""
    return {**_bundled(), **(_read(user_file()) if user_file().exists() else {})}


@cache
def _bundled() -> Prices:
    return _read(_BUNDLED)


def _read(path: Path) -> Prices:
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Prices)
    except (ValueError, msgspec.ValidationError, RecursionError) as error:
        raise DataError(
            f'not a price list: {error}; each entry is ["provider/model"] with {_ENTRY.rstrip(",")}.', path
        ) from None
