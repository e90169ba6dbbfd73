"""Makes the plan of a run from its configuration: everything is checked before anything is sent."""

import hashlib
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import msgspec
from msgspec import Struct, structs

from sociometer.core.card import NORM, Card
from sociometer.core.config import RunConfig
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import DataError, UsageError, hint, unknown
from sociometer.core.instrument import Instrument
from sociometer.core.player import Player
from sociometer.core.prompts import Prompts
from sociometer.core.session import RoleBinding
from sociometer.core.settings import Settings, is_paper
from sociometer.core.source import Source, authors_texts
from sociometer.core.task import Item, StoppingRule, Task, asked_items, items_digest, order_of_play, sample
from sociometer.core.version import __version__
from sociometer.core.words import first_of, listed
from sociometer.engine.data import data_files, data_folders, with_whole_paths
from sociometer.engine.prices import Prices, entry_of, price_of, read_prices
from sociometer.engine.progress import Progress
from sociometer.engine.roles import bind_roles
from sociometer.models.keys import KeyPolicy
from sociometer.store.records import Manifest, RoleRecord, RunRecord

_HELD = 10_000
ReadLists = dict[object, "ItemList"]
"""The item lists of the plans of one command, by what chooses them."""


class ItemList:
    """The items of a task, all read once before anything is sent, so that a bad row is found before the run starts.

    A short list stays in memory; a long one is read again.
    """

    def __init__(self, task: str, read: Callable[[], Iterable[Item]]) -> None:
        self._read = read
        self._held: list[Item] = []
        self.clusters: set[str] = set()
        contents: dict[str, bytes] = {}
        for item in read():
            if item.id in contents:
                raise DataError(f"item id '{item.id}' appears twice in task {task}; ids must be unique.")
            contents[item.id] = item.content_digest()
            self.clusters.add(item.cluster)
            if len(contents) <= _HELD:
                self._held.append(item)
        self.count, self.asked = len(contents), asked_items(contents)
        self.digest = items_digest(contents)
        if not contents:
            raise DataError(f"task {task} has no items with these settings; nothing was played.")

    def __iter__(self) -> Iterator[Item]:
        return iter(self._held if len(self._held) == self.count else self._read())

    def shuffled(self, seed: int) -> Iterator[tuple[int, Item]]:
        """The items in the order of play, each with its place in the list; those of a long list wait in a file."""
        order = order_of_play(self.count, seed)
        if len(self._held) == self.count:
            yield from ((place, self._held[place]) for place in order)
            return
        encode, decode = msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder(type(self._held[0])).decode
        with TemporaryFile() as file:
            ends = list(accumulate((file.write(encode(item)) for item in self._read()), initial=0))
            for place in order:
                file.seek(ends[place])
                yield place, decode(file.read(ends[place + 1] - ends[place]))


COUNTED_FACTS = (
    "instrument_version", "roles", "repeats", "prompts_digest", "data_files", "norms", "episodes", "given_items",
    "imported", "card", "official_files",
)  # fmt: skip
"""What makes two runs the same, besides the choices that `RunConfig.counted` names: these facts of the manifest."""


class Plan(Struct, frozen=True, kw_only=True):
    """What is chosen for a run; its configuration has all tasks and settings. It holds no weights and no connections.

    `ReadPlan` also has the items, and `StoredPlan` the run in the store.
    """

    config: RunConfig
    instrument: Instrument
    tasks: tuple[Task[Any, Any], ...]
    bindings: dict[str, RoleBinding]
    settings: Settings
    prompts: Prompts
    prices: Prices
    command_items: tuple[Item, ...] | None = None
    """Items from a command, in place of the task's own."""
    skipped: tuple[str, ...] = ()
    """Which tasks of the official suite are not played because files are missing, in words."""

    @property
    def players(self) -> tuple[Player, ...]:
        """The players of all roles, each once."""
        return tuple({id(one.player): one.player for one in self.bindings.values()}.values())

    @property
    def draws(self) -> str:
        """The version that random draws follow from."""
        return self.instrument.card.draws or self.instrument.card.version

    def source(self) -> Source:
        """The source of items."""
        folders, config = data_folders(self.config.data_folder), self.config
        return Source(self.settings, self.prompts, config.instrument, config.official, folders, config.seed)

    def repeats(self, task: str) -> int:
        """The number of times each item of a task is played."""
        return self.config.repeats or self.instrument.card.task_card(task).repeats

    def items(self, task: Task[Any, Any]) -> Iterable[Item]:
        """The items of a task that were chosen."""
        if self.command_items is not None:
            return self.command_items
        config, chosen = self.config, frozenset(self.config.items)

        def read() -> Iterable[Item]:
            return (item for item in task.items(self.source()) if not chosen or item.id in chosen)

        whole = self.instrument.card.task_card(task.name).limit == "cluster"
        found = sample(read, config.limit, config.seed, whole_clusters=whole)
        return self._of_norm(task, list(found)) if self.settings.get("norm") else found

    def _of_norm(self, task: Task[Any, Any], items: list[Item]) -> list[Item]:
        """The items, if the people of the given norm took them too."""
        roles = {name: one.label for name, one in self.bindings.items()}
        if why := task.fits(msgspec.to_builtins(task.norm(self.source())), items, roles):
            raise UsageError(f"--norm: {why}")
        return items

    def item_lists(self, read: ReadLists | None = None) -> dict[str, ItemList]:
        """The items of every task, all read once; a bad row or an empty list raises an error.

        Plans that choose the same items share the lists in `read`.
        """
        config, known = self.config, {} if read is None or self.command_items is not None else read
        same = (
            config.instrument, config.official, config.data_folder, self.prompts.digest(), config.seed, config.limit,
            config.items, msgspec.json.encode(self.settings, order="deterministic"),
        )  # fmt: skip
        for task in self.tasks:
            if (task.name, same) not in known:
                known[task.name, same] = ItemList(task.name, partial(self.items, task))
        return {task.name: known[task.name, same] for task in self.tasks}

    def described(self) -> Manifest:
        """The record that makes the run repeatable, without the number and the digests of its items."""
        files = data_files(self.instrument, self.source())
        prices = {role: price_of(self.prices, binding) for role, binding in self.bindings.items()}
        return Manifest(
            config=self.config.only("stored"),
            instrument_version=self.instrument.card.version,
            roles={
                role: RoleRecord(binding.spec, binding.player.identity, binding.label, binding.player.code_digest)
                for role, binding in self.bindings.items()
            },
            repeats={task.name: self.repeats(task.name) for task in self.tasks},
            prompts_digest=self.prompts.digest(self.settings.get("language")),
            data_files=files,
            official_files=self._has_official_files(files),
            norms={task.name: msgspec.to_builtins(task.norm(self.source())) for task in self.tasks},
            sociometer_version=__version__,
            python_version=platform.python_version(),
            platform=f"{sys.platform} {platform.machine()}",
            given_items=self.command_items is not None,
            prices_as_of={role: str(price.as_of) for role, price in prices.items() if price and price.input},
        )

    def _has_official_files(self, files: Mapping[str, str]) -> bool:
        """Whether no official file has another checksum; a folder of the user's must also have one with items."""
        card = self.instrument.card
        pinned = {file.name: file.sha256 for file in card.file}
        named = any(file.name in files for file in card.files() if not file.prompts)
        known = named or not self.config.data_folder
        return known and all(pinned.get(name) in (None, "", found) for name, found in files.items())

    def with_items(self, lists: dict[str, ItemList] | None = None) -> "ReadPlan":
        """The plan with the items of every task; a bad row or an empty list raises an error."""
        lists = self.item_lists() if lists is None else lists
        total = sum(items.count * self.repeats(task) for task, items in lists.items())
        digests = {task: items.digest for task, items in lists.items()}
        # people take the items in the order of the file or of their study
        people = any(binding.player.identity.wire == "human" for binding in self.bindings.values())
        shuffled = {} if people or self.command_items is not None else {task: one.count for task, one in lists.items()}
        manifest = structs.replace(self.described(), episodes=total, items_digests=digests, shuffled=shuffled)
        return ReadPlan(**structs.asdict(self), lists=lists, manifest=manifest, config_hash=self.hash_of(manifest))

    def hash_of(self, manifest: Manifest) -> str:
        """The same for the same command on the same models, items and prompts, wherever its files are."""
        facts = {name: getattr(manifest, name) for name in COUNTED_FACTS}
        given = [] if self.command_items is None else [msgspec.to_builtins(item) for item in self.command_items]
        body = msgspec.json.encode((manifest.config.counted, facts, given), order="deterministic")
        return hashlib.sha256(body).hexdigest()[:32]

    def reusable(self) -> bool:
        """Whether an earlier run of the same command may be continued: only if all identities are certain."""
        identities = [binding.player.identity for binding in self.bindings.values()]
        return not self.config.fresh and all(one.certain and one.wire != "human" for one in identities)


class ReadPlan(Plan, frozen=True, kw_only=True):
    """A plan with its items: every row was read once, and nothing was sent."""

    lists: dict[str, ItemList]
    """The items of every task."""
    manifest: Manifest
    config_hash: str

    @property
    def total(self) -> int:
        """The number of episodes to play."""
        return sum(items.count * self.repeats(task) for task, items in self.lists.items())

    @property
    def incomplete(self) -> tuple[str, ...]:
        """Which tasks have a part of the paper's items that the user did not choose, in words."""
        files, card, chosen = self.manifest.data_files, self.instrument.card, self.config.limit or self.config.items
        lists = self.lists.items() if self.manifest.whose_items == "official" and not chosen else ()
        parts = ((task, card.task_card(task).part_of_paper(one.asked, len(one.clusters), files)) for task, one in lists)
        return tuple(f"task {task} has {part}" for task, part in parts if part)


class StoredPlan(ReadPlan, frozen=True, kw_only=True):
    """A plan with its run in the store, ready to be played."""

    run: RunRecord
    note: str = ""
    """What to know about its subject before it is played; empty if nothing."""
    served: str = ""
    """What the server called the model of the subject before; empty if it never answered."""
    new: bool = False
    """Whether the run was made for this plan, and not by an earlier start."""
    rule: StoppingRule | None = None
    before: Progress | None = None
    """The counters of the last round of a ranking."""


def make_plan(
    config: RunConfig,
    instrument: Instrument,
    *,
    items: Iterable[Item] | None = None,
    bindings: dict[str, RoleBinding] | None = None,
    players: Mapping[str, Player] | None = None,
    sends: bool = True,
    keys: KeyPolicy | None = None,
) -> Plan:
    """Make the plan; raise a UsageError before anything is sent if something is wrong.

    `bindings` replace the players that the configuration names. `keys` is given for a stored run.
    """
    settings = with_whole_paths(instrument.card, Settings.chosen(instrument.card.setting, config.settings))
    names = _tasks(config, instrument.card, in_authors_words=is_paper(settings))
    theirs = [one.name for one in instrument.card.task if one.official and not one.default and one.name in config.tasks]
    if theirs and not (config.official or items or bindings is not None or keys):
        raise UsageError(f"the items of {listed(theirs)} are the authors'; add --official, or leave out --task.")
    stored = [one.name for one in instrument.card.setting if one != NORM or settings[one.name] is not None]
    plan = Plan(
        config=structs.replace(config, tasks=names, settings={name: settings[name] for name in stored}),
        instrument=instrument,
        tasks=tuple(instrument.task(name) for name in names),
        bindings=bindings or {},
        settings=settings,
        prompts=instrument.prompts("" if is_paper(settings) else config.prompts_folder),
        prices=read_prices(),
        command_items=None if items is None else tuple(items),
    )
    if not config.tasks and config.official:
        plan = _without_missing_files(plan)
    if is_paper(settings):
        plan = _in_authors_words(plan)
    if config.items and items is None:
        plan = _with_chosen_items(plan)
    if bindings is not None:
        return plan
    bindings = bind_roles(instrument, plan.config.tasks, config, players=players, sends=sends, keys=keys)
    _refuse_unknown_prices(config, bindings, plan.prices)
    return _with_tools(structs.replace(plan, bindings=bindings))


def _with_tools(plan: Plan) -> Plan:
    """The plan with the way in which the subject uses the tools of its tasks, if they have any."""
    config, card = plan.config, plan.instrument.card
    if not any(card.task_card(name).tools for name in config.tasks):
        if config.tools:
            raise UsageError("-o tools is for tasks whose subject has tools, such as helpdesk/cases; leave it out.")
        return plan
    able = plan.bindings[SUBJECT].player.abilities.calls_tools
    if config.tools == "called" and not able:
        raise UsageError(f"{config.subject_label} cannot be given tools to call; leave out -o tools=called.")
    return structs.replace(plan, config=structs.replace(config, tools=config.tools or ("called" if able else "told")))


def _in_authors_words(plan: Plan) -> Plan:
    """The plan with the authors' prompts, and by default without a second question, which they did not ask.

    Raises a DataError if one of their files is missing or has another structure.
    """
    config, instrument = plan.config, plan.instrument
    own = Path(config.prompts_folder) if config.prompts_folder else None
    wanted = instrument.authors_prompts(plan.settings, config.tasks) if instrument.authors_prompts else ()
    texts = authors_texts(wanted, plan.source(), own)
    config = structs.replace(config, second_question=bool(config.second_question))
    prompts = instrument.prompts(config.prompts_folder, texts)
    return structs.replace(plan, config=config, prompts=prompts)


def _tasks(config: RunConfig, card: Card, *, in_authors_words: bool) -> tuple[str, ...]:
    """The tasks to play; without a choice of the user, those that can be answered in the chosen way."""
    if in_authors_words and config.base:
        raise UsageError("--wording paper has no text for base models; leave out -o base or --wording.")
    able = {
        task.name
        for task in card.task
        if (task.base or not config.base) and (task.authors_wording or not in_authors_words)
    }
    default = card.default_tasks(official=config.official)
    names = tuple(config.tasks) or tuple(task for task in default if task in able)
    for name in names or default[:1]:
        if card.task_card(name).name not in able:
            task = card.task_card(name)
            if in_authors_words and not task.authors_wording:
                option, what = "--wording paper", "prompt that the authors released"
            else:
                option, what = "-o base", "text form for base models"
            known = f"; tasks of {card.name} that can: {', '.join(sorted(able))}" if able else ""
            raise UsageError(f"{card.name}/{name} has no {what}, so it cannot be played with {option}{known}.")
    return names


def _without_missing_files(plan: Plan) -> Plan:
    """The plan without the tasks whose official files are missing; a DataError if no task is left."""
    source, card = plan.source(), plan.instrument.card
    missing = {
        task.name: [f"'{file.name}'" for file in card.files_of(task.name) if source.find(file.name) is None]
        for task in plan.tasks
    }
    tasks = tuple(task for task in plan.tasks if not missing[task.name])
    skipped = tuple(
        f"task {name} skipped: official file {first_of(files, 1)} not found" for name, files in missing.items() if files
    )
    if skipped and not tasks:
        raise DataError(
            f"no official file of {card.name} found; run '{hint('get data', card.name)}' or give --data DIR."
        )
    config = structs.replace(plan.config, tasks=tuple(task.name for task in tasks))
    return structs.replace(plan, config=config, tasks=tasks, skipped=skipped)


def _with_chosen_items(plan: Plan) -> Plan:
    """The plan with only the tasks that have one of the items the user named; an id that none has is an error."""
    ids = {task: {item.id for item in task.items(plan.source())} for task in plan.tasks}
    known = set[str]().union(*ids.values())
    for item in plan.config.items:
        if item not in known:
            raise unknown(f"{plan.instrument.card.name} item", item, known)
    tasks = tuple(task for task in plan.tasks if not ids[task].isdisjoint(plan.config.items))
    config = structs.replace(plan.config, tasks=tuple(task.name for task in tasks))
    return structs.replace(plan, config=config, tasks=tasks)


def _refuse_unknown_prices(config: RunConfig, bindings: dict[str, RoleBinding], prices: Prices) -> None:
    if config.caps.max_cost is None:
        return
    for binding in bindings.values():
        if price_of(prices, binding) is None:
            raise UsageError(
                f"the price of '{binding.label}' is unknown, so --max-cost cannot be guaranteed; add"
                f" {entry_of(binding.spec)}, or use --max-requests or --max-tokens."
            )
