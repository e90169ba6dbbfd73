"""The known providers (base URL, variable with the key), and the options of a model besides its name."""

import re
from typing import Literal

from msgspec import Struct

from sociometer.core.conversation import SUBJECT
from sociometer.core.player import Abilities, Scoring
from sociometer.core.server_fields import NONE, ServerFields
from sociometer.models.keys import KeyPolicy

ADDRESSES = re.compile(r",(?=https?://)")
"""Separates the addresses of several servers."""
Wire = Literal["openai", "anthropic"]


class Extras(Struct, frozen=True):
    """What a server offers besides chat, if its model supports it too."""

    lists: int = 0
    """How many of the likeliest tokens a chat completion lists at most; 0 if it gives no log-probabilities."""
    continues: bool = False
    """Whether it continues a plain text (`/completions`)."""
    text_lists: int = 0
    """How many of the likeliest tokens a text completion lists at most."""
    echoes: bool = False
    """Whether a text completion repeats the prompt with its log-probabilities."""

    @property
    def abilities(self) -> Abilities:
        text: Scoring = "text" if self.echoes else "first token" if self.text_lists else "none"
        return Abilities(self.continues, "first token" if self.lists else "none", text)


UNKNOWN_SERVER = Extras(lists=20, continues=True, echoes=True)
"""A server at a user's own address may support everything; its first reply decides."""


class Preset(Struct, frozen=True):
    """A known provider.

    `own` marks servers that users run themselves: no key is needed, and the weights behind a name may change.
    """

    wire: Wire
    title: str
    base_url: str
    key_variable: str
    own: bool = False
    renamed_limit: bool = False
    """Whether the token limit is called max_completion_tokens."""
    random_seed: bool = False
    """Whether the seed is called random_seed."""
    json_schema: bool = True
    """Whether it supports a JSON schema; if not, the request asks for any JSON object."""
    batch: bool = False
    """Whether it has OpenAI's batch endpoint; other wire formats have their own."""
    one_call: bool = False
    """Whether it can be told to call one tool at a time (parallel_tool_calls)."""
    extras: Extras = Extras()
    key_header: str = ""
    """The header with the key; empty for Authorization."""


_OPENAI = Extras(lists=20, continues=True, text_lists=5)
_LISTS, _SHORT_LISTS = Extras(lists=20), Extras(lists=8)
_TEXTS, _BOTH = Extras(continues=True), Extras(lists=20, continues=True)
_LLAMA_CPP = Extras(lists=20, continues=True, text_lists=20)
_SERVER = Extras(lists=20, continues=True, echoes=True)
PRESETS: dict[str, Preset] = {
    "openai": Preset(
        "openai",
        "OpenAI",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        renamed_limit=True,
        extras=_OPENAI,
        batch=True,
        one_call=True,
    ),
    "anthropic": Preset("anthropic", "Anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    "google": Preset("openai", "Google", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    "openrouter": Preset("openai", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", extras=_BOTH),
    "together": Preset("openai", "Together", "https://api.together.xyz/v1", "TOGETHER_API_KEY", extras=_TEXTS),
    "deepseek": Preset(
        "openai", "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", json_schema=False, extras=_LISTS
    ),
    "groq": Preset("openai", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", one_call=True),
    "mistral": Preset(
        "openai", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", random_seed=True, one_call=True
    ),
    "xai": Preset("openai", "xAI", "https://api.x.ai/v1", "XAI_API_KEY", extras=_SHORT_LISTS),
    "azure": Preset(
        "openai", "Azure OpenAI", "", "AZURE_OPENAI_API_KEY", renamed_limit=True, extras=_LISTS, key_header="api-key"
    ),
    "vllm": Preset("openai", "vLLM", "http://localhost:8000/v1", "VLLM_API_KEY", own=True, extras=_SERVER),
    "sglang": Preset("openai", "SGLang", "http://localhost:30000/v1", "SGLANG_API_KEY", own=True, extras=_SERVER),
    "ollama": Preset("openai", "Ollama", "http://localhost:11434/v1", "OLLAMA_API_KEY", own=True, extras=_BOTH),
    "lmstudio": Preset("openai", "LM Studio", "http://localhost:1234/v1", "LMSTUDIO_API_KEY", own=True, extras=_TEXTS),
    "llamacpp": Preset(
        "openai", "llama.cpp", "http://localhost:8080/v1", "LLAMACPP_API_KEY", own=True, extras=_LLAMA_CPP
    ),
}


class ModelOptions(Struct, frozen=True, omit_defaults=True):
    """The server of a model and its time limit; never contains the key, only the name of its variable."""

    base_url: str = ""
    revision: str = ""
    timeout_seconds: float = 300.0
    role: str = SUBJECT
    keys: KeyPolicy = KeyPolicy()
    on: str = ""
    """Where a model runs that needs no server: empty for this process, `ray` or the address of a Ray cluster."""
    replicas: int | None = None
    """The number of copies there; None means what the cluster has room for."""
    pools: int = 1
    """The number of models of the run that share the cluster."""
    fields: ServerFields = NONE
    """What the user adds to its requests."""
    sends: bool = True
    """False for a plan that is only shown: then no key is needed."""

    @property
    def key_variable(self) -> str:
        """The environment variable with the key that the user named; empty if none."""
        return self.keys.variables.get(self.role, "")
