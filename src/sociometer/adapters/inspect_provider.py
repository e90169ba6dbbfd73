"""Our models inside Inspect: `inspect eval … --model sociometer/local/smollm2-135m`, or `sociometer/scripted/FILE`."""

import asyncio
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    Content,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from sociometer.adapters.inspect_player import plain_messages
from sociometer.core.config import RunConfig
from sociometer.core.conversation import SUBJECT, Free, Reply, Request, Sampling, Schema
from sociometer.core.errors import MachineryError
from sociometer.core.player import Player
from sociometer.engine.roles import resolve_player
from sociometer.models.finish import LENGTH, REFUSAL

PREFIX = "sociometer/"
_STOP_REASONS = {LENGTH: "max_tokens", REFUSAL: "content_filter"}


@modelapi(name="sociometer")
class SociometerModel(ModelAPI):
    """Any model that `sociometer list models` lists, asked for one reply at a time; tools are not offered to it."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        revision: str = "",
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        name = self.service_model_name()
        self._config = RunConfig(instrument="", subject=name, base_url=base_url or "", revision=revision)
        self._player: Player | None = None
        self._opening, self._one_at_a_time = asyncio.Lock(), asyncio.Lock()

    async def _opened(self) -> Player:
        """Opened on first use: `inspect score` creates the model of a log but never uses it."""
        async with self._opening:
            if self._player is None:
                self._player = await resolve_player(self._config.subject, SUBJECT, self._config).__aenter__()
        return self._player

    def service_model_name(self) -> str:
        return self.model_name.removeprefix(PREFIX)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        sampling = Sampling(
            config.temperature,
            config.top_p,
            config.max_tokens,
            config.seed,
            tuple(config.stop_seqs or ()),
            config.reasoning_effort,
        )
        given = config.response_schema
        wanted = Schema(given.json_schema.model_dump(exclude_none=True), given.name) if given else Free()
        request = Request("subject", plain_messages(input), wanted, sampling=sampling)
        player = await self._opened()
        if player.parallel:
            reply = await player.answer(request)
        else:
            async with self._one_at_a_time:
                reply = await player.answer(request)
        return output_of(reply, self.service_model_name())

    def should_retry(self, ex: BaseException) -> bool:
        return isinstance(ex, MachineryError) and ex.retryable

    async def aclose(self) -> None:
        player, self._player = self._player, None
        if player is not None:
            await player.__aexit__()


def output_of(reply: Reply, model: str) -> ModelOutput:
    """A reply of ours as Inspect's."""
    said: list[Content] = [ContentReasoning(reasoning=reply.reasoning)] if reply.reasoning else []
    message = ChatMessageAssistant(
        content=[*said, ContentText(text=reply.text)] if said else reply.text, model=model, source="generate"
    )
    reason = "unknown" if reply.finish.startswith("other") else _STOP_REASONS.get(reply.finish, reply.finish)
    usage = None
    if reply.usage.input_tokens is not None and reply.usage.output_tokens is not None:
        read, written = reply.usage.input_tokens, reply.usage.output_tokens
        usage = ModelUsage(input_tokens=read, output_tokens=written, total_tokens=read + written)
    choice = ChatCompletionChoice.model_validate({"message": message, "stop_reason": reason})
    return ModelOutput(model=reply.served_model or model, choices=[choice], usage=usage)
