"""Training environments: items that models may be trained on, kept apart from those that measure them.

Training on a test spoils the test. Every environment here refuses the items, opponents and simulators of the tests:
fresh stories and matches have their own seeds, number guessing has other opponents, and the rest needs your own files.
"""

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from sociometer.core.checksums import checksum
from sociometer.core.config import RunConfig
from sociometer.core.errors import DataError, UsageError, hint, unknown
from sociometer.core.session import RoleBinding
from sociometer.core.task import Item
from sociometer.core.words import texts_in_item
from sociometer.engine.plan import Plan, make_plan
from sociometer.engine.roles import resolve_player
from sociometer.engine.run_options import make_config
from sociometer.instruments import card_of, load
from sociometer.instruments.egosocial.games.holdem.net import TRAINING_WEIGHTS, WEIGHTS
from sociometer.instruments.sage.person.emotion import Protocol

_RELEASED_TREE = re.compile(r"_(cn|en)_example_\d+\.json$")
"""How the authors of SocialEval name the trees that they released one by one."""
FIRST_TRAINING_SEED = 1_000_000
"""Training seeds begin here; tests use the ones below."""
TRAINING_OPPONENTS = ("reasoning-1", "reasoning-2", "noisy-1", "noisy-2", "switching")
"""Opponents of number guessing to train against; the paper's three levels and the drawn family are held out."""


class Choices(Struct, frozen=True, kw_only=True):
    """What a user chooses for an environment."""

    seed: int = FIRST_TRAINING_SEED
    settings: Mapping[str, Any] = {}
    data: str = ""
    """A folder with your own trees (goals)."""
    simulator: str = ""
    """The model that plays the simulated person (sage)."""
    judge: str = ""
    """The model that judges replies in practice talks without a fact."""


class Environment(Struct, frozen=True):
    """One training environment: a task of an instrument, the reward for its scores, and what it refuses."""

    name: str
    instrument: str
    task: str
    help: str
    reward: Callable[[Mapping[str, float]], float]
    settings: tuple[str, ...]
    """The settings of the instrument that the task has."""
    check: Callable[[Choices, Plan], None] = lambda choices, plan: None
    """Without one, seeds alone keep the items apart."""
    known: Callable[[Sequence[Mapping[str, Any]]], dict[str, float]] = lambda trace: {}
    """The parts of the reward that follow from what was noted so far."""


def _numbers(choices: Choices, plan: Plan) -> None:
    held_out = [name for name in plan.settings.texts("opponents") if name not in TRAINING_OPPONENTS]
    if held_out:
        allowed = ", ".join(TRAINING_OPPONENTS)
        raise UsageError(f"held out for the test: {', '.join(held_out)}; opponents to train against: {allowed}.")


def _holdem(choices: Choices, plan: Plan) -> None:
    folder = plan.settings.text("weights")
    shipped = {checksum(path) for path in WEIGHTS.glob("*.npz")}
    for path in sorted(Path(folder).glob("*.npz")):
        if checksum(path) in shipped:
            raise UsageError(f"{path} is a bundled opponent, which is held out for the test.")


def _goals(choices: Choices, plan: Plan) -> None:
    if not choices.data:
        raise UsageError("the bundled trees are held out for the test; give a folder with your own trees as data=DIR.")
    released = {Path(file.name).name for file in plan.instrument.card.file}
    for path in sorted(Path(choices.data).rglob("*.json")):
        if path.name in released or _RELEASED_TREE.search(path.name):
            raise UsageError(f"{path} has the name of an official file, which is held out for the test.")
    _refuse_known(plan, "tree")


def _practice(choices: Choices, plan: Plan) -> None:
    if not choices.simulator:
        raise UsageError(
            "name a model to play the person in training: simulator=MODEL; use a different one than in your tests."
        )
    if plan.settings.text("scenarios"):
        _refuse_known(plan, "scenario", ("dialogue",))


def _sage(choices: Choices, plan: Plan) -> None:
    if not plan.settings.text("scenarios"):
        raise UsageError(
            f"the bundled scenarios are held out for the test; build others ('{hint('sage build')}') and give"
            " the setting scenarios=FILE."
        )
    _practice(choices, plan)


def _refuse_known(plan: Plan, what: str, tasks: tuple[str, ...] = ()) -> None:
    """Raise a UsageError for an item that is like a bundled one, or like an official one on this machine."""
    known: dict[str, frozenset[str]] = {}
    for official in (False, True):
        config = RunConfig(
            instrument=plan.instrument.card.name, subject="", tasks=tasks or plan.config.tasks, official=official
        )
        test = make_plan(config, plan.instrument, bindings={})
        # Official data that was never fetched cannot be compared with.
        with contextlib.suppress(DataError):
            known |= {item.id: _runs(item) for item in test.items(test.tasks[0])}
    for item in plan.items(plan.tasks[0]):
        mine = _runs(item)
        like = [name for name, theirs in known.items() if len(mine & theirs) > LIKE * min(len(mine), len(theirs))]
        if item.id in known or like:
            named = f", like '{like[0]}'" if like and like[0] != item.id else ""
            raise UsageError(
                f"the {what} '{item.id}' is one of the test's{named}; training on it would spoil the test."
            )


LIKE = 0.5
"""Two items are alike if more than this share of the shorter one's runs of words is in the other."""
_RUN = 4
_WORD = re.compile(r"[\u4e00-\u9fff]|[^\W_]+")


def _runs(item: Item) -> frozenset[str]:
    """The runs of words (of characters in Chinese) in an item's texts, whatever its names, spaces and marks."""
    texts = texts_in_item(msgspec.to_builtins(item), "id", "cluster", "twin", "source")
    words = [word.lower() for text in texts for word in _WORD.findall(text)]
    return frozenset(" ".join(words[place : place + _RUN]) for place in range(len(words) - _RUN + 1))


def _mean(values: Mapping[str, float], *names: str) -> float:
    found = [values[name] for name in names if name in values]
    return sum(found) / len(found) if found else 0.0


def _feeling(trace: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    felt = [facts["after"] for facts in trace if facts["kind"] == "emotion"]
    return {"feeling": (felt[-1] if felt else Protocol().start) / 100}


_TALK = ("language", "form", "turns", "rereads")
ENVIRONMENTS = {
    one.name: one
    for one in (
        Environment(
            "numbers", "egosocial", "numbers", "number guessing: the share of predictions that are right",
            lambda values: _mean(values, "right"), ("rounds", "opponents"), _numbers,
        ),
        Environment(
            "stories", "egosocial", "generated", "generated stories: the share of questions that are right",
            lambda values: _mean(values, "first", "third"), ("perspective", "language", "stories"),
        ),
        Environment(
            "holdem", "egosocial", "holdem", "limit hold'em: 1 if the opponent's style is named correctly",
            lambda values: _mean(values, "right"), ("matches", "hands", "change", "weights"), _holdem,
        ),
        Environment(
            "goals", "socialeval", "goals", "SocialEval's goals: 1 if the goal is achieved, 0.5 if in part",
            lambda values: values.get("achieved", 0.0) + 0.5 * values.get("partly", 0.0), ("language", "votes"), _goals,
        ),
        Environment(
            "practice", "sage", "practice", "practice talks: the person's feeling, times a gate, less the length",
            lambda values: values.get("reward", 0.0), (*_TALK, "talks", "scenarios"), _practice, _feeling,
        ),
        Environment(
            "return", "sage", "return-practice", "a person who comes back, in one of four arms: as practice talks",
            lambda values: values.get("reward", 0.0), (*_TALK, "talks"), _practice, _feeling,
        ),
        Environment(
            "helpdesk", "helpdesk", "cases", "talks with tools: 1 if the final state is as the ledger asks",
            lambda values: values.get("right", 0.0), ("language", "talks", "rereads"),
        ),
        Environment(
            "sage", "sage", "practice", "your own scenarios: the person's feeling, times a gate, less the length",
            lambda values: values.get("reward", 0.0), (*_TALK, "scenarios"), _sage, _feeling,
        ),
    )
}  # fmt: skip


class TrainingItem(Struct, frozen=True):
    """An item to play, and the seed of its random draws."""

    item: Item
    seed: int


def environment_named(name: str) -> Environment:
    """The environment of a name."""
    if name not in ENVIRONMENTS:
        raise unknown("training environment", name, ENVIRONMENTS)
    return ENVIRONMENTS[name]


def training_plan(name: str, choices: Choices) -> Plan:
    """The items of an environment; a UsageError if one of them is part of a test."""
    environment = environment_named(name)
    if choices.seed < FIRST_TRAINING_SEED:
        raise UsageError(
            f"seed {choices.seed} is held out for tests; training seeds are {FIRST_TRAINING_SEED:,} and above."
        )
    settings = dict(choices.settings)
    if name == "numbers":
        settings.setdefault("opponents", TRAINING_OPPONENTS)
    if name == "holdem":
        settings.setdefault("weights", str(TRAINING_WEIGHTS))
    config = make_config(
        card_of(environment.instrument),
        "policy",
        tasks=(environment.task,),
        settings=settings,
        data=choices.data,
        seed=choices.seed,
        second_question=False,  # the first reply is what is trained
        # A policy is a text model: it is told of tools in words.
        tools="told" if card_of(environment.instrument).task_card(environment.task).tools else "",
    )
    plan = make_plan(config, load(environment.instrument), bindings={})
    environment.check(choices, plan)
    return plan


def other_players(name: str, choices: Choices, plan: Plan) -> dict[str, RoleBinding]:
    """The players of the other roles; a stand-in gives no reward."""
    task, instrument = plan.tasks[0].name, plan.instrument
    given = {"simulator": choices.simulator, "person": choices.simulator, "judge": choices.judge}
    bindings: dict[str, RoleBinding] = {}
    chosen = (role for role in instrument.card.role if task in role.optional and given.get(role.name))
    for role in (*instrument.card.roles_of(task), *chosen):
        if role.name == "subject":
            continue
        spec = given.get(role.name) or role.default
        own = spec.removeprefix(f"{instrument.card.name}/")
        player = (
            instrument.players[own]() if own in instrument.players else resolve_player(spec, role.name, plan.config)
        )
        if player.identity.stand_in:
            raise UsageError(
                f"'{spec}' is a stand-in and gives no reward in {name}; name a model: {role.name}=MODEL,"
                " such as local/FILE.gguf, vllm/NAME@URL or openai/NAME."
            )
        bindings[role.name] = RoleBinding(player, spec, spec)
    return bindings
