"""Commands of instruments: `sociometer INSTRUMENT VERB …`, declared in their cards, loaded when called."""

from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from sociometer.cli.list import show_card
from sociometer.cli.options import (
    PlayCommand,
    chosen_settings,
    detail_values,
    open_engine,
    quiet_option,
    run_config,
    run_options,
    setting_options,
    store_option,
    told,
)
from sociometer.cli.output import Display, Group, TableCommand, display_options, print_result, print_text
from sociometer.core.card import Card, CommandCard
from sociometer.core.config import Caps
from sociometer.core.errors import ExitCode, UsageError, hint, unknown
from sociometer.core.gone import taken_away
from sociometer.core.instrument import Result
from sociometer.core.settings import Setting, Settings
from sociometer.engine.command_context import EngineContext
from sociometer.engine.engine import Engine
from sociometer.instruments import cards, load, load_command
from sociometer.reporting.progress import ProgressDisplay, instead_of, track
from sociometer.results.choice import EVERY, choose, means_all
from sociometer.results.groups import people_of_study


def instrument_group(name: str) -> click.Group:
    """An instrument as a command: alone it shows its card and its commands."""
    card = cards()[name]

    def alone(ctx: click.Context) -> None:
        if ctx.invoked_subcommand is None:
            show_card(card, Display())

    return _Instrument(
        name,
        card=card,
        callback=click.pass_context(alone),
        invoke_without_command=True,
        help=f"{card.title}: measures {card.about}.",
        epilog=f"To play it: {hint('run', name, '--model', 'MODEL')}",
        options_metavar="",
    )


class _Instrument(Group):
    """Makes the command of an instrument when it is called."""

    def __init__(self, name: str, *, card: Card, **options: Any) -> None:
        super().__init__(name, **options)
        self._card = card

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [command.verb for command in self._card.command]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        for command in self._card.command:
            if command.verb == cmd_name:
                return instrument_command(self._card, command)
        known = self.list_commands(ctx)
        others = [name for name, card in cards().items() if any(one.verb == cmd_name for one in card.command)]
        if others and not taken_away(f"{self.name} command", cmd_name):
            own = f"{self.name} has: {', '.join(known) or 'none'}"
            raise UsageError(f"{self.name} has no command '{cmd_name}', only {' and '.join(others)}; {own}.")
        raise unknown(f"{self.name} command", cmd_name, known, f"{self.epilog}")


def instrument_command(card: Card, command: CommandCard) -> click.Command:
    """The command of one instrument: its own options, and those of `run` that it has."""
    settings = _own_settings(card, command)
    own = setting_options(command.option) + setting_options(settings)
    shared = [*_options_of_run(command), store_option(), *display_options(), quiet_option()]
    # An option of the command's own replaces the shared one of the same name.
    taken = {word for param in own for word in param.opts}
    params = own + [param for param in shared if taken.isdisjoint(param.opts)]

    def call(display: Display, quiet: bool = False, **values: Any) -> int:
        return _call(card, command, settings, quiet, display, values)

    kind = PlayCommand if command.plays else TableCommand
    made = kind(command.verb, callback=call, params=params, help=command.help)
    made.json_beside_files = True
    return made


def _run_defaults() -> dict[str, Any]:
    """The options of `run`, each at its default."""
    values = click.Command("run", params=run_options()).make_context("run", []).params
    return {**values, **detail_values(values.pop("details"))}


_PLAYING = ("roles", "seed", "details", *Caps.__struct_fields__)
"""The options of `run` that every command has that plays."""


def _options_of_run(command: CommandCard) -> list[click.Parameter]:
    """The options of `run` that a command has, in the order of `run`."""
    names = (*command.takes, *_PLAYING) if command.plays else command.takes
    return run_options(*names) if names else []


def _own_settings(card: Card, command: CommandCard) -> tuple[Setting, ...]:
    """The instrument's settings that the command uses."""
    return tuple(setting for setting in card.setting if setting.name in command.settings)


def _call(
    card: Card,
    command: CommandCard,
    settings: tuple[Setting, ...],
    quiet: bool,
    display: Display,
    values: dict[str, Any],
) -> int:
    # A command that does not play still gets a configuration, with every option of `run` left at its default.
    given = {**_run_defaults(), **values}
    config = run_config(card, "", given, chosen_settings(settings, values))

    entry = load_command(card.name, command.entry)
    with ProgressDisplay(quiet) as progress, open_engine(values.get("store"), progress) as engine:
        own = _with_every_run(engine, card, command, chosen_settings(command.option, values))
        options = Settings.chosen(command.option, own)
        config = msgspec.structs.replace(config, step_of=command.verb)
        context = EngineContext(
            engine,
            load(card.name),
            config,
            tuple(dict.fromkeys(given["models"])),
            progress.expect,
            partial(track, quiet=quiet),
            partial(people_of_study, engine.store),
        )
        to = options.text("to") if "to" in options else display.to
        code = print_result(_with_figures(entry(context, options), Path(to) if to else None), display)
        if context.failures:
            failed = ", ".join(f"{count} {kind}" for kind, count in context.failures.items())
            again = instead_of(context.failures.most_common(1)[0][0]) or "repeat the command to retry them"
            print_text(f"some items have no answer ({failed}); {again[0].lower()}{again[1:]}.", err=True)
        return int(code or (ExitCode.MACHINERY if context.failures else ExitCode.OK))


def _with_every_run(engine: Engine, card: Card, command: CommandCard, own: dict[str, Any]) -> dict[str, Any]:
    """The command's own options; words in its arguments are replaced by the results that they mean."""
    for one in command.option:
        if not (one.positional and one.many and one.name in ("run", "runs")):
            continue
        words = own.get(one.name) or ()
        if EVERY in words and means_all(words):
            chosen = told(choose(engine.store, load, cards(), (), instrument=card.name)).runs
        else:
            chosen = choose(engine.store, load, cards(), words, instrument=card.name).runs if words else ()
        own = {**own, one.name: tuple(run.id for run in chosen)}
    return own


def _with_figures(result: Result, folder: Path | None) -> Result:
    """The result with its figures written to the folder; without one, with a note about it."""
    if not result.figures:
        return result
    if folder is None or folder.suffix.lower() in (".csv", ".json"):
        names = ", ".join(figure.name for figure in result.figures)
        said = f"To write the figures ({names}), give a folder for them with --to."
        return msgspec.structs.replace(result, notes=(*result.notes, said))
    from sociometer.reporting.plot import plot_all  # here, since it loads jinja2 and vl_convert

    written = tuple(str(path) for path in plot_all(result.figures, folder))
    return msgspec.structs.replace(result, wrote=(*result.wrote, *written))
