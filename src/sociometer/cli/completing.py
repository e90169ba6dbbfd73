"""Shell completion: loads as little as possible, writes nothing, and hides errors."""

import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    split_arg_string,
)

from sociometer.cli import offers
from sociometer.cli.format_names import formats_of
from sociometer.cli.main import COMMANDS, Commands, sociometer_command
from sociometer.cli.offers import known_cards

if TYPE_CHECKING:
    from sociometer.core.card import CommandCard

VARIABLE = "_SOCIOMETER_COMPLETE"
_ASSIGNMENT = re.compile(r"\w+=")

_BASH = """\
_sociometer_completion() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            plain,*) COMPREPLY+=("${line#plain,}") ;;
            file,*) compopt -o default 2>/dev/null ;;
            dir,*) compopt -o dirnames 2>/dev/null ;;
        esac
    done < <(COMP_WORDS="${COMP_LINE:0:COMP_POINT}" _SOCIOMETER_WORDBREAKS="$COMP_WORDBREAKS" \\
        _SOCIOMETER_COMPLETE=bash_complete "$1" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o nosort -F _sociometer_completion sociometer 2>/dev/null ||
    complete -F _sociometer_completion sociometer
"""

_ZSH = """\
#compdef sociometer
_sociometer_completion() {
    local -a lines whole begun
    local kind value
    lines=("${(@f)$(COMP_WORDS="${(pj: :)words[1,CURRENT]}" COMP_CWORD=$((CURRENT-1)) \\
        _SOCIOMETER_COMPLETE=zsh_complete "${words[1]}" 2>/dev/null)}")
    for kind value in $lines; do
        case $kind in
            plain) if [[ ${value%%:*} == *[/=] ]]; then begun+=("$value"); else whole+=("$value"); fi ;;
            file) _files ;;
            dir) _files -/ ;;
        esac
    done
    (( $#whole )) && _describe -V sociometer whole
    (( $#begun )) && _describe -V sociometer begun -S ''
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _sociometer_completion "$@"
else
    compdef _sociometer_completion sociometer
fi
"""

POSITIONS = {
    "show": ("run", "item"),
    "resume": ("run",),
    "rescore": ("runs",),
    "verify": ("run",),
    "export": ("run",),
    "compare": ("runs",),
    "report": ("runs",),
    "run": ("instruments",),
    "list": ("instrument",),
    "reproduce": ("instruments",),
    "leaderboard": ("instrument", "runs"),
    "reliability": ("instrument", "runs"),
}
"""The arguments of commands that are completed without loading the command."""


def answer() -> int:
    """Print the completions and return the exit code; errors give fewer completions and no message."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere, suppress(Exception):  # noqa: PTH123
        sys.stderr = nowhere
        shell, _, wanted = os.environ.get(VARIABLE, "").partition("_")
        words = make_shell(shell).complete() if wanted == "complete" else ""
        sys.stdout.buffer.write(words.encode() + b"\n" if words else b"")
        sys.stdout.flush()
    sys.stderr = sys.__stderr__
    return 0


def make_shell(shell: str) -> ShellComplete:
    """The completion of a shell."""
    made: dict[str, type[ShellComplete]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}
    group = _Offering("sociometer", params=sociometer_command.params)
    return made[shell](group, {}, "sociometer", VARIABLE)


class _Completing(ShellComplete):
    """Completes the first arguments of common commands without loading these commands."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """The completions of the half-typed word; empty if they cannot be determined."""
        with suppress(Exception):
            if (found := _quickly(args, incomplete)) is not None:
                return found
            self.ctx_args = {"obj": args}
            found = super().get_completions(args, incomplete)
            option, equals, _ = incomplete.partition("=")
            if equals and option.startswith("-"):
                return [CompletionItem(f"{option}={item.value}", item.type, item.help) for item in found]
            return found
        return []


class _Bash(_Completing, BashComplete):
    """Completion for bash, which splits words at some characters."""

    def source(self) -> str:
        """The script that bash reads."""
        return _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the cursor, as the user typed them, and the half-typed one."""
        line = os.environ["COMP_WORDS"]
        words = split_arg_string(line)
        incomplete = "" if not words or line[-1:].isspace() else words.pop()
        while words and _ASSIGNMENT.match(words[0]):
            words.pop(0)
        return words[1:], incomplete

    def complete(self) -> str:
        """The completions without the part that bash keeps: everything before a word-breaking character."""
        args, incomplete = self.get_completion_args()
        breaks = os.environ.get("_SOCIOMETER_WORDBREAKS", "")
        kept = max((incomplete.rfind(mark) + 1 for mark in breaks), default=0)
        found = self.get_completions(args, incomplete)
        return "\n".join(f"{item.type},{item.value[kept:] if item.type == 'plain' else ''}" for item in found)


class _Zsh(_Completing, ZshComplete):
    """Completion for zsh, which shows an explanation next to each word."""

    def source(self) -> str:
        """The script that zsh reads."""
        return _ZSH

    def format_completion(self, item: CompletionItem) -> str:
        """Two lines: the kind, and the word with its explanation."""
        word = str(item.value).replace("\\", "\\\\").replace(":", "\\:")
        return f"{item.type}\n{word}{':' + item.help if item.help else ''}"


class _Fish(_Completing, FishComplete):
    """Completion for fish, with click's own script."""

    def format_completion(self, item: CompletionItem) -> str:
        """The kind and the word, and its explanation without the commas at which the script would cut it."""
        explanation = (item.help or "").replace(",", ";")
        return super().format_completion(CompletionItem(item.value, item.type, explanation or None))


def _quickly(args: list[str], incomplete: str) -> list[CompletionItem] | None:
    """The completions of an argument in `POSITIONS`; None if the command itself must be loaded."""
    if not args or incomplete.startswith("-") or any(word.startswith("-") for word in args):
        return None
    kinds = POSITIONS.get(args[0], ())
    place = min(len(args) - 1, len(kinds) - 1)
    if not kinds or (len(args) > len(kinds) and not kinds[-1].endswith("s")):
        return None
    command = click.Command(args[0])
    context = click.Context(command, info_name=args[0], obj=args, resilient_parsing=True)
    context.params = dict(zip(kinds, args[1:], strict=False)) if place else {}
    return offers.matching(_FINDERS[kinds[place]](context, incomplete), incomplete)


_FINDERS = {
    "run": offers.runs,
    "runs": offers.runs,
    "item": offers.items,
    "instrument": offers.instruments,
    "instruments": offers.instruments,
    "subject": offers.subjects,
    "task": offers.tasks,
    "tasks": offers.tasks,
    "models": offers.models,
    "roles": offers.roles,
}


class _Offering(Commands):
    """The commands with what can be offered for their parameters; names are listed without loading anything."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin so, or the options."""
        if any(not word.startswith("-") for word in ctx.obj or ()):
            return []
        own = ((verb, ", ".join(sorted(instruments))) for verb, instruments in sorted(_verbs().items()))
        found = offers.matching((*COMMANDS.items(), *own), incomplete)
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None."""
        if cmd_name in COMMANDS:
            return offering(super().get_command(ctx, cmd_name))
        return _Verb(cmd_name) if cmd_name in _verbs() else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of a line; a verb of one instrument may be followed by something other than the instrument."""
        name, command, rest = super().resolve_command(ctx, args)
        if isinstance(command, _Verb) and len(only := command.list_commands(ctx)) == 1 and rest and rest[0] != only[0]:
            return name, command.get_command(ctx, only[0]), rest
        return name, command, rest


class _Verb(click.Group):
    """A command of instruments, as a group of one command for each instrument."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The instruments that have it, and the formats that `import` takes."""
        return [*sorted(_verbs()[str(self.name)]), *self._formats()]

    def _formats(self) -> dict[str, str]:
        return formats_of(str(self.name))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of one instrument or format."""
        from sociometer.cli.formats import format_command
        from sociometer.cli.verbs import instrument_command

        if cmd_name in self._formats():
            return offering(format_command(cmd_name))
        card = _verbs()[str(self.name)].get(cmd_name)
        return offering(instrument_command(known_cards()[cmd_name], card)) if card else None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The instruments, and the options if there is only one."""
        names = self.list_commands(ctx)
        titles = self._formats() | {name: card.title for name, card in known_cards().items() if name in names}
        found = offers.matching(((name, titles[name]) for name in names), incomplete)
        only = self.get_command(ctx, names[0]) if len(names) == 1 else None
        return found + (only.shell_complete(ctx, incomplete) if only and incomplete.startswith("-") else [])


def _verbs() -> "dict[str, dict[str, CommandCard]]":
    offered: dict[str, dict[str, CommandCard]] = {}
    for card in known_cards().values():
        for command in card.command:
            offered.setdefault(command.verb, {})[card.name] = command
    return offered


def offering(command: click.Command | None) -> click.Command | None:
    """The command with words to offer for its parameters and for those of its subcommands."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            offering(inner)
    if command is not None:
        offer(command.params, command.name or "")
    return command


def offer(params: list[click.Parameter], command: str = "") -> None:
    """Gives parameters the type that offers words for them."""
    for param in params:
        name = (param.name or "").removeprefix("setting_")
        if name == "name" and command in ("pull", "remove"):
            param.type = offers.Offered(offers.pullable)
        elif name in _FINDERS and not isinstance(param.type, click.Path | click.Choice):
            param.type = offers.Offered(_FINDERS[name])
