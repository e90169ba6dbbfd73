"""Random limit hold'em hands a second of one core's time: ours one at a time and in batches, beside RLCard, OpenSpiel.

Run: python -m bench.holdem [SECONDS]
All play two random players to the end of the hand and settle it. Processor time is counted, not the clock, so that
other work on the machine does not blur the figures; a short warm-up is left out.
"""

import random
import sys
import time
from collections.abc import Callable

import numpy as np

from sociometer.instruments.egosocial.games.holdem.rules import HoldemState, new_deal
from tools.holdem_characters import Hands, play_out, random_policy

BATCH = 10_000
OPEN_SPIEL = (
    "universal_poker(betting=limit,numPlayers=2,numRounds=4,blind=1 2,firstPlayer=1 2 2 2,raiseSize=2 2 4 4,"
    "maxRaises=4 4 4 4,numSuits=4,numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1)"
)


def one_at_a_time() -> Callable[[], int]:
    rng = random.Random(0)

    def play() -> int:
        state = HoldemState(new_deal(rng, rng.randrange(2)))
        while not state.over:
            state.apply(rng.choice(state.legal()))
        state.payoffs()
        return 1

    return play


def in_batches() -> Callable[[], int]:
    rng = np.random.default_rng(0)

    def play() -> int:
        table = Hands.shuffled(rng, BATCH)
        play_out(table, [random_policy, random_policy], rng)
        table.payoffs()
        return BATCH

    return play


def rlcard_environment() -> Callable[[], int]:
    import rlcard
    from rlcard.agents import RandomAgent

    environment = rlcard.make("limit-holdem", config={"seed": 0})
    environment.set_agents([RandomAgent(environment.num_actions)] * 2)

    def play() -> int:
        environment.run(is_training=False)
        return 1

    return play


def rlcard_game() -> Callable[[], int]:
    from rlcard.games.limitholdem import Game

    game, rng = Game(), random.Random(0)

    def play() -> int:
        game.init_game()
        while not game.is_over():
            game.step(rng.choice(game.get_legal_actions()))
        game.get_payoffs()
        return 1

    return play


def open_spiel() -> Callable[[], int]:
    import pyspiel

    game, rng = pyspiel.load_game(OPEN_SPIEL), random.Random(0)

    def play() -> int:
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
        state.returns()
        return 1

    return play


def hands_a_second(play: Callable[[], int], seconds: float) -> float:
    for _ in range(3):
        play()
    hands, start = 0, time.process_time()
    while (spent := time.process_time() - start) < seconds:
        hands += play()
    return hands / spent


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 4.0
    contenders = {
        "sociometer, one hand at a time": one_at_a_time,
        f"sociometer, {BATCH} hands at once": in_batches,
        "RLCard, game alone": rlcard_game,
        "RLCard, environment with random agents": rlcard_environment,
        "OpenSpiel, universal_poker from Python": open_spiel,
    }
    for name, make in contenders.items():
        try:
            play = make()
        except ImportError as missing:
            print(f"{name:42} not installed ({missing.name})")
            continue
        print(f"{name:42} {hands_a_second(play, seconds):>12,.0f} hands/s")


if __name__ == "__main__":
    main()
