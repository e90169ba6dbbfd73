"""Each server that `list models` names, imitated on loopback as its documentation and issues describe it.

One server with a table of behaviours: where it listens, how it takes the key, what it calls reasoning, how it writes
usage, log-probabilities and errors.
"""

import asyncio
import json
from typing import Any, NamedTuple

import pytest
from aiohttp import web

from servers.loopback import LoopbackServer
from sociometer.core.conversation import Request, Sampling, user
from sociometer.core.errors import MachineryError
from sociometer.models.keys import KeyPolicy
from sociometer.models.presets import ModelOptions, presets
from sociometer.models.registry import describe, resolve

KEY = "sk-test-5f1c0ffee5f1c0ffee5f1c0ffee"
ASKED = Request("subject", (user("Who is sad? A. Ada B. Ben"),), sampling=Sampling(temperature=0))
PLAIN = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
TOP = [{"token": "B", "logprob": -0.1, "bytes": [66]}, {"token": "A", "logprob": -2.5, "bytes": [65]}]
LOGPROBS = {"content": [{"token": "B", "logprob": -0.1, "bytes": [66], "top_logprobs": TOP}]}


class Behaviour(NamedTuple):
    """How a server behaves; an error is its status, its body and the kind that it is."""

    path: str = "/v1"
    key: str = "VLLM_API_KEY"
    header: str = "Authorization"
    model: str = "m"
    message: dict = {"role": "assistant", "content": "B"}
    choice: dict = {}
    whole: dict = {}
    usage: dict | None = PLAIN
    tokens: tuple[int, int] = (12, 3)
    reasoning: str = ""
    errors: tuple[tuple[int, Any, str], ...] = ()
    models: dict = {"object": "list", "data": [{"id": "m", "object": "model"}, {"id": "lora-1", "object": "model"}]}


def flat(message: str, kind: str, code: int) -> dict:
    """An error as vLLM wrote it until 0.9, and as SGLang writes it."""
    return {"object": "error", "message": message, "type": kind, "param": None, "code": code}


def inner(message: str, kind: str | None = None, code: Any = None, **more: Any) -> dict:
    return {"error": {"message": message, "type": kind, "param": None, "code": code, **more}}


AZURE_FILTERED = inner(
    "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", None,
    "content_filter", status=400, innererror={"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}},
)  # fmt: skip
LONG = "This model's maximum context length is 2048 tokens. However, you requested 4101 tokens in the messages."
SERVERS = {
    "vllm": Behaviour(
        message={"role": "assistant", "content": "B", "reasoning": "Ben cries.", "tool_calls": [], "refusal": None},
        choice={"stop_reason": None, "token_ids": None, "logprobs": LOGPROBS},
        whole={"service_tier": None, "system_fingerprint": None, "prompt_logprobs": None, "kv_transfer_params": None},
        usage={**PLAIN, "prompt_tokens_details": None},
        reasoning="Ben cries.",
        errors=(
            (401, {"error": "Unauthorized"}, "authentication"),
            (404, inner("The model `x` does not exist.", "NotFoundError", 404, param="model"), "not found"),
            (404, flat("The model `x` does not exist.", "NotFoundError", 404), "not found"),
            (400, inner(LONG, "BadRequestError", 400), "context too long"),
            (400, flat(LONG, "BadRequestError", 400), "context too long"),
            (500, inner("EngineCore encountered an issue.", "InternalServerError", 500), "server error"),
        ),
    ),
    "sglang": Behaviour(
        key="SGLANG_API_KEY",
        message={"role": "assistant", "content": "B", "reasoning_content": "Ben cries.", "tool_calls": None},
        choice={"logprobs": LOGPROBS, "matched_stop": 151645},
        whole={"metadata": {"weight_version": "default"}},
        usage={**PLAIN, "prompt_tokens_details": None, "reasoning_tokens": 0},
        reasoning="Ben cries.",
        errors=(
            (401, {"error": "Unauthorized"}, "authentication"),
            (400, flat("The input (4101 tokens) is longer than the model's context length (2048 tokens).",
                       "BadRequestError", 400), "context too long"),
            (400, flat("Requested token count exceeds the model's maximum context length of 2048 tokens.",
                       "BadRequestError", 400), "context too long"),
            (503, flat("The server is overloaded: the request queue is full.", "ServiceUnavailable", 503),
             "overloaded"),
        ),
    ),
    "ollama": Behaviour(
        key="OLLAMA_API_KEY",
        message={"role": "assistant", "content": "B", "reasoning": "Ben cries."},
        choice={"logprobs": LOGPROBS},
        whole={"system_fingerprint": "fp_ollama"},
        reasoning="Ben cries.",
        errors=(
            (404, inner('model "x" not found, try pulling it first', "api_error"), "not found"),
            (404, inner("model 'x' not found", "not_found_error"), "not found"),
            (400, inner('"m" does not support thinking', "api_error"), "refused request"),
            (500, inner("llama runner process has terminated: exit status 2", "api_error"), "server error"),
            (503, inner("server busy, please try again. maximum pending requests exceeded", "api_error"),
             "overloaded"),
        ),
    ),
    "lmstudio": Behaviour(
        key="LMSTUDIO_API_KEY",
        message={"role": "assistant", "content": "B", "reasoning_content": "Ben cries.", "tool_calls": []},
        choice={"logprobs": None},
        whole={"stats": {}, "system_fingerprint": "m"},
        reasoning="Ben cries.",
        errors=(
            (404, inner("No models loaded. Please load a model in the developer page or use the `lms load` command.",
                        "invalid_request_error", "model_not_found", param="model"), "not found"),
            (400, inner('Invalid model identifier "x". Please specify a valid downloaded model (e.g. m).',
                        "invalid_request_error", "model_not_found", param="model"), "not found"),
            (400, {"error": "Trying to keep the first 4522 tokens when context the overflows. However, the model is "
                            "loaded with context length of only 4096 tokens, which is not enough."},
             "context too long"),
            (200, {"error": "Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway"},
             "not found"),
        ),
    ),
    "llamacpp": Behaviour(
        key="LLAMACPP_API_KEY",
        message={"role": "assistant", "content": "B", "reasoning_content": "Ben cries."},
        choice={"logprobs": {"content": [{"id": 33, "token": "B", "bytes": [66], "logprob": -0.1,
                                          "top_logprobs": [{"id": 33 - nth, **one} for nth, one in enumerate(TOP)]}]}},
        whole={"system_fingerprint": "b8681", "timings": {"cache_n": 0, "prompt_n": 12, "predicted_n": 3}},
        reasoning="Ben cries.",
        errors=(
            (401, {"error": {"code": 401, "message": "Invalid API Key", "type": "authentication_error"}},
             "authentication"),
            (503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}, "overloaded"),
            (400, {"error": {"code": 400, "message": "the request exceeds the available context size",
                             "type": "exceed_context_size_error", "n_prompt_tokens": 4101, "n_ctx": 2048}},
             "context too long"),
            (501, {"error": {"code": 501, "message": "This server does not support completions.",
                             "type": "not_supported_error"}}, "server error"),
        ),
        models={"models": [{"name": "m"}], "object": "list",
                "data": [{"id": "m", "object": "model", "owned_by": "llamacpp", "meta": {"n_ctx_train": 2048}}]},
    ),
    "openai": Behaviour(  # a LiteLLM proxy
        key="LITELLM_KEY",
        message={"role": "assistant", "content": "B", "reasoning_content": "Ben cries.", "tool_calls": None,
                 "function_call": None, "provider_specific_fields": {"refusal": None}},
        choice={"logprobs": LOGPROBS},
        usage={**PLAIN, "completion_tokens_details": None, "prompt_tokens_details": {"cached_tokens": None}},
        reasoning="Ben cries.",
        errors=(
            (401, inner("Authentication Error, Invalid proxy server token passed. Received API Key = sk-...1234",
                        "token_not_found_in_db", "401"), "authentication"),
            (400, inner("/chat/completions: Invalid model name passed in model=x. Call `/v1/models` to view available "
                        "models for your key.", "invalid_request_error", "400"), "not found"),
            (400, inner("{'error': '/chat/completions: Invalid model name passed in model=x. Call `/v1/models` to view"
                        " available models for your key.'}", "None", "400"), "not found"),
            (400, inner("Budget has been exceeded! Current cost: 1.2, Max budget: 1.0", "budget_exceeded", "400"),
             "out of credit"),
            (429, inner("Budget has been exceeded! Current cost: 1.2, Max budget: 1.0", "budget_exceeded", "429"),
             "out of credit"),
            (429, inner("litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached",
                        "throttling_error", "429"), "rate limit"),
            (400, inner("litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - " + LONG,
                        None, "400"), "context too long"),
        ),
    ),
    "openrouter": Behaviour(
        path="/api/v1",
        key="OPENROUTER_API_KEY",
        message={"role": "assistant", "content": "B", "refusal": None, "reasoning": "Ben cries.",
                 "reasoning_details": [{"type": "reasoning.text", "text": "Ben cries.", "format": "unknown"}]},
        choice={"logprobs": LOGPROBS, "native_finish_reason": "STOP"},
        whole={"provider": "Google"},
        usage={**PLAIN, "cost": 0.0001, "is_byok": False, "completion_tokens_details": {"reasoning_tokens": 2},
               "cost_details": {"upstream_inference_cost": None}},
        reasoning="Ben cries.",
        errors=(
            (401, {"error": {"message": "User not found.", "code": 401}}, "authentication"),
            (402, {"error": {"message": "Insufficient credits. Add more to continue.", "code": 402}}, "out of credit"),
            (400, {"error": {"message": "x/y is not a valid model ID", "code": 400}, "user_id": "u"}, "not found"),
            (404, {"error": {"message": "No endpoints found for x/y.", "code": 404}}, "not found"),
            (200, {"error": {"message": "Provider returned error", "code": 429,
                             "metadata": {"raw": "slow down", "provider_name": "Google"}}}, "rate limit"),
            (200, {"id": "g", "choices": [{"finish_reason": "error", "native_finish_reason": None,
                                           "message": {"role": "assistant", "content": ""},
                                           "error": {"code": 502, "message": "Upstream error"}}]}, "server error"),
            (403, {"error": {"message": "m requires moderation. Your input was flagged", "code": 403,
                             "metadata": {"reasons": ["violence"], "flagged_input": "sad", "provider_name": "x"}}},
             "filtered"),
        ),
    ),
    "azure": Behaviour(
        path="/openai/v1",
        key="AZURE_OPENAI_API_KEY",
        header="api-key",
        message={"role": "assistant", "content": "B", "refusal": None, "annotations": []},
        choice={"logprobs": LOGPROBS, "content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}},
        whole={"prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]},
        usage={**PLAIN, "completion_tokens_details": {"reasoning_tokens": 0}},
        errors=(
            (401, {"error": {"code": "401", "message": "Access denied due to invalid subscription key or wrong API"
                                                       " endpoint."}}, "authentication"),
            (404, {"error": {"code": "DeploymentNotFound", "message": "The API deployment for this resource does not"
                                                                      " exist."}}, "not found"),
            (429, {"error": {"code": "RateLimitReached", "message": "Requests to the API have exceeded token rate"
                                                                    " limit. Please retry after 7 seconds."}},
             "rate limit"),
            (400, AZURE_FILTERED, "filtered"),
            (400, {"error": {"message": LONG, "type": "invalid_request_error", "param": "messages",
                             "code": "context_length_exceeded"}}, "context too long"),
        ),
    ),
}  # fmt: skip
CASES = [
    pytest.param(name, nth, id=f"{name}-{nth}-{error[2]}")
    for name, one in SERVERS.items()
    for nth, error in enumerate(one.errors)
]


class Imitation(LoopbackServer):
    """Listens only where the server does, and only to those that send its key as it wants it."""

    def __init__(self, behaves: Behaviour) -> None:
        super().__init__()
        self.behaves, self.base_path = behaves, behaves.path
        self.next: tuple[int, Any] | None = None

    async def _handle(self, request: web.Request) -> web.Response:
        behaves = self.behaves
        body = json.loads(await request.read() or b"{}")
        given = request.headers.get(behaves.header, "")
        if given != (KEY if behaves.header != "Authorization" else f"Bearer {KEY}"):
            return web.json_response({"error": "no key"}, status=401)
        if request.path == f"{behaves.path}/models":
            return web.json_response(behaves.models)
        if request.path != f"{behaves.path}/chat/completions":
            return web.json_response({"error": f"nothing at {request.path}"}, status=404)
        if self.next is not None:
            return web.json_response(self.next[1], status=self.next[0])
        choice = {"index": 0, "finish_reason": "stop", "logprobs": None, **behaves.choice, "message": behaves.message}
        whole = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice]}
        return web.json_response({**whole, **behaves.whole, "usage": behaves.usage})


@pytest.fixture
def imitation(request, monkeypatch):
    behaves = SERVERS[request.param]
    monkeypatch.setenv(behaves.key, KEY)
    with Imitation(behaves) as server:
        server.family = request.param
        yield server


def ask(server):
    keys = KeyPolicy(variables={"subject": server.behaves.key})

    async def once():
        player = resolve(f"{server.family}/m", ModelOptions(base_url=server.url, keys=keys))
        try:
            return await player.answer(ASKED)
        finally:
            await player.close()

    return asyncio.run(once())


@pytest.mark.parametrize("imitation", SERVERS, indirect=True)
def test_a_reply_is_read_with_all_that_the_server_tells(imitation):
    reply = ask(imitation)
    behaves = imitation.behaves
    assert (reply.text, reply.finish, reply.reasoning) == ("B", "stop", behaves.reasoning)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == behaves.tokens


@pytest.mark.parametrize(("imitation", "nth"), CASES, indirect=["imitation"])
def test_an_error_is_known_for_what_it_is(imitation, nth):
    status, body, kind = imitation.behaves.errors[nth]
    imitation.next = status, body
    if kind == "filtered":
        reply = ask(imitation)
        assert (reply.text, reply.finish) == ("", "content_filter")
        return
    with pytest.raises(MachineryError) as caught:
        ask(imitation)
    assert caught.value.kind == kind
    if kind == "not found" and status != 200:
        assert "This server has: m" in str(caught.value)
    passing = kind in ("rate limit", "overloaded") or (kind == "server error" and status != 501)
    assert caught.value.retryable == passing
    assert KEY not in str(caught.value)


def test_every_server_of_the_list_is_imitated_or_has_its_wire_format_tested():
    """The own servers, the routers and Azure are here; the providers' own formats are in `test_providers.py`."""
    own = {name for name, preset in presets().items() if preset.own}
    assert own | {"openrouter", "azure"} <= SERVERS.keys()
    told = " ".join(f"{entry.spec} {entry.help}" for entry in describe())
    for word in ("vLLM", "SGLang", "Ollama", "LM Studio", "llama.cpp", "LiteLLM", "OpenRouter", "Azure", "bedrock"):
        assert word in told


class Bedrock(LoopbackServer):
    """Bedrock's Converse: signed requests at the path of the model, counts in `usage`, errors named in a header."""

    async def _handle(self, request: web.Request) -> web.Response:
        self.received.append(request.path)
        if not request.headers.get("Authorization", "").startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"):
            return web.json_response({"message": "Missing Authentication Token"}, status=403)
        if self.failure:
            status, kind, message = self.failure
            return web.json_response({"message": message}, status=status, headers={"x-amzn-ErrorType": kind})
        reasoning = {"reasoningContent": {"reasoningText": {"text": "Ben cries.", "signature": "s"}}}
        said = {"role": "assistant", "content": [reasoning, {"text": "B"}]}
        usage = {"inputTokens": 12, "outputTokens": 3, "totalTokens": 15}
        answer = {"output": {"message": said}, "stopReason": "end_turn", "usage": usage, "metrics": {"latencyMs": 1}}
        return web.json_response(answer)

    failure: tuple[int, str, str] | None = None


@pytest.fixture
def bedrock(monkeypatch):
    pytest.importorskip("inspect_ai", reason="the extra 'inspect' is not installed")
    pytest.importorskip("aiobotocore", reason="Inspect needs aiobotocore for Bedrock")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")  # else its client waits and asks again before we see the error
    with Bedrock() as server:
        monkeypatch.setenv("BEDROCK_BASE_URL", server.url)
        yield server


def ask_bedrock():
    async def once():
        player = resolve("inspect/bedrock/amazon.nova-lite-v1:0", ModelOptions())
        try:
            return await player.answer(Request("subject", (user("Who is sad?"),), sampling=Sampling(temperature=0)))
        finally:
            await player.close()

    return asyncio.run(once())


@pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")
def test_bedrock_answers_through_inspect(bedrock):
    reply = ask_bedrock()
    assert (reply.text, reply.finish, reply.reasoning) == ("B", "stop", "Ben cries.")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (12, 3)
    assert bedrock.received == ["/model/amazon.nova-lite-v1:0/converse"]


@pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    ("failure", "retryable"),
    [
        ((403, "AccessDeniedException", "You don't have access to the model with the specified model ID."), False),
        ((404, "ResourceNotFoundException", "The provided model identifier is invalid."), False),
        ((429, "ThrottlingException", "Too many requests, please wait before trying again."), True),
    ],
)
def test_an_error_of_bedrock_names_itself(bedrock, failure, retryable):
    bedrock.failure = failure
    with pytest.raises(MachineryError) as caught:
        ask_bedrock()
    assert failure[1] in str(caught.value) or failure[2] in str(caught.value)
    assert caught.value.retryable is retryable
