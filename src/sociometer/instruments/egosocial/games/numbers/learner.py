"""The Bayesian learner: what one who knows the family of drawn opponents expects of each round."""

import functools
from collections.abc import Iterable

import msgspec

from sociometer.instruments.egosocial.games.numbers.opponents import (
    Chances,
    Drawn,
    Rule,
    every_member,
    next_chances,
    starts_of,
)
from sociometer.instruments.egosocial.games.numbers.rules import HIGHEST, LOWEST, Round

_KEPT = 1e-12


class NumberForecast(msgspec.Struct, frozen=True):
    """What the learner expects of one round: the probability of every number."""

    chances: tuple[tuple[int, float], ...]

    @property
    def mode(self) -> int:
        """The most likely number, the lowest of several."""
        return max(self.chances, key=lambda one: (one[1], -one[0]))[0]

    @property
    def hit_rate(self) -> float:
        """The probability of the most likely number."""
        return max(chance for _, chance in self.chances)

    @property
    def median(self) -> int:
        """The prediction with the smallest expected error."""
        return min((number for number, _ in self.chances), key=lambda number: (round(self.error(number), 9), number))

    def error(self, prediction: float) -> float:
        """Return the absolute error that a prediction can expect."""
        return sum(chance * abs(number - prediction) for number, chance in self.chances)

    def regret(self, prediction: float | None) -> float:
        """Return the expected error of a prediction beyond the learner's; the worst one where there is none."""
        worst = max(self.error(LOWEST), self.error(HIGHEST))
        return (worst if prediction is None else self.error(prediction)) - self.error(self.median)


@functools.lru_cache(maxsize=512)
def forecasts(rounds: tuple[Round, ...]) -> tuple[NumberForecast, ...]:
    """Return what the learner expects of each round; rounds are seen from the opponent's side."""
    found = [_first_forecast()]
    live = _after_the_first(rounds[0].mine) if rounds else []
    for place in range(1, len(rounds)):
        shown = rounds[:place]
        expected = [(member, weight, next_chances(member, shown)) for member, weight in live]
        found.append(_forecast((weight, chances) for _, weight, chances in expected))
        number = int(rounds[place].mine)
        kept = [(member, weight * chances.get(number, 0.0)) for member, weight, chances in expected]
        total = sum(weight for _, weight in kept)
        live = [(member, weight / total) for member, weight in kept if weight > _KEPT * total] if total else live
    return tuple(found[: len(rounds)])


def _forecast(weighed: Iterable[tuple[float, Chances]]) -> NumberForecast:
    total: Chances = {}
    for weight, chances in weighed:
        for number, chance in chances.items():
            total[number] = total.get(number, 0.0) + weight * chance
    whole = sum(total.values())
    return NumberForecast(tuple((number, total[number] / whole) for number in sorted(total)))


@functools.cache
def _first_forecast() -> NumberForecast:
    """Return the forecast before the first round."""
    groups: dict[tuple[range, int], float] = {}
    for member, share in every_member():
        key = (starts_of(member.rule), member.noise)
        groups[key] = groups.get(key, 0.0) + share
    return _forecast(
        (share / len(starts), next_chances(Drawn("", start, Rule("stay"), noise), ()))
        for (starts, noise), share in groups.items()
        for start in starts
    )


@functools.lru_cache(maxsize=100)
def _after_the_first(number: float) -> list[tuple[Drawn, float]]:
    """Return every member that can open with a number, with its first number filled in and weighed."""
    live: list[tuple[Drawn, float]] = []
    for member, share in every_member():
        starts = starts_of(member.rule)
        for start in range(int(number) - member.noise, int(number) + member.noise + 1):
            if start in starts:
                opponent = msgspec.structs.replace(member, start=start)
                chance = next_chances(opponent, ()).get(int(number), 0.0)
                live.append((opponent, share * chance / len(starts)))
    return live
