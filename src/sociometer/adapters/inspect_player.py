"""A model of Inspect in one of our roles: inside an Inspect evaluation, or as `--model inspect/PROVIDER/NAME`."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
    get_model,
)
from inspect_ai.model._generate_config import active_generate_config
from inspect_ai.model._model import active_model
from inspect_ai.tool import ToolInfo, ToolParams
from msgspec import structs

from sociometer.core.conversation import Identity, Message, Reply, Request, Schema, Usage
from sociometer.core.errors import FailureKind, MachineryError, SociometerError, UsageError
from sociometer.core.player import Abilities, Player
from sociometer.core.tools import ToolCall, read_content
from sociometer.models.finish import finish_of, split_reasoning
from sociometer.models.keys import read_key
from sociometer.models.openai import response_format
from sociometer.models.presets import ModelOptions


class InspectPlayer(Player):
    """Asks a model through Inspect; the user's settings for the model there stay in force."""

    parallel = True
    abilities = Abilities(calls_tools=True)

    def __init__(self, model: Model, identity: Identity, *, own: bool = False) -> None:
        """`own`: made for this player, which then closes it; Inspect closes the models of its evaluations."""
        self._model, self._own = model, own
        self.identity = identity

    async def answer(self, request: Request) -> Reply:
        """The model's reply; an error that Inspect raises is a failure of the machinery, never an answer."""
        config = _config(self._model, request)
        tools = [
            ToolInfo(name=one.name, description=one.description, parameters=ToolParams.model_validate(one.schema))
            for one in request.tools
        ]
        try:
            output = await self._model.generate(chat_messages(request.messages), tools, config=config)
        except SociometerError:
            raise
        except Exception as error:
            raise _failure(self._model, error) from error
        reply = reply_of(output)
        return structs.replace(reply, **_called(output.choices[0].message)) if tools else reply

    async def close(self) -> None:
        if self._own:
            await self._model.api.aclose()


def make_player(name: str, options: ModelOptions) -> InspectPlayer:
    """The player behind `--model inspect/PROVIDER/NAME`."""
    # Retries are the engine's, so that each attempt is counted and paid for once.
    config = GenerateConfig(max_retries=0, timeout=max(1, round(options.timeout_seconds)), max_connections=1000)
    key = read_key(options.key_variable) if options.key_variable else None
    try:
        model = get_model(name, config=config, base_url=options.base_url or None, api_key=key or None, memoize=False)
    except Exception as error:
        said = re.sub(r"\[/?bold\]", "", " ".join(str(error).split()))
        raise UsageError(f"Inspect cannot use the model '{name}': {said}") from None
    client: Any = getattr(model.api, "client", None)  # of the provider's SDK, which tries again by itself
    if hasattr(client, "max_retries"):
        client.max_retries = 0
    # Which server stands behind a provider depends on its own variables, so only a revision names the weights.
    identity = Identity("inspect", name, options.base_url, options.revision, certain=bool(options.revision))
    return InspectPlayer(model, identity, own=True)


def chat_messages(messages: Sequence[Message]) -> list[ChatMessage]:
    """Our messages as Inspect's."""
    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return [
        _with_calls(message) if message.role in ("calls", "result") else kinds[message.role](content=message.content)
        for message in messages
    ]


def _with_calls(message: Message) -> ChatMessage:
    said = read_content(message.content)
    if message.role == "result":
        return ChatMessageTool(content=said.text, tool_call_id=said.calls[0].id, function=said.calls[0].name)
    made = ChatMessageAssistant.model_validate_json(said.echo)
    for call, ours in zip(made.tool_calls or (), said.calls, strict=True):
        call.id = ours.id
    return made


def _called(message: ChatMessageAssistant) -> dict[str, Any]:
    """The calls of a reply, and the whole of it, of which its provider may want parts back, such as reasoning."""
    calls = tuple(
        ToolCall(call.function, msgspec.json.encode(call.parse_error or call.arguments).decode(), call.id)
        for call in message.tool_calls or ()
    )
    return {"calls": calls, "echo": message.model_dump_json(exclude_none=True)}


def reply_of(output: ModelOutput) -> Reply:
    """Inspect's reply as ours, which may be empty; a MachineryError if there is none."""
    if output.empty:
        raise MachineryError(output.error or "the model gave no completion.", FailureKind.EMPTY_REPLY, retryable=True)
    choice = output.choices[0]
    message = choice.message
    parts = [] if isinstance(message.content, str) else message.content
    reasoning = "\n".join(part.reasoning for part in parts if part.type == "reasoning")
    text = message.text
    if not reasoning:
        text, reasoning = split_reasoning(text)
    reason = None if choice.stop_reason == "unknown" else choice.stop_reason
    finish = finish_of("error" if output.error else reason, text, called=bool(message.tool_calls))
    usage = Usage(output.usage.input_tokens, output.usage.output_tokens) if output.usage else Usage()
    return Reply(text, reasoning, usage, finish, output.model)


_NAMES = ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort")


def _config(model: Model, request: Request) -> GenerateConfig:
    """The instrument's sampling, without what the user set for this model in Inspect."""
    sampling = request.sampling
    wanted: dict[str, Any] = {name: getattr(sampling, name) for name in _NAMES}
    wanted["stop_seqs"] = list(sampling.stop) or None
    wanted["parallel_tool_calls"] = False if request.tools else None
    # What the user set: for the evaluated model also on the command line (`inspect eval --temperature`).
    chosen = model.config.merge(active_generate_config()) if model is active_model() else model.config
    if isinstance(request.answer_format, Schema):
        wanted["response_schema"] = ResponseSchema.model_validate(
            {"name": request.answer_format.name, "json_schema": request.answer_format.schema}
        )
        if _leaves_out_bounds(model) and chosen.response_schema is None and chosen.extra_body is None:
            wanted["extra_body"] = {"response_format": response_format(request.answer_format)}
    return GenerateConfig(
        **{name: value for name, value in wanted.items() if value is not None and getattr(chosen, name) is None}
    )


def _leaves_out_bounds(model: Model) -> bool:
    """Whether Inspect leaves minimum, maximum and the like out of a schema for this provider's chat completions."""
    kinds = {kind.__name__ for kind in type(model.api).__mro__}
    return "OpenAICompatibleAPI" in kinds and not getattr(model.api, "responses_api", False)


def _failure(model: Model, error: Exception) -> MachineryError:
    cause = error
    last_attempt = getattr(error, "last_attempt", None)
    if last_attempt is not None and last_attempt.failed:
        cause = last_attempt.exception()
    retryable = bool(model.api.should_retry(cause))
    said = f"{model}: {type(cause).__name__}: {_first_line(cause)}"
    return MachineryError(said, FailureKind.INSPECT, retryable=retryable)


def _first_line(error: BaseException) -> str:
    """What an error says, in one line."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
