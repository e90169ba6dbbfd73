"""What the pages of `sociometer view` read from the store: its runs, their items, figures and transcripts."""

import asyncio
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from itertools import takewhile
from typing import Any, get_args

import msgspec
from aiohttp import web
from msgspec import Struct, structs

from sociometer.core.card import Card, MeasureCard
from sociometer.core.config import model_label
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import NotFound, SociometerError, UsageError, unknown
from sociometer.core.instrument import Instrument
from sociometer.core.language import ENGLISH
from sociometer.core.measure import Cell, Figure, Summary, Table
from sociometer.core.task import OF_ANALYSES, SERIES, TASK, AnyRun, Episode, Score
from sociometer.core.words import texts_in_item
from sociometer.engine.replay import why_no_bundle
from sociometer.engine.run_options import chosen_items
from sociometer.reporting.evidence import TranscriptLine, beside, transcript_lines
from sociometer.reporting.figures import run_figures
from sociometer.reporting.plot import drawn
from sociometer.reporting.progress import cost_in_words
from sociometer.results.candidates import require_computable, run_labels
from sociometer.results.choice import ChosenRuns, find_run
from sociometer.results.comparison import compare
from sociometer.results.comparison_tables import row_values
from sociometer.results.groups import runs_of_people, study_run, takings
from sociometer.results.leaderboard import comparable, leaderboard_sentence, leaderboard_table, shared_intervals
from sociometer.results.runs import beside_people, candidates, rank_runs
from sociometer.results.summaries import measure_rows, notes_beside, other_options, rule_sentences
from sociometer.results.verdicts import Comparison
from sociometer.results.wording import adjusted_for, comparison_table
from sociometer.statistics.chart_theme import Mode
from sociometer.statistics.formatting import common_decimals, estimate, number
from sociometer.store.episodes import ScoredEpisode
from sociometer.store.place import StorePlace
from sociometer.store.records import RunRecord, RunStatus
from sociometer.store.resolver import Resolver
from sociometer.store.result import JOINT
from sociometer.store.runs import RunSearch
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun, first_score, state_of, status_of, why_ended
from sociometer.store.studies import PERSON
from sociometer.web.guard import visitor_of
from sociometer.web.rendering import owner_page, tongue

ROWS = 50
MOST_RUNS = 6
ITEMS = 100
MOST_PAGES = 10_000
WIDTHS = (640, 340)
LEAST_TITLE, LONGEST_TITLE = 25, 90
"""A text of an item with fewer bytes is a name or a kind; one with more letters is cut."""
ORDERS = {
    "difference": "largest difference",
    "first": "{first} ahead of {second}",
    "second": "{second} ahead of {first}",
    "items": "order of items",
}
LONG = 400
"""Instructions and requests to other roles that are longer than this are folded."""
State = tuple[object, ...]
"""What changes when the figures of a run may change."""


class ViewedStore:
    """The store that the pages show, and the instruments of its runs; each request opens the store for itself."""

    def __init__(self, path: StorePlace, load: Callable[..., Instrument], cards: Mapping[str, Card]) -> None:
        self.path = path
        self.cards = dict(cards)
        self.load = load
        self._load = lru_cache(maxsize=None)(load)
        self.studies: dict[str, tuple[State, RunRow]] = {}

    def opened(self) -> Store:
        """The store, for reading."""
        return Store(self.path)

    def record(self, store: Store, run: str) -> RunRecord:
        """The run with this id, or the only one of this name."""
        return Resolver(store, self.load).record(run)

    def run(self, store: Store, run: str) -> StoredRun:
        record = self.record(store, run)
        return StoredRun(store, record, self.instrument_of(record))

    def instrument_of(self, record: RunRecord) -> Instrument:
        """The instrument of a run; an imported benchmark brings its own card and cannot be loaded by name."""
        card = record.manifest.card
        return self._load(record.instrument) if card is None else self.load(record.instrument, card)


VIEWED = web.AppKey("viewed", ViewedStore)


async def view_page(request: web.Request, name: str, **context: Any) -> web.Response:
    """A page about the store, rendered in a thread: its slow parts are given as functions."""
    context |= {"visitor": visitor_of(request), "cards": request.app[VIEWED].cards, "store": request.app[VIEWED].path}
    context |= {"folded": is_folded, "drawable": drawable}
    return await asyncio.to_thread(lambda: owner_page(request, name, **context))


class RunRow(Struct, frozen=True):
    """A run as the list shows it."""

    id: str
    name: str
    instrument: str
    subject: str
    model: str
    status: str
    state: str
    """The status in words, with what a stopping rule did: “decided after 77 of 192”."""
    why: str
    """Why it ended before all items were played."""
    created: float
    done: int
    failed: int
    planned: int
    requests: int
    tokens: int
    cost: str
    """Empty if its requests have neither tokens nor a price, as those to a function."""
    used: int = 0
    """Episodes that count, if a stopping rule decided before all that were played; else 0."""
    score: str = ""
    """The first primary measure of a run that has ended: “62 %”."""
    bounds: str = ""
    chance: str = ""
    measure: str = ""
    better: str = ""
    """Which direction of the measure is better."""
    on_norm: str = ""
    """Its score on a norm of people, if it has one: “EQ 107 [98, 116]”."""
    others: dict[str, str] = {}
    """The models in the other roles; stand-ins are marked."""
    items: str = ""
    """Whose items it has, in words; empty for bundled and imported ones."""
    options: tuple[str, ...] = ()
    """The titles of its tasks and its settings, if they are not the default."""
    again: tuple[str, ...] = ()
    """The options of `run` with which another model plays the same items."""

    @property
    def finished(self) -> int:
        """Episodes that have ended, failed ones included; if a stopping rule ended the run, those that count."""
        return self.used or self.done + self.failed


def run_row(
    viewed: ViewedStore, store: Store, record: RunRecord, summary_of: Callable[[str], Summary | None] | None = None
) -> RunRow:
    """The current row of a run in the list."""
    totals = store.totals(record)
    done, failed, spent = totals.done, totals.failed, totals.spent
    tokens = spent.input_tokens + spent.output_tokens
    spec, whose = model_label(record.manifest.config.subject), record.manifest.whose_items
    status, card = status_of(store, record), record.manifest.card or viewed.cards.get(record.instrument)
    roles = ((role, one) for role, one in record.manifest.roles.items() if role != SUBJECT)
    others = {role: one.label + " (stand-in)" * bool(one.identity.stand_in) for role, one in roles}
    so_far = partial(_so_far, viewed, record.id, (done, failed)) if status is not record.status else None
    return RunRow(
        id=record.id, name=record.name, instrument=record.instrument, subject=record.tested,
        model="" if record.subject == spec or record.subject.startswith(f"{spec} (") else spec,
        status="imported" if record.manifest.imported else str(status),
        state=state_of(store, record) if status is RunStatus.FINISHED or record.manifest.imported else str(status),
        why=why_ended(store, record), created=record.created, done=done, failed=failed,
        planned=record.manifest.episodes, requests=spent.requests,
        tokens=tokens, cost=_cost(spent.cost, spent.priced, spent.unpriced, tokens),
        used=sum(one.used * record.manifest.repeats[task] for task, one in store.runs.stopping(record).items()),
        others=others if record.subject else {},
        items=f"{whose} items" if whose in ("official", "own") else "",
        options=tuple(other_options(record, card, card.task_title)) if card else (),
        again=tuple(chosen_items(record.manifest.config, card)) if card and not record.manifest.imported else (),
        **_score(card, summary_of or so_far or partial(store.runs.summary, record.id), record),
    )  # fmt: skip


@lru_cache(maxsize=400)
def _so_far(viewed: ViewedStore, run: str, state: State, task: str) -> Summary | None:
    """The summary of a run whose process was killed; `state` says how much of it is stored."""
    with viewed.opened() as store:
        return viewed.run(store, run).kept_summary(task)


def _score(card: Card | None, summary_of: Callable[[str], Summary | None], record: RunRecord) -> dict[str, str]:
    try:
        found = first_score(summary_of, record, card) if card else None
    except SociometerError:
        return {"score": "damaged"}
    if card is None or found is None:
        return {}
    known, measure, summary = found
    if known.task == TASK:  # its numbers are no scores of the subject
        return {"measure": str(summary.series[SERIES]["note"])} if SERIES in summary.series else {}
    elsewhere = record.manifest.whose_items != "bundled"
    row = next(one for one in measure_rows(summary, card, known.task, elsewhere=elsewhere) if one.measure is measure)
    norms = {one.name: one for one in card.measures_of(known.task) if one.on_norm}
    on_norm = (one for one in summary.measures if one.name in norms and not one.group and one.value is not None)
    told = [f"{norms[one.name].title} {estimate(one.value, norms[one.name].unit, one.interval)}" for one in on_norm]
    unread = f", {measure.unreadable} unreadable" if 2 * measure.unreadable > measure.items else ""
    return {
        "measure": known.title + unread,
        "better": known.better,
        "on_norm": ", ".join(told),
        "score": row.value,
        "bounds": row.interval,
        "chance": row.chance_text or "",
    }


def _cost(cost: float, priced: int, unpriced: int, tokens: int) -> str:
    if not priced or not (cost or tokens):
        return "–" if not unpriced else "unknown" if tokens else ""
    return cost_in_words(cost, priced, unpriced)


class StudyRow(Struct, frozen=True):
    """The people of a study as the list of runs shows them: in one row."""

    name: str
    instrument: str
    count: int
    finished: int
    started: float
    """When the first of them joined; 0 if nobody has."""
    again: tuple[str, ...] | None
    """The options of `run` with which a model plays the same items; None where people talk with models."""
    whole: RunRow | None = None
    """Those who count, as one subject, with their mean; None if nobody counts yet."""


def find_runs(viewed: ViewedStore, search: RunSearch, counted: RunSearch) -> tuple[list[RunRow], int, list[StudyRow]]:
    """The runs that a search finds, how many another search finds, and the studies.

    The people of studies are runs only for a search by words, status or id; any other finds their studies.
    """
    with viewed.opened() as store:
        people = () if search.words or search.status else tuple(runs_of_people(store))
        counted = structs.replace(counted, without=people)
        found = store.runs.found(structs.replace(search, without=() if search.ids else people))
        rows, count = [run_row(viewed, store, record) for record in found], store.runs.count(counted)
        alone = search.words or search.status or search.ids or search.offset
        studies = []
        for name, taking in {} if alone else takings(store).items():
            config = taking.study.parts[name]
            instrument, card = config.instrument, viewed.cards.get(config.instrument)
            if search.instrument in ("", instrument):
                joined = [taking.record(one) for one in taking.participants if not one.screened_out]
                counts = len(joined), sum(one is not None and one.status is RunStatus.FINISHED for one in joined)
                started = min((one.joined for one in taking.participants), default=0.0)
                again = None if taking.study.talks else tuple(chosen_items(config, card)) if card else ()
                studies.append(StudyRow(name, instrument, *counts, started, again, _people(viewed, store, name)))
        return rows, count, sorted(studies, key=lambda one: one.started, reverse=True)


def _people(viewed: ViewedStore, store: Store, name: str) -> RunRow | None:
    """A study with the numbers of `compare`, computed again only if more was answered."""
    with suppress(UsageError):  # nobody counts yet
        if run := study_run(store, name, viewed.load):
            state = (run.subject, *((one, store.episodes.counts(one)) for one in run.members))
            if name not in viewed.studies or viewed.studies[name][0] != state:
                viewed.studies[name] = state, run_row(viewed, store, run.record, run.summary)
            return viewed.studies[name][1]
    return None


def page_number(request: web.Request) -> int:
    """The requested page of a long list; the first if the query is not valid."""
    given = request.query.get("page", "1")
    return min(MOST_PAGES, max(1, int(given))) if given.isdecimal() and len(given) < 8 else 1


def drawable(figure: Figure | None) -> bool:
    """Whether a figure is a picture and not a table."""
    return figure is not None and figure.chart is not None


def figures_of(viewed: ViewedStore, run: str) -> tuple[tuple[Figure, ...], State]:
    """The figures of a run as it is now."""
    with viewed.opened() as store:
        record = viewed.record(store, run)
        state = (record.finished, *store.episodes.counts(record.id))
    return _figures(viewed, record.id, state), state


@lru_cache(maxsize=16)
def _figures(viewed: ViewedStore, run: str, state: State) -> tuple[Figure, ...]:
    with viewed.opened() as store:
        return run_figures(viewed.run(store, run))


@lru_cache(maxsize=400)
def picture_of(viewed: ViewedStore, run: str, state: State, number: int, mode: Mode, width: int) -> bytes | None:
    """A figure as SVG; None if it is a table."""
    figures = _figures(viewed, run, state)
    return drawn(figures[number], "svg", mode=mode, width=width) if drawable(figures[number]) else None


def place_of(request: web.Request) -> tuple[str, str, int]:
    """The task, item and repeat that a link names."""
    query = request.query
    repeat = query.get("repeat", "0")
    if not repeat.isdecimal() or len(repeat) > 7:
        raise UsageError(f"repeat must be a whole number, not '{repeat}'.")
    return query.get("task", ""), query.get("item", ""), int(repeat)


def look_of(request: web.Request) -> tuple[Mode, int]:
    """The theme and the width of a picture."""
    looks = {f"{mode} {width}": (mode, width) for mode in get_args(Mode) for width in WIDTHS}
    asked = f"{request.query.get('mode', 'light')} {request.query.get('width', WIDTHS[0])}"
    if asked not in looks:
        raise UsageError(str(unknown("look of a picture", asked, looks)))
    return looks[asked]


class ItemList(Struct, frozen=True):
    """The part of a run's items that a page shows."""

    rows: list[tuple[ScoredEpisode, str, str]]
    """Each with its title and its value."""
    count: int
    pages: int


class RunHead(Struct, frozen=True):
    """What is known about a run without reading its episodes."""

    record: RunRecord
    row: RunRow
    card: Card
    settings: dict[str, Any]
    stand_ins: tuple[str, ...]
    failures: dict[str, int]
    against: dict[str, str]
    """The run that a stopping rule compared it with, if any, of several the newest, and that run's subject."""
    study: str = ""
    """The study that the subject is a person of."""
    minutes: float = 0.0
    """How long the person looked at the questions."""
    can_be_checked: bool = False
    """Whether the run can be written as a file that others check."""
    is_past: bool = False
    """Whether this version can only show numbers of the run, and so does not continue it."""

    @property
    def resume(self) -> str:
        """What to type to continue a run or to retry what failed; empty if it cannot go on."""
        if self.is_past:
            return ""
        return self.record.resume_command(self.row.why) if self.row.why or (self.failures and not self.study) else ""

    def task(self, wanted: str) -> str:
        """The task that a link names, or the first."""
        tasks = self.record.manifest.config.tasks
        if wanted and wanted not in tasks:
            raise unknown(f"task of {self.record.id}", wanted, tasks)
        return wanted or tasks[0]


def read_head(viewed: ViewedStore, run: str) -> RunHead:
    """The head of a run's page."""
    with viewed.opened() as store:
        stored = viewed.run(store, run)
        card, row = stored.definition.card, run_row(viewed, store, stored.record)
        usual = {one.name for one in card.setting if one.is_default(stored.manifest.config.settings.get(one.name))}
        given = ((name, value) for name, value in stored.settings.items() if name not in usual)
        settings = {name: value for name, value in given if value not in (None, "", (), False)}
        until = stored.manifest.config.until
        against = {run: stored.name_of(run) for run in until.against.split(JOINT)[-1:] if run} if until else {}
        study, _, who = row.name.rpartition(".") if stored.manifest.config.subject == PERSON else ("", "", "")
        known = takings(store, study).get(study) if study else None
        timings = known.timings.get(who, ()) if known else ()
        spent = sum(one.spent for one in timings if one.task in ("", *stored.tasks)) / 60
        apart = stored.stand_ins, stored.failures()
        checkable = not why_no_bundle(stored)
        past = bool(stored.past)
        return RunHead(stored.record, row, card, settings, *apart, against, study, spent, checkable, past)


def read_summary(viewed: ViewedStore, run: str, task: str) -> Summary:
    """The numbers of a run's task, with all notes on them."""
    with viewed.opened() as store:
        stored = viewed.run(store, run)
        summary, rules = stored.summary(task), rule_sentences(stored)
        notes = notes_beside(stored, task, summary)
        own = (next((rule for rule in rules if rule.startswith(note.rstrip("."))), note) for note in notes)
        return structs.replace(summary, notes=tuple(own))


def read_items(viewed: ViewedStore, run: str, task: str, shown: str, words: str, at: int) -> ItemList:
    """One page of a run's items, with the words, in the order and from the place that are asked for."""
    with viewed.opened() as store:
        card = viewed.run(store, run).definition.card
        measure = card.primary_of(task)
        start = ITEMS * (at - 1)
        if not shown and not words:
            # In the order that they were played only one page is read.
            some = list(store.episodes.scored(run, task, page=(ITEMS, start)))
            count = store.episodes.count(run, task)
        else:
            places = _places(store, run, task, shown, words, card)
            page, count = places[start : start + ITEMS], len(places)
            items = list(dict.fromkeys(item for item, _ in page)) or [""]
            found = (one for one in store.episodes.scored(run, task, items) if (one.item, one.repeat) in page)
            some = sorted(found, key=lambda one: page.index((one.item, one.repeat)))
        bodies = store.episodes.items(run, task, [one.item for one in some])
    rows = [
        (one, item_title(bodies.get(one.item, b"")), "" if value is None else value_text(value, measure))
        for one in some
        for value in (value_of(one.score, measure),)
    ]
    return ItemList(rows, count, max(1, math.ceil(count / ITEMS)))


def _places(store: Store, run: str, task: str, shown: str, words: str, card: Card) -> list[tuple[str, int]]:
    """The items and repeats that have the words and, with a filter, count and match it, in its order."""
    having = store.search.found(run, task, words) if words else []
    if not shown:
        return having
    known, uncounted = set(having), store.runs.uncounted(store.runs.get(run))
    every = store.episodes.scored(run, task, failed=shown == "failed")
    found = (one for one in every if not words or (one.item, one.repeat) in known)
    counted = (one for one in found if (task, one.item) not in uncounted)
    return [(one.item, one.repeat) for one in chosen(counted, shown, task, card)]


def item_title(body: bytes) -> str:
    """The beginning of an item's text; empty if it has none, such as a game."""
    texts = texts_in_item(msgspec.json.decode(body) if body else {}, "id", "cluster")
    sentences = (
        text for text in texts if len(text.encode()) >= LEAST_TITLE and (" " in text or tongue(text) != ENGLISH)
    )
    found = next((" ".join(text.split()) for text in sentences), "")
    return found if len(found) <= LONGEST_TITLE else found[:LONGEST_TITLE].rsplit(" ", 1)[0] + " …"


def chosen(episodes: Iterable[ScoredEpisode], shown: str, task: str, card: Card) -> list[ScoredEpisode]:
    """The episodes that match the filter, in the requested order; failed ones come last."""
    found, measure = list(episodes), card.primary_of(task)
    if shown == "wrong":
        return [one for one in found if value_text(value_of(one.score, measure), measure) == "wrong"]
    if shown == "unreadable":
        return [one for one in found if one.score is not None and one.score.unreadable]
    if shown in ("lowest", "highest") and measure is not None:
        sign = 1.0 if shown == "lowest" else -1.0
        found.sort(key=lambda one: (one.score is None, sign * (value_of(one.score, measure) or 0.0)))
    return found


def value_of(score: Score | None, measure: MeasureCard | None) -> float | None:
    """The value of an episode in a measure."""
    return score.values.get(measure.value) if score is not None and measure is not None else None


def value_text(value: float | None, measure: MeasureCard | None) -> str:
    """The value of one answer: right or wrong where the measure is an accuracy, else a number."""
    if measure and measure.title.startswith("Accuracy") and value in (0.0, 1.0):
        return "right" if value else "wrong"
    return number(value, measure.unit if measure else "number")


class ItemPlayed(Struct, frozen=True):
    """One play of an item in a run."""

    head: RunHead
    task: str
    episode: Episode[Any, Any]
    repeats: list[int]
    lines: tuple[TranscriptLine, ...]
    beside: Figure | None
    title: str
    before: tuple[str, int] | None
    after: tuple[str, int] | None

    @property
    def values(self) -> dict[str, str]:
        """What its measures say about this episode, by their titles."""
        values, card = self.episode.score.values if self.episode.score else {}, self.head.card
        known = {one.value: one for one in reversed(card.measures_of(self.task)) if one.value in values}
        titles = {name: "Answer" if name == "correct" else known[name].title for name in values if name in known}
        return {title: value_text(values[name], known[name]) for name, title in titles.items()}

    @property
    def labels(self) -> dict[str, str]:
        """The groups that the item is in; not what an analysis calls its answer."""
        facets = self.episode.score.facets if self.episode.score else {}
        return {name: level for name, level in facets.items() if name not in OF_ANALYSES}


def read_item(
    viewed: ViewedStore, run: str, task: str, item: str, repeat: int, shown: str = "", words: str = ""
) -> ItemPlayed:
    """An episode with its transcript, and those before and after it in the list that is filtered like this."""
    head = read_head(viewed, run)
    with viewed.opened() as store:
        stored, task = viewed.run(store, run), head.task(task)
        episodes = list(stored.episodes(task, item))
        episode = next((one for one in episodes if one.repeat == repeat), None)
        if episode is None:
            raise NotFound(f"run {head.record.id} has no episode of item '{item}' (task {task}, repeat {repeat}).")
        if shown or words:
            around = neighbours(_places(store, stored.id, task, shown, words, head.card), (item, repeat))
        else:
            around = tuple((one, 0) if one else None for one in store.episodes.neighbours(stored.id, task, item))
        return ItemPlayed(
            head,
            task,
            episode,
            [one.repeat for one in episodes],
            transcript_lines(stored.transcript(item, task, repeat)),
            None if task in stored.past else beside(stored, task, episode),
            item_title(msgspec.json.encode(episode.item)),
            *around,
        )


def neighbours(listed: Sequence[Any], here: object) -> tuple[Any, ...]:
    """What comes before and after something in a list; None at the ends, and if it is not there."""
    at = listed.index(here) if here in listed else len(listed)
    return tuple(listed[one] if at < len(listed) and 0 <= one < len(listed) else None for one in (at - 1, at + 1))


def is_folded(line: TranscriptLine) -> bool:
    """Whether a line is shown folded: long instructions, and what roles other than the subject were asked."""
    behind = line.speaker in ("system", "user", "assistant") and (line.role != "subject" or line.speaker == "system")
    return behind and len(line.text) > LONG


class Sides(Struct, frozen=True):
    """What is compared: the runs, their labels and what a user types for them, the task, and the tasks of all."""

    runs: tuple[str, ...]
    labels: tuple[str, ...]
    words: tuple[str, ...]
    task: str
    tasks: tuple[tuple[str, str], ...]
    measure: MeasureCard | None
    card: Card


class PairedList(Struct, frozen=True):
    """The items on one page, and how often each of the first two runs is ahead on all items."""

    rows: list[tuple[str, str, list[str]]]
    """The item, its title, and the value of each run; a failure or a missing item has no value."""
    items: list[str]
    """The items on all pages."""
    pages: int
    ahead: tuple[int, int, int]
    """Items on which the first is ahead, the second is, and neither."""


def read_play(viewed: ViewedStore, run: str, task: str, item: str, repeat: int) -> ItemPlayed | str:
    """One play of an item in a run, or why there is none."""
    with viewed.opened() as store:
        if people := study_run(store, run, viewed.load):
            return f"{people.people} people: the page of each of them has their answer."
        result = find_run(store, viewed.load, run)
        run = next((part.id for part in result.parts if item in part.outcomes_by_item(task)), result.members[-1])
    try:
        return read_item(viewed, run, task, item, repeat)
    except UsageError as error:
        return str(error)


def asked_alike(transcripts: Sequence[Sequence[TranscriptLine]]) -> int:
    """The number of lines with which all transcripts begin: what all were asked before the first reply."""
    lines = zip(*(lines for lines in transcripts if lines), strict=False)
    return len([*takewhile(lambda same: same[0].speaker != "reply" and same.count(same[0]) == len(same), lines)])


def joined_table(played: Sequence[tuple[str, ItemPlayed | str]]) -> Table | None:
    """The tables next to several transcripts as one that says who picked what; none if they differ in more."""
    beside = [(label, one.beside) for label, one in played if isinstance(one, ItemPlayed)]
    tables = [(label, figure.table) for label, figure in beside if figure and figure.table]
    first = tables[0][1] if len(tables) > 1 else Table("", "", (), ())
    if "picked" not in first.columns:
        return None
    at = first.columns.index("picked")
    if len({(table.columns, *((*row[:at], *row[at + 1 :]) for row in table.rows)) for _, table in tables}) > 1:
        return None
    who = (", ".join(label for label, table in tables if table.rows[place][at]) for place in range(len(first.rows)))
    rows = tuple((*row[:at], names, *row[at + 1 :]) for row, names in zip(first.rows, who, strict=True))
    return structs.replace(first, columns=(*first.columns[:at], "picked by", *first.columns[at + 1 :]), rows=rows)


def read_sides(viewed: ViewedStore, given: Sequence[str], task: str) -> Sides:
    """What is compared, if these runs can be."""
    if not 2 <= len(set(given)) <= MOST_RUNS:
        raise UsageError(f"side by side needs 2 to {MOST_RUNS} runs, not {len(set(given))}; choose them in the list.")
    with viewed.opened() as store:
        # People first, then the oldest, as in `compare STUDY OLD NEW`; the list has the newest first.
        runs = [find_run(store, viewed.load, run) for run in dict.fromkeys(given)]
        runs.sort(key=lambda run: (not run.people, run.record.created))
        first = runs[0]
        other = next((run for run in runs if run.instrument != first.instrument), None)
        if other is not None:
            raise UsageError(
                f"runs side by side must be of one instrument: {first.id} is a run of {first.instrument}, {other.id} of"
                f" {other.instrument}."
            )
        require_computable(runs)
        shared = [known for known in first.tasks if all(known in run.tasks for run in runs)]
        if not shared:
            tasks = (f"{run.reference} has {', '.join(run.tasks)}" for run in runs)
            raise UsageError(f"these runs have no task in common: {'; '.join(tasks)}.")
        if task and task not in shared:
            raise unknown("task of these runs", task, shared)
        card, named = first.definition.card, run_labels(runs)
        return Sides(
            tuple(run.id for run in runs),
            tuple(named[run.id] for run in runs),
            tuple(word_for(viewed, store, run) for run in runs),
            task or shared[0],
            tuple((known, card.task_title(known)) for known in shared),
            card.primary_of(task or shared[0]),
            card,
        )


def word_for(viewed: ViewedStore, store: Store, run: StoredRun) -> str:
    """What a user types for a result: its subject, if the store has no other result of it; else its id."""
    with suppress(UsageError):
        if find_run(store, viewed.load, run.subject).id == run.id:
            return run.subject
    return run.id


def read_verdicts(viewed: ViewedStore, sides: Sides) -> list[tuple[str, tuple[str, ...], Table | None, Table | None]]:
    """What `compare` says, with notes, numbers behind it and scores: verdicts on two, or beside people, or ranks."""
    with viewed.opened() as store:
        runs = tuple(find_run(store, viewed.load, run) for run in sides.runs)
        if len(runs) > 2 and not beside_people(runs):
            boards = rank_runs(ChosenRuns(runs), sides.task).boards
            return [(leaderboard_sentence(one), (), None, leaderboard_table(one)) for one in boards]
        first, *others = candidates(runs, sides.task)
        return [
            (one.sentence, (*adjusted_for([one]), *one.notes), comparison_table(one), _scores(one, (first, other)))
            if one.measures
            else (one.sentence, one.notes, None, None)
            for one, other in zip(compare([first, *others]), others, strict=True)
        ]


def _scores(one: Comparison, both: Sequence[AnyRun]) -> Table:
    """The scores of two runs on the items that both have, with intervals, and the difference with its verdict."""
    rows: list[tuple[Cell, ...]] = []
    for row in one.primary_rows:
        found = comparable(both, row.name, what="compared")
        intervals, means = shared_intervals(found), found.shared.values.mean(axis=0).tolist()
        digits = common_decimals(row.unit, intervals)
        values = (estimate(*of, digits) for of in zip(means, [row.unit] * 2, intervals, strict=True))
        rows.append((row.title, *values, row_values(row)[2], row.verdict_text, row.paired.items))
    columns = ("measure", one.first, one.second, "difference", "verdict", "shared items")
    return Table("scores", "", columns, tuple(rows))


def read_pairs(viewed: ViewedStore, sides: Sides, order: str, words: str, at: int) -> PairedList:
    """One page of the items that the first two runs have, with the words, in this order."""
    start, wanted = ITEMS * (at - 1), words.lower().split()
    if order not in ORDERS:
        raise UsageError(str(unknown("order of items", order, ORDERS)))
    with viewed.opened() as store:
        runs = [find_run(store, viewed.load, run) for run in sides.runs]
        tables = [_values(run, store, sides) for run in runs]
        items = [item for item in tables[0] if item in tables[1] and all(word in item.lower() for word in wanted)]
        sign = -1.0 if sides.measure is not None and sides.measure.better == "lower" else 1.0
        both = ((item, tables[0][item], tables[1][item]) for item in items)
        leads = {item: sign * (a - b) for item, a, b in both if a is not None and b is not None}
        if order != "items":
            weight = {"first": -1.0, "second": 1.0}
            items.sort(
                key=lambda item: weight[order] * leads.get(item, 0.0) if order in weight else -abs(leads.get(item, 0.0))
            )
        shown = items[start : start + ITEMS]
        played = next((run.members for run in runs if not run.people), ())
        bodies: dict[str, bytes] = {}
        for part in played:
            bodies |= store.episodes.items(part, sides.task, shown)
    found = [*leads.values()]
    ahead = sum(lead > 0 for lead in found), sum(lead < 0 for lead in found), found.count(0)
    values = {item: [value_text(table.get(item), sides.measure) for table in tables] for item in shown}
    rows = [(item, item_title(bodies.get(item, b"")), values[item]) for item in shown]
    return PairedList(rows, items, max(1, math.ceil(len(items) / ITEMS)), ahead)


def _values(run: StoredRun, store: Store, sides: Sides) -> dict[str, float | None]:
    """The mean over repeats, or over people, of each item that counts; None if none of them has a value."""
    found: dict[str, list[float]] = {}
    if run.people or len(run.parts) > 1:
        scored = ((one.item.id, one.score) for one in run.episodes(sides.task))
    else:
        part = run.part(sides.task)
        counted = {item for item, _ in run.in_order(sides.task)[: part[0]]} if part else None
        every = store.episodes.scored(run.id, sides.task)
        scored = ((one.item, one.score) for one in every if counted is None or one.item in counted)
    for item, score in scored:
        values = found.setdefault(item, [])
        if (value := value_of(score, sides.measure)) is not None:
            values.append(value)
    return {item: sum(values) / len(values) if values else None for item, values in found.items()}
