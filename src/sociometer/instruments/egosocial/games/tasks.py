"""The three games as tasks of the instrument."""

from sociometer.core.task import Task
from sociometer.instruments.egosocial.games.blackjack import scoring as blackjack_scoring
from sociometer.instruments.egosocial.games.blackjack import table
from sociometer.instruments.egosocial.games.holdem import match as holdem_match
from sociometer.instruments.egosocial.games.holdem import scoring as holdem_scoring
from sociometer.instruments.egosocial.games.numbers import match as number_match
from sociometer.instruments.egosocial.games.numbers import scoring as number_scoring

BLACKJACK = Task(
    "blackjack",
    table.Hand,
    table.HandOutcome,
    items=table.hands,
    play=table.play_hand,
    score=blackjack_scoring.score,
    summarise=blackjack_scoring.summarise,
)
"""A hand against the dealer: two beliefs and a move at every decision."""

NUMBERS = Task(
    "numbers",
    number_match.NumberMatch,
    number_match.NumberOutcome,
    items=number_match.matches,
    play=number_match.play_match,
    score=number_scoring.score,
    summarise=number_scoring.summarise,
)
"""Ten rounds of number guessing against an opponent with a hidden rule."""

HOLDEM = Task(
    "holdem",
    holdem_match.Match,
    holdem_match.MatchOutcome,
    items=holdem_match.matches,
    play=holdem_match.play_match,
    score=holdem_scoring.score,
    summarise=holdem_scoring.summarise,
)
"""Limit hold'em against an opponent whose style is to be named."""
