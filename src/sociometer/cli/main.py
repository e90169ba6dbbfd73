"""`sociometer`: finds the command, loads only that one, and turns errors into messages and exit codes."""

import io
import os
import sys
from importlib import import_module

import click
from click.shell_completion import CompletionItem

from sociometer.core.errors import ExitCode, SociometerError, unknown
from sociometer.core.version import __version__

COMMANDS = {
    "demo": "Play a sample of every instrument and write a page.",
    "run": "Run instruments on models.",
    "resume": "Continue a run that was stopped or killed.",
    "runs": "List the runs in the store.",
    "show": "Show one run, or one item of it turn by turn.",
    "rescore": "Recompute the scores of stored runs.",
    "verify": "Check the store for damaged or inconsistent records.",
    "copy": "Copy a store into another, even while runs are in progress.",
    "export": "Write a run to JSON lines, CSV or Parquet.",
    "list": "List the instruments, or describe one.",
    "models": "List the accepted values for --model; `models pull` fetches a local model.",
    "doctor": "Check what is set up on this machine and what is missing.",
    "init": "Write sociometer.toml, the defaults of a project.",
    "data": "Fetch official data.",
    "compare": "Compare runs item by item, with a verdict.",
    "report": "Write one HTML page about runs.",
    "view": "Show runs in the browser: progress, scores, transcripts, comparisons.",
    "annotate": "Let several raters label the same units.",
    "study": "Give the same tests to people, in the browser.",
    "plot": "Draw one figure for a paper.",
    "paper": "Write the tables and figures of an instrument's paper from your runs.",
    "leaderboard": "Rank subjects, with an interval for each rank.",
    "profile": "Show one subject across all instruments.",
    "reliability": "Compute the reliability of the scores.",
    "reproduce": "Recompute the published figures.",
    "replicate": "Run the models in a paper's tables again and compare the results with the printed figures.",
    "publish": "Write a run as a dataset folder for Hugging Face, or runs as a table of numbers.",
    "adapters": "List the other tools that Sociometer works with.",
}


class Commands(click.Group):
    """Loads a command's module only when it is called; instruments add their own verbs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from sociometer.cli.verbs import verbs

        return [*COMMANDS, *sorted(verbs())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            command = import_module(f"sociometer.cli.{cmd_name}").command
            if not isinstance(command, click.Command):
                return None
            from sociometer.cli.project import with_project

            return _completing(with_project(command))
        from sociometer.cli.verbs import verb_command, verbs

        if cmd_name in verbs():
            return _completing(verb_command(cmd_name))
        raise unknown("command", cmd_name, self.list_commands(ctx), "Run 'sociometer --help' to see all.")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin so, without loading them, and the options."""
        found = [CompletionItem(name, help=COMMANDS.get(name)) for name in self.list_commands(ctx)]
        return [one for one in found if one.value.startswith(incomplete)] + click.Command.shell_complete(
            self, ctx, incomplete
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from sociometer.cli.verbs import takers, verbs

        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        if verbs():
            with formatter.section("Commands for single instruments (sociometer VERB INSTRUMENT …)"):
                formatter.write_dl([(name, ", ".join(takers(name))) for name in sorted(verbs())])


def _completing(command: click.Command) -> click.Command:
    if "_SOCIOMETER_COMPLETE" not in os.environ:
        return command
    from sociometer.cli.completion import with_offers

    return with_offers(command)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="sociometer", message="%(prog)s %(version)s")
def sociometer_command() -> None:
    """Sociometer measures the social intelligence of language models."""


def main() -> None:
    """Run the command line and exit with the command's exit code."""
    if "_SOCIOMETER_COMPLETE" in os.environ:
        from sociometer.cli.completion import complete  # here, since other commands do not need what it offers

        sys.exit(complete(sociometer_command))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    code = run_command(sys.argv[1:])
    if code in (ExitCode.INTERRUPTED, ExitCode.STOPPED):
        # A local model may still be generating in a thread that cannot be interrupted; all results are on disk by now.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def run_command(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
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
        return _tell(arguments, error.format_message(), int(ExitCode.USAGE))
    except (KeyboardInterrupt, click.Abort):
        return _tell(arguments, "interrupted", int(ExitCode.INTERRUPTED))
    except (OSError, UnicodeError) as error:
        if isinstance(error, BrokenPipeError):
            return _quiet_end()
        where = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
        return _tell(
            arguments, f"{where}{error.strerror if isinstance(error, OSError) else error}", int(ExitCode.USAGE)
        )


def _quiet_end() -> int:
    # The reader of a pipe (head, less) has seen enough; Python must not complain about it on exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(ExitCode.OK)


def _tell(arguments: list[str], message: str, code: int) -> int:
    from sociometer.cli.output import harmless

    sys.stderr.write(f"error: {harmless(message)}\n")
    if "--json" in arguments:
        import msgspec

        sys.stdout.write(msgspec.json.encode({"error": message, "exit_code": code}).decode() + "\n")
    return code


if __name__ == "__main__":
    main()
