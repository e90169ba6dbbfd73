"""Whether short talks of SAGE decide like long ones, and whether a judge who ignores the reply fails a passport.

`python bench/short_talks.py [SPLITS]` needs SOCIOMETER_DATA with the authors' released dialogues. A talk of k judged
turns is the beginning of a released one. Verdicts of short talks on one half of the scenarios are compared with those
of full talks on the other half. The last rows run the short form and `--against` together.
"""

import os
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from sociometer.instruments.sage.dialogue import Dialogue, count_tokens, read_dialogues
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.passport.floor import beyond_state
from sociometer.instruments.sage.passport.probes import Probe
from sociometer.instruments.sage.passport.released import released_probes, released_turns
from sociometer.instruments.sage.play import SHORT_TURNS
from sociometer.instruments.sage.published.released import released_files
from stopping import fixed, watched

Array = np.ndarray[Any, Any]
Talks = dict[str, dict[str, dict[str, "Talk"]]]
"""Released dialogues by simulator, model and scenario."""
FULL = 10
TURNS = (1, 2, 3, 4, FULL)
ORDERS = 40
BLIND: dict[str, Callable[[int, int, int], float]] = {
    "a line on the feeling": lambda turn, before, length: round((before - 45) / 6),
    "feeling and turn": lambda turn, before, length: round((before - 35) / 8 - turn / 2),
    "feeling and length": lambda turn, before, length: round((before - 45) / 8 + min(3, length / 150)),
}


class Talk:
    """A released dialogue: the feeling and the tokens that were read after each number of judged turns."""

    def __init__(self, scenario: Scenario, dialogue: Dialogue) -> None:
        self.finals = {turns: float(dialogue.trajectory[: turns + 1][-1]) for turns in TURNS}
        told = (scenario.persona, scenario.goal, scenario.hidden, scenario.raw or scenario.background)
        profile = sum(map(count_tokens, told))
        self.read = {turns: read_by(dialogue, profile, turns) for turns in TURNS}


def read_by(dialogue: Dialogue, profile: int, turns: int) -> tuple[int, int]:
    """The tokens of talk and profile that the simulator reads, and those of the talk that the subject reads.

    Instructions are left out. The simulator reads both twice a turn, to feel and to answer; after the last turn of a
    short talk once.
    """
    simulator = subject = 0
    played = [turn for turn in dialogue.turns if turn.judgement is not None][:turns]
    for place, turn in enumerate(played):
        before = sum(count_tokens(words) for _, words in dialogue.said(place))
        subject += before
        simulator += (profile + before + count_tokens(turn.reply)) * (1 if place + 1 == turns < FULL else 2)
    return simulator, subject


def curve(talks: Talks, splits: int) -> None:
    """The table of judged turns: what is read, and how often verdicts agree with full talks on other scenarios."""
    print(
        f"{'simulator':14}{'turns':>6}{'mean':>7}{'simulator reads':>17}{'subject reads':>15}{'same':>7}"
        f"{'reversed':>10}"
    )
    for simulator, models in talks.items():
        names = sorted(set.intersection(*(set(found) for found in models.values())))
        every = [talk for found in models.values() for talk in found.values()]
        full = np.array([each.read[FULL] for each in every], dtype=float).sum(axis=0)
        halves = [np.random.default_rng([62, seed]).permutation(len(names)) for seed in range(splits)]
        verdicts: dict[tuple[int, str, str], str] = {}
        for turns in TURNS[::-1]:
            tables = {model: np.array([found[name].finals[turns] for name in names]) for model, found in models.items()}
            same, against = [], []
            for nth, order in enumerate(halves):
                first, second = order[: len(names) // 2], order[len(names) // 2 :]
                for one, two in combinations(tables, 2):
                    if turns == FULL:
                        verdicts[nth, one, two] = fixed(tables[one][second], tables[two][second], binary=False)
                    short = fixed(tables[one][first], tables[two][first], binary=False)
                    whole = verdicts[nth, one, two]
                    same.append(short == whole)
                    against.append({short, whole} == {"better", "worse"})
            read = np.array([each.read[turns] for each in every], dtype=float).sum(axis=0) / full
            mean = np.mean([each.finals[turns] for each in every])
            print(
                f"{simulator:14}{turns:6}{mean:7.1f}{read[0]:17.2f}{read[1]:15.2f}"
                f"{np.mean(same):7.3f}{np.mean(against):10.4f}",
                flush=True,
            )


def together(talks: Talks) -> None:
    """The short form and `--against` on all pairs: dialogues used, what is read, verdicts kept."""
    print(
        f"\n{'simulator':14}{'talks':>6}{'pairs':>6}{'dialogues':>11}{'simulator reads':>17}{'kept':>7}{'reversed':>10}"
    )
    for simulator, models in talks.items():
        names = sorted(set.intersection(*(set(found) for found in models.values())))
        for turns in (FULL, SHORT_TURNS):
            rng = np.random.default_rng(62)
            used, read, kept, against, pairs = [], [], [], [], 0
            for one, two in combinations(models.values(), 2):
                long = [np.array([found[name].finals[FULL] for name in names]) for found in (one, two)]
                whole = fixed(*long, binary=False)
                if not whole:
                    continue
                pairs += 1
                short = [np.array([found[name].finals[turns] for name in names]) for found in (one, two)]
                cost, base = (
                    np.array([sum(found[name].read[k][0] for found in (one, two)) for name in names], dtype=float)
                    for k in (turns, FULL)
                )
                for _ in range(ORDERS):
                    order = rng.permutation(len(names))
                    found, items = watched(short[0][order], short[1][order], binary=False)
                    used.append(items / len(names))
                    read.append(cost[order][:items].sum() / base.sum())
                    kept.append(found.verdict == whole)
                    against.append({found.verdict, whole} == {"better", "worse"})
            if pairs:
                name = "full" if turns == FULL else "short"
                print(
                    f"{simulator:14}{name:>6}{pairs:6}{np.mean(used):11.2f}{np.mean(read):17.2f}"
                    f"{np.mean(kept):7.3f}{np.mean(against):10.4f}",
                    flush=True,
                )


def blind(folder: Path, draws: int) -> None:
    """How often a judge who ignores the reply passes the rule of agreement."""
    every = {probe.id: probe for found in released_turns([folder]).values() for probe in found}
    rng = np.random.default_rng(62)
    passed: dict[str, list[bool]] = {name: [] for name in BLIND}
    ids = sorted(every)
    first = [name for name in ids if every[name].state[0] == 1]
    later = [name for name in ids if every[name].state[0] > 1]
    for _ in range(draws):
        drawn = [every[str(name)] for pool in (first, later) for name in rng.choice(pool, 50, replace=False)]
        for name, judge in BLIND.items():
            passed[name].append(passes(drawn, judge))
    fixed_draw = released_probes([folder], 100, 0)
    print(f"\n{'judge who ignores the reply':30}{'passes':>8}{'seed 0':>8}  ({draws} draws of 100 turns)")
    for name, judge in BLIND.items():
        print(f"{name:30}{np.mean(passed[name]):8.3f}{passes(fixed_draw, judge)!s:>8}")


def passes(probes: list[Probe], judge: Callable[[int, int, int], float]) -> bool:
    """Whether the interval of the partial correlation given the state is above zero."""
    found = beyond_state(
        [judge(*probe.state) for probe in probes],
        [probe.change for probe in probes],
        [probe.expected or 0.0 for probe in probes],
        [probe.state for probe in probes],
        [(probe.released_by, probe.cluster) for probe in probes],
    )
    return found.interval.low is not None and found.interval.low > 0


def main(splits: int) -> None:
    """Print the three tables."""
    folder = Path(os.environ["SOCIOMETER_DATA"])
    talks: Talks = {}
    for file in released_files([folder])[0]:
        found = {scenario.id: Talk(scenario, dialogue) for scenario, dialogue in read_dialogues(file.path)}
        talks.setdefault(file.simulator, {})[file.model] = found
    curve(talks, splits)
    together(talks)
    blind(folder, 4 * splits)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 150)
