"""From what the user asked for to what will be played: everything is looked up and checked before anything is sent."""

import hashlib
import platform
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

import sociometer
from sociometer.core.caps import Caps
from sociometer.core.errors import UsageError
from sociometer.core.prompts import Prompts
from sociometer.core.settings import Settings
from sociometer.core.source import Source
from sociometer.core.task import Instrument, Item, Task
from sociometer.engine.config import RunConfig
from sociometer.engine.data import (
    bundled_checksum,
    data_folders,
    official_checksums,
    setting_checksums,
    with_whole_paths,
)
from sociometer.engine.prices import Prices, read_prices
from sociometer.engine.roster import Roster
from sociometer.engine.seating import seat_record, seat_roles
from sociometer.engine.selection import select, unique
from sociometer.engine.session import Seat
from sociometer.models.replay import RecordedReplies
from sociometer.store.records import Manifest

_UNREPEATABLE = ("human", "replay")
"""Who answers by turn, so that beginning again in the middle would give other answers."""


class Plan(Struct, frozen=True):
    """A run that is ready to be played."""

    config: RunConfig
    instrument: Instrument
    folder: Path
    tasks: tuple[Task[Any, Any], ...]
    seats: dict[str, Seat]
    settings: Settings
    prompts: Prompts
    data_files: dict[str, str]
    prices: Prices
    given: tuple[Item, ...] | None = None

    def source(self) -> Source:
        """Where items come from."""
        return Source(
            self.settings,
            self.prompts,
            instrument=self.instrument.card.name,
            official=self.config.official,
            folders=data_folders(self.config.data_folder),
            seed=self.config.seed,
        )

    def repeats(self, task: str) -> int:
        """How often each item of a task is played."""
        return self.config.repeats or self.instrument.card.task_card(task).repeats

    def items(self, task: Task[Any, Any]) -> Iterator[Item]:
        """The items of a task, selected, each id once."""
        if self.given is not None:
            return unique(self.given, task.name)
        whole = self.instrument.card.task_card(task.name).limit == "cluster"
        drawn = select(task.items(self.source()), self.config.limit, self.config.seed, whole_clusters=whole)
        return unique(drawn, task.name)

    def rosters(self) -> dict[str, Roster]:
        """The items of every task, read through; a bad row or an empty list is refused here."""
        return {task.name: Roster(task.name, partial(self.items, task)) for task in self.tasks}

    def manifest(self) -> Manifest:
        """What makes the run repeatable."""
        config, card = self.config, self.instrument.card
        return Manifest(
            instrument=card.name,
            instrument_version=card.version,
            tasks=tuple(task.name for task in self.tasks),
            settings=dict(self.settings),
            seats={role: seat_record(role, seat, config) for role, seat in self.seats.items()},
            seed=config.seed,
            repeats={task.name: self.repeats(task.name) for task in self.tasks},
            limit=config.limit,
            official=config.official,
            data_folder=config.data_folder,
            prompts_folder=config.prompts_folder,
            prompts_digest=self.prompts.digest,
            data_files=self.data_files,
            norms={task.name: task.norm(self.source()) for task in self.tasks},
            sociometer_version=sociometer.__version__,
            python_version=platform.python_version(),
            platform=f"{sys.platform} {platform.machine()}",
            fresh=config.fresh,
            command=config.command,
            given_items=self.given is not None,
            caps=config.caps,
            in_flight=config.in_flight,
            retries=config.retries,
        )

    def config_hash(self, manifest: Manifest) -> str:
        """The same for the same command on the same models, items and prompts."""
        told = msgspec.structs.replace(
            manifest, sociometer_version="", python_version="", platform="", command=(), data_folder="",
            prompts_folder="", caps=Caps(), in_flight=0, retries=None,
        )  # fmt: skip
        given = [] if self.given is None else [msgspec.to_builtins(item) for item in self.given]
        body = msgspec.json.encode((told, given), order="deterministic")
        return hashlib.sha256(body).hexdigest()[:32]

    def reusable(self) -> bool:
        """Whether an earlier run by the same command may be continued: only where all identities are certain."""
        identities = [seat.player.identity for seat in self.seats.values()]
        return not self.config.fresh and all(one.certain and one.wire not in _UNREPEATABLE for one in identities)


def make_plan(
    config: RunConfig,
    instrument: Instrument,
    folder: Path,
    *,
    given: Iterable[Item] | None = None,
    recorded: RecordedReplies | None = None,
    seats: dict[str, Seat] | None = None,
) -> Plan:
    """Looks everything up; a UsageError says what is wrong before anything is sent.

    With `seats` those are taken instead of the players that the configuration names.
    """
    names = config.tasks or instrument.card.default_tasks()
    tasks = tuple(instrument.task(name) for name in names)
    settings = with_whole_paths(instrument.card, Settings.chosen(instrument.card.setting, config.settings))
    prompts = Prompts(folder / "prompts", Path(config.prompts_folder) if config.prompts_folder else None)
    if seats is None:
        seats = seat_roles(instrument, names, config, recorded)
    prices = read_prices()
    files = {"bundled": bundled_checksum(folder)}
    files.update(setting_checksums(instrument.card, settings))
    if config.official:
        files.update(official_checksums(instrument.card, data_folders(config.data_folder)))
    _refuse_unknown_prices(config, seats, prices)
    return Plan(
        config,
        instrument,
        folder,
        tasks,
        seats,
        settings,
        prompts,
        files,
        prices,
        None if given is None else tuple(given),
    )


def _refuse_unknown_prices(config: RunConfig, seats: dict[str, Seat], prices: Prices) -> None:
    if config.caps.max_cost is None:
        return
    for seat in seats.values():
        if prices.of(seat.player.identity, seat.label) is None:
            raise UsageError(
                f"the price of '{seat.label}' is unknown, so --max-cost cannot be held; add it to your price list"
                " ('sociometer doctor' prints its place), or use --max-requests or --max-tokens."
            )
