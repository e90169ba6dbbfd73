"""The steady opponent of the role `opponent`: a rule for number guessing, a trained network for hold'em."""

import json
from pathlib import Path

import numpy as np

from sociometer.core.conversation import Identity, Reply, Request
from sociometer.core.errors import UsageError
from sociometer.core.player import RulePlayer
from sociometer.instruments.egosocial.games.asking import STEADY
from sociometer.instruments.egosocial.games.holdem.match import OpponentView
from sociometer.instruments.egosocial.games.holdem.net import WEIGHTS, load, table_of
from sociometer.instruments.egosocial.games.holdem.rules import FOLD, RAISE
from sociometer.instruments.egosocial.games.numbers.match import RuleView
from sociometer.instruments.egosocial.games.numbers.opponents import LEVELS, next_number


class SteadyOpponent(RulePlayer):
    """Answers from the view alone: the same situation gives the same behaviour for every subject."""

    def __init__(self) -> None:
        super().__init__(Identity(wire="egosocial", name=STEADY, revision="1"))

    async def answer(self, request: Request) -> Reply:
        """Return the move for the situation in the request's view."""
        if isinstance(request.view, RuleView):
            view = request.view
            if view.drawn is None:
                number = LEVELS[view.opponent](view.rounds)
            else:
                number = next_number(view.drawn, view.rounds, request.rng)
            return Reply(json.dumps({"prediction": number, "choice": number}))
        if isinstance(request.view, OpponentView):
            return Reply(json.dumps({"action": _net_action(request.view, request.rng.random())}))
        raise UsageError(
            f"'{STEADY}' cannot play the role '{request.role}' here; it is the opponent in number guessing and hold'em."
        )


def _net_action(view: OpponentView, draw: float) -> str:
    chances = load(view.style, view.training_seed, Path(view.weights) if view.weights else WEIGHTS)(
        table_of(view.seen), np.array([0])
    )[0]
    if draw < chances[FOLD]:
        return "fold"
    if draw >= 1 - chances[RAISE] and "raise" in view.seen.legal:
        return "raise"
    return "check" if "check" in view.seen.legal else "call"
