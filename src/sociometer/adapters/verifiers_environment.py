"""Our training environments for verifiers: `vf-eval sociometer-training --env.taskset.environment numbers …`.

verifiers finds them through the package `sociometer_training`, whose name is the environment's id. The harness runs our
`play` in process; every reply of the policy comes through verifiers' endpoint, so that the trace has its tokens.
"""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
import verifiers.v1 as vf
from pydantic import Field
from verifiers.v1.clients import ModelContext
from verifiers.v1.interception import ElasticInterceptionPoolConfig, InterceptionConfig
from verifiers.v1.runtimes import ProgramResult, Runtime, SubprocessConfig

from sociometer.adapters.gym import Gym
from sociometer.adapters.training import Choices, TrainingItem
from sociometer.core.conversation import Identity, Reply, Request
from sociometer.core.errors import MachineryError
from sociometer.core.player import RulePlayer
from sociometer.models.http import Endpoint
from sociometer.models.keys import Key
from sociometer.models.openai import chat_body, read_completion
from sociometer.models.presets import presets

SCORES = "sociometer"
"""The key of a trace's `info` under which the harness leaves the scores."""
_PATIENCE_SECONDS = 86_400.0
"""How long a reply of the policy may take; the time limits are verifiers' own."""


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
    """numbers, stories, holdem, goals, practice, return or sage."""
    count: int | None = None
    """How many tasks; more than there are items play them again with new seeds. None: each item once."""
    seed: int = Choices().seed
    settings: dict[str, Any] = Field(default_factory=dict)
    """Settings of the instrument, such as rounds (numbers), weights (holdem), scenarios and turns (sage)."""
    data: str = ""
    simulator: str = ""
    judge: str = ""

    def written_choices(self) -> str:
        """The choices that decide what is played, as JSON."""
        choices = Choices(**{name: getattr(self, name) for name in Choices.__struct_fields__})
        return msgspec.json.encode(choices, order="deterministic").decode()


class SociometerTaskset(vf.Taskset[SocialTask, SocialTasksetConfig]):
    """The items of one training environment."""

    def gym(self) -> Gym:
        """The gym that plays the tasks."""
        return _gym(self.config.environment, self.config.written_choices())

    def load(self) -> Iterator[SocialTask]:
        """The tasks; nothing that measures models is among them."""
        name = self.config.environment
        for one in self.gym().items(self.config.count):
            data = SocialData(
                id=f"{one.item.id}/{one.seed}",
                name=one.item.id,
                prompt=f"{name}: {one.item.id}",  # a rollout needs one; what the policy is asked comes from `play`
                environment=name,
                item=msgspec.json.encode(one.item).decode(),
                seed=one.seed,
                choices=self.config.written_choices(),
            )
            yield SocialTask(data, self.config.task)


@cache
def _gym(name: str, choices: str) -> Gym:
    """One for all rollouts of a process: they share the limits of the simulator's server."""
    return Gym(name, msgspec.json.decode(choices, type=Choices))


class Policy(RulePlayer):
    """The model in training, behind verifiers' endpoint."""

    journaled = True

    def __init__(self, model: str, endpoint: str, secret: str) -> None:
        super().__init__(Identity("verifiers", model))
        headers = {"Authorization": f"Bearer {secret}"}
        self._endpoint = Endpoint(endpoint.rstrip("/"), Key(""), _PATIENCE_SECONDS, lambda _: headers)

    async def answer(self, request: Request) -> Reply:
        """The model's reply; the trainer's sampling replaces what the instrument asks for."""
        body = chat_body(self.identity.name, request, presets()["vllm"])
        return await self._endpoint.reply("/chat/completions", body, read_completion)

    async def close(self) -> None:
        await self._endpoint.close()


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
        policy = Policy(ctx.model, endpoint, secret)
        playing = await gym.reset(one)
        try:
            while playing.request is not None:
                await playing.step(await policy.answer(playing.request))
        finally:
            playing.close()
            await policy.close()
        if playing.rollout.reward is None:
            raise MachineryError(playing.rollout.failure)
        trace.info[SCORES] = msgspec.to_builtins(playing.rollout)
        return ProgramResult(0, json.dumps(trace.info[SCORES]), "")


class SocialEnvConfig(vf.SingleAgentEnvConfig):
    """One seat, in a local process: nothing that a model writes is executed."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=SubprocessConfig())
    interception: InterceptionConfig = ElasticInterceptionPoolConfig(multiplex=4)
    """Few rollouts share one of verifiers' servers: for each request its client looks at all of its connections."""


class SociometerEnv(vf.Env[SocialEnvConfig]):
    """The policy alone; other roles are played inside the item."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Plays one task."""
        await agents.agent.run(task)

    async def stop(self) -> None:
        """Closes the connections of the other roles."""
        await self.taskset.gym().close()
