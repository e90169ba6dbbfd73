"""Commands of instruments: `sociometer VERB INSTRUMENT …`, declared in their cards, loaded when called."""

import sys
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from sociometer.cli.chosen import EVERY, chosen_runs, means_all
from sociometer.cli.formats import format_command, formats_of
from sociometer.cli.options import (
    chosen_settings,
    open_engine,
    run_config,
    run_options,
    setting_options,
    store_option,
    store_path,
)
from sociometer.cli.output import Display, display_options, print_result
from sociometer.cli.project import project_option, with_defaults
from sociometer.core.card import Card, CommandCard, SharedOptions
from sociometer.core.errors import ExitCode, UsageError, unknown
from sociometer.core.instrument import Result
from sociometer.core.settings import Setting, Settings
from sociometer.engine.command_context import EngineContext
from sociometer.instruments import cards, load, load_command
from sociometer.reporting.progress import ProgressDisplay, track

if TYPE_CHECKING:
    from sociometer.core.command import StudyPerson
    from sociometer.engine.engine import Engine


@cache
def verbs() -> dict[str, dict[str, CommandCard]]:
    """The verbs, each with the instruments that have it."""
    offered: dict[str, dict[str, CommandCard]] = {}
    for card in cards().values():
        for command in card.command:
            offered.setdefault(command.verb, {})[card.name] = command
    return offered


def takers(verb: str) -> list[str]:
    """What may follow a verb: the instruments that offer it, and formats."""
    return [*sorted(verbs()[verb]), *formats_of(verb)]


def verb_command(verb: str) -> click.Command:
    """The command that finds the instrument and passes the rest of the line to it."""

    def call(ctx: click.Context, words: tuple[str, ...]) -> Any:
        if words and words[0] in formats_of(verb):
            name, rest, inner = words[0], list(words[1:]), format_command(words[0])
        else:
            name, rest = _find_instrument(verb, list(words))
            inner = instrument_command(cards()[name], verbs()[verb][name])
        inner.context_settings = {key: getattr(ctx, key) for key in ("help_option_names", "max_content_width")}
        with inner.make_context(f"sociometer {verb} {name}", rest) as context:
            return inner.invoke(context)

    return click.Command(
        verb,
        callback=click.pass_context(call),
        params=[click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)],
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )


def _find_instrument(verb: str, words: list[str]) -> tuple[str, list[str]]:
    """The instrument that was named first or by --instrument, or the only one that offers the verb."""
    offering = verbs()[verb]
    formats = formats_of(verb)
    what, takes = "instrument or format" if formats else "instrument", ", ".join(takers(verb))
    if words and words[0] in cards():
        name, rest = words[0], words[1:]
    elif "--instrument" in words[:-1]:
        place = words.index("--instrument")
        name, rest = words[place + 1], words[:place] + words[place + 2 :]
    elif len(offering) == 1 and not formats:
        name, rest = next(iter(offering)), words
    elif words and not words[0].startswith("-"):
        raise unknown(what, words[0], {**offering, **formats}, f"'{verb}' accepts: {takes}.")
    elif "--help" in words or "-h" in words:
        names = takes.replace(", ", "|")
        raise click.UsageError(f"name an {what} first: sociometer {verb} {{{names}}} --help")
    else:
        raise UsageError(f"'{verb}' needs an {what}, one of: {takes}.")
    if name not in offering:
        if name not in cards():
            raise unknown("instrument", name, offering)
        raise UsageError(f"{name} has no command '{verb}'; instruments that have it: {', '.join(sorted(offering))}.")
    return name, rest


def instrument_command(card: Card, command: CommandCard) -> click.Command:
    """The command of one instrument, with its own options and, if it plays items, those of `run`."""
    settings = _own_settings(card, command)
    own = setting_options(command.option) + setting_options(settings)
    shared = [*_heeded(command), store_option(), project_option(), *display_options()]
    shared.append(click.Option(["--quiet"], is_flag=True, help="Hide progress.", hidden=not command.plays))
    # An option of the command's own replaces the shared one of the same name.
    taken = {word for param in own for word in param.opts}
    params = own + [param for param in shared if taken.isdisjoint(param.opts)]

    def call(
        as_json: bool,
        everything: bool,
        csv: Path | None,
        quiet: bool = False,
        figures: Path | None = None,
        **values: Any,
    ) -> int:
        return _call(card, command, settings, as_json, quiet, Display(everything, csv), figures, values)

    completed = with_defaults(call, card.name)

    def complete(**values: Any) -> Any:
        # Defaults of a project apply to commands that play, which have every option of `run`, listed or not.
        return completed(**{**(_run_defaults() if command.plays else {}), **values})

    return click.Command(command.verb, callback=complete, params=params, help=command.help)


def _run_defaults() -> dict[str, Any]:
    """The options of `run`, each at its default."""
    return click.Command("run", params=run_options()).make_context("run", []).params


_GROUPS: dict[SharedOptions, tuple[str, ...]] = {
    "subject": (
        "models", "base_url", "revision", "key_variable", "temperature", "top_p", "server_sampling", "reply_tokens",
        "sampling_seed", "stop", "reasoning_effort", "logprobs",
    ),
    "items": ("limit", "items"),
    "files": ("official", "data"),
    "prompts": ("prompts",),
    "seed": ("seed",),
    "repeats": ("repeats",),
}  # fmt: skip
_OF_RUN_ALONE = ("tasks", "name", "label")


def _heeded(command: CommandCard) -> list[click.Parameter]:
    """The shared options that have an effect on a command."""
    takes = (*_GROUPS, "figures") if command.takes is None else command.takes
    grouped = {option: group for group, options in _GROUPS.items() for option in options}
    found: list[click.Parameter] = []
    for option in run_options():
        group = grouped.get(str(option.name))
        if option.name not in _OF_RUN_ALONE and (group in takes if group else command.plays):
            found.append(option)
    return [*found, *([_figures_option()] if "figures" in takes else [])]


def _figures_option() -> click.Option:
    """`--figures`, for commands that draw figures."""
    return click.Option(
        ["--figures"],
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Folder for the figures of the result: charts as SVG, tables as CSV.",
    )


def _own_settings(card: Card, command: CommandCard) -> tuple[Setting, ...]:
    """The instrument's settings that the command uses and does not redefine."""
    redefined = {option.name for option in command.option}
    heeded = {setting.name for setting in card.setting} if command.settings is None else set(command.settings)
    return tuple(setting for setting in card.setting if setting.name in heeded - redefined)


def _call(
    card: Card,
    command: CommandCard,
    settings: tuple[Setting, ...],
    as_json: bool,
    quiet: bool,
    display: Display,
    figures: Path | None,
    values: dict[str, Any],
) -> int:
    # A command that does not play still gets a configuration, with every option of `run` left at its default.
    given = {**_run_defaults(), **values}
    config = run_config(card, "", given, chosen_settings(settings, values))

    entry = load_command(card.name, command.entry)
    with ProgressDisplay(quiet) as progress, open_engine(store_path(values.get("store")), progress) as engine:
        own = _with_every_run(engine, card, command, chosen_settings(command.option, values))
        options = Settings.chosen(command.option, own)
        config = msgspec.structs.replace(
            config, step_of=command.verb, seed=options.whole("seed") if "seed" in options else config.seed
        )
        context = EngineContext(
            engine,
            load(card.name),
            config,
            tuple(dict.fromkeys(given["models"])),
            progress.expect,
            partial(track, quiet=quiet),
            lambda study: _people_of_study(engine, study),
        )
        code = print_result(_with_figures(entry(context, options), figures), as_json, display)
        if context.failures:
            failed = ", ".join(f"{count} {kind}" for kind, count in context.failures.items())
            sys.stderr.write(f"some items have no answer ({failed}); repeat the command to retry them.\n")
        return int(code or (ExitCode.MACHINERY if context.failures else ExitCode.OK))


def _with_every_run(engine: "Engine", card: Card, command: CommandCard, own: dict[str, Any]) -> dict[str, Any]:
    """The command's own options; `all` in its arguments is replaced by the runs of the instrument that it means."""
    for option in command.option:
        if option.positional and option.many and option.name in ("run", "runs"):
            references = own.get(option.name) or ()
            if EVERY in references and means_all(references):
                chosen = chosen_runs(engine, references, instrument=card.name)
                own = {**own, option.name: tuple(run.id for run in chosen)}
    return own


def _people_of_study(engine: "Engine", study: str) -> "dict[str, StudyPerson]":
    from sociometer.results.groups import people_of_study  # here, since it takes long to load

    return people_of_study(engine.store, study)


def _with_figures(result: Result, folder: Path | None) -> Result:
    """The result with its figures written to the folder; without a folder, with a note about `--figures`."""
    from sociometer.reporting.plot import plot_all  # here, since it takes long to load

    names = ", ".join(figure.name for figure in result.figures)
    if folder is None:
        said = f"Add --figures DIR to write the figures: {names}." if names else ""
        return msgspec.structs.replace(result, notes=(*result.notes, said)) if said else result
    if not names:
        return msgspec.structs.replace(result, notes=(*result.notes, "This result has no figures to write."))

    written = tuple(str(path) for path in plot_all(result.figures, folder))
    return msgspec.structs.replace(result, wrote=(*result.wrote, *written))
