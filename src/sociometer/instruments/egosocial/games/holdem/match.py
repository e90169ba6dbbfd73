"""A match of limit hold'em against an opponent of a hidden style: the items, the conversation and its outcome."""

import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from sociometer.core.conversation import Choice, Message, Reply, system, user
from sociometer.core.errors import UsageError
from sociometer.core.session import Session
from sociometer.core.source import Source
from sociometer.core.task import Item
from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.asking import Faults, Read, ask_move, one_move, refuse_other_opponents
from sociometer.instruments.egosocial.games.cards import Card
from sociometer.instruments.egosocial.games.holdem.net import SEEDS, STYLES, WEIGHTS, Table, features, load, seeds_in
from sociometer.instruments.egosocial.games.holdem.rules import (
    BOARD_SIZES,
    CALL,
    FOLD,
    RAISE,
    STREETS,
    Deal,
    Move,
    State,
    new_deal,
)
from sociometer.reading import answer_line, choice_reading, read_choice, read_json, render_options

CODES = {"fold": FOLD, "call": CALL, "check": CALL, "raise": RAISE}
_SPOKEN = {"fold": "folds", "call": "calls", "check": "checks", "raise": "raises"}


class Observation(msgspec.Struct, frozen=True):
    """A hand in progress as the player to act sees it."""

    player: int
    button: int
    hole: tuple[Card, Card]
    board: tuple[Card, ...]
    invested: tuple[int, int]
    legal: tuple[str, ...]
    moves: tuple[Move, ...]


def observe(state: State) -> Observation:
    """Return what the player to act sees."""
    return Observation(
        player=state.actor,
        button=state.deal.button,
        hole=state.deal.hole[state.actor],
        board=state.board,
        invested=(state.invested[0], state.invested[1]),
        legal=state.legal(),
        moves=tuple(state.moves),
    )


def story(moves: tuple[Move, ...], street: int = 0) -> str:
    """Return the betting so far in words, street by street, up to the street that is being played."""
    parts: list[str] = []
    for index, name in enumerate(STREETS):
        here = [move for move in moves if move.street == name]
        if here or index <= street:
            parts.append(f"{name.capitalize()}.")
            parts += [f"Player {move.player} {_SPOKEN[move.action]}." for move in here]
    return " ".join(parts)


def table_of(seen: Observation) -> Table:
    """Return the hand as a table of one row, the unseen cards filled in by stand-ins that no feature reads."""
    spare = [card for card in range(cards.DECK_SIZE) if card not in (*seen.hole, *seen.board)]
    other = (spare[0], spare[1])
    hole = (seen.hole, other) if seen.player == 0 else (other, seen.hole)
    board = (*seen.board, *spare[2 : 7 - len(seen.board)])
    table = Table.of([Deal(hole, board, seen.button)])
    for move in seen.moves:
        table.step(np.array([0]), np.array([CODES[move.action]]))
    return table


SUBJECT, OPPONENT = 0, 1
ROLES = ("subject", "opponent")
ACTIONS = ("call", "raise", "fold", "check")
HANDS, OFFICIAL_HANDS = 2, 1
"""Hands of a match unless --hands says otherwise: enough for an observer who only counts raises, or the paper's one.
A match in which the style may change has twice as many."""
NEVER, MIDWAY, ANSWERING = "never", "midway", "answering"


class PlayedHand(msgspec.Struct, frozen=True):
    """One finished hand: the deal, every move, what player 0 won, and which moves (by position) were defaults."""

    deal: Deal
    moves: tuple[Move, ...]
    won: int
    defaulted: tuple[int, ...] = ()


class Match(Item, frozen=True, kw_only=True):
    """A number of hands against one opponent, with every card dealt in advance; the subject is player 0."""

    style: str
    training_seed: int
    deals: tuple[Deal, ...]
    weights: str = ""
    options: tuple[str, ...] = STYLES
    """The styles in the order in which they are offered."""
    official: bool = False
    """Whether it is asked as in the paper: one hand, and no explanation."""
    change: str = NEVER
    first: str = ""
    """The style in the first half of a match in which it may change."""

    def style_after(self, hands: Sequence[PlayedHand]) -> str:
        """The opponent's style in the hand that follows these; one that answers is bold with a timid subject."""
        half = len(self.deals) // 2
        if self.change == NEVER or (self.change == MIDWAY and len(hands) >= half):
            return self.style
        if len(hands) < half:
            return self.first
        actions = actions_of(hands[:half], SUBJECT)
        return STYLES[actions.count("raise") / max(1, len(actions)) >= MANY_RAISES]

    def asked(self, hands: Sequence[PlayedHand]) -> Sequence[PlayedHand]:
        """The hands about which the subject is asked: all, or the second half if the style may change."""
        return hands if self.change == NEVER else hands[len(self.deals) // 2 :]


class OpponentView(Struct, frozen=True):
    """The view of the trained opponent: its identity, and what it sees."""

    style: str
    training_seed: int
    seen: Observation
    weights: str = ""


class Naming(Struct, frozen=True):
    """The style that the subject named after a number of hands (None: unreadable)."""

    hands: int
    style: str | None
    faults: Faults


class MatchOutcome(Struct, frozen=True):
    """Everything that happened in a match."""

    hands: tuple[PlayedHand, ...]
    namings: tuple[Naming, ...]
    subject_faults: Faults
    opponent: str
    # how often the default had to stand for the subject; outcomes stored before it was counted have none
    subject_defaults: int = 0


class _Action(Struct, frozen=True):
    action: str


def matches(source: Source) -> Iterator[Match]:
    """The matches of the settings, with equal numbers of each style in an unpredictable order."""
    given = source.settings["hands"]
    hands = (OFFICIAL_HANDS if source.official else HANDS) if given is None else source.settings.whole("hands")
    count, change = source.settings.whole("matches"), source.settings.text("change")
    if change != NEVER and given is None:
        hands = 2 * HANDS
    if change != NEVER and hands < 2:
        raise UsageError(f"--hands is {hands}; with --change {change} it must be 2 or more.")
    if change != NEVER and source.official:
        raise UsageError(f"--change {change} is not part of the paper's variant; leave out --official.")
    weights = source.settings.text("weights")
    seeds = seeds_in(Path(weights)) if weights else SEEDS
    for pair in range((count + 1) // 2):
        rng = random.Random(f"holdem styles {source.seed} {pair}")
        styles = rng.sample(STYLES, len(STYLES))
        for offset, style in enumerate(styles):
            index = 2 * pair + offset
            if index < count:
                # the subject has the button in the first hand, as in the paper's example, then it alternates
                deals = tuple(
                    new_deal(random.Random(f"holdem deal {source.seed} {index} {hand}"), button=hand % 2)
                    for hand in range(hands)
                )
                first = random.Random(f"holdem first style {source.seed} {index}").choice(STYLES)
                yield Match(
                    id=f"holdem-{source.seed}-{index:03d}" + ("" if change == NEVER else f"-{change}"),
                    style=style,
                    training_seed=seeds[pair % len(seeds)],
                    deals=deals,
                    weights=weights,
                    # both styles of a pair are offered in the same order, and the order changes with every pair
                    options=STYLES if source.official or pair % 2 == 0 else STYLES[::-1],
                    official=source.official,
                    change=change,
                    first="" if change == NEVER else first,
                )


async def play_match(item: Match, session: Session) -> MatchOutcome:
    """Play the hands one after another and ask for the opponent's style at the end."""
    refuse_other_opponents(session)
    hands: list[PlayedHand] = []
    faults: list[Faults] = []
    for number, deal in enumerate(item.deals, 1):
        hand, found = await _play_hand(item, deal, number, hands, session)
        hands.append(hand)
        faults += (fault for player, fault in found if player == SUBJECT)
    naming = await _ask_style(item, hands, session)
    return MatchOutcome(
        tuple(hands),
        (naming,),
        sum(faults, Faults()),
        session.identity_of("opponent"),
        subject_defaults=sum(fault.defaulted for fault in faults),
    )


async def _play_hand(
    item: Match, deal: Deal, number: int, before: list[PlayedHand], session: Session
) -> tuple[PlayedHand, list[tuple[int, Faults]]]:
    """Return the played hand and, for each decision, whose it was and how it was obtained."""
    state = State(deal)
    faults: list[tuple[int, Faults]] = []
    session.note(
        "deal", hand=number, button=f"player {deal.button}", yours=_cards(deal.hole[0]), opponents=_cards(deal.hole[1])
    )
    street = 0
    while not state.over:
        player = state.actor
        action, fault = await _ask_action(item, state, before, session)
        faults.append((player, fault))
        state.apply(action)
        session.note("move", player=player, action=action, chips=f"{state.invested[0]}, {state.invested[1]}")
        if state.street != street and not state.over:
            street = state.street
            session.note("board", cards=_cards(state.board))
    won = state.payoffs()[0]
    session.note("hand over", won=won, board=_cards(deal.board[: BOARD_SIZES[min(state.street, 3)]]))
    defaulted = tuple(place for place, (_, fault) in enumerate(faults) if fault.defaulted)
    return PlayedHand(deal, tuple(state.moves), won, defaulted), faults


def _cards(held: tuple[int, ...]) -> str:
    return " ".join(cards.names(held)) or "none"


async def _ask_action(item: Match, state: State, before: list[PlayedHand], session: Session) -> tuple[str, Faults]:
    seen = observe(state)
    # The oracle knows only how to name the style; for a move it has the one that never gives up a free card.
    stay = next(index for index, word in enumerate(seen.legal) if word in ("check", "call"))
    answer_format = Choice(seen.legal, labels=seen.legal, key=stay)
    action, faults = await ask_move(
        session,
        ROLES[seen.player],
        _action_messages(item, seen, before, session),
        answer_format,
        lambda reply: read_action(reply.text, seen.legal),
        legal=", ".join(seen.legal),
        default="check" if "check" in seen.legal else "fold",
        view=OpponentView(item.style_after(before), item.training_seed, seen, item.weights)
        if seen.player == OPPONENT
        else seen,
    )
    assert action is not None
    return action, faults


def _system_message(item: Match, player: int, session: Session) -> Message:
    if item.official:
        return system(session.prompts.render("games/holdem-system-official", seat=player, blinds="1, 2"))
    return system(session.prompts.render("games/holdem-system", seat=player, hands=len(item.deals)))


def _action_messages(item: Match, seen: Observation, before: list[PlayedHand], session: Session) -> list[Message]:
    street = BOARD_SIZES.index(len(seen.board))
    return [
        _system_message(item, seen.player, session),
        user(
            session.prompts.render(
                "games/holdem-action-official" if item.official else "games/holdem-action",
                **({} if item.official else {"button": seen.button}),
                earlier=earlier_hands(before, session) if before else "",
                hole=", ".join(cards.names(seen.hole)),
                board=", ".join(cards.names(seen.board)) or "none yet",
                chips=f"player 0: {seen.invested[0]}, player 1: {seen.invested[1]}",
                story=story(seen.moves, street),
                legal=", ".join(seen.legal),
            )
        ),
    ]


def earlier_hands(before: list[PlayedHand], session: Session) -> str:
    """Return the hands already played in words, without cards that were never shown."""
    told = [
        session.prompts.render(
            "games/holdem-earlier", number=number, story=story(hand.moves), result=f"player 0 {hand.won:+d}"
        )
        for number, hand in enumerate(before, 1)
    ]
    return "\n".join(told) + "\n\n"


def read_action(text: str, legal: tuple[str, ...]) -> Read[str]:
    """Return the action a reply names; one that the rules do not allow now is illegal, two or none are unreadable."""
    structured = read_json(text, _Action)
    stated = structured.value.action if structured.value is not None else text
    word = one_move(stated, ACTIONS)
    if not word and (place := read_choice(stated, ACTIONS, ACTIONS).index) is not None:
        word = ACTIONS[place]
    if not word:
        return Read(None, "illegal" if structured.value is not None and stated.strip() else "unreadable")
    return Read(word) if word in legal else Read(None, "illegal")


async def _ask_style(item: Match, hands: list[PlayedHand], session: Session) -> Naming:
    true = item.style_after(hands[:-1])
    answer_format = Choice(tuple(style.capitalize() for style in item.options), key=item.options.index(true))
    prompt = "holdem-style" if item.change == NEVER else "holdem-style-last"
    shown = [
        session.prompts.render(
            "games/holdem-shown",
            number=number,
            yours=", ".join(cards.names(hand.deal.hole[SUBJECT])),
            theirs=", ".join(cards.names(hand.deal.hole[OPPONENT])),
            board=", ".join(cards.names(open_board(hand))) or "none",
            story=story(hand.moves),
            result=f"{hand.won:+d}",
        )
        for number, hand in enumerate(hands, 1)
    ]
    messages = [
        _system_message(item, SUBJECT, session),
        user(
            session.prompts.render(
                "games/holdem-style-official" if item.official else f"games/{prompt}",
                **({} if item.change == NEVER else {"last": len(item.asked(hands))}),
                hands="\n\n".join(shown),
                options=render_options(answer_format),
                how=answer_line(session),
            )
        ),
    ]
    style, faults = await ask_move(
        session,
        "subject",
        messages,
        answer_format,
        lambda reply: read_style(reply, answer_format, item.options),
        legal="A, B",
        default=None,
    )
    session.note("style named", after=len(hands), named=style or "unreadable", true=true)
    return Naming(len(hands), style, faults)


def open_board(hand: PlayedHand) -> tuple[int, ...]:
    """Return the community cards that lay open when a hand ended."""
    last = hand.moves[-1].street if hand.moves else "preflop"
    return hand.deal.board[: BOARD_SIZES[STREETS.index(last)]]


def read_style(reply: Reply, answer_format: Choice, styles: tuple[str, ...]) -> Read[str]:
    """Return the style a reply names; `styles` are in the order in which they were offered."""
    place = choice_reading(reply, answer_format).value
    return Read(None, "unreadable") if place is None else Read(styles[place])


def posterior(hands: Sequence[PlayedHand], weights: Path = WEIGHTS) -> dict[str, float]:
    """Return the probability of each style of the opponent, given all its moves in these hands."""
    inputs, may_raise, actions = [], [], []
    for hand in hands:
        table = Table.of([hand.deal])
        row = np.array([0])
        for move in hand.moves:
            if move.player == OPPONENT:
                inputs.append(features(table, row)[0])
                may_raise.append(bool(table.may_raise(row)[0]))
                actions.append(CODES[move.action])
            table.step(row, np.array([CODES[move.action]]))
    if not actions:
        return {style: 1 / len(STYLES) for style in STYLES}
    seen, can, done = np.array(inputs), np.array(may_raise), np.array(actions)
    logs = {
        style: [
            float(np.log(load(style, seed, weights).chances(seen, can)[np.arange(len(done)), done] + 1e-12).sum())
            for seed in seeds_in(weights)
        ]
        for style in STYLES
    }
    highest = max(max(values) for values in logs.values())
    shares = {style: sum(math.exp(value - highest) for value in values) for style, values in logs.items()}
    total = sum(shares.values())
    # rounded, so that a stored number does not depend on the processor that computed it
    return {style: round(share / total, 4) for style, share in shares.items()}


def best_guess(chances: dict[str, float]) -> str:
    """Return the likelier style; the first by name if both are equally likely."""
    return max(sorted(chances), key=lambda style: chances[style])


MANY_RAISES = 0.5
"""The share of raises among its decisions from which the naive observer calls a player aggressive."""


def actions_of(hands: Sequence[PlayedHand], player: int = OPPONENT) -> list[str]:
    """Return all actions of a player; none if every hand ended before its turn."""
    return [move.action for hand in hands for move in hand.moves if move.player == player]


def naive_guess(hands: Sequence[PlayedHand]) -> str | None:
    """Return the style by the share of raises alone; None if the opponent never acted."""
    actions = actions_of(hands)
    if not actions:
        return None
    return STYLES[0] if actions.count("raise") / len(actions) >= MANY_RAISES else STYLES[1]
