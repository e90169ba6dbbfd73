"""The three games as tasks of the instrument, each four verbs."""

from collections.abc import Iterable

from sociometer.core.measure import Summary
from sociometer.core.source import Source
from sociometer.core.task import RunView, Score, Session, Task
from sociometer.instruments.egosocial.games.blackjack import scoring as blackjack_scoring
from sociometer.instruments.egosocial.games.blackjack import table
from sociometer.instruments.egosocial.games.blackjack.table import Hand, HandOutcome
from sociometer.instruments.egosocial.games.holdem import match as holdem_match
from sociometer.instruments.egosocial.games.holdem import scoring as holdem_scoring
from sociometer.instruments.egosocial.games.holdem.match import Match, MatchOutcome
from sociometer.instruments.egosocial.games.numbers import match as number_match
from sociometer.instruments.egosocial.games.numbers import scoring as number_scoring
from sociometer.instruments.egosocial.games.numbers.match import NumberMatch, NumberOutcome


class Blackjack(Task[Hand, HandOutcome]):
    """A hand against the dealer: two beliefs and a move at every decision."""

    name = "blackjack"
    item_type = Hand
    outcome_type = HandOutcome

    def items(self, source: Source) -> Iterable[Hand]:
        return table.hands(source)

    async def play(self, item: Hand, session: Session) -> HandOutcome:
        return await table.play_hand(item, session)

    def score(self, item: Hand, outcome: HandOutcome) -> Score:
        return blackjack_scoring.score(item, outcome)

    def summarise(self, run: RunView[Hand, HandOutcome]) -> Summary:
        return blackjack_scoring.summarise(run)


class Numbers(Task[NumberMatch, NumberOutcome]):
    """Ten rounds of number guessing against an opponent with a hidden rule."""

    name = "numbers"
    item_type = NumberMatch
    outcome_type = NumberOutcome

    def items(self, source: Source) -> Iterable[NumberMatch]:
        return number_match.matches(source)

    async def play(self, item: NumberMatch, session: Session) -> NumberOutcome:
        return await number_match.play_match(item, session)

    def score(self, item: NumberMatch, outcome: NumberOutcome) -> Score:
        return number_scoring.score(item, outcome)

    def summarise(self, run: RunView[NumberMatch, NumberOutcome]) -> Summary:
        return number_scoring.summarise(run)


class Holdem(Task[Match, MatchOutcome]):
    """Limit hold'em against an opponent whose style is to be named."""

    name = "holdem"
    item_type = Match
    outcome_type = MatchOutcome

    def items(self, source: Source) -> Iterable[Match]:
        return holdem_match.matches(source)

    async def play(self, item: Match, session: Session) -> MatchOutcome:
        return await holdem_match.play_match(item, session)

    def score(self, item: Match, outcome: MatchOutcome) -> Score:
        return holdem_scoring.score(item, outcome)

    def summarise(self, run: RunView[Match, MatchOutcome]) -> Summary:
        return holdem_scoring.summarise(run)
