"""A match of hold'em: its items, the hands, and the question for the opponent's style."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from sociometer.core.conversation import Choice, Message, Reply, system, user
from sociometer.core.session import Session
from sociometer.core.source import Source
from sociometer.core.task import Item
from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.asking import Faults, Read, ask_move, one_move, refuse_other_opponents
from sociometer.instruments.egosocial.games.holdem import rules
from sociometer.instruments.egosocial.games.holdem.net import SEEDS, STYLES, seeds_in
from sociometer.reading import answer_line, choice_reading, read_choice, read_json, render_options

OWN_SEAT, OTHER_SEAT = 0, 1
ROLES = ("subject", "opponent")
ACTIONS = ("call", "raise", "fold", "check")
HANDS, OFFICIAL_HANDS = 2, 1
"""Hands of a match unless --hands says otherwise: enough for an observer who only counts raises, or the paper's one."""
MANY_RAISES = 0.5
"""The share of raises among its decisions from which the naive observer calls a player aggressive."""


class PlayedHand(msgspec.Struct, frozen=True):
    """One finished hand: the deal, every move, what player 0 won, and which moves (by position) were defaults."""

    deal: rules.HoldemDeal
    moves: tuple[rules.HoldemMove, ...]
    won: int
    defaulted: tuple[int, ...] = ()


class Match(Item, frozen=True, kw_only=True):
    """A number of hands against one opponent, with every card dealt in advance; the subject is player 0."""

    style: str
    training_seed: int
    deals: tuple[rules.HoldemDeal, ...]
    weights: str = ""
    options: tuple[str, ...] = STYLES
    """The styles in the order in which they are offered."""
    official: bool = False
    """Whether it is asked as in the paper: one hand, and no explanation."""


class OpponentView(Struct, frozen=True):
    """The view of the trained opponent: its identity, and what it sees."""

    style: str
    training_seed: int
    seen: rules.SeenHand
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
    # how often the default was played for want of a readable move; 0 in outcomes stored before this was counted
    subject_defaults: int = 0


class _Action(Struct, frozen=True):
    action: str


def matches(source: Source) -> Iterator[Match]:
    """The matches of the settings, with equal numbers of each style in an unpredictable order."""
    given = source.settings["hands"]
    hands = (OFFICIAL_HANDS if source.official else HANDS) if given is None else source.settings.whole("hands")
    count = source.settings.whole("matches")
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
                    rules.new_deal(random.Random(f"holdem deal {source.seed} {index} {hand}"), button=hand % 2)
                    for hand in range(hands)
                )
                yield Match(
                    id=f"holdem-{source.seed}-{index:03d}",
                    style=style,
                    training_seed=seeds[pair % len(seeds)],
                    deals=deals,
                    weights=weights,
                    # both styles of a pair are offered in the same order, and the order changes with every pair
                    options=STYLES if source.official or pair % 2 == 0 else STYLES[::-1],
                    official=source.official,
                )


async def play_match(item: Match, session: Session) -> MatchOutcome:
    """Play the hands one after another and ask for the opponent's style at the end."""
    refuse_other_opponents(session)
    hands: list[PlayedHand] = []
    faults: list[Faults] = []
    for number, deal in enumerate(item.deals, 1):
        hand, found = await _play_hand(item, deal, number, hands, session)
        hands.append(hand)
        faults += (fault for player, fault in found if player == OWN_SEAT)
    naming = await _ask_style(item, hands, session)
    defaults = sum(fault.defaulted for fault in faults)
    return MatchOutcome(tuple(hands), (naming,), sum(faults, Faults()), session.identity_of("opponent"), defaults)


async def _play_hand(
    item: Match, deal: rules.HoldemDeal, number: int, before: list[PlayedHand], session: Session
) -> tuple[PlayedHand, list[tuple[int, Faults]]]:
    """Return the played hand and, for each decision, whose it was and how it was obtained."""
    state = rules.HoldemState(deal)
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
    session.note("hand over", won=won, board=_cards(deal.board[: rules.BOARD_SIZES[min(state.street, 3)]]))
    defaulted = tuple(place for place, (_, fault) in enumerate(faults) if fault.defaulted)
    return PlayedHand(deal, tuple(state.moves), won, defaulted), faults


def _cards(held: tuple[int, ...]) -> str:
    return " ".join(cards.names(held)) or "none"


async def _ask_action(
    item: Match, state: rules.HoldemState, before: list[PlayedHand], session: Session
) -> tuple[str, Faults]:
    seen = rules.observe(state)
    # The oracle knows only how to name the style; for a move it has the one that never gives up a free card.
    stay = next(index for index, word in enumerate(seen.legal) if word in ("check", "call"))
    answer_format = Choice(seen.legal, labels=seen.legal, key=stay)
    theirs = OpponentView(item.style, item.training_seed, seen, item.weights)
    action, faults = await ask_move(
        session,
        ROLES[seen.player],
        _action_messages(item, seen, before, session),
        answer_format,
        lambda reply: read_action(reply.text, seen.legal),
        legal=", ".join(seen.legal),
        default="check" if "check" in seen.legal else "fold",
        view=theirs if seen.player == OTHER_SEAT else seen,
    )
    assert action is not None
    return action, faults


def _system_message(item: Match, player: int, session: Session) -> Message:
    if item.official:
        return system(session.prompts.render("games/holdem-system-official", seat=player, blinds="1, 2"))
    return system(session.prompts.render("games/holdem-system", seat=player, hands=len(item.deals)))


def _action_messages(item: Match, seen: rules.SeenHand, before: list[PlayedHand], session: Session) -> list[Message]:
    street = rules.BOARD_SIZES.index(len(seen.board))
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
                story=rules.story(seen.moves, street),
                legal=", ".join(seen.legal),
            )
        ),
    ]


def earlier_hands(before: list[PlayedHand], session: Session) -> str:
    """Return the hands already played in words, without cards that were never shown."""
    told = [
        session.prompts.render(
            "games/holdem-earlier", number=number, story=rules.story(hand.moves), result=f"player 0 {hand.won:+d}"
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
    key = item.options.index(item.style)
    answer_format = Choice(tuple(style.capitalize() for style in item.options), key=key)
    shown = [
        session.prompts.render(
            "games/holdem-shown",
            number=number,
            yours=", ".join(cards.names(hand.deal.hole[OWN_SEAT])),
            theirs=", ".join(cards.names(hand.deal.hole[OTHER_SEAT])),
            board=", ".join(cards.names(open_board(hand))) or "none",
            story=rules.story(hand.moves),
            result=f"{hand.won:+d}",
        )
        for number, hand in enumerate(hands, 1)
    ]
    messages = [
        _system_message(item, OWN_SEAT, session),
        user(
            session.prompts.render(
                "games/holdem-style-official" if item.official else "games/holdem-style",
                hands="\n\n".join(shown),
                options=render_options(answer_format),
                how=answer_line(session),
            )
        ),
    ]

    def read(reply: Reply) -> Read[str]:
        place = choice_reading(reply, answer_format).value
        return Read(None, "unreadable") if place is None else Read(item.options[place])

    style, faults = await ask_move(session, "subject", messages, answer_format, read, legal="A, B", default=None)
    session.note("style named", after=len(hands), named=style or "unreadable", true=item.style)
    return Naming(len(hands), style, faults)


def open_board(hand: PlayedHand) -> tuple[int, ...]:
    """Return the community cards that lay open when a hand ended."""
    last = hand.moves[-1].street if hand.moves else "preflop"
    return hand.deal.board[: rules.BOARD_SIZES[rules.STREETS.index(last)]]


def actions_of(hands: Sequence[PlayedHand], player: int = OTHER_SEAT) -> list[str]:
    """Return all actions of a player; none if every hand ended before its turn."""
    return [move.action for hand in hands for move in hand.moves if move.player == player]
