"""The options that commands share, and how they become a RunConfig."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from click.core import ParameterSource
from msgspec import structs

from sociometer.cli.output import Number, TableCommand, display_options, option, print_text
from sociometer.core.card import Card
from sociometer.core.config import Caps, RunConfig, model_label
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import NotFound, UsageError, unknown
from sociometer.core.hints import hint, use_store
from sociometer.core.instrument import Instrument
from sociometer.core.server_fields import NAME
from sociometer.core.settings import Setting
from sociometer.core.sheets import folder_for
from sociometer.core.task import StoppingRule
from sociometer.engine.engine import Engine, Listener
from sociometer.engine.run_options import OPTIONS, RunOption, RunOptions, make_config
from sociometer.instruments import cards, load
from sociometer.store.place import StorePlace, default_path, parse_place, without_passwords
from sociometer.store.records import Manifest
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun
from sociometer.store.studies import study_books

if TYPE_CHECKING:
    from sociometer.results.choice import ChosenRuns


def store_place(value: str | StorePlace) -> StorePlace:
    """A store file, or the URL of a PostgreSQL database; a folder, a pipe or a missing folder is an error."""
    place = parse_place(value)
    if isinstance(place, Path) and place.exists() and not place.is_file():
        raise UsageError(f"'{place}' is {'a folder' if place.is_dir() else 'not a file'}; give the file of a store.")
    if isinstance(place, Path):
        folder_for(place)
    return place


def json_option() -> click.Option:
    """`--json`, which every command has."""
    return option("--json as_json", "Print one JSON value instead of tables.", is_flag=True)


def store_option() -> click.Option:
    """`--store`, for commands that read or write runs."""
    text = "Store file, or postgresql://USER@HOST/DATABASE [default: SOCIOMETER_STORE, else in your data folder]."
    return option(
        "--store",
        text,
        type=store_place,
        metavar="FILE|URL",
        envvar="SOCIOMETER_STORE",
        default=None,
        callback=_remember_store,
    )


def _remember_store(ctx: click.Context, param: click.Parameter, value: StorePlace | None) -> StorePlace | None:
    if ctx.get_parameter_source("store") is ParameterSource.COMMANDLINE:
        use_store(str(value), "--store", str(value))
    return value


def stored_command(
    name: str, call: Callable[..., Any], text: str, *params: click.Parameter, of: type[click.Command] = click.Command
) -> click.Command:
    """A command of a group that works on the store: also with `--store` and `--json`."""
    return of(name, callback=call, params=[*params, store_option(), json_option()], help=text)


def shown_command(name: str, call: Callable[..., Any], text: str, *params: click.Parameter) -> TableCommand:
    """A command of a group that shows tables from the store: also with `--store`, `--format`, `--json` and `--to`."""
    return TableCommand(name, callback=call, params=[*params, store_option(), *display_options()], help=text)


def store_path(given: StorePlace | None) -> StorePlace:
    """Where the store is."""
    return given or default_path()


def runs_argument(required: bool = False) -> click.Argument:
    """The argument RUN…: ids, names, subjects, starts of ids, `last` or `all`."""
    return click.Argument(["runs"], nargs=-1, required=required, metavar="RUN…" if required else "[RUN…]")


def told(chosen: "ChosenRuns") -> "ChosenRuns":
    """The chosen runs, after printing on standard error which they are, unless the user named them."""
    for note in chosen.notes:
        print_text(note, err=True)
    return chosen


def terms_options() -> list[click.Parameter]:
    """The options of a comparison: margin and level."""
    margin = "Smallest difference that matters, as the measure is shown (3: three points); for others, MEASURE=VALUE."
    return [
        option("--margin", margin, multiple=True, metavar="VALUE"),
        option("--level", "Confidence level of differences and verdicts.", type=Number(), default=0.95),
    ]


def margin_of(words: Sequence[str]) -> float | dict[str, float] | None:
    """The margin from its words: a number, or MEASURE=VALUE for each measure."""
    found: dict[str, float] = {}
    for word in words:
        name, _, value = word.rpartition("=")
        if not name and len(words) > 1:
            raise UsageError(f"--margin {value} is given next to others; write MEASURE=VALUE for each measure.")
        try:
            found[name.strip()] = Number().convert(value, None, None)
        except click.BadParameter:
            raise UsageError(f"--margin {word} is no number; write --margin 3 or --margin MEASURE=3.") from None
    return found.get("", found or None)


def run_options(*names: str) -> list[click.Parameter]:
    """The options of commands that play items, or some of them, from the one table."""
    every = [_option(one) for one in OPTIONS if not one.detail and not one.in_name]
    text = "Detail of the subject or of requests, as temperature=0.2; repeat for several. See --help-all."
    every.append(option("-o details", text, multiple=True, metavar="NAME=VALUE"))
    return [one for one in every if not names or one.name in names]


def _kind(one: RunOption) -> Any:
    if one.choices:
        return click.Choice(one.choices)
    return {Path: click.Path(), float: Number()}.get(one.kind) or click.types.convert_type(one.kind)


def _option(one: RunOption) -> click.Option:
    flag = one.flag or f"--{one.name.replace('_', '-')}"
    kind = {"is_flag": True} if one.kind is bool else {"type": _kind(one), "multiple": one.many, "metavar": one.metavar}
    return option(f"{flag} {one.name}", one.help, default=one.default, show_default=False, **kind)


_DETAILS = {one.flag or one.name.replace("_", "-"): one for one in OPTIONS if one.detail}
"""What `-o` takes, by name."""
_NAMES_ELSEWHERE = {
    "concurrency": "in-flight", "workers": "in-flight", "max-tokens": "reply-tokens", "temp": "temperature",
    "alpha": "--level 0.95", "confidence": "--level 0.95", "ci": "--level 0.95", "n": "--limit N", "l": "--limit N",
    "samples": "--limit N", "num-samples": "--limit N", "max-items": "--limit N", "epochs": "--repeats N",
    "random-seed": "--seed N", "q": "--quiet", "silent": "--quiet", "m": "--model MODEL", "o": "--to FILE",
    "output": "--to FILE", "out": "--to FILE", "f": "--format NAME", "csv": "--format csv", "v": "--format wide",
    "verbose": "--format wide", "db": "--store FILE", "lang": "--language NAME",
}  # fmt: skip
"""How other tools call such a detail, or an option: what to write here."""


def detail_named(name: str) -> str:
    """The name for `-o` that this name means, also as other tools call it; empty if none does."""
    return name if name in _DETAILS else meant if (meant := _NAMES_ELSEWHERE.get(name, "")) in _DETAILS else ""


def meant_option(context: click.Context, name: str) -> str:
    """What to write for an option that a command does not have, if other tools call one of its own so; else empty."""
    own, name = {flag for one in context.command.params for flag in one.opts}, name.lstrip("-")
    if (meant := _NAMES_ELSEWHERE.get(name, "")).partition(" ")[0] in own:
        return meant
    if "-o" in own and (detail := detail_named(name)):
        return f"-o {detail}=VALUE"
    first = "".join(context.command.collect_usage_pieces(context)[1:2]).lstrip("[")
    if first.startswith("RUN") and name in ("model", "m"):
        return f"{context.command_path} MODEL"
    owners = [card.name for card in cards().values() if any(one.name == name for one in card.setting)]
    return f"it with 'run {owners[0]}' only" if len(owners) == 1 else ""


def detail_values(given: tuple[str, ...]) -> dict[str, Any]:
    """The options of a run that are given by `-o`, and the defaults of all others that are no option of their own."""
    values: dict[str, Any] = {one.name: () if one.many else one.default for one in OPTIONS if one.detail or one.in_name}
    for text in given:
        name, equals, value = text.partition("=")
        if equals and (field := NAME.fullmatch(name)):
            parsed = _json(name, value) if field[2] == "body" else value
            values["server_fields"] = {**values["server_fields"], name: parsed}
            continue
        one = _DETAILS.get(name)
        if one is None and (ours := detail_named(name.replace("_", "-"))):
            raise NotFound(f"unknown name for -o '{name}'; did you mean '{ours}'?")
        if one is None:
            raise unknown("name for -o", name, _DETAILS, "" if equals else "To name a file, write --to FILE.")
        if not equals and one.kind is not bool:
            raise UsageError(f"-o needs NAME=VALUE, not '{text}'.")
        try:
            converted = _kind(one).convert(value if equals else "true", None, None)
        except click.BadParameter as error:
            wanted = error.message.replace("a valid float", "a number").replace("a valid integer", "a whole number")
            raise UsageError(f"-o {name}: {wanted}") from None
        values[one.name] = (*values[one.name], converted) if one.many else converted
    return values


def _json(name: str, text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        raise UsageError(f"-o {name} needs JSON, such as 20, true or '\"text\"', not '{text}'.") from None


class PlayCommand(TableCommand):
    """A command that plays items: `--help` shows what is needed every day, `--help-all` everything."""

    everyday: tuple[str, ...] = (
        "models", "roles", "tasks", "limit", "official", "max_cost", "against", "name", "same", "details", "dry_run",
        "as_json",
    )  # fmt: skip

    def invoke(self, ctx: click.Context) -> Any:
        """Call the command with the details that `-o` gives."""
        ctx.params.update(detail_values(ctx.params.pop("details", ())))
        return super().invoke(ctx)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The parameters, with `--help-all`."""
        return [*super().get_params(ctx), _HELP_ALL_OPTION]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of every day, then those of the instruments; all of them, in groups, with `--help-all`."""
        shared = {one.name for one in shared_options()}
        options = [one for one in self.params if isinstance(one, click.Option) and not one.hidden]
        first = [one for one in options if one.name in self.everyday or one.required]
        own = [one for one in options if one.name not in shared and one not in first]
        others = [one for one in options if one not in own and one not in first]
        complete = bool(ctx.meta.get(HELP_ALL))
        groups = {"Options": first if complete else [*first, _HELP_ALL_OPTION], "Options of this test": own}
        groups["More options"] = others if complete else []
        for title, members in groups.items():
            if members:
                with formatter.section(title):
                    formatter.write_dl([record for one in members if (record := one.get_help_record(ctx))])
        if complete and any(one.name == "details" for one in options):
            with formatter.section("Details, given as -o NAME=VALUE"):
                formatter.write_dl([(name, one.help) for name, one in _DETAILS.items()])


HELP_ALL = "sociometer.help-all"


def _show_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[HELP_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


_HELP_ALL_OPTION = click.Option(
    ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all, help="Show every option."
)


def shared_options() -> list[click.Parameter]:
    """The options of `run` that every instrument has; every command that plays can have them."""
    return [*run_options(), dry_run_option(), quiet_option(), store_option(), *display_options()]


def dry_run_option() -> click.Option:
    """`--dry-run`, for commands that play items."""
    return option("--dry-run", "Show the plan (items, requests, cost) and send nothing.", is_flag=True)


def quiet_option() -> click.Option:
    """`--quiet`, for commands that show progress."""
    return option("--quiet", "Hide progress.", is_flag=True)


_METAVARS = {"text": "TEXT", "choice": "CHOICE", "number": "NUMBER", "whole": "N", "path": "PATH"}


def setting_options(settings: tuple[Setting, ...]) -> list[click.Parameter]:
    """The command-line options for an instrument's settings or a command's own options."""
    made: list[click.Parameter] = []
    for setting in settings:
        if setting.positional:
            count, shown_as = (-1, f"{setting.name.upper()}…") if setting.many else (1, setting.name.upper())
            variable = [_variable(setting.name)]
            made.append(click.Argument(variable, required=setting.required, nargs=count, metavar=shown_as))
            continue
        text = setting.help
        if setting.choices:
            text += f" One of: {', '.join(setting.choices)}."
        if setting.default not in (None, "", ()) and setting.kind != "flag":
            shown = setting.default if isinstance(setting.default, tuple) else (setting.default,)
            text += f" [default: {', '.join(map(str, shown))}]"
        kind = {"is_flag": True, "default": None} if setting.kind == "flag" else {"metavar": _METAVARS[setting.kind]}
        names = f"--{setting.name} {_variable(setting.name)}"
        made.append(option(names, text, multiple=setting.many, required=setting.required, **kind))
    return made


def chosen_settings(settings: tuple[Setting, ...], values: Mapping[str, Any]) -> dict[str, object]:
    """The settings that were given on the command line."""
    return {
        setting.name: values[_variable(setting.name)]
        for setting in settings
        if values.get(_variable(setting.name)) not in (None, ())
    }


def _variable(name: str) -> str:
    return "setting_" + name.replace("-", "_")


_HEADER = re.compile(r"((?:-o)?=?(?:[a-z][a-z0-9_-]*\.)?header\.[^=]*=).*", re.DOTALL)
"""A header on the command line, whose value is never stored."""


def run_config(card: Card, subject: str, values: Mapping[str, Any], settings: Mapping[str, Any]) -> RunConfig:
    """The configuration that the options of `run` describe."""
    options = {name: values[name] for name in RunOptions.__annotations__ if name in values}
    config = make_config(card, subject, **{**options, "roles": parse_roles(values["roles"]), "settings": settings})
    command = ("sociometer", *(_HEADER.sub(r"\1…", without_passwords(word)) for word in sys.argv[1:]))
    return structs.replace(config, command=command)


def caps(values: Mapping[str, Any]) -> Caps:
    """The caps that were given."""
    return Caps(values["max_cost"], values["max_requests"], values["max_tokens"])


def pairs_of(option: str, given: Iterable[str], form: str = "NAME=VALUE") -> list[tuple[str, str]]:
    """The names and values that an option was given with."""
    pairs = [text.partition("=") for text in given]
    for wrong in (pair for pair in pairs if not all(pair)):
        raise UsageError(f"{option} needs {form}, not '{''.join(wrong)}'.")
    return [(name, value) for name, _, value in pairs]


def parse_roles(given: tuple[str, ...]) -> dict[str, str]:
    """The models of roles, from ROLE=MODEL."""
    roles: dict[str, str] = {}
    for role, model in pairs_of("--role", given, "ROLE=MODEL"):
        if role == SUBJECT:
            raise UsageError("--role subject is not allowed; give the subject with --model.")
        if role in roles:
            given_twice = f"'{model_label(roles[role])}' and '{model_label(model)}'"
            raise UsageError(f"--role {role} is given twice: {given_twice}.")
        roles[role] = model
    return roles


@contextmanager
def open_stored(given: StorePlace | None, listener: Listener | None = None) -> Iterator[Engine]:
    """An engine for commands that need an existing store, or its studies; a mistyped path does not create one."""
    if not (path := store_path(given)).exists() and not [*study_books(path)]:
        raise UsageError(
            f"there is no store at {path}. Create one with: {hint('run INSTRUMENT --model MODEL')}; or give"
            " another file with --store."
        )
    with open_engine(path, listener) as engine:
        yield engine


@contextmanager
def open_engine(given: StorePlace | None, listener: Listener | None = None) -> Iterator[Engine]:
    """An engine on the store that is given, or on the usual one; it is always closed at the end."""
    with Store(store_path(given)) as store, closing(Engine(store, load, listener, stopping_rule)) as engine:
        try:
            yield engine
        finally:
            tell_of_upgrade(store)


def tell_of_upgrade(store: Store) -> None:
    """Print what opening a store of the last version changed, if it did."""
    for sentence in store.database.upgraded:
        print_text(f"{sentence}.", err=True)


def stopping_rule(manifest: Manifest, instrument: Instrument, stored: Callable[[str], StoredRun]) -> StoppingRule:
    """The rule of a manifest."""
    from sociometer.results import stopping  # here, since it loads numpy

    return stopping.stopping_rule(manifest, instrument, stored)
