"""What click's shell completion offers for our arguments: runs, instruments and models. Errors offer nothing."""

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress

import click
from click.shell_completion import CompletionItem, shell_complete

from sociometer.core.settings import SettingValue
from sociometer.instruments import cards
from sociometer.models.baselines import baselines
from sociometer.models.files import LOCAL_MODELS
from sociometer.models.presets import PRESETS
from sociometer.store.place import default_path, parse_place
from sociometer.store.store import Store

VARIABLE = "_SOCIOMETER_COMPLETE"


def complete(command: click.Group) -> int:
    """Print what the shell asked for and return the exit code."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere, suppress(Exception):  # noqa: PTH123
        sys.stderr = nowhere
        return shell_complete(command, {}, "sociometer", VARIABLE, os.environ[VARIABLE])
    return 0


def with_offers(command: click.Command) -> click.Command:
    """The command with what can be offered for its parameters and for those of its subcommands."""
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        with_offers(inner)
    for param in command.params:
        if param.name in _OFFERS and not isinstance(param.type, click.Path | click.Choice):
            param.type = _Offered(_OFFERS[param.name])
    return command


class _Offered(click.types.StringParamType):
    def __init__(self, find: Callable[[click.Context], Iterable[tuple[str, str]]]) -> None:
        self._find = find

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(word, help=what) for word, what in self._find(ctx) if word.startswith(incomplete)]


def _instruments(ctx: click.Context) -> Iterable[tuple[str, str]]:
    return ((name, card.title) for name, card in cards().items())


def _models(ctx: click.Context) -> Iterable[tuple[str, str]]:
    yield from ((f"{name}/", preset.title) for name, preset in PRESETS.items())
    yield from ((f"local/{name}", model.help) for name, model in LOCAL_MODELS.items())
    yield from ((f"baseline/{name}", what) for name, what in baselines().items())


def _runs(ctx: click.Context) -> Iterable[tuple[str, str]]:
    given: SettingValue = ctx.params.get("store") or os.environ.get("SOCIOMETER_STORE")
    place = parse_place(str(given)) if given else default_path()
    if place.exists():
        with Store(place) as store:
            for run in reversed(list(store.runs.all())):
                yield run.name or run.id, f"{run.instrument}, {run.subject}, {run.status}"
    yield "last", "the newest run"


_OFFERS = {
    "instrument": _instruments, "instruments": _instruments, "models": _models, "run": _runs, "runs": _runs,
    "words": lambda ctx: (*_runs(ctx), *_instruments(ctx)),
}  # fmt: skip
