"""`sociometer`: finds the command, loads only that one, and turns errors into messages and exit codes."""

import io
import os
import re
import sys
from importlib import import_module
from itertools import pairwise
from typing import Any

import click

from sociometer.core.errors import ExitCode, SociometerError, UsageError, unknown
from sociometer.core.gone import taken_away
from sociometer.core.hints import called, hint
from sociometer.core.version import __version__

GROUPS = {
    "Every day": {
        "run": "Run instruments on models.",
        "resume": "Continue a run that was stopped or killed.",
        "plan": "Show what a run would ask, cost and detect; nothing is sent.",
        "runs": "List the stored runs.",
        "show": "Show one run, or one item of it turn by turn.",
        "compare": "Compare two runs, or rank several.",
        "report": "Write one page about runs, or one of its figures.",
        "view": "Show runs in the browser, also while they play.",
    },
    "People and papers": {
        "study": "Give the same tests to people, in the browser.",
        "sheet": "Let people label the same replies, in files.",
        "paper": "Fill a paper's tables, recompute its figures, rerun its models.",
    },
    "Set up, in and out": {
        "demo": "Rank released results, play every instrument, write a page.",
        "list": "List the instruments, models or other tools; describe one.",
        "get": "Fetch official data or a local model.",
        "check": "Check this machine, the store or an instrument.",
        "export": "Write runs to a file for other tools.",
        "import": "Import scores of any test from a table.",
        "store": "Copy a store; rescore, rename or delete runs in it; delete studies.",
    },
}
COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}
_MODULES = {"import": "imports"}
"""Where a command's module cannot have its name."""


class Commands(click.Group):
    """Loads a command's module only when it is called; each instrument is a command with its own commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *_instruments()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            command = import_module(f"sociometer.cli.{_MODULES.get(cmd_name, cmd_name)}").command
            return command if isinstance(command, click.Command) else None
        if cmd_name in _instruments():
            from sociometer.cli.instrument import instrument_group

            return instrument_group(cmd_name)
        if cmd_name == "gate":
            raise UsageError(f"unknown command 'gate'; see '{hint('compare OLD NEW --fail-if worse')}'.")
        raise unknown("command", cmd_name, self.list_commands(ctx), f"Run '{hint('help')}' to see all.")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(10), text) for name, text in commands.items()])
        with formatter.section("Instruments, with commands of their own (sociometer help NAME)"):
            formatter.write_dl([(name.ljust(10), about) for name, about in _instruments().items()])


def _instruments() -> dict[str, str]:
    """The instruments that are installed, with their titles."""
    from sociometer.instruments import cards  # here, since most commands do not need the cards

    return {name: card.title for name, card in cards().items()}


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    options_metavar="",
    no_args_is_help=False,
    invoke_without_command=True,
)
@click.version_option(__version__, prog_name="sociometer", message="%(prog)s %(version)s")
@click.pass_context
def sociometer_command(ctx: click.Context) -> None:
    """Sociometer measures the social intelligence of language models."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


class _Pipe(io.FileIO):
    """Standard output: what is written after its reader (head, less) has left is dropped, and the command goes on."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            _quiet_end()
            return len(data)


def main() -> None:
    """Run the command line and exit with the command's exit code."""
    # A stream that is closed is replaced before a file is opened, which would get its number.
    sys.stdout, sys.stderr = (
        one or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w") for one in (sys.stdout, sys.stderr)
    )
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if isinstance(usual := sys.stdout, io.TextIOWrapper) and usual is sys.__stdout__ and not usual.isatty():
        pipe = io.BufferedWriter(_Pipe(usual.fileno(), "w", closefd=False))
        sys.stdout = io.TextIOWrapper(pipe, usual.encoding, "replace", write_through=usual.write_through)
    code = run_command(sys.argv[1:])
    if code in (ExitCode.INTERRUPTED, ExitCode.STOPPED):
        # A local model may still be generating in a thread that cannot be interrupted; all results are on disk by now.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def run_command(arguments: list[str]) -> int:
    """Run one command line and return its exit code; `help COMMAND…` is `COMMAND… --help`."""
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    with called():
        return _run(arguments)


def _run(arguments: list[str]) -> int:
    try:
        with sociometer_command.make_context("sociometer", list(arguments)) as context:
            result = sociometer_command.invoke(context)
        sys.stdout.flush()
        return int(result) if isinstance(result, int) else int(ExitCode.OK)
    except SociometerError as error:
        return _tell(arguments, str(error), int(error.exit_code))
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        return _tell(arguments, _click_message(error), int(ExitCode.USAGE))
    except (KeyboardInterrupt, click.Abort):
        return _tell(arguments, "interrupted", int(ExitCode.INTERRUPTED))
    except (OSError, UnicodeError) as error:
        if isinstance(error, BrokenPipeError):
            return _quiet_end()
        where = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
        said = error.strerror if isinstance(error, OSError) else "an argument, or the text of a file, is not UTF-8"
        return _tell(arguments, f"{where}{said}", int(ExitCode.USAGE))
    except (Exception, SystemExit) as error:  # another package may end the process when it is loaded
        sys.excepthook(type(error), error, error.__traceback__)
        told = f"internal error: {type(error).__name__}: {error}. Please report it with the lines above."
        return _tell(arguments, told, int(ExitCode.INTERNAL))


def _click_message(error: click.ClickException) -> str:
    """What is wrong with the words of a command, how it is called, and where its options are described."""
    said = re.sub("a valid (integer|float)( range)?", "a number", error.format_message().rstrip("."))
    said = re.sub("not in the range x>=", "not at least ", re.sub(r"in the range (\S+)<=x<=", r"from \1 to ", said))
    if not isinstance(error, click.UsageError) or (context := error.ctx) is None:
        return said
    if isinstance(error, click.NoSuchOption) and context.parent is None:
        said = f"{said.partition('. ')[0]} before a command; write it after the command"
    elif isinstance(error, click.NoSuchOption) and (instead := taken_away("option", error.option_name)):
        said = f"{said.partition('. ')[0]}: {instead.removesuffix('.')}"
    elif isinstance(error, click.NoSuchOption):
        from sociometer.cli.options import meant_option  # here, since --version and --help do not need it

        meant = meant_option(context, error.option_name)
        said = f"{said.partition('. ')[0]}; write {meant}" if meant else said.removesuffix(". Did you mean '--help'?")
    command, path, more = context.command, context.command_path, hint("help", *context.command_path.split()[1:])
    if isinstance(error, click.exceptions.NoArgsIsHelpError) and isinstance(command, click.Group):
        said = f"'{path}' needs one of its commands: {', '.join(command.list_commands(context))}"
    elif isinstance(error, click.MissingParameter) or said.startswith("Got unexpected"):
        pieces = [one for one in command.collect_usage_pieces(context) if one != "[OPTIONS]"]
        options = [
            f"{one.opts[0]} {one.make_metavar(context)}"
            for one in command.params
            if isinstance(one, click.Option) and (one.required or (one.opts[0], one.metavar) == ("--model", "MODEL"))
        ]
        said += f". Usage: {' '.join([path, *pieces, *options])}"
        said += f". '{hint('runs')}' lists the runs" * any(one.startswith(("RUN", "[RUN")) for one in pieces)
    return f"{said}{'' if said.endswith((')', '?')) else '.'} For more: {more}"


def _quiet_end() -> int:
    # The reader of a pipe (head, less) has seen enough, or a disk is full; Python must not complain about it on exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(ExitCode.OK)


def _tell(arguments: list[str], message: str, code: int) -> int:
    from sociometer.cli.output import print_json, print_text  # here, since --version and --help do not need it

    print_text(f"error: {message}", err=True)
    try:
        if "--json" in arguments or ("--format", "json") in pairwise(arguments):
            print_json({"error": message, "exit_code": code})
        sys.stdout.flush()
    except OSError:  # standard output is full
        _quiet_end()
    return code


if __name__ == "__main__":
    main()
