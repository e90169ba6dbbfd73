"""How commands show results: the options `--format`, `--json` and `--to`, and what `reporting/terminal.py` prints."""

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec import structs

from sociometer.core.errors import ExitCode, UsageError, unknown
from sociometer.core.instrument import Result
from sociometer.core.sheets import folder_for
from sociometer.reporting.terminal import SCREEN, Display, print_json, print_line, print_table, print_text

__all__ = [
    "SCREEN", "Display", "Group", "Number", "Range", "TableCommand", "confirm", "display_options", "link_teller",
    "option", "print_json", "print_line", "print_result", "print_table", "print_text", "tell",
]  # fmt: skip


class Number(click.types.FloatParamType):
    """A number that is finite, the type of every option that takes one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = super().convert(value, param, ctx)
        if not math.isfinite(found):
            self.fail(f"'{value}' is not a finite number.", param, ctx)
        return found


class Range(click.FloatRange, Number):
    """A finite number in a range."""


def option(flags: str, text: str, **more: Any) -> click.Option:
    """An option: its flags, with the name of its variable if that is another; a default is shown unless it is empty."""
    shown = bool(more.get("default")) and more["default"] is not True
    kind = click.types.convert_type(more.get("type"), more.get("default"))
    metavar = "NUMBER" if isinstance(kind, Number) else "N" if isinstance(kind, click.types.IntParamType) else None
    return click.Option(
        flags.split(), help=text, **{"show_default": shown, **more, "metavar": more.get("metavar") or metavar}
    )


class Group(click.Group):
    """A group of commands, each described by a whole sentence; an unknown one is told the nearest."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = [self.get_command(ctx, name) for name in self.list_commands(ctx)]
        if not commands:
            return
        with formatter.section("Commands"):
            formatter.write_dl([(one.name or "", one.get_short_help_str(200)) for one in commands])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The command of this name."""
        found = super().get_command(ctx, cmd_name)
        if found is None:
            known = self.list_commands(ctx)
            raise unknown(f"{self.name} command", cmd_name, known)
        return found


class TableCommand(click.Command):
    """A command that prints tables: its options `--format`, `--json` and `--to` reach it as one `display`."""

    json_beside_files = False
    """Whether it writes the files of `--to` with `--json` too."""

    def invoke(self, ctx: click.Context) -> Any:
        """Call the command with its display."""
        chosen, as_json, to = (ctx.params.pop(name, None) for name in ("format", "as_json", "to_file"))
        if as_json and chosen not in (None, "json"):
            raise UsageError(f"--json means --format json; leave out --format {chosen}.")
        ending = Path(to or "").suffix.lower()
        as_json = bool(as_json) or chosen == "json" or (chosen is None and ending == ".json")
        if to == "" or (ending not in ("", ".csv", ".json") and not Path(to).is_dir()):
            raise UsageError(f"--to '{to}' cannot be written; give a .csv or .json file, or a folder.")
        fits = as_json == (ending == ".json") or (as_json and self.json_beside_files)
        if to is not None and not fits:
            kind, what = ("json", "a .json file") if as_json else (chosen, "a .csv file or a folder")
            raise UsageError(f"--format {kind} cannot be written to '{to}'; give --to {what}.")
        if to is not None:
            folder_for(Path(to))
        ctx.params["display"] = Display("json" if as_json else chosen or "table", None if to is None else Path(to))
        return super().invoke(ctx)


def display_options(*, to: bool = True) -> list[click.Parameter]:
    """`--format`, `--json` and `--to`, for commands that print tables; without `--to` where it means something else."""
    made: list[click.Parameter] = [
        option(
            "--format",
            "Format of the result: what fits the screen, all rows and columns, CSV, or JSON [default: table].",
            type=click.Choice(["table", "wide", "csv", "json"]),
        ),
        option("--json as_json", "Short for --format json.", is_flag=True),
    ]
    where = option(
        "--to to_file", "File (.csv or .json) for all tables, or a folder, also for figures.", type=click.Path()
    )
    return [*made, where] if to else made


def print_result(result: Result, display: Display) -> int:
    """Show a command's result and return the exit code."""
    if display.as_json:
        tables = (*result.tables, *result.more)
        wrote = (*result.wrote, *map(str, display.written(tables)))
        display.json(structs.replace(result, tables=tables, more=(), wrote=wrote))
    else:
        display.show(result.tables, finding=result.finding, more=result.more, notes=result.notes)
        for path in result.wrote:
            print_line(f"wrote {path}")
    return int(ExitCode.GATE_FAILED if result.failed else ExitCode.OK)


def confirm(what: str, yes: bool) -> None:
    """Asks before something is deleted; refuses where nobody can answer, unless the user gave `--yes`."""
    if not yes and not sys.stdin.isatty():
        raise UsageError(f"this deletes {what}; add --yes to confirm.")
    if not yes and not click.confirm(f"Delete {what}?", err=True):
        raise UsageError("nothing was deleted.")


def tell(as_json: bool, value: object, *lines: str) -> None:
    """The result of a command: one JSON value if asked for, else some lines of text."""
    if as_json:
        print_json(value)
        return
    for line in lines:
        print_line(line)


def link_teller(how_to_stop: str, as_json: bool) -> Callable[[str, str], None]:
    """Prints both links when the page opens, and a new one for the owner each time the last was used.

    As JSON each pair is one line, because the server continues and its caller reads line by line.
    """
    told = False

    def tell(link: str, owner: str) -> None:
        nonlocal told
        if as_json:
            click.echo(msgspec.json.encode({"link": link, "owner": owner}))
        elif told:
            click.echo(f"The owner's link was used. For another browser: {owner}")
        else:
            click.echo(f"Link for participants: {link}")
            click.echo(f"Link for you (works once): {owner}")
            print_text(how_to_stop, err=True)
        told = True
        sys.stdout.flush()

    return tell
