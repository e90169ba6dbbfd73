"""The known providers (base URL, variable with the key), and the options of a model besides its name."""

import functools
import re
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from sociometer.core.conversation import SUBJECT
from sociometer.core.language import read_texts
from sociometer.core.server_fields import NONE, ServerFields
from sociometer.models.keys import KeyPolicy

ADDRESSES = re.compile(r",(?=https?://)")
"""Separates the addresses of several servers."""
Wire = Literal["openai", "anthropic"]


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
    one_call: bool = False
    """Whether it can be told to call one tool at a time (parallel_tool_calls)."""
    continues_text: bool = False
    """Whether it continues a plain text (`/completions`), if its model supports it too."""
    key_header: str = ""
    """The header with the key; empty for Authorization."""


@functools.cache
def presets() -> dict[str, Preset]:
    """The known providers by name."""
    return msgspec.convert(read_texts(Path(__file__).with_name("presets.toml")), dict[str, Preset])


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
