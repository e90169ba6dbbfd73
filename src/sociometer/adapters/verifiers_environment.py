"""Our training environments for verifiers: `vf-eval sociometer-training --env.taskset.environment numbers …`.

verifiers finds them through the package `sociometer_training`, whose name is the environment's id. The harness runs our
`play` in process; every reply of the policy comes through verifiers' endpoint, so that the trace has its tokens.
"""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import aiohttp
import msgspec
import verifiers.v1 as vf
from pydantic import Field
from verifiers.v1.clients import ModelContext
from verifiers.v1.runtimes import ProgramResult, Runtime, SubprocessConfig

from sociometer.adapters.gym import Gym
from sociometer.adapters.training import Choices, TrainingItem
from sociometer.core.conversation import Identity, Reply, Request
from sociometer.core.errors import MachineryError
from sociometer.core.player import RulePlayer
from sociometer.models.openai import chat_body, read_completion
from sociometer.models.presets import PRESETS

SCORES = "sociometer"
"""The key of a trace's `info` under which the harness leaves the scores."""


class SocialData(vf.TaskData):
    """An item with all that the harness needs to play it anywhere."""

    environment: str
    item: str
    """The item as JSON."""
    seed: int
    choices: str
    """The user's choices as JSON."""


class SocialTask(vf.Task[SocialData]):
    """One item; the reward comes from the instrument's own scores."""

    @vf.reward
    async def social(self, trace: vf.Trace) -> float:
        return float(trace.info[SCORES]["reward"])

    @vf.metric
    async def scores(self, trace: vf.Trace) -> dict[str, float]:
        """Every score of the instrument, and how many replies could not be read."""
        kept: dict[str, Any] = trace.info[SCORES]
        return {**kept["values"], "unreadable": float(kept["unreadable"])}


class SocialTasksetConfig(vf.TasksetConfig):
    """The environment, the number of items, and their settings."""

    environment: str = "numbers"
    """numbers, stories, holdem, goals, practice or sage."""
    count: int | None = None
    """How many tasks; more than there are items play them again with new seeds. None: each item once."""
    seed: int = Choices().seed
    settings: dict[str, Any] = Field(default_factory=dict)
    """Settings of the instrument, such as rounds (numbers), weights (holdem), scenarios and turns (sage)."""
    data: str = ""
    simulator: str = ""
    judge: str = ""

    def choices(self) -> Choices:
        """The choices that decide what is played."""
        return Choices(**{name: getattr(self, name) for name in Choices.__struct_fields__})


class SociometerTaskset(vf.Taskset[SocialTask, SocialTasksetConfig]):
    """The items of one training environment."""

    def load(self) -> Iterator[SocialTask]:
        """The tasks; nothing that measures models is among them."""
        choices, name = self.config.choices(), self.config.environment
        written = msgspec.json.encode(choices, order="deterministic").decode()
        for one in _gym(name, written).items(self.config.count):
            data = SocialData(
                id=f"{one.item.id}/{one.seed}",
                name=one.item.id,
                prompt=f"{name}: {one.item.id}",  # a rollout needs one; what the policy is asked comes from `play`
                environment=name,
                item=msgspec.json.encode(one.item).decode(),
                seed=one.seed,
                choices=written,
            )
            yield SocialTask(data, self.config.task)


@cache
def _gym(name: str, choices: str) -> Gym:
    """One for all rollouts of a process: they share the limits of the simulator's server."""
    return Gym(name, msgspec.json.decode(choices, type=Choices))


class Policy(RulePlayer):
    """The model in training, behind verifiers' endpoint."""

    journaled = True

    def __init__(self, model: str, endpoint: str, secret: str, http: aiohttp.ClientSession) -> None:
        super().__init__(Identity("verifiers", model))
        self._url, self._secret, self._http = f"{endpoint.rstrip('/')}/chat/completions", secret, http

    async def answer(self, request: Request) -> Reply:
        """The model's reply; the trainer's sampling replaces what the instrument asks for."""
        body = msgspec.json.encode(chat_body(self.identity.name, request, PRESETS["vllm"]))
        headers = {"Authorization": f"Bearer {self._secret}", "Content-Type": "application/json"}
        async with self._http.post(self._url, data=body, headers=headers) as response:
            received = await response.read()
            if response.status != 200:
                raise MachineryError(f"verifiers' endpoint answered {response.status}: {received[:200]!r}", "policy")
        return read_completion(received)


class SociometerHarnessConfig(vf.HarnessConfig):
    """No settings."""


class SociometerHarness(vf.Harness[SociometerHarnessConfig]):
    """Runs our `play`; no code of a model is executed, so the local runtime is enough."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: ModelContext,
        trace: vf.Trace,
        runtime: Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> ProgramResult:
        """Plays the item to its end and leaves its scores in the trace."""
        task = SocialData.model_validate(data.model_dump())
        gym = _gym(task.environment, task.choices)
        item = msgspec.json.decode(task.item, type=gym.plan.tasks[0].item_type)
        one = TrainingItem(item, task.seed)
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as http:
            played = await gym.play_with(Policy(ctx.model, endpoint, secret, http), one)
        if played.error is not None:
            raise played.error
        rollout = gym.rollout(one, played)
        if rollout.reward is None:
            raise MachineryError(rollout.failure, "scoring")
        trace.info[SCORES] = {
            "reward": rollout.reward,
            "values": rollout.values,
            "unreadable": rollout.unreadable,
            "trace": rollout.trace,
        }
        return ProgramResult(0, json.dumps(trace.info[SCORES]), "")


class SocialEnvConfig(vf.SingleAgentEnvConfig):
    """One seat, in a local process: nothing that a model writes is executed."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=SubprocessConfig())


class SociometerEnv(vf.Env[SocialEnvConfig]):
    """The policy alone; other roles are played inside the item."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Plays one task."""
        await agents.agent.run(task)
