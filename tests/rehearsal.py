"""Plays items without a store: for trying out an instrument, and for its tests."""

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sociometer.core.config import RunConfig
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import MachineryError
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Summary
from sociometer.core.player import Player
from sociometer.core.session import RoleBinding
from sociometer.core.settings import SettingValue
from sociometer.core.source import Source
from sociometer.core.task import Episode, Item, RunView
from sociometer.engine.plan import make_plan
from sociometer.engine.runner import PlayedEpisode, play_episode


class Rehearsal:
    """An instrument with players in its roles, ready to play; nothing is kept."""

    def __init__(
        self,
        instrument: Instrument,
        players: Mapping[str, Player],
        settings: Mapping[str, SettingValue] | None = None,
        *,
        seed: int = 0,
        data: Path | None = None,
        tasks: tuple[str, ...] = (),
    ) -> None:
        """With `data` the official files in that folder are used; without `tasks` the default ones are planned."""
        names = {role: player.identity.name for role, player in players.items()}
        config = RunConfig(
            instrument=instrument.card.name,
            subject=names.get(SUBJECT, ""),
            tasks=tasks,
            settings=dict(settings or {}),
            seed=seed,
            official=data is not None,
            data_folder=str(data or ""),
        )
        bindings = {role: RoleBinding(player, names[role], names[role]) for role, player in players.items()}
        self.instrument = instrument
        self.plan = make_plan(config, instrument, bindings=bindings)
        self.settings = self.plan.settings

    def source(self) -> Source:
        """Where the items come from."""
        return self.plan.source()

    async def play(self, task: str, item: Item, repeat: int = 0) -> PlayedEpisode:
        """Plays one item once; errors of the instrument itself are raised."""
        played = await play_episode(self.plan, self.instrument.task(task), item, repeat)
        if played.error is not None and not isinstance(played.error, MachineryError):
            raise played.error
        return played

    def play_all(self, task: str, items: Iterable[Item] | None = None, repeats: int = 1) -> RunView[Any, Any]:
        """Plays many items and gives them as a run to be summarised."""
        wanted = list(self.instrument.task(task).items(self.source()) if items is None else items)

        async def everything() -> list[Episode[Any, Any]]:
            return [(await self.play(task, item, repeat)).episode for item in wanted for repeat in range(repeats)]

        episodes = asyncio.run(everything())
        return RunView(
            lambda: iter(episodes),
            self.settings,
            subject=self.plan.config.subject,
            name=self.plan.config.subject,
            task=task,
            card=self.instrument.card,
            roles={role: binding.label for role, binding in self.plan.bindings.items()},
            norm=self.plan.described().norms.get(task),
        )

    def summarise(self, task: str, items: Iterable[Item] | None = None, repeats: int = 1) -> Summary:
        """Plays many items and summarises them."""
        return self.instrument.task(task).summarise(self.play_all(task, items, repeats))
