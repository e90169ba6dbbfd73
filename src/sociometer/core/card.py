"""An instrument's card: its facts, readable without importing its code."""

import math
import tomllib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal, get_args

import msgspec
from msgspec import Struct, structs

from sociometer.core.errors import DataError, unknown
from sociometer.core.language import ENGLISH, languages_in
from sociometer.core.settings import Setting
from sociometer.core.version import __version__
from sociometer.core.words import PART

_SOFTWARE = "@software{sociometer, title = {Sociometer}, author = {{The Sociometer authors}}, year = {2026},"


def column(kind: str, name: str) -> str:
    """The column of a score or a facet in an export; its name needs no quotes in R."""
    return f"{kind}.{name.translate(str.maketrans(' -', '__'))}"


class Paper(Struct, frozen=True):
    """Where the instrument was published."""

    title: str
    authors: str
    year: int
    venue: str = ""
    link: str = ""
    doi: str = ""
    names: str = ""
    """The authors with their given names, as in BibTeX: `Wang, Xuena and Li, Xueting`."""
    proceedings: str = ""
    pages: str = ""

    def bibtex(self, name: str) -> str:
        """An entry for BibTeX; its key has the surname of the first author, the year and the name."""
        authors = self.names or self.authors.replace(" and ", ", ").replace(", ", " and ")
        kind, where = ("inproceedings", "booktitle") if self.proceedings else ("article", "journal")
        facts = (
            ("title", self.title),
            ("author", authors),
            (where, self.proceedings or self.venue),
            ("pages", self.pages),
            ("year", self.year),
            ("doi", self.doi),
            ("url", self.link),
        )
        known = ", ".join(f"{field} = {{{value}}}" for field, value in facts if value)
        return f"@{kind}{{{authors.partition(' ')[0].strip(',').lower()}{self.year}{name}, {known}}}"


NO_PAPER = Paper("", "", 0)


class TaskCard(Struct, frozen=True):
    """One task; `run` plays it by default if `default` is true, else a command plays it."""

    name: str
    title: str
    default: bool = True
    repeats: int = 1
    cluster: str = "item"
    limit: Literal["item", "cluster"] = "item"
    """What `--limit` counts: items, or clusters with all their items."""
    base: bool = False
    """Whether it has a text form for base models (`-o base`)."""
    tools: bool = False
    """Whether the subject may call tools (`-o tools`)."""
    authors_wording: bool = False
    """Whether it can be asked in the authors' own words (`--wording paper`)."""
    official: bool | None = None
    """Whether `run --official` plays it when no task is named; None means the same as `default`."""
    people: bool = True
    """Whether people can take it in a study."""
    needs: tuple[str, ...] = ()
    """Official files, or folders of them, without which `run --official` skips it."""
    paper_items: int = 0
    """How many items the paper has for it; 0 if that depends on settings."""
    paper_clusters: int = 0
    """How many clusters the items of the paper are in; 0 if that is not known."""
    whole_file: str = ""
    """The official file with all of the paper's items; without it, `run --official` plays those that are there."""
    substitutes: str = ""
    """What `run --official` plays in place of the paper's items, and why; empty if it plays the paper's."""

    def part_of_paper(self, items: int, clusters: int, files: Collection[str], *, cut: bool = False) -> str:
        """Which part of the paper's items these are; empty if all. `cut`: the user or an early end left some out."""
        if clusters < self.paper_clusters:
            return f"{clusters} of the paper's {self.paper_clusters} {self.cluster}s"
        if self.paper_items:
            return f"{items} of the paper's {self.paper_items} items" * (items != self.paper_items)
        return f"only {items} of the official items" * (cut or self.whole_file not in ("", *files))


class RoleCard(Struct, frozen=True):
    """A role that tasks use; without a default the user must choose a model (`--role NAME=MODEL`)."""

    name: str
    help: str
    default: str = ""
    tasks: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    """Tasks that use it only if the user names a model."""
    scores: bool = False
    """Whether its replies decide the score, as a judge's do, and not only what the subject meets."""


class MeasureCard(Struct, frozen=True):
    """A measure of a summary: its scale, the chance score and the oracle's score.

    A count has no highest value: `high = inf` in the card, None here.
    """

    task: str
    name: str
    title: str
    unit: Literal["share", "share-points", "points", "number"] = "share"
    low: float | None = 0.0
    high: float | None = 1.0
    better: Literal["higher", "lower", "neither"] = "higher"
    chance: float | None = None
    top: float | None = None
    primary: bool = False
    human: float | None = None
    human_item_deviation: float | None = None
    """The standard deviation of people's values on a single item in the paper."""
    value: str = ""
    """The per-item score value whose clustered mean this measure is (empty: it is not such a mean)."""
    of_items: bool = False
    """Whether it is known from the items alone, so that it says nothing about a subject and is not compared."""
    pairs_of: str = ""
    """The per-item score value that is 1 for a pair if both items of a cluster have 1; compared pair by pair."""
    optional: bool = False
    """Whether only some settings give this value."""
    question: str = ""
    """The question for people who rate an episode in place of a judge; they see A, and B, who is measured."""
    oracle: str = ""
    """The measure of the same task that says what an oracle has on the items played, where this is not always `top`."""

    def __post_init__(self) -> None:
        if self.unit == "share-points" and not self.low:
            msgspec.structs.force_setattr(self, "low", -1.0)
        for end in ("low", "high"):
            if (value := getattr(self, end)) is not None and not math.isfinite(value):
                msgspec.structs.force_setattr(self, end, None)

    @property
    def on_norm(self) -> bool:
        """Whether it is a score on a norm of people (such as an EQ with mean 100)."""
        return self.unit == "points" and self.human is not None

    @property
    def scale(self) -> tuple[float, float] | None:
        """The lowest and the highest possible value; None if one is unknown."""
        return None if self.low is None or self.high is None else (self.low, self.high)


RunOptionOfCommand = Literal["models", "limit", "official", "data", "seed"]
"""Options of `run` that a command of an instrument can have besides those of every command that plays."""


class CommandCard(Struct, frozen=True):
    """A command that only this instrument has: `sociometer INSTRUMENT VERB …`."""

    verb: str
    help: str
    entry: str
    plays: bool = False
    """Whether it plays items: it then has the options `--role`, `--seed`, `-o` and the caps of `run`."""
    settings: tuple[str, ...] = ()
    """The instrument's settings that it uses."""
    takes: tuple[RunOptionOfCommand, ...] = ()
    """The other options of `run` that it has: `models` if it asks a subject, `official` if it reads official files."""
    option: tuple[Setting, ...] = ()


class FileCard(Struct, frozen=True):
    """An official file: its address, and its checksum if known."""

    name: str
    repository: str
    commit: str
    path: str
    sha256: str = ""
    git_blob: str = ""
    """The id of its contents in git, which is checked if `sha256` is unknown."""
    part: str = ""
    """The part of the release that `get data` leaves out unless it is asked for (`dialogues`: `--dialogues`)."""
    prompts: bool = False
    """Whether it holds the authors' prompts, which `--wording paper` reads."""


class ReleasedFile(Struct, frozen=True):
    """A file of a folder of a release; `saved_as` is its name here, if that is another one."""

    name: str
    saved_as: str = ""
    sha256: str = ""
    git_blob: str = ""
    prompts: bool = False


class ReleaseFolder(Struct, frozen=True):
    """Files of one folder of a repository (`path`), which are saved in the folder `to`."""

    files: tuple[ReleasedFile, ...]
    path: str = ""
    to: str = ""
    part: str = ""


class ReleaseCard(Struct, frozen=True):
    """A commit of a repository with official files."""

    repository: str
    commit: str
    folder: tuple[ReleaseFolder, ...]

    def files(self) -> Iterator[FileCard]:
        """Its files, each with its whole address."""
        for folder in self.folder:
            for file in folder.files:
                yield FileCard(
                    name=str(PurePosixPath(folder.to, file.saved_as or file.name)),
                    repository=self.repository,
                    commit=self.commit,
                    path=str(PurePosixPath(folder.path, file.name)),
                    sha256=file.sha256,
                    git_blob=file.git_blob,
                    part=folder.part,
                    prompts=file.prompts,
                )


class PlayerCard(Struct, frozen=True):
    """A player that the instrument includes for a role."""

    name: str
    role: str
    help: str
    stand_in: bool = False
    model_adds: str = ""
    """What a model in its place adds, as the end of a sentence that begins "A model"; `run` and `check` print it."""


class LabelCard(Struct, frozen=True):
    """One question to raters: the column of the sheet that takes the answer, its wording, and the allowed answers."""

    column: str
    question: str
    values: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None


class SheetCard(Struct, frozen=True):
    """A sheet that people fill in: the columns that identify a row, those that raters see, and the questions.

    Raters see nothing else: neither the name of the model nor the automatic verdict.
    """

    name: str
    title: str
    key: tuple[str, ...]
    shown: tuple[str, ...]
    label: tuple[LabelCard, ...]
    entry: str = ""
    """The function in `commands.py` that draws its rows from runs (`sheet write`); empty if a command writes it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a sheet that a command writes; those of the labels, which people fill in, come last."""
        return (*self.key, *self.shown, *(one.column for one in self.label))


class PeopleDataCard(Struct, frozen=True):
    """Released talks of people: a part of the releases that `get data NAME` fetches, or a folder of a repository.

    A folder with too many files to fetch one by one has its repository, commit and path here.
    """

    name: str
    licence: str
    about: str
    repository: str = ""
    commit: str = ""
    folder: str = ""


class Card(Struct, frozen=True):
    """All of card.toml; its texts in other languages are in `texts/<language>.toml`, by the English ones."""

    name: str
    title: str
    version: str
    about: str
    how: str
    task: tuple[TaskCard, ...]
    role: tuple[RoleCard, ...]
    measure: tuple[MeasureCard, ...]
    paper: Paper = NO_PAPER
    """Where it was published; an instrument of ours has no paper."""
    languages: tuple[str, ...] = (ENGLISH,)
    """Those of the folder `prompts`, unless the file names others."""
    setting: tuple[Setting, ...] = ()
    command: tuple[CommandCard, ...] = ()
    release: tuple[ReleaseCard, ...] = ()
    people: tuple[PeopleDataCard, ...] = ()
    player: tuple[PlayerCard, ...] = ()
    sheet: tuple[SheetCard, ...] = ()
    licence: str = ""
    """The licence of the official data, in one sentence."""
    draws: str = ""
    """The version whose random draws (deals, option orders) are used; empty means this one."""
    demo: str = "--limit 1"
    """The options of `run` with which `sociometer demo` plays a small sample; tools/record.py records it."""

    @property
    def citations(self) -> tuple[str, ...]:
        """The entries of the paper, if there is one, and of Sociometer for BibTeX."""
        software = f"{_SOFTWARE} version = {{{__version__}}}}}"
        return (self.paper.bibtex(self.name), software) if self.paper.title else (software,)

    def __repr__(self) -> str:
        return f"<instrument {self.name}: measures {self.about}; tasks: {', '.join(task.name for task in self.task)}>"

    @property
    def file(self) -> tuple[FileCard, ...]:
        """The official files of all releases."""
        return tuple(file for release in self.release for file in release.files())

    def files(self, part: str = "") -> tuple[FileCard, ...]:
        """The official files that `get data` fetches, or those of a part that it fetches when asked."""
        return tuple(file for file in self.file if file.part == part)

    def task_card(self, name: str) -> TaskCard:
        """The task of that name."""
        tasks = {task.name: task for task in self.task}
        if name not in tasks:
            raise unknown(f"{self.name} task", name, tasks)
        return tasks[name]

    def cluster_of(self, task: str) -> str:
        """What the independent parts of a task are, such as stories."""
        return next((one.cluster for one in self.task if one.name == task and one.cluster != "item"), PART)

    def default_tasks(self, *, official: bool = False) -> tuple[str, ...]:
        """The tasks that `run`, or `run --official`, plays when none is named."""
        return tuple(
            task.name
            for task in self.task
            if (task.official if official and task.official is not None else task.default)
        )

    def files_of(self, task: str) -> tuple[FileCard, ...]:
        """The official files without which `run --official` skips a task."""
        needs = self.task_card(task).needs
        return tuple(file for file in self.file if any(f"{file.name}/".startswith(f"{need}/") for need in needs))

    def roles_of(self, task: str) -> tuple[RoleCard, ...]:
        """The roles that a task uses."""
        return tuple(role for role in self.role if task in role.tasks or not (role.tasks or role.optional))

    def default_stand_ins(self) -> dict[str, str]:
        """For each role that a stand-in takes by default, a sentence on what a model adds and how to choose one."""
        defaults = {role.name: role.default for role in self.role}
        return {
            each.role: f"{self.name}: the {each.role} is a stand-in ({each.name}). A model {each.model_adds}:"
            f" add --role {each.role}=MODEL."
            for each in self.player
            if each.stand_in and defaults.get(each.role) == each.name
        }

    @property
    def short_title(self) -> str:
        """The title without its subtitle: “SAGE”."""
        return self.title.split(":", 1)[0]

    def task_title(self, name: str) -> str:
        """The title of a task; its name if the card does not have it."""
        return next((task.title for task in self.task if task.name == name), name)

    def measures_of(self, task: str) -> tuple[MeasureCard, ...]:
        """The measures in a task's summary."""
        return tuple(measure for measure in self.measure if measure.task == task)

    def primary_of(self, task: str) -> MeasureCard | None:
        """The first primary measure of a task that is a mean over items."""
        return next((measure for measure in self.measures_of(task) if measure.primary and measure.value), None)

    def scales(self, task: str) -> dict[str, tuple[float, float]]:
        """The lowest and the highest possible value of each measure of a task that has both."""
        return {one.name: scale for one in self.measures_of(task) if (scale := one.scale) is not None}


NO_CARD = Card("", "", "", "", "", (), (), ())
"""The card of a view without an instrument."""


def read_card(path: Path) -> Card:
    """The card at `path`, or a DataError that says what is wrong with it."""
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
        _refuse_unknown(written, Card)
        card = msgspec.convert({"languages": languages_in(path.parent / "prompts") or (ENGLISH,), **written}, Card)
    except (ValueError, msgspec.ValidationError, RecursionError) as error:
        raise DataError(f"not a valid instrument card: {error}", path) from None
    card = structs.replace(card, setting=tuple(_with_languages(each, card.languages) for each in card.setting))
    return card if any(each.name == "norm" for each in card.setting) else _with_norm(card)


def _refuse_unknown(written: object, kind: type[Struct]) -> None:
    """Raise a ValueError for a field of a file that the record does not have.

    A card that is stored with an imported run is not checked: it may have fields of an earlier version.
    """
    if not isinstance(written, dict):
        return
    fields = {field.name: field.type for field in structs.fields(kind)}
    for name, value in written.items():
        if name not in fields:
            raise ValueError(f"{kind.__name__} has no field '{name}'")
        for part in (fields[name], *get_args(fields[name])):
            if isinstance(part, type) and issubclass(part, Struct):
                for row in value if isinstance(value, list) else [value]:
                    _refuse_unknown(row, part)


PERCENTILE = "percentile"
"""The measure that says how many people of a norm have a worse score."""
NORM = Setting("norm", "Norm file of 'study norms': shows the share of people with a worse score.", kind="path")
"""The setting that every card has; runs without a norm do not store it, as those of earlier versions did not."""


def _with_norm(card: Card) -> Card:
    """The card with the setting `norm`, and with a subject's place among the people of a norm for every task."""
    places = tuple(
        MeasureCard(task.name, PERCENTILE, "Share of people with a worse score", optional=True)
        for task in card.task
        if card.primary_of(task.name)
    )
    return structs.replace(card, setting=(*card.setting, NORM), measure=(*card.measure, *places)) if places else card


def _with_languages(setting: Setting, languages: Sequence[str]) -> Setting:
    """The setting `language` with these choices, besides its own; the default comes first."""
    if setting.name != "language" or setting.kind != "choice":
        return setting
    choices = dict.fromkeys((*languages, *setting.choices))
    return structs.replace(setting, choices=tuple(sorted(choices, key=lambda one: one != setting.default)))
