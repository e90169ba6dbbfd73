"""Plays items without a store: for trying out an instrument, and for its tests."""

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from sociometer.core.conversation import Player, Reply, Request
from sociometer.core.errors import MachineryError
from sociometer.core.measure import Summary
from sociometer.core.prompts import Prompts
from sociometer.core.settings import Settings
from sociometer.core.source import Source
from sociometer.core.task import Episode, Failure, Instrument, Item, RunView
from sociometer.core.transcript import Asked, Event, Noted
from sociometer.engine.draw import Draw
from sociometer.engine.session import PlaySession, Seat


class Rehearsed(Struct, frozen=True):
    """An episode with its transcript."""

    episode: Episode[Any, Any]
    events: tuple[Event, ...]


class Rehearsal:
    """An instrument with players in its roles, ready to play; nothing is kept."""

    def __init__(
        self,
        instrument: Instrument,
        folder: Path,
        players: Mapping[str, Player],
        settings: Mapping[str, object] | None = None,
        *,
        seed: int = 0,
        data: tuple[Path, ...] = (),
    ) -> None:
        """`folder` is the instrument's own; with `data` the official files in those folders are used."""
        self.instrument = instrument
        self.settings = Settings.chosen(instrument.card.setting, settings or {})
        self.prompts = Prompts(folder / "prompts")
        self.seed = seed
        self._seats = {role: Seat(player, player.identity.name) for role, player in players.items()}
        self._data = data

    def source(self) -> Source:
        """Where the items come from."""
        return Source(
            self.settings,
            self.prompts,
            instrument=self.instrument.card.name,
            official=bool(self._data),
            folders=self._data,
            seed=self.seed,
        )

    async def play(self, task: str, item: Item, repeat: int = 0) -> Rehearsed:
        """Plays one item once."""
        verbs = self.instrument.task(task)
        card = self.instrument.card
        draw = Draw(card.name, card.version, task, item.id, repeat, self.seed)
        session = PlaySession(Direct(), self._seats, draw, self.settings, self.prompts)
        try:
            outcome = await verbs.play(item, session)
        except MachineryError as error:
            failed: Episode[Any, Any] = Episode(item, repeat, None, None, Failure(error.kind, str(error)))
            return Rehearsed(failed, _events(session))
        return Rehearsed(Episode(item, repeat, outcome, verbs.score(item, outcome), None), _events(session))

    def play_all(self, task: str, items: Iterable[Item] | None = None, repeats: int = 1) -> RunView[Any, Any]:
        """Plays many items and gives them as a run to be summarised."""
        wanted = list(self.instrument.task(task).items(self.source()) if items is None else items)

        async def everything() -> list[Episode[Any, Any]]:
            return [(await self.play(task, item, repeat)).episode for item in wanted for repeat in range(repeats)]

        episodes = asyncio.run(everything())
        norm = self.instrument.task(task).norm(self.source())
        return RunView(
            lambda: iter(episodes),
            self.settings,
            subject=self._seats["subject"].label if "subject" in self._seats else "",
            roles={role: seat.label for role, seat in self._seats.items()},
            norm=norm,
        )

    def summarise(self, task: str, items: Iterable[Item] | None = None, repeats: int = 1) -> Summary:
        """Plays many items and summarises them."""
        return self.instrument.task(task).summarise(self.play_all(task, items, repeats))


class Direct:
    """A desk that asks the player itself."""

    async def reply(self, seat: Seat, request: Request, draw: Draw, nth: int, digest: bytes) -> tuple[Reply, bytes]:
        return await seat.player.answer(request), b""

    async def vectors(
        self, seat: Seat, texts: tuple[str, ...], draw: Draw, nth: int, digest: bytes
    ) -> tuple[tuple[float, ...], ...]:
        return await seat.player.embed(texts)


def _events(session: PlaySession) -> tuple[Event, ...]:
    return tuple(
        event if isinstance(event, Noted) else Asked(event.role, event.model, event.messages, event.reply, event.branch)
        for event in session.events
    )
