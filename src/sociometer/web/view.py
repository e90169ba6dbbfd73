"""`sociometer view`: the runs of a store in the browser, each item as a chat, and runs side by side."""

import asyncio
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import msgspec
from aiohttp import web

from sociometer.core.card import Card, MeasureCard
from sociometer.core.errors import UsageError, hint, unknown
from sociometer.core.instrument import Instrument
from sociometer.core.task import OF_ANALYSES
from sociometer.engine.replay import export_bundle
from sociometer.reporting.plot import drawn
from sociometer.results.export import export_runs
from sociometer.results.summaries import measure_rows
from sociometer.statistics.formatting import group_text, number
from sociometer.store.bundle import ENDING
from sociometer.store.place import StorePlace
from sociometer.store.records import RunStatus
from sociometer.store.runs import RunSearch
from sociometer.web import browsing, people
from sociometer.web.guard import OWNER, SessionsInMemory, only
from sociometer.web.rendering import Words, add_owner, later, words_for
from sociometer.web.serving import Place, application, serve

_INSIDE = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
_DOWNLOADS = {"csv": "text/csv", "jsonl": "application/x-ndjson", "sociometer": "application/gzip"}
SHOWN = {"": "all", "wrong": "wrong", "unreadable": "unreadable", "failed": "failed"}
ENDS = {"higher": ("worst first", "best first"), "lower": ("best first", "worst first")}
"""The orders from the lowest and from the highest value, by the direction of the measure that is better."""


@only(OWNER)
async def runs_page(request: web.Request) -> web.StreamResponse:
    """The list of runs, searched and filtered as the query says."""
    viewed = request.app[browsing.VIEWED]
    number = browsing.page_number(request)
    search = RunSearch(
        words=request.query.get("q", ""),
        instrument=request.query.get("instrument", ""),
        status=request.query.get("status", ""),
        limit=browsing.ROWS,
        offset=browsing.ROWS * (number - 1),
    )
    rows, count, studies = await asyncio.to_thread(browsing.find_runs, viewed, search, search)
    return await browsing.view_page(
        request,
        "runs.html",
        search=search,
        statuses=[str(status) for status in RunStatus],
        rows=rows,
        count=count,
        number=number,
        pages=max(1, math.ceil(count / browsing.ROWS)),
        studies=studies,
    )


@only(OWNER)
async def run_states(request: web.Request) -> web.StreamResponse:
    """The rows of the runs that the query names as they are now, and the number of all runs."""
    viewed, words = request.app[browsing.VIEWED], words_for(request)
    ids = tuple(request.query.getall("run", []))[: browsing.ROWS]
    search = RunSearch(ids=ids, limit=browsing.ROWS)
    rows, count, _ = await asyncio.to_thread(browsing.find_runs, viewed, search, RunSearch())
    body = msgspec.json.encode({"count": count, "runs": [_state(row, words) for row in rows]})
    return web.Response(body=body, content_type="application/json")


def _state(row: browsing.RunRow, words: Words) -> dict[str, object]:
    """A row as the page's script reads it: with the text of its status and cost in the page's language."""
    shown = {"shown": words.state(row.state), "cost": words(row.cost), "bounds": words.bounds(row.bounds)}
    return {**msgspec.structs.asdict(row), "finished": row.finished, **shown}


@only(OWNER)
async def figure_picture(request: web.Request) -> web.StreamResponse:
    """A figure of a run."""
    viewed, run = request.app[browsing.VIEWED], request.match_info["run"]
    number, (mode, width) = int(request.match_info["number"]), browsing.look_of(request)

    def make() -> bytes | None:
        figures, state = browsing.figures_of(viewed, run)
        return browsing.picture_of(viewed, run, state, number, mode, width) if number < len(figures) else None

    return picture(await asyncio.to_thread(make))


def picture(body: bytes | None) -> web.Response:
    """A picture as a response; 404 if there is none."""
    if body is None:
        raise web.HTTPNotFound
    # A picture that is opened by itself is a document: it may run and load nothing.
    return web.Response(body=body, content_type="image/svg+xml", headers={"Content-Security-Policy": _INSIDE})


@only(OWNER)
async def run_page(request: web.Request) -> web.StreamResponse:
    """One run; the numbers, the figures and the items are sent as soon as they are ready."""
    viewed, run = request.app[browsing.VIEWED], request.match_info["run"]
    head = await asyncio.to_thread(browsing.read_head, viewed, run)
    task, shown = head.task(request.query.get("task", "")), request.query.get("shown", "")
    if shown not in (orders := _orders(head.card.primary_of(task))):
        raise UsageError(str(unknown("order of items", shown, orders)))
    words, at = request.query.get("q", ""), browsing.page_number(request)
    run = head.record.id
    graded = browsing.value_text(0.0, head.card.primary_of(task)) == "wrong"
    return await browsing.view_page(
        request, "run.html", head=head, task=task, group_text=_group_text, shown=shown, orders=orders, words=words,
        number=at, tasks=[(name, head.card.task_title(name)) for name in head.record.manifest.config.tasks],
        summary=later(lambda: browsing.read_summary(viewed, run, task)),
        chance=lambda line: number(line.chance, line.card.unit), graded=graded,
        measures=lambda summary: sorted(
            measure_rows(summary, head.card, task, elsewhere=head.record.manifest.whose_items != "bundled"),
            key=lambda row: bool(row.group or not row.card.primary)
        ),
        figures=later(lambda: browsing.figures_of(viewed, run)[0]),
        items=later(lambda: browsing.read_items(viewed, run, task, shown, words, at)),
    )  # fmt: skip


def _orders(measure: MeasureCard | None) -> dict[str, str]:
    """The filters and orders of items in words."""
    low, high = ENDS.get(measure.better if measure else "", ("lowest first", "highest first"))
    return {**SHOWN, "lowest": low, "highest": high}


def _group_text(facets: Mapping[str, str]) -> str:
    return group_text({name: level for name, level in facets.items() if name not in OF_ANALYSES})


@only(OWNER)
async def download(request: web.Request) -> web.StreamResponse:
    """The file that `sociometer export` writes of a run: CSV, JSON lines, or one that a stranger can check."""
    viewed, run = request.app[browsing.VIEWED], request.match_info["run"]
    ending = request.path.rpartition(".")[2]

    def make() -> tuple[str, bytes]:
        with viewed.opened() as store, TemporaryDirectory() as folder:
            stored, path = viewed.run(store, run), Path(folder) / f"run.{ending}"
            if path.suffix == ENDING:
                export_bundle(stored, path)
            else:
                export_runs([stored], path)
            return stored.id, path.read_bytes()

    named, body = await asyncio.to_thread(make)
    headers = {"Content-Disposition": f'attachment; filename="{named}.{ending}"'}
    charset = None if f".{ending}" == ENDING else "utf-8"
    return web.Response(body=body, content_type=_DOWNLOADS[ending], charset=charset, headers=headers)


@only(OWNER)
async def item_page(request: web.Request) -> web.StreamResponse:
    """One item as it was played."""
    viewed, run = request.app[browsing.VIEWED], request.match_info["run"]
    task, item, repeat = browsing.place_of(request)
    listed = {"shown": request.query.get("shown", ""), "words": request.query.get("q", "")}
    played = await asyncio.to_thread(browsing.read_item, viewed, run, task, item, repeat, **listed)
    titles, asked = _orders(played.head.card.primary_of(played.task)), browsing.asked_alike([played.lines])
    return await browsing.view_page(request, "item.html", played=played, **listed, titles=titles, asked=asked)


@only(OWNER)
async def beside_picture(request: web.Request) -> web.StreamResponse:
    """What an instrument draws next to a transcript: a feeling curve, a match."""
    viewed, run = request.app[browsing.VIEWED], request.match_info["run"]
    (mode, width), place = browsing.look_of(request), browsing.place_of(request)

    def make() -> bytes | None:
        figure = browsing.read_item(viewed, run, *place).beside
        if figure is None or not browsing.drawable(figure):
            return None
        return drawn(figure, "svg", mode=mode, width=width)

    return picture(await asyncio.to_thread(make))


@only(OWNER)
async def side_by_side_page(request: web.Request) -> web.StreamResponse:
    """The runs that the query names, item by item."""
    viewed, query = request.app[browsing.VIEWED], request.query
    order, words, at = query.get("order", "difference"), query.get("q", ""), browsing.page_number(request)
    sides = await asyncio.to_thread(browsing.read_sides, viewed, query.getall("run", []), query.get("task", ""))
    return await browsing.view_page(
        request,
        "side_by_side.html",
        sides=sides,
        order=order,
        orders=browsing.ORDERS,
        words=words,
        number=at,
        verdicts=later(lambda: browsing.read_verdicts(viewed, sides)),
        items=later(lambda: browsing.read_pairs(viewed, sides, order, words, at)),
    )


@only(OWNER)
async def two_transcripts_page(request: web.Request) -> web.StreamResponse:
    """One item as each of the runs played it."""
    viewed, query = request.app[browsing.VIEWED], request.query
    task, item, repeat = browsing.place_of(request)
    order, words = query.get("order", "difference"), query.get("q", "")

    def read() -> tuple[browsing.Sides, list[browsing.ItemPlayed | str], list[str]]:
        sides = browsing.read_sides(viewed, query.getall("run", []), task)
        played = [browsing.read_play(viewed, run, sides.task, item, repeat) for run in sides.runs]
        return sides, played, browsing.read_pairs(viewed, sides, order, words, 1).items

    sides, played, items = await asyncio.to_thread(read)
    labelled = list(zip(sides.labels, played, strict=True))
    joined = browsing.joined_table(labelled)
    return await browsing.view_page(
        request, "two_transcripts.html", sides=sides, item=item, played=labelled, joined=joined,
        order=order, orders=browsing.ORDERS, words=words, around=browsing.neighbours(items, item),
        alike=browsing.asked_alike([one.lines for one in played if isinstance(one, browsing.ItemPlayed)]),
    )  # fmt: skip


@only(OWNER)
async def study_page(request: web.Request) -> web.StreamResponse:
    """The people of a study, and the models beside them."""
    viewed, name, task = request.app[browsing.VIEWED], request.match_info["study"], request.query.get("task", "")
    study = await asyncio.to_thread(people.read_people, viewed, name, task, words_for(request))
    results = later(lambda: people.read_results(viewed, study["name"], study["task"]))
    return await browsing.view_page(request, "people.html", study=study, results=results)


@only(OWNER)
async def scores_picture(request: web.Request) -> web.StreamResponse:
    """The distribution of the scores of a study's people."""
    viewed, name, (mode, width) = request.app[browsing.VIEWED], request.match_info["study"], browsing.look_of(request)
    found = await asyncio.to_thread(people.read_results, viewed, name, request.query.get("task", ""))
    return picture(await asyncio.to_thread(drawn, found["figure"], "svg", mode=mode, width=width))


def view_application(viewed: browsing.ViewedStore) -> web.Application:
    """The pages of the store."""
    sessions = SessionsInMemory()
    app = application(sessions.find)
    add_owner(app, sessions, "/")
    app[browsing.VIEWED] = viewed
    app.router.add_get("/", runs_page)
    app.router.add_get("/states", run_states)
    app.router.add_get("/side-by-side", side_by_side_page)
    app.router.add_get("/side-by-side/item", two_transcripts_page)
    app.router.add_get("/run/{run}/", run_page)
    app.router.add_get("/study/{study}/", study_page)
    app.router.add_get("/study/{study}/scores", scores_picture)
    app.router.add_get(r"/run/{run}/figure/{number:\d{1,4}}", figure_picture)
    app.router.add_get("/run/{run}/item", item_page)
    for ending in _DOWNLOADS:
        app.router.add_get(f"/run/{{run}}/download.{ending}", download)
    app.router.add_get("/run/{run}/beside", beside_picture)
    return app


def serve_view(
    path: StorePlace,
    load: Callable[[str], Instrument],
    cards: Mapping[str, Card],
    place: Place,
    tell: Callable[[str], None],
) -> None:
    """Serves the pages until Ctrl-C; `tell` gets a link each time one is needed."""
    if not path.exists():
        raise UsageError(
            f"{path}: there is no store here. Start one with: {hint('run INSTRUMENT --model MODEL')}; or give"
            " --store another file."
        )
    # The first page of a run need not wait for its instrument to be imported.
    Thread(target=lambda: [load(name) for name in cards], daemon=True).start()
    serve(view_application(browsing.ViewedStore(path, load, cards)), place, tell)
