"""The page of one item of a run: the transcript as a chat, and the figure next to it."""

import asyncio
from typing import Any

import msgspec
from aiohttp import web
from msgspec import Struct

from sociometer.core.errors import UsageError
from sociometer.core.measure import Figure
from sociometer.core.task import Episode
from sociometer.reporting.evidence import TranscriptLine, beside, transcript_lines
from sociometer.reporting.plot import drawn
from sociometer.web.guard import OWNER, only
from sociometer.web.view.pictures import drawable, look_of, picture, place_of
from sociometer.web.view.run import RunHead, item_title, read_head
from sociometer.web.view.runs import VIEWED, ViewedStore, view_page

LONG = 400
"""Instructions and requests to other roles that are longer than this are folded."""


class ItemPlayed(Struct, frozen=True):
    """One play of an item in a run."""

    head: RunHead
    task: str
    episode: Episode[Any, Any]
    repeats: list[int]
    lines: tuple[TranscriptLine, ...]
    beside: Figure | None
    title: str
    before: str
    after: str


@only(OWNER)
async def item_page(request: web.Request) -> web.StreamResponse:
    """One item as it was played."""
    viewed, run = request.app[VIEWED], request.match_info["run"]
    task, item, repeat = place_of(request)
    played = await asyncio.to_thread(read_item, viewed, run, task, item, repeat)
    return await view_page(request, "item.html", played=played, folded=is_folded, drawable=drawable)


@only(OWNER)
async def beside_picture(request: web.Request) -> web.StreamResponse:
    """What an instrument draws next to a transcript: a feeling curve, a tree with the path taken."""
    viewed, run = request.app[VIEWED], request.match_info["run"]
    (mode, width), place = look_of(request), place_of(request)

    def make() -> bytes | None:
        figure = read_item(viewed, run, *place).beside
        return drawn(figure, "svg", mode=mode, width=width) if figure is not None and drawable(figure) else None

    return picture(await asyncio.to_thread(make))


def read_item(viewed: ViewedStore, run: str, task: str, item: str, repeat: int) -> ItemPlayed:
    """An episode with its transcript."""
    head = read_head(viewed, run)
    with viewed.opened() as store:
        stored, task = viewed.run(store, run), head.task(task)
        episodes = list(stored.episodes(task, item))
        episode = next((one for one in episodes if one.repeat == repeat), None)
        if episode is None:
            raise UsageError(f"run {head.record.id} has no episode of item '{item}' (task {task}, repeat {repeat}).")
        return ItemPlayed(
            head,
            task,
            episode,
            [one.repeat for one in episodes],
            transcript_lines(stored.transcript(item, task, repeat)),
            beside(stored.definition, episode),
            item_title(msgspec.json.encode(episode.item)),
            *store.episodes.neighbours(stored.id, task, item),
        )


def is_folded(line: TranscriptLine) -> bool:
    """Whether a line is shown folded: long instructions, and what roles other than the subject were asked."""
    behind = line.speaker in ("system", "user", "assistant") and (line.role != "subject" or line.speaker == "system")
    return behind and len(line.text) > LONG
