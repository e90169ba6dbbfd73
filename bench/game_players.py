"""Plays EgoSocialArena's games with players of one habit and prints what each earns: floor, ceiling, constants, random.

Run: python bench/game_players.py [--seed 0] [--deals 200] [--drawn 60] [--matches 200]
"""

import argparse
import json
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from rehearsal import Rehearsal
from sociometer.core.conversation import Identity, Reply, Request
from sociometer.core.measure import Summary
from sociometer.core.player import Player, RulePlayer
from sociometer.instruments import load
from sociometer.instruments.egosocial.games.players import SteadyOpponent
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve

Answer = Callable[[Request], str]


class Habit(RulePlayer):
    """A player that answers by a function of the request."""

    def __init__(self, answer: Answer) -> None:
        self.identity = Identity("bench", "habit")
        self._answer = answer

    async def answer(self, request: Request) -> Reply:
        """Return the answer."""
        return Reply(self._answer(request))


def constant(**said: object) -> Answer:
    """Return a player that always says the same."""
    return lambda request: json.dumps(said)


_OPPONENTS = re.compile(r"your opponent chose ([\d.]+)")


def repeating(request: Request) -> str:
    """Predict the opponent's last number."""
    numbers = _OPPONENTS.findall(request.messages[-1].content)
    return json.dumps({"prediction": float(numbers[-1]) if numbers else 50, "choice": 40})


def habit(*wanted: str, style: str = "A") -> Answer:
    """Return a hold'em player that takes the first of the wanted actions that is legal."""
    rng = random.Random(0)

    def answer(request: Request) -> str:
        text = request.messages[-1].content
        if "style of play" in text:
            return style or rng.choice("AB")
        legal = text.rpartition("holding one of: ")[2].rstrip(".\n").split(", ")
        word = next((word for word in wanted if word in legal), None) or rng.choice(legal)
        return json.dumps({"action": word})

    return answer


CONSTANT_HAND = {
    "self_belief": "My total is 20, a hard total.", "own_total": 20, "own_kind": "hard", "own_bust_percent": "26.5%",
    "external_belief": "The dealer must draw below 17.", "open_card_value": 10, "dealer_bust_percent": "23%",
    "dealer_final_total": 20, "action": "stand",
}  # fmt: skip


def played(player: Player | str, task: str, seed: int, **settings: int) -> Summary:
    """Return the summary of a task played by a player, or by a baseline of that name."""
    subject = resolve(f"baseline/{player}", ModelOptions()) if isinstance(player, str) else player
    show = Rehearsal(load("egosocial"), {"subject": subject, "opponent": SteadyOpponent()}, settings, seed=seed)
    return show.summarise(task)


def line(name: str, summary: Summary, measures: tuple[str, ...]) -> str:
    """Return one line of a table."""
    found = [summary.find(measure) for measure in measures]
    cells = ["" if one is None or one.value is None else f"{one.value:.2f}" for one in found]
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    """Print a table for each game."""
    options = argparse.ArgumentParser(description=__doc__)
    for name, default in (("seed", 0), ("deals", 200), ("drawn", 60), ("matches", 200)):
        options.add_argument(f"--{name}", type=int, default=default)
    chosen = options.parse_args()
    games: dict[str, tuple[tuple[str, ...], dict[str, Player | str], dict[str, int]]] = {
        "blackjack": (
            ("accuracy", "exact_fields", "own_chance", "dealer_chance", "best_action"),
            {
                "oracle (exact odds)": "oracle",
                "constant (20, hard, 26.5 %, 10, 23 %, 20, stand)": Habit(constant(**CONSTANT_HAND)),
                "constant (the same, hit)": Habit(constant(**{**CONSTANT_HAND, "action": "hit"})),
                "random": "random",
            },
            {"deals": chosen.deals},
        ),
        "numbers": (
            ("accuracy", "beyond_repeating", "repeating"),
            {
                "oracle (knows the number)": "oracle",
                "repeats the last number": Habit(repeating),
                "predicts 1, chooses 1": Habit(constant(prediction=1, choice=1)),
                "predicts 50, chooses 33": Habit(constant(prediction=50, choice=33)),
                "random": "random",
            },
            {"drawn": chosen.drawn},
        ),
        "holdem": (
            ("accuracy", "reached", "naive_observer", "ceiling", "chips_per_hand"),
            {
                "oracle (knows the style, calls)": "oracle",
                "always A, always calls": Habit(habit("check", "call")),
                "always B, always raises": Habit(habit("raise", "check", "call", style="B")),
                "always A, always folds": Habit(habit("fold")),
                "random": "random",
            },
            {"matches": chosen.matches},
        ),
    }  # fmt: skip
    for task, (measures, players, settings) in games.items():
        print(f"\n{task} {settings}\n\n| player | {' | '.join(measures)} |\n|{' --- |' * (len(measures) + 1)}")
        for name, player in players.items():
            print(line(name, played(player, task, chosen.seed, **settings), measures), flush=True)


if __name__ == "__main__":
    main()
