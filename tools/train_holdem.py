"""Trains an opponent for hold'em (needs PyTorch): python -m tools.train_holdem --style aggressive --seed 10 --to DIR"""

import json
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import click
import msgspec
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from sociometer.core.errors import DataError
from sociometer.instruments.egosocial.games.holdem.net import (
    WIDTH,
    Features,
    FloatArray,
    Layer,
    Net,
    PokerTable,
    features,
    read_arrays,
    weight_file,
)
from sociometer.instruments.egosocial.games.holdem.rules import CALL, FOLD, RAISE
from sociometer.instruments.egosocial.games.holdem.strength import IntArray, strengths
from tools.holdem_characters import Hands, Policy, always_call, always_raise, choose, random_policy, tally


def save(net: Net, path: Path) -> None:
    """Write a network as a small weight file of half-precision numbers."""
    arrays: dict[str, Features] = {}
    for index, layer in enumerate(net.layers):
        arrays[f"weight{index}"] = layer.weight.astype(np.float16)
        arrays[f"bias{index}"] = layer.bias.astype(np.float16)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


# Chances of fold (where there is a bet to meet), call or check, and raise, for weak, middling and strong cards.
_HABITS = np.array([[0.60, 0.35, 0.05], [0.08, 0.77, 0.15], [0.0, 0.30, 0.70]])


def sensible_policy(table: PokerTable, rows: IntArray) -> FloatArray:
    """Bet strong cards, call with middling ones and mostly fold weak ones, always with the same probabilities."""
    chances = _HABITS[_quality(table, rows)].copy()
    free = table.to_call(rows) == 0
    chances[free, 1] += chances[free, 0]
    chances[free, 0] = 0
    capped = ~table.may_raise(rows)
    chances[capped, 1] += chances[capped, 2]
    chances[capped, 2] = 0
    return chances


def _quality(table: PokerTable, rows: IntArray) -> IntArray:
    """Return 0 for weak, 1 for middling and 2 for strong cards of the player to act."""
    hole = table.hole[rows, table.actor[rows]]
    board = table.board[rows]
    shown = np.arange(5) < table.board_size(rows)[:, None]
    own: NDArray[np.bool_] = np.ones((len(rows), 2), dtype=bool)
    made = strengths(np.concatenate([hole, board], axis=1), np.concatenate([own, shown], axis=1)) >> 20
    alone = strengths(board, shown) >> 20
    ranks = hole >> 2
    pair = ranks[:, 0] == ranks[:, 1]
    high = ranks.sum(axis=1)
    before_flop = np.where((pair & (high >= 12)) | (high >= 21), 2, np.where(pair | (high >= 15), 1, 0))
    gained = made - alone
    after_flop = np.where((gained >= 2) | ((made >= 3) & (gained > 0)), 2, np.where((gained > 0) | (high >= 20), 1, 0))
    quality: IntArray = np.where(table.street[rows] == 0, before_flop, after_flop)
    return quality


BoolArray = NDArray[np.bool_]


class Shaping(msgspec.Struct, frozen=True):
    """Chips added to the reward for each raise, call of a bet and fold to a bet, and how much a lost chip counts."""

    on_raise: float
    on_call: float
    on_fold: float
    lost_chip: float = 1.0


class Experience(msgspec.Struct, frozen=True):
    """The learner's decisions: what it saw, its action, its reward, and what it saw at its next one in the hand."""

    inputs: Features
    action: IntArray
    reward: Features
    following: Features
    may_raise: BoolArray
    last: BoolArray


class Memory:
    """The most recent decisions; the oldest are overwritten first."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.size, self.next = capacity, 0, 0
        self._inputs = np.zeros((capacity, WIDTH), dtype=np.float32)
        self._following = np.zeros((capacity, WIDTH), dtype=np.float32)
        self._action = np.zeros(capacity, dtype=np.int64)
        self._reward = np.zeros(capacity, dtype=np.float32)
        self._may_raise = np.zeros(capacity, dtype=bool)
        self._last = np.zeros(capacity, dtype=bool)

    def add(self, new: Experience) -> None:
        """Store new decisions and drop the oldest if there is no room."""
        slots = (self.next + np.arange(len(new.action))) % self.capacity
        for key, array in self.arrays().items():
            array[slots] = getattr(new, key)
        self.next = int((self.next + len(slots)) % self.capacity)
        self.size = min(self.size + len(slots), self.capacity)

    def sample(self, count: int, rng: np.random.Generator) -> Experience:
        """Return that many stored decisions, drawn with replacement."""
        slots = rng.integers(0, self.size, count)
        return Experience(**{key: array[slots] for key, array in self.arrays().items()})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays themselves, by the name of their field."""
        return {
            "inputs": self._inputs,
            "action": self._action,
            "reward": self._reward,
            "following": self._following,
            "may_raise": self._may_raise,
            "last": self._last,
        }

    def restore(self, stored: dict[str, NDArray[Any]]) -> None:
        """Fill the arrays from stored ones."""
        for key, array in self.arrays().items():
            array[:] = stored[key]


def collect(
    learner: Net, rival: Policy, hands: int, explore: float, shaping: Shaping, rng: np.random.Generator
) -> Experience:
    """Return the learner's decisions over that many hands in seat 0 against a rival."""
    table = Hands.shuffled(rng, hands)
    parts: list[Experience] = []
    seen = np.zeros((hands, WIDTH), dtype=np.float32)
    action, reward = np.zeros(hands, dtype=np.int64), np.zeros(hands, dtype=np.float32)
    waiting = np.zeros(hands, dtype=bool)

    def keep(rows: IntArray, following: Features, may_raise: BoolArray, last: bool) -> None:
        ended = np.full(len(rows), last)
        parts.append(Experience(seen[rows], action[rows], reward[rows].copy(), following, may_raise, ended))

    while len(rows := table.open_rows()):
        actors = table.actor[rows]
        mine, theirs = rows[actors == 0], rows[actors == 1]
        if len(mine):
            now, can = features(table, mine), table.may_raise(mine)
            before = waiting[mine]
            keep(mine[before], now[before], can[before], last=False)
            wild = rng.random(len(mine)) < explore
            chosen = np.where(wild, choose(random_policy(table, mine), rng), _greedy(learner, now, can))
            seen[mine], action[mine], waiting[mine] = now, chosen, True
            reward[mine] = _bonus(shaping, chosen, table.to_call(mine) > 0)
            table.step(mine, chosen)
        if len(theirs):
            table.step(theirs, choose(rival(table, theirs), rng))
    rows = np.flatnonzero(waiting)
    won = table.payoffs()[rows]
    reward[rows] += np.where(won < 0, won * shaping.lost_chip, won)
    keep(rows, np.zeros((len(rows), WIDTH), dtype=np.float32), np.ones(len(rows), dtype=bool), last=True)
    joined = {key: np.concatenate([getattr(part, key) for part in parts]) for key in Experience.__struct_fields__}
    return Experience(**joined)


def _greedy(learner: Net, inputs: Features, may_raise: BoolArray) -> IntArray:
    values = learner.values(inputs)
    values[~may_raise, RAISE] = -np.inf
    best: IntArray = values.argmax(axis=1)
    return best


def _bonus(shaping: Shaping, action: IntArray, facing_bet: BoolArray) -> Features:
    """Return the shaped part of the reward: folds and calls count only if there was a bet to call."""
    bonus = np.zeros(len(action), dtype=np.float32)
    bonus[action == RAISE] = shaping.on_raise
    bonus[(action == CALL) & facing_bet] = shaping.on_call
    bonus[(action == FOLD) & facing_bet] = shaping.on_fold
    return bonus


SHAPINGS = {
    "aggressive": Shaping(on_raise=2.0, on_call=0.0, on_fold=-1.0),
    "conservative": Shaping(on_raise=-1.0, on_call=0.0, on_fold=1.0, lost_chip=2.0),
}
# Every style meets all four, so that it has learnt what to do when it is raised again and again.
RIVALS: tuple[Policy, ...] = (sensible_policy, random_policy, always_raise, always_call)
# Values are learnt in units of this many chips, so that losses stay near one.
SCALE = 8.0
CHECKPOINT_EVERY = 20
_MOST_CHECKPOINT_BYTES = 1 << 30


class Plan(msgspec.Struct, frozen=True):
    """All parameters of a training run."""

    style: str
    seed: int
    rounds: int = 1000
    hands_per_round: int = 512
    updates_per_round: int = 4
    batch: int = 512
    width: int = 64
    memory: int = 60_000
    learning_rate: float = 1e-3
    last_learning_rate: float = 5e-5
    explore_from: float = 1.0
    explore_to: float = 0.08
    explore_rounds: int = 400
    target_every: int = 25
    check_every: int = 100


class Point(msgspec.Struct, frozen=True):
    """One point of the training curve, measured against the random player."""

    round: int
    hands: int
    loss: float
    chips_per_hand: float
    raise_rate: float
    call_rate: float
    fold_rate: float

    @property
    def check_rate(self) -> float:
        """The share of checks among the decisions: what raises, calls and folds leave."""
        return round(1 - self.raise_rate - self.call_rate - self.fold_rate, 4)


Report = Callable[[int, Point | None], None]


class TrainingRecord(msgspec.Struct, frozen=True):
    """The record of a training run; stored next to the weights."""

    plan: Plan
    shaping: Shaping
    curve: tuple[Point, ...]
    torch_version: str


def import_torch() -> Any:
    """Return PyTorch, or name the extra that installs it."""
    try:
        import torch
    except ImportError as missing:
        raise RuntimeError(
            "training needs PyTorch, which is not installed; run: pip install torch (playing "
            "against the bundled opponents does not need it)"
        ) from missing
    return torch


class Trainer:
    """One training run that can stop after any round and resume from its checkpoint."""

    def __init__(self, plan: Plan) -> None:
        self.torch = import_torch()
        self.torch.set_num_threads(1)
        self.torch.manual_seed(plan.seed)
        self.plan = plan
        self.shaping = SHAPINGS[plan.style]
        self.rng = np.random.default_rng([plan.seed, len(plan.style)])
        self.online, self.target = self._network(), self._network()
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = self.torch.optim.Adam(self.online.parameters(), lr=plan.learning_rate)
        self.memory = Memory(plan.memory)
        self.round = 0
        self.curve: list[Point] = []
        self.losses: list[float] = []

    def _network(self) -> Any:
        nn, width = self.torch.nn, self.plan.width
        return nn.Sequential(
            nn.Linear(WIDTH, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 3)
        )

    def net(self) -> Net:
        """Return the current network, in chips, for numpy to play."""
        linears = [module for module in self.online if hasattr(module, "weight")]
        layers = [Layer(part.weight.detach().numpy().copy(), part.bias.detach().numpy().copy()) for part in linears]
        layers[-1] = Layer(layers[-1].weight * SCALE, layers[-1].bias * SCALE)
        return Net(tuple(layers))

    def train(self, report: Report, checkpoint: Path | None = None, until: int | None = None) -> None:
        """Run the remaining rounds (or up to `until`), reporting each, and saving a checkpoint every so often."""
        plan = self.plan
        while self.round < min(plan.rounds, until or plan.rounds):
            self._round()
            measured = self.round % plan.check_every == 0 or self.round == plan.rounds
            if measured:
                self.curve.append(self._measure())
            report(self.round, self.curve[-1] if measured else None)
            if checkpoint and (measured or self.round % CHECKPOINT_EVERY == 0):
                self.save_checkpoint(checkpoint)

    def _round(self) -> None:
        plan = self.plan
        share = min(self.round / plan.explore_rounds, 1.0)
        explore = plan.explore_from + (plan.explore_to - plan.explore_from) * share
        rival = RIVALS[self.round % len(RIVALS)]
        self.memory.add(collect(self.net(), rival, plan.hands_per_round, explore, self.shaping, self.rng))
        for group in self.optimizer.param_groups:
            group["lr"] = self._learning_rate()
        for _ in range(plan.updates_per_round):
            self._update(self.memory.sample(plan.batch, self.rng))
        self.round += 1
        if self.round % plan.target_every == 0:
            self.target.load_state_dict(self.online.state_dict())

    def _learning_rate(self) -> float:
        """Return this round's rate: it falls evenly after exploration ends, so that different seeds converge alike."""
        plan = self.plan
        done = max(0.0, (self.round - plan.explore_rounds) / max(1, plan.rounds - plan.explore_rounds))
        return plan.learning_rate + (plan.last_learning_rate - plan.learning_rate) * done

    def _update(self, sample: Experience) -> None:
        torch = self.torch
        inputs, following = torch.from_numpy(sample.inputs), torch.from_numpy(sample.following)
        with torch.no_grad():
            blocked = torch.from_numpy(~sample.may_raise)
            preferred = self.online(following)
            preferred[blocked, 2] = -torch.inf
            future = self.target(following).gather(1, preferred.argmax(1, keepdim=True)).squeeze(1)
            goal = torch.from_numpy(sample.reward / np.float32(SCALE)) + future * torch.from_numpy(~sample.last)
        value = self.online(inputs).gather(1, torch.from_numpy(sample.action)[:, None]).squeeze(1)
        loss = torch.nn.functional.smooth_l1_loss(value, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.losses.append(float(loss.detach()))

    def _measure(self) -> Point:
        mine, _ = tally([self.net(), random_policy], 4000, seed=self.round)
        loss = float(np.mean(self.losses[-self.plan.check_every :]))
        return Point(
            round=self.round,
            hands=self.round * self.plan.hands_per_round,
            loss=round(loss, 5),
            chips_per_hand=round(mine.chips_per_hand, 3),
            raise_rate=round(mine.raise_rate, 4),
            call_rate=round(mine.call_rate, 4),
            fold_rate=round(mine.fold_rate, 4),
        )

    def record(self) -> TrainingRecord:
        """Return the record of the run so far."""
        return TrainingRecord(self.plan, self.shaping, tuple(self.curve), str(self.torch.__version__))

    def write(self, folder: Path) -> Path:
        """Write the weights and their training record; return the weight file."""
        path = weight_file(self.plan.style, self.plan.seed, folder)
        save(self.net(), path)
        path.with_suffix(".json").write_bytes(msgspec.json.format(msgspec.json.encode(self.record()), indent=1))
        return path

    def save_checkpoint(self, path: Path) -> None:
        """Write everything the run needs to resume, as plain arrays."""
        arrays = {f"memory.{key}": value for key, value in self.memory.arrays().items()}
        for part, module in (("online", self.online), ("target", self.target)):
            arrays |= {f"{part}.{key}": value.numpy() for key, value in module.state_dict().items()}
        for index, moments in self.optimizer.state_dict()["state"].items():
            arrays |= {f"adam.{index}.{key}": np.asarray(value) for key, value in moments.items()}
        facts = {
            "plan": msgspec.to_builtins(self.plan),
            "round": self.round,
            "curve": msgspec.to_builtins(self.curve),
            "losses": self.losses[-self.plan.check_every :],
            "memory": [self.memory.size, self.memory.next],
            "rng": self.rng.bit_generator.state,
        }
        arrays["facts"] = np.array(json.dumps(facts))
        partial = path.with_suffix(".partial")
        with partial.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        partial.replace(path)

    @classmethod
    def resume(cls, path: Path, plan: Plan) -> "Trainer":
        """Return the run stored in a checkpoint, which must be of the same plan."""
        arrays = read_arrays(path, _MOST_CHECKPOINT_BYTES)
        try:
            facts = json.loads(str(arrays.pop("facts")))
            made_by = msgspec.convert(facts["plan"], Plan)
            if made_by == plan:
                trainer = cls(plan)
                trainer._restore(arrays, facts)
                return trainer
        except (KeyError, TypeError, ValueError, RecursionError, SystemError) as error:
            raise DataError(f"not a checkpoint of this version ({error!r}); delete it to start again", path) from None
        raise RuntimeError(
            f"{path} belongs to a training with other settings: {facts['plan']}; delete it, or use these settings"
        )

    def _restore(self, arrays: dict[str, Any], facts: dict[str, Any]) -> None:
        torch = self.torch
        for part, module in (("online", self.online), ("target", self.target)):
            module.load_state_dict({key: torch.from_numpy(arrays[f"{part}.{key}"]) for key in module.state_dict()})
        state = self.optimizer.state_dict()
        state["state"] = {
            index: {key: torch.from_numpy(arrays[f"adam.{index}.{key}"]) for key in ("step", "exp_avg", "exp_avg_sq")}
            for index in range(len(list(self.online.parameters())))
        }
        self.optimizer.load_state_dict(state)
        self.memory.restore({key[7:]: value for key, value in arrays.items() if key.startswith("memory.")})
        self.memory.size, self.memory.next = facts["memory"]
        self.rng.bit_generator.state = facts["rng"]
        self.round, self.losses = facts["round"], facts["losses"]
        self.curve = msgspec.convert(facts["curve"], list[Point])


class Progress:
    """A bar on the error stream with the latest measured point next to it."""

    def __init__(self, rounds: int, done: int = 0) -> None:
        self._words = ""
        self._bar = Bar(
            TextColumn("training"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task("", total=rounds, completed=done)

    def __enter__(self) -> "Progress":
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def step(self, done: int, point: Point | None) -> None:
        """Show that a round is done and the latest measurement, if there is one."""
        if point is not None:
            self._words = f"chips {point.chips_per_hand:+.2f} raise {point.raise_rate:.2f} fold {point.fold_rate:.2f}"
        self._bar.update(self._task, completed=done, description=self._words)


@click.command(help=__doc__)
@click.option("--style", type=click.Choice(["aggressive", "conservative"]), required=True)
@click.option("--seed", type=int, default=0, help="Training seed.")
@click.option("--rounds", type=click.IntRange(1), default=1000, help="Rounds of 512 hands and four updates.")
@click.option("--to", type=click.Path(path_type=Path), default=Path("opponents"), help="Folder for the weights.")
def main(style: str, seed: int, rounds: int, to: Path) -> None:
    """Trains an opponent; after a stop, the same command continues from the last checkpoint."""
    plan = Plan(style, seed, rounds=rounds)
    checkpoint = weight_file(style, seed, to).with_suffix(".checkpoint.npz")
    trainer = Trainer.resume(checkpoint, plan) if checkpoint.exists() else Trainer(plan)
    to.mkdir(parents=True, exist_ok=True)
    with Progress(plan.rounds, trainer.round) as show:
        trainer.train(show.step, checkpoint)
    click.echo(trainer.write(to))
    checkpoint.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
