"""Resolves the value of --model to a player."""

import os
import re
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct, structs

from sociometer.core.conversation import SUBJECT, Identity
from sociometer.core.errors import NotFound, SociometerError, UsageError, hint, install, unknown
from sociometer.core.language import read_texts
from sociometer.core.player import Player
from sociometer.models.baselines import baseline, baselines
from sociometer.models.files import file_of, local_models, verified_file
from sociometer.models.keys import PlayerOfAnotherPackage, read_key
from sociometer.models.on_ray import pool_of
from sociometer.models.pool import Servers
from sociometer.models.presets import ADDRESSES, ModelOptions, Preset, presets
from sociometer.models.python import PythonPlayer, load_function
from sociometer.models.recorded import Recorded, bundled, load_recording
from sociometer.models.scripted import read_script

__all__ = ["ModelEntry", "ModelOptions", "describe", "resolve"]

_ELSEWHERE = (
    "A server with OpenAI's format, such as LiteLLM, is openai/NAME@URL; a provider of Inspect, such as Bedrock, is"
    " inspect/bedrock/NAME."
)
_OTHERS = ("local", "hf", "baseline", "scripted", "recorded", "python")
_ADDRESS = re.compile(r"@(?:[A-Za-z][A-Za-z0-9+.-]*://|[\w.-]+:\d+(?:/|$))")
GROUP = "sociometer.models"
"""Entry points: the name of a provider, and a function that returns a Player for a model's name and ModelOptions."""


class ModelEntry(Struct, frozen=True, omit_defaults=True):
    """One line of `sociometer list models`; `ready` says whether it can be used now (None: depends on a server)."""

    spec: str
    help: str
    key_variable: str = ""
    ready: bool | None = None
    base_url: str = ""

    def __repr__(self) -> str:
        state = "" if self.ready is None else ", ready" if self.ready else f", not ready {self.key_variable}".rstrip()
        return f"<model {self.spec}: {self.help}{state}>"


def resolve(spec: str, options: ModelOptions | None = None) -> Player:
    """The player for a model; raise a UsageError, before anything is sent, if there is none."""
    options = options or ModelOptions()
    family, _, name = spec.strip().partition("/")
    if options.on and options.sends and (spread := _on_ray(spec, family, options)) is not None:
        return spread
    if _ADDRESS.search(spec):
        raise UsageError(
            f"'{_ADDRESS.split(spec)[0]}' is followed by an address that is not valid; write it in lower case and with"
            " http://, as in vllm/NAME@http://localhost:8000/v1."
        )
    if family in presets():
        return _served_by_all(family, presets()[family], _named(family, name), options)
    if options.base_url and family in _OTHERS and family != "local":
        raise UsageError(
            f"'{family}' uses no server, so it takes no base URL (given: {_shown(options.base_url)}); remove it."
        )
    match family:
        case "local":
            return _local(_named(family, name), options)
        case "hf":
            from sociometer.models.hf.player import HfPlayer

            return HfPlayer(_named(family, name), options)
        case "baseline":
            return baseline(_named(family, name))
        case "scripted":
            return read_script(Path(_named(family, name)))
        case "recorded":
            return Recorded(load_recording(_named(family, name)))
        case "human":
            raise UsageError(f"people take a test in the browser: {hint('study create INSTRUMENT --name NAME')}.")
        case "python":
            return PythonPlayer(load_function(_named(family, name)), options.revision)
    if family in _installed():
        key = options.keys.key_of_another_package(options.role, options.base_url)
        return PlayerOfAnotherPackage(_provided(_installed()[family], _named(family, name), options), key)
    if spec.strip().startswith((".", "/", "~")) and not Path(spec.strip()).expanduser().exists():
        raise NotFound(f"unknown model '{spec}': there is no such file or folder. {_next_step()}")
    if meant := _meant(spec.strip()):
        raise NotFound(f"unknown model '{spec}'; did you mean '{meant}'? {_next_step()}")
    raise unknown("model", family, (*presets(), *_OTHERS, *_installed()), f"{_ELSEWHERE} {_next_step()}")


def _meant(spec: str) -> str:
    """The model that a name without its provider most likely means; empty if none does."""
    if spec.startswith((".", "/", "~")) or Path(spec).exists():
        return f"{'local' if spec.lower().endswith('.gguf') else 'hf'}/{spec}"
    found = "local" if spec in local_models() else "baseline" if spec in baselines() else ""
    found = found or ("python" if re.fullmatch(r"[A-Za-z_][\w.]*:\w+", spec) else "")
    begins = _other_models()["begins"].items()
    found = found or next((family for begin, family in begins if spec.lower().startswith(begin)), "")
    return f"{found}/{spec}" if found else ""


def _next_step() -> str:
    return f"To see the accepted values for --model: {hint('list models')}"


def _on_ray(spec: str, family: str, options: ModelOptions) -> Player | None:
    """The model as a pool on Ray; None for another role's model that does not run in process."""
    here = structs.replace(options, on="", pools=1, replicas=None)
    if family in ("hf", "local", "python") or family in _installed():
        return pool_of(spec, partial(resolve, spec, here), options)
    if family == "vllm" and not options.base_url:
        from sociometer.models.launched import LaunchedServer  # here, since it loads the HTTP client

        return pool_of(spec, partial(LaunchedServer, _named(family, spec.partition("/")[2]), here), options)
    if options.role == SUBJECT:
        raise UsageError(
            f"'{spec}' does not run in process, so --on cannot spread it; leave out --on, or use hf/, local/, python/,"
            " inspect/, or vllm/NAME without an address."
        )
    return None


def _provided(point: EntryPoint, name: str, options: ModelOptions) -> Player:
    """The player of another package; a UsageError names the package if it gives none."""
    what = f"the provider '{point.name}' ({point.value})"
    try:
        player = point.load()(name, options)
    except SociometerError:
        raise
    except (Exception, SystemExit) as error:
        missing = isinstance(error, ImportError) and point.name == "inspect"
        extra = f" Install it with: {install(point.name)}" if missing else ""
        raise UsageError(f"{what} cannot be loaded: {type(error).__name__}: {error}.{extra}") from error
    if not isinstance(player, Player) or not isinstance(getattr(player, "identity", None), Identity):
        raise UsageError(f"{what} gave a {type(player).__name__}, not a Player with an Identity.")
    return player


@cache
def _installed() -> dict[str, EntryPoint]:
    """The providers in other installed packages."""
    return {point.name: point for point in entry_points(group=GROUP)}


def _azure(deployment: str) -> str:
    return f"azure/{deployment}@https://RESOURCE.openai.azure.com/openai/v1"


def describe() -> tuple[ModelEntry, ...]:
    """The accepted values for --model, and whether each can be used now."""
    served = [
        ModelEntry(
            f"{family}/NAME" if preset.base_url else _azure("DEPLOYMENT"),
            preset.title + (" (a server you run)" if preset.own else ""),
            preset.key_variable,
            None if preset.own else bool(os.environ.get(preset.key_variable)),
            preset.base_url,
        )
        for family, preset in presets().items()
    ]
    local = [
        ModelEntry(f"local/{name}", model.help, ready=file_of(name) is not None)
        for name, model in local_models().items()
    ]
    rules = [ModelEntry(f"baseline/{name}", help_, ready=True) for name, help_ in baselines().items()]
    recordings = [
        ModelEntry(f"recorded/{name}", f"replies of {what}, recorded on {about.recorded}", ready=True)
        for name in bundled()
        for about in (load_recording(name).about,)
        for what in (about.model.replace("Language model by hand", "a capable, unnamed language model"),)
    ]
    installed = [
        ModelEntry(f"{family}/NAME", f"a model of an installed package ({point.value})")
        for family, point in _installed().items()
        if family != "inspect"
    ]
    server, weights, file = (
        msgspec.convert(_other_models()[kind], list[ModelEntry]) for kind in ("server", "weights", "file")
    )
    return (*served, *server, *local, *weights, *rules, *recordings, *file, *installed)


@cache
def _other_models() -> dict[str, Any]:
    return read_texts(Path(__file__).with_name("other_models.toml"))


def _named(family: str, name: str) -> str:
    if not name:
        what = {
            "scripted": "a file",
            "recorded": "a recording",
            "local": "a model or a .gguf file",
            "hf": "a name on the Hugging Face hub, a folder or a .gguf file",
            "python": "package.module:function",
        }.get(family, "a model's name")
        raise UsageError(f"'{family}' needs {what} after the slash, as in {family}/NAME. {_next_step()}")
    return name


def _served_by_all(family: str, preset: Preset, name: str, options: ModelOptions) -> Player:
    """The player for one server, or for all whose addresses are given, separated by commas."""
    urls = ADDRESSES.split(options.base_url)
    players = [_served(family, preset, name, structs.replace(options, base_url=url)) for url in urls]
    addresses = [player.identity.base_url for player in players]
    for url in addresses:
        if addresses.count(url) > 1:
            raise UsageError(f"the address {url} is given twice; give each server once.")
    return Servers(players) if len(players) > 1 else players[0]


def _served(family: str, preset: Preset, name: str, options: ModelOptions) -> Player:
    if not (options.base_url or preset.base_url):
        raise UsageError(
            f"'{family}/{name}' needs the address of your resource: {_azure(name)}, with its key in"
            f" {preset.key_variable}."
        )
    url = _checked(options.base_url or preset.base_url)
    options.fields.check()
    options.keys.check_fields(options.fields, options.role, url, preset.base_url)
    key = options.keys.key(options.role, url, preset.base_url, preset.key_variable)
    needed = options.role in options.keys.variables or not (preset.own or options.base_url)
    if options.sends and not read_key(key.variable) and needed:
        raise UsageError(
            f"no key for '{family}/{name}': the environment variable {key.variable} is not set; "
            f"set it (export {key.variable}=…), or name a server that needs no key: MODEL@URL."
        )
    certain = bool(options.revision) or not (preset.own or options.base_url)
    if preset.wire == "anthropic":
        from sociometer.models.anthropic import AnthropicPlayer

        return AnthropicPlayer(name, url, key, options, certain=certain)
    from sociometer.models.openai import OpenAIPlayer

    return OpenAIPlayer(name, url, key, options, preset, certain=certain)


def _checked(base_url: str) -> str:
    try:
        parts = urlsplit(base_url)
        allowed = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        allowed = False
    if not allowed:
        raise UsageError(
            f"'{_shown(base_url)}' is not a base URL; write one like http://localhost:8000/v1 or https://host/v1."
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError(
            "a base URL must not contain a user, password, query or fragment, because it is stored with the run; "
            "put the key into an environment variable and give its name with --key-variable."
        )
    trimmed = base_url.rstrip("/")
    for path in ("/chat/completions", "/embeddings", "/v1/messages"):
        trimmed = trimmed.removesuffix(path)
    return trimmed


def _shown(base_url: str) -> str:
    """A URL for messages: without user, password, query and fragment."""
    _, at, rest = base_url.rpartition("@")
    return ("…" + at + rest if at else base_url).partition("?")[0].partition("#")[0]


def _local(name: str, options: ModelOptions) -> Player:
    if options.base_url:
        raise UsageError("'local' runs in process and takes no address; use llamacpp/NAME or vllm/NAME for a server.")
    path = Path(name).expanduser()
    if name.lower().endswith(".gguf"):
        if not path.is_file():
            raise UsageError(
                f"the file '{path}' does not exist; give local/PATH.gguf, or one of: {', '.join(local_models())}."
            )
    else:
        path = verified_file(name)

    from sociometer.models.local import LocalPlayer  # here, since it loads the HTTP client

    return LocalPlayer(name, path, options)
