"""A stored match as text: card by card and round by round, with beliefs and actions."""

from collections.abc import Iterator

from sociometer.core.measure import Figure, Table
from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.asking import Faults
from sociometer.instruments.egosocial.games.blackjack.hand import Hand, HandOutcome
from sociometer.instruments.egosocial.games.blackjack.rules import facts_of, total_of
from sociometer.instruments.egosocial.games.blackjack.scoring import fields_of
from sociometer.instruments.egosocial.games.holdem.match import Match, MatchOutcome, PlayedHand, open_board
from sociometer.instruments.egosocial.games.holdem.rules import BOARD_SIZES, STREETS, State
from sociometer.instruments.egosocial.games.holdem.scoring import belief as ideal_belief
from sociometer.instruments.egosocial.games.numbers.match import NumberMatch, NumberOutcome
from sociometer.instruments.egosocial.games.numbers.rules import Round, format_number, is_right
from sociometer.instruments.egosocial.games.players import is_steady

DEFAULT_MARK = " (default)"


def replay(item: object, outcome: object) -> Figure | None:
    """Return the replay of a game's episode as a table; None if the episode is not a game."""
    if isinstance(item, Hand) and isinstance(outcome, HandOutcome):
        table = blackjack(outcome)
    elif isinstance(item, NumberMatch) and isinstance(outcome, NumberOutcome):
        table = numbers(outcome)
    elif isinstance(item, Match) and isinstance(outcome, MatchOutcome):
        table = holdem(item, outcome)
    else:
        return None
    return Figure("replay", table.title, table=table)


def _names(held: tuple[int, ...]) -> str:
    return " ".join(cards.names(held))


def blackjack(outcome: HandOutcome) -> Table:
    """Return each decision: the cards, the beliefs with their verdicts, and the action with the best one."""
    rows: list[tuple[str | int | float | bool | None, ...]] = []
    for decision in outcome.decisions:
        total = total_of(decision.player)
        fields = fields_of(decision)
        rows.append(
            (
                _names(decision.player),
                f"{'soft' if total.soft else 'hard'} {total.points}",
                cards.name(decision.open_card),
                _verdict(decision.statement.self_belief, fields.own_right if fields else None),
                _verdict(decision.statement.external_belief, fields.dealer_right if fields else None),
                decision.action + (DEFAULT_MARK if decision.faults.defaulted else ""),
                facts_of(decision.player, decision.open_card).exact.best,
            )
        )
    mine, theirs = total_of(outcome.player), total_of(outcome.dealer)
    result = {1: "won", 0: "drawn", -1: "lost", None: "not played on"}[outcome.result]
    rows.append(
        (_names(outcome.player), str(mine.points), _names(outcome.dealer), "", f"dealer {theirs.points}", result, "")
    )
    columns = ("cards", "total", "dealer", "self-belief", "external belief", "action", "best")
    return Table("replay", "Blackjack, decision by decision", columns, tuple(rows))


def _verdict(belief: str, right: bool | None) -> str:
    verdict = "not graded" if right is None else "right" if right else "wrong"
    return f"[{verdict}] {belief}" if belief else "[none]"


def numbers(outcome: NumberOutcome) -> Table:
    """Return each round: prediction, both numbers, the target, and who was nearer."""
    rows = []
    for number, one in enumerate(outcome.rounds, 1):
        played = Round(one.choice, one.opponent)
        rows.append(
            (
                number,
                _why_none(one.faults) if one.prediction is None else format_number(one.prediction),
                format_number(one.opponent),
                is_right(one.prediction, one.opponent),
                format_number(one.choice) + (DEFAULT_MARK if one.faults.defaulted else ""),
                format_number(played.gold),
                {1: "subject", 0: "draw", -1: "opponent"}[played.winner],
            )
        )
    columns = ("round", "prediction", "opponent", "right", "choice", "target", "nearer")
    return Table("replay", "Number guessing, round by round", columns, tuple(rows))


def _why_none(faults: Faults) -> str:
    kinds = [kind for kind, count in (("illegal", faults.illegal), ("unreadable", faults.unreadable)) if count]
    return f"none ({', '.join(kinds)})"


def holdem(item: Match, outcome: MatchOutcome) -> Table:
    """Return each move of each hand, the cards dealt, and the named style with the ideal observer's belief."""
    named = {naming.hands: naming.style or "unreadable" for naming in outcome.namings}
    rows: list[tuple[str | int | float | bool | None, ...]] = []
    for number, hand in enumerate(outcome.hands, 1):
        rows += _moves(number, hand)
        belief = ""
        if number in named and is_steady(outcome.opponent):
            chances = ideal_belief(item, outcome, number)
            ideal = f" (ideal observer {chances[item.style]:.0%})" if chances else ""
            belief = f"named {named[number]}; true {item.style}{ideal}"
        elif number in named:
            belief = f"named {named[number]}"
        rows.append((number, "end", _names(open_board(hand)), "", f"subject {hand.won:+d}", "", belief))
    columns = ("hand", "street", "cards", "player", "action", "chips", "belief")
    return Table("replay", "Limit hold'em, move by move", columns, tuple(rows))


def _moves(number: int, hand: PlayedHand) -> Iterator[tuple[str | int | float | bool | None, ...]]:
    state = State(hand.deal)
    yield number, "deal", _names(hand.deal.hole[0]), "subject", "", "", ""
    yield number, "deal", _names(hand.deal.hole[1]), "opponent", "", "", ""
    for place, move in enumerate(hand.moves):
        board = _names(hand.deal.board[: BOARD_SIZES[STREETS.index(move.street)]])
        state.apply(move.action)
        chips = f"{state.invested[0]}, {state.invested[1]}"
        action = move.action + (DEFAULT_MARK if place in hand.defaulted else "")
        yield number, move.street, board, ("subject", "opponent")[move.player], action, chips, ""
