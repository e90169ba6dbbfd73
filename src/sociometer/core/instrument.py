"""An instrument: its card, tasks, players, figures and commands, and what a command shows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from sociometer.core.card import Card, read_card
from sociometer.core.conversation import Event
from sociometer.core.errors import unknown
from sociometer.core.language import texts_in
from sociometer.core.measure import Figure, PublishedFigure, Table
from sociometer.core.paper import PaperInput, PaperPart, ReplicationPlan
from sociometer.core.player import Player
from sociometer.core.prompts import Prompts
from sociometer.core.settings import Settings
from sociometer.core.source import AuthorsPrompt, Source
from sociometer.core.task import AnyRun, Item, Task

SHARED_PROMPTS = Path(__file__).parent / "shared_prompts"


class Instrument:
    """One test: its card, its tasks, players, figures and commands."""

    def __init__(
        self,
        folder: Path,
        tasks: Sequence[Task[Any, Any]],
        *,
        card: Card | None = None,
        players: Mapping[str, Callable[[], Player]] | None = None,
        figures: Callable[[Sequence[AnyRun]], Sequence[Figure]] | None = None,
        beside: Callable[[Any, Any], Figure | None] | None = None,
        reproduce: Callable[[Source], Iterable[PublishedFigure]] | None = None,
        paper: Callable[[PaperInput], Sequence[PaperPart]] | None = None,
        authors_prompts: Callable[[Settings, Sequence[str]], Iterable[AuthorsPrompt]] | None = None,
        replications: Callable[[], ReplicationPlan] | None = None,
        notices: Callable[[Mapping[str, str], Mapping[str, str], str], Iterable[str]] = lambda *_: (),
        caveat: Callable[[AnyRun], str] = lambda run: "",
    ) -> None:
        """`folder` holds card, prompts and data; `beside` draws what is shown next to a transcript.

        `authors_prompts` gives the prompts of the authors that these settings and tasks need (`--wording paper`),
        `replications` the published rows that `sociometer paper replicate` plays. `paper` fills every table and figure
        of the paper for `sociometer paper`, or says why it cannot. `notices` gives what `run` says about the players of
        a run, from their names and from what the user typed (nothing: what must be beside its numbers), by role, and
        the version. `caveat` gives
        what the first lines of a report must say beside the numbers of a run; empty for nothing.
        """
        self.folder = folder
        self.card = card or read_card(folder / "card.toml")
        self.tasks = {task.name: task for task in tasks}
        self.players = dict(players or {})
        self.figures = figures
        self.beside = beside
        self.reproduce = reproduce
        self.paper = paper
        self.authors_prompts = authors_prompts
        self.replications = replications
        self.notices = notices
        self.caveat = caveat

    def task(self, name: str) -> Task[Any, Any]:
        """The task of that name."""
        if name not in self.tasks:
            raise unknown(f"{self.card.name} task", name, self.tasks)
        return self.tasks[name]

    def prompts(self, override: str = "", authors: Mapping[tuple[str, str], str] | None = None) -> Prompts:
        """The prompts; the authors' and those in `override` replace them."""
        folder = Path(override) if override else None
        return Prompts(self.folder / "prompts", folder, SHARED_PROMPTS, authors)

    def for_raters(self, language: str, sheet: str = "") -> dict[str, str]:
        """What raters of episodes, or of a sheet, read in a language, by the English texts."""
        texts = texts_in(self.folder / "texts", language)
        return {**texts.get("raters", {}), **texts.get("sheet", {}).get(sheet, {})}


class Result(Struct, frozen=True, omit_defaults=True):
    """What a command shows: first the finding, then tables on the terminal, everything with `--json`.

    `more` are tables that the terminal shows only with `--format wide`. `failed` makes the exit code 1 (a gate that
    did not hold, a lint that found something).
    """

    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    wrote: tuple[str, ...] = ()
    data: dict[str, Any] = {}
    failed: bool = False
    finding: str = ""
    more: tuple[Table, ...] = ()


class FinishedEpisode(Struct, frozen=True):
    """An episode that was played elsewhere and is now imported."""

    item: Item
    outcome: Struct
    events: tuple[Event, ...] = ()
    repeat: int = 0
