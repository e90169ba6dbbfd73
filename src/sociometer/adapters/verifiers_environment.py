"""The training environment for verifiers: `vf-eval sociometer-training --env.taskset.count 200 …`.

verifiers finds it through the package `sociometer_training`, whose name is the environment's id. The harness runs
helpdesk's `play` in process; every reply of the policy comes through verifiers' endpoint, so that the trace has its
tokens.
"""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import verifiers.v1 as vf
from verifiers.v1.clients import ModelContext
from verifiers.v1.interception import ElasticInterceptionPoolConfig, InterceptionConfig
from verifiers.v1.runtimes import ProgramResult, Runtime, SubprocessConfig

from sociometer.adapters.environment import FIRST_TRAINING_SEED, HelpdeskEnvironment
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
    """The number of a case, and what the environment is made of, so that any process can play it."""

    number: int
    seed: int
    language: str
    person: str


class SocialTask(vf.Task[SocialData]):
    """One case; the reward is whether the final state is right."""

    @vf.reward
    async def social(self, trace: vf.Trace) -> float:
        return float(trace.info[SCORES]["reward"])

    @vf.metric
    async def scores(self, trace: vf.Trace) -> dict[str, float]:
        """Every score of the instrument."""
        kept: dict[str, Any] = trace.info[SCORES]
        return {name: float(value) for name, value in kept["values"].items()}


class SocialTasksetConfig(vf.TasksetConfig):
    """The number of cases, their seed and language, and who presses."""

    count: int = 60
    seed: int = FIRST_TRAINING_SEED
    language: str = "en"
    person: str = ""
    """A model that plays the person; empty means the script of the test."""


class SociometerTaskset(vf.Taskset[SocialTask, SocialTasksetConfig]):
    """The first cases of a seed."""

    def environment(self) -> HelpdeskEnvironment:
        """The environment that plays the tasks."""
        return _environment(self.config.seed, self.config.language, self.config.person)

    def load(self) -> Iterator[SocialTask]:
        """The tasks; nothing that measures models is among them."""
        config = self.config
        for number in range(config.count):
            case = self.environment().case(number)
            data = SocialData(
                id=case.id,
                name=case.id,
                prompt=case.opening,  # a rollout needs one; what the policy is asked comes from `play`
                number=number,
                seed=config.seed,
                language=config.language,
                person=config.person,
            )
            yield SocialTask(data, config.task)


@cache
def _environment(seed: int, language: str, person: str) -> HelpdeskEnvironment:
    """One for all rollouts of a process: they share the limits of the person's server."""
    return HelpdeskEnvironment(seed=seed, language=language, person=person)


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
        """Plays the case to its end and leaves its scores in the trace."""
        task = SocialData.model_validate(data.model_dump())
        environment = _environment(task.seed, task.language, task.person)
        policy = Policy(ctx.model, endpoint, secret)
        rollout = await environment.reset(task.number)
        try:
            while rollout.request is not None:
                await rollout.step(await policy.answer(rollout.request))
        finally:
            rollout.close()
            await policy.close()
        if rollout.last.reward is None:
            raise MachineryError(rollout.last.failure)
        trace.info[SCORES] = {"reward": rollout.last.reward, "values": rollout.last.values}
        return ProgramResult(0, json.dumps(trace.info[SCORES]), "")


class SocialEnvConfig(vf.SingleAgentEnvConfig):
    """One seat, in a local process: nothing that a model writes is executed."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=SubprocessConfig())
    interception: InterceptionConfig = ElasticInterceptionPoolConfig(multiplex=4)
    """Few rollouts share one of verifiers' servers: for each request its client looks at all of its connections."""


class SociometerEnv(vf.Env[SocialEnvConfig]):
    """The policy alone; the person is played inside the case."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Plays one task."""
        await agents.agent.run(task)

    async def stop(self) -> None:
        """Closes the connections of the person's player."""
        await self.taskset.environment().close()
