"""The options that commands share, and how they become a RunConfig."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from sociometer.cli.project import from_project
from sociometer.core.card import Card
from sociometer.core.config import DEFAULT_IN_FLIGHT, Caps, RunConfig, model_label
from sociometer.core.errors import UsageError
from sociometer.core.settings import Setting
from sociometer.engine.engine import Engine
from sociometer.engine.run_options import RunOptions, make_config
from sociometer.instruments import load
from sociometer.store.place import StorePlace, default_path, parse_place, without_passwords
from sociometer.store.store import Store

if TYPE_CHECKING:
    from sociometer.engine.engine import Listener

    _StoreType = click.ParamType[StorePlace]
else:
    _StoreType = click.ParamType


class StoreParameter(_StoreType):
    """A store file, or the URL of a PostgreSQL database."""

    name = "store"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> StorePlace:
        """The place; a folder is an error."""
        place = parse_place(value)
        if isinstance(place, Path) and place.is_dir():
            raise UsageError(f"'{place}' is a folder; give --store a file.")
        return place


def json_option() -> click.Option:
    """`--json`, which every command has."""
    return click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON value instead of tables.")


def store_option() -> click.Option:
    """`--store`, for commands that read or write runs."""
    return click.Option(
        ["--store"],
        type=StoreParameter(),
        metavar="FILE|URL",
        envvar="SOCIOMETER_STORE",
        default=None,
        help="Store file, or postgresql://USER@HOST/DATABASE [default: SOCIOMETER_STORE, then sociometer.toml, then the"
        " file in your data folder].",
    )


def store_path(given: StorePlace | None) -> StorePlace:
    """Where the store is."""
    return given or default_path()


def run_options() -> list[click.Parameter]:
    """The options of commands that play items."""
    return [
        click.Option(
            ["--model", "models"],
            multiple=True,
            metavar="MODEL",
            help="Model to test (the subject); repeat for several. 'sociometer models' lists the accepted values.",
        ),
        click.Option(
            ["--role", "roles"],
            multiple=True,
            metavar="ROLE=MODEL",
            help="Model for another role; repeat for several roles. With several models for one role, 'run' plays all"
            " combinations.",
        ),
        click.Option(
            ["--task", "tasks"],
            multiple=True,
            metavar="TASK",
            help="Task of the instrument to play; repeat for several.",
        ),
        click.Option(
            ["--limit"],
            type=int,
            help="Number of items to sample (or scenarios, if these have several items); the same for every subject.",
        ),
        click.Option(["--item", "items"], multiple=True, metavar="ID", help="Item to play; repeat for several."),
        click.Option(["--repeats"], type=int, help="Times to play each item."),
        click.Option(
            ["--seed"], type=int, default=0, show_default=True, help="Seed for deals, option orders and samples."
        ),
        click.Option(
            ["--official"], is_flag=True, help="Use the official items that 'sociometer data fetch' downloads."
        ),
        click.Option(
            ["--data"], type=click.Path(), default="", help="Folder that holds the official files; implies --official."
        ),
        click.Option(
            ["--second-question/--no-second-question"],
            default=None,
            help="Ask a second time if a reply has no answer [default: yes for bundled items, no for official items].",
        ),
        click.Option(
            ["--base"],
            is_flag=True,
            help="Treat the subject as a base model that continues a text with examples; works only for tasks that"
            " 'sociometer list INSTRUMENT' shows with --base.",
        ),
        click.Option(
            ["--answer"],
            type=click.Choice(["reply", "probability"]),
            default="reply",
            show_default=True,
            help="Source of the answer to a choice: the text of the reply, or the probability of each option.",
        ),
        click.Option(
            ["--prompts"],
            type=click.Path(),
            default="",
            help="Folder of prompts that replace the bundled prompts of the same name.",
        ),
        click.Option(["--name"], default="", help="Name of the run, to use in place of its id."),
        click.Option(["--label"], default="", help="Name of the subject in tables and pages."),
        *_model_options(),
        *_limit_options(),
    ]


def _model_options() -> list[click.Parameter]:
    return [
        click.Option(
            ["--base-url"], default="", help="Base URL of the subject's server [default: that of the provider]."
        ),
        click.Option(
            ["--revision"],
            default="",
            help="Name of the subject's weights, to reuse its replies in later runs. For a role: MODEL@URL#REVISION.",
        ),
        click.Option(["--key-variable"], default="", help="Environment variable with the subject's key."),
        insecure_http_option(),
        click.Option(["--temperature"], type=float, help="Sampling temperature of the subject."),
        click.Option(["--top-p"], type=float, help="Nucleus sampling threshold (top-p) of the subject."),
        click.Option(
            ["--server-sampling"], is_flag=True, help="Send no temperature, top-p or seed, for models that reject them."
        ),
        click.Option(["--reply-tokens"], type=int, help="Maximum number of tokens in one reply of the subject."),
        click.Option(["--sampling-seed"], type=int, help="Sampling seed to send to the subject's server."),
        click.Option(["--stop"], multiple=True, help="Stop sequence for the subject; repeat for several."),
        click.Option(["--reasoning-effort"], help="Reasoning effort of the subject (low, medium, high)."),
        click.Option(["--logprobs"], type=int, help="Number of top log-probabilities to request."),
    ]


def insecure_http_option() -> click.Option:
    """`--insecure-http`, for commands that send keys."""
    return click.Option(["--insecure-http"], is_flag=True, help="Send keys over plain HTTP even to other machines.")


def _limit_options() -> list[click.Parameter]:
    return [
        click.Option(
            ["--in-flight"],
            type=int,
            default=DEFAULT_IN_FLIGHT,
            show_default=True,
            help="Maximum number of requests in flight per server.",
        ),
        click.Option(
            ["--batch"], is_flag=True, help="Send requests in batches, cheaper but up to a day for each turn."
        ),
        click.Option(["--cancel-batches"], is_flag=True, help="Cancel waiting batches when the run is interrupted."),
        click.Option(
            ["--timeout"], type=float, default=300.0, show_default=True, help="Time limit for one request, in seconds."
        ),
        click.Option(["--retries"], type=int, help="Number of times to retry a failed request."),
        *cap_options(),
        click.Option(["--fresh"], is_flag=True, help="Request new replies instead of reusing stored ones."),
    ]


_COVERED = "counting all roles, restarts and runs of one command"


def cap_options(covered: str = _COVERED) -> list[click.Parameter]:
    """The hard caps on spending."""
    return [
        click.Option(["--max-cost"], type=float, help=f"Maximum cost in dollars, {covered}."),
        click.Option(["--max-requests"], type=int, help=f"Maximum number of requests, {covered}."),
        click.Option(["--max-tokens"], type=int, help=f"Maximum number of tokens read and written, {covered}."),
    ]


def _shown(default: object) -> str:
    """A default as help shows it."""
    return ", ".join(map(str, default)) if isinstance(default, tuple) else str(default)


_METAVARS = {"text": "TEXT", "choice": "CHOICE", "number": "NUMBER", "whole": "N", "path": "PATH"}


def setting_options(settings: tuple[Setting, ...]) -> list[click.Parameter]:
    """The command-line options for an instrument's settings or a command's own options."""
    made: list[click.Parameter] = []
    for setting in settings:
        if setting.positional:
            made.append(
                click.Argument(
                    [_variable(setting.name)],
                    required=setting.required,
                    nargs=-1 if setting.many else 1,
                    metavar=setting.name.upper() + ("…" if setting.many else ""),
                    shell_complete=_choices(setting),
                )
            )
            continue
        text = setting.help
        if setting.choices:
            text += f" One of: {', '.join(setting.choices)}."
        if setting.default not in (None, "", ()) and setting.kind != "flag":
            text += f" [default: {_shown(setting.default)}]"
        flag = {"is_flag": True, "default": None} if setting.kind == "flag" else {}
        made.append(
            click.Option(
                [f"--{setting.name}", _variable(setting.name)],
                multiple=setting.many,
                metavar=None if setting.kind == "flag" else _METAVARS[setting.kind],
                required=setting.required,
                help=text,
                shell_complete=_choices(setting),
                **flag,  # type: ignore[arg-type]
            )
        )
    return made


def _choices(setting: Setting) -> Callable[[click.Context, click.Parameter, str], list[str]] | None:
    """The completions of a setting."""
    if not setting.choices:
        return None
    return lambda ctx, param, incomplete: [one for one in setting.choices if one.startswith(incomplete)]


def chosen_settings(settings: tuple[Setting, ...], values: Mapping[str, Any]) -> dict[str, object]:
    """The settings that were given on the command line."""
    return {
        setting.name: values[_variable(setting.name)]
        for setting in settings
        if values.get(_variable(setting.name)) not in (None, ())
    }


def _variable(name: str) -> str:
    return "setting_" + name.replace("-", "_")


def run_config(card: Card, subject: str, values: Mapping[str, Any], settings: Mapping[str, Any]) -> RunConfig:
    """The configuration that the options of `run` describe."""
    # here, since every command has options and only those that play need to know the models

    options = {name: values[name] for name in RunOptions.__annotations__ if name in values}
    config = make_config(card, subject, **{**options, "roles": parse_roles(values["roles"]), "settings": settings})
    return structs.replace(
        config, command=("sociometer", *map(without_passwords, sys.argv[1:])), **from_project(card, subject, values)
    )


def caps(values: Mapping[str, Any]) -> Caps:
    """The caps that were given."""
    return Caps(values["max_cost"], values["max_requests"], values["max_tokens"])


def parse_roles(given: tuple[str, ...]) -> dict[str, str]:
    """The models of roles, from ROLE=MODEL."""
    roles: dict[str, str] = {}
    for text in given:
        role, equals, model = text.partition("=")
        if not equals or not role or not model:
            raise UsageError(f"--role needs ROLE=MODEL, not '{text}'.")
        if role == "subject":
            raise UsageError("--role subject is not allowed; give the subject with --model.")
        if role in roles:
            given_twice = f"'{model_label(roles[role])}' and '{model_label(model)}'"
            raise UsageError(f"--role {role} is given twice: {given_twice}.")
        roles[role] = model
    return roles


@contextmanager
def open_stored(path: StorePlace, listener: "Listener | None" = None) -> "Iterator[Engine]":
    """An engine for commands that need an existing store; a mistyped path does not create one."""
    if not path.exists():
        raise UsageError(
            f"there is no store at {path}. Create one with: sociometer run INSTRUMENT --model MODEL; or give"
            " another file with --store."
        )
    with open_engine(path, listener) as engine:
        yield engine


@contextmanager
def open_engine(path: StorePlace, listener: "Listener | None" = None) -> "Iterator[Engine]":
    """An engine on the store at `path`, which is always closed at the end."""
    # here, since the help and the completion of a command need no engine

    with Store(path) as store:
        yield Engine(store, load, listener)
