"""`sociometer annotate`: raters label units in the browser; the owner sees progress and agreement."""

import asyncio
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

from aiohttp import web
from msgspec import Struct, structs

from sociometer.core.card import Card, MeasureCard, SheetCard
from sociometer.core.errors import DataError, SociometerError, UsageError
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Cell, Table
from sociometer.core.sheets import read_sheet
from sociometer.core.words import grouped
from sociometer.engine.engine import Engine
from sociometer.reporting.evidence import transcript_lines
from sociometer.results.corrected import COUNTS, PART, JudgeAndPeople, episode_name, judge_and_people
from sociometer.statistics.agreement import Ratings, alpha_of, settled
from sociometer.statistics.formatting import estimate, interval_text, number
from sociometer.statistics.intervals import clustered_mean_interval
from sociometer.store.book import ALPHABET
from sociometer.store.labels import OWNER, Label, LabelBook, LabelQuestion, Queue, Unit, book_path
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun
from sociometer.web import guard
from sociometer.web.errors import BAD_FORM, BadForm
from sociometer.web.rendering import languages_of, owner_page, page, see_other, texts
from sociometer.web.serving import Place, guest_application, serve

_SHARE = "share"
_SHOWN = "shown "
"""The keys of the names of parts in `texts/rating.*.toml` begin with it."""
_SAID = {"user": "A", "reply": "B"}
"""The speakers without their names: the other side, and the one who is measured."""


def kind_of(path: Path, cards: Mapping[str, Card]) -> tuple[str, SheetCard]:
    """The kind of a sheet (INSTRUMENT/SHEET), by its columns."""
    kinds = {f"{name}/{sheet.name}": sheet for name, card in cards.items() for sheet in card.sheet}
    columns = set(read_sheet(path, guarded=True).columns)
    for name, sheet in kinds.items():
        if columns.issuperset(sheet.columns):
            return name, sheet
    raise UsageError(f"{path}: no sheet has these columns; known are {', '.join(kinds)}.")


def rater_words(instrument: Instrument, language: str, sheet: str = "") -> dict[str, str]:
    """What raters of episodes, or of a sheet, read in a language, by the English texts: those of all, then its own."""
    parts = {name.removeprefix(_SHOWN): text for name, text in texts("rating", language).items() if _SHOWN in name}
    return {**parts, **instrument.for_raters(language, sheet)}


def asked_of(sheet: SheetCard, words: Mapping[str, str]) -> tuple[LabelQuestion, ...]:
    """The questions of a sheet in the raters' words."""
    found = []
    for one in sheet.label:
        names = tuple(words.get(value, value) for value in one.values) if words.keys() & {*one.values} else ()
        found.append(
            LabelQuestion(one.column, words.get(one.question, one.question), one.values, one.low, one.high, names)
        )
    return tuple(found)


def guide_of(instrument: Instrument, name: str, language: str) -> str:
    """What raters are told about a sheet or a measure, in `raters/<language>/<name>.md`; empty if nothing."""
    path = instrument.folder / "raters" / language / f"{name}.md"
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def sheet_units(path: Path, sheet: SheetCard, words: Mapping[str, str]) -> tuple[tuple[str, ...], list[Unit]]:
    """The columns of a sheet, and its rows as units; labels that are filled in already are left alone."""
    read = read_sheet(path, (*sheet.key, *sheet.shown), guarded=True)
    units = []
    seen: set[tuple[str, ...]] = set()
    for line, row in read.rows:
        key = {name: row[name] for name in sheet.key}
        if tuple(key.values()) in seen:
            raise DataError(f"the row {', '.join(key.values())} appears twice", path, line)
        seen.add(tuple(key.values()))
        units.append(Unit("", key, {words.get(name, name): row[name] for name in sheet.shown}, row))
    if not units:
        raise DataError("the sheet has no rows", path)
    return tuple(read.columns), units


def parts_asked(language: str) -> LabelQuestion:
    """The question about each part of a value that is a mean over yes/no questions, shown with the dialogue."""
    words = texts("rating", language)
    return LabelQuestion("value", words["ask part"], ("yes", "no"), names=_names(words["part names"]))


def measure_asked(measure: MeasureCard, language: str, *, whole: bool = True) -> LabelQuestion:
    """The question about a measure: yes or no for a share that is 0 or 1 in each episode, else a number on its scale.

    The wording is the card's, or else one made from the measure's title. `whole` says that each episode has 0 or 1: a
    yes or no is not the same quantity as a share within an episode.
    """
    words = texts("rating", language)
    if measure.unit == _SHARE and not whole:
        measure = structs.replace(measure, unit="number", low=0.0, high=1.0, question="")
    if measure.unit == _SHARE:
        question = measure.question or words["ask share"].format(title=measure.title)
        return LabelQuestion("value", question, ("yes", "no"), names=_names(words["share names"]))
    if measure.low is None or measure.high is None:
        raise UsageError(f"measure '{measure.name}' has no fixed scale, so people cannot be asked for it.")
    question = measure.question or words["ask number"].format(low=measure.low, high=measure.high, title=measure.title)
    return LabelQuestion("value", question, (), measure.low, measure.high)


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split("|")) if text else ()


def episode_units(run: StoredRun, task: str, names: Iterable[str], value: str, words: Mapping[str, str]) -> list[Unit]:
    """Episodes as units: what a judge rated, or what was said to the subject and what it replied; without names.

    A value that is a mean over yes/no questions has one unit for each of them.
    """
    wanted = set(names)
    units = []
    for episode in run.episodes(task):
        name = episode_name(episode.item.id, episode.repeat)
        if name not in wanted:
            continue
        lines = transcript_lines(run.transcript(episode, task))
        said = [line for line in lines if line.role == "subject" and line.speaker in _SAID]
        shown = episode.item.for_raters()
        if not shown and said:
            shown = {"talk": "\n\n".join(f"{_SAID[line.speaker]}: {line.text}" for line in said)}
        # Imported scores may come without words; then raters look the item up by its name.
        shown = shown or {"item": episode.item.id}
        parts = episode.item.rated_parts(value)
        for part in parts:
            key = {"episode": name, PART: part.id, COUNTS: f"{part.yes:g}"}
            units.append(Unit("", key, _named({**shown, "question": part.question}, words)))
        if not parts:
            units.append(Unit("", {"episode": name}, _named(shown, words)))
    return units


def _named(shown: Mapping[str, str], words: Mapping[str, str]) -> dict[str, str]:
    """What raters see, with names in their words."""
    return {words.get(name, name): text for name, text in shown.items()}


def numbered(units: Sequence[Unit], lots: Random) -> list[Unit]:
    """The units with ids that reveal nothing about them."""
    names: dict[str, None] = {}
    while len(names) < len(units):
        names["u-" + "".join(lots.choice(ALPHABET) for _ in range(6))] = None
    return [structs.replace(unit, id=name) for unit, name in zip(units, names, strict=True)]


def assigned(units: Sequence[Unit], raters: Sequence[str], per_item: int, lots: Random) -> list[tuple[str, str, float]]:
    """Who labels what, and in which order: each unit goes to `per_item` raters."""
    if not 1 <= per_item <= len(raters):
        raise UsageError(f"--per-item must be between 1 and the number of raters ({len(raters)}), not {per_item}.")
    given: dict[str, list[str]] = {rater: [] for rater in raters}
    mixed = list(units)
    lots.shuffle(mixed)
    for unit in mixed:
        # Those with the fewest units so far, at random among equals.
        for rater in sorted(raters, key=lambda rater: (len(given[rater]), lots.random()))[:per_item]:
            given[rater].append(unit.id)
    tasks = []
    for rater, names in given.items():
        lots.shuffle(names)
        tasks += [(rater, name, float(place)) for place, name in enumerate(names)]
    return tasks


FIND_RUN: web.AppKey[Callable[[Queue], JudgeAndPeople | None]] = web.AppKey("find_run", object)  # type: ignore[arg-type]
MOST_SHOWN = 50


class Board(Struct, frozen=True):
    """Everything that the owner's page shows."""

    queue: Queue
    units: int
    labelled: int
    open: int
    raters: Table
    answers: Table
    agreement: Table
    disagreements: Table


def ratings_of(
    asked: LabelQuestion,
    units: dict[str, Unit],
    labels: list[Label],
    raters: list[str],
    settling: Collection[tuple[str, str]],
) -> Ratings:
    """The labels of one question by rater and unit.

    `settling` are the raters and units of labels that decide a dispute: they exist only where others disagree.
    """
    found: dict[str, dict[str, str]] = {rater: {} for rater in raters}
    for label in labels:
        if (label.rater, label.unit) in settling:
            continue
        if asked.column in label.answers and label.unit in units:
            found.setdefault(label.rater, {})[label.unit] = label.answers[asked.column]
    return found


def board_of(book: LabelBook, name: str) -> Board:
    """The state of a queue now."""
    queue, units, labels, raters = book.queue(name), book.units(name), book.labels(name), book.raters(name)
    settling = book.settling(name)
    ratings = {asked.column: ratings_of(asked, units, labels, raters, settling) for asked in queue.asked}
    apart = _apart(queue, labels)
    return Board(
        queue,
        len(units),
        len({label.unit for label in labels if label.answers} & units.keys()),
        len(apart),
        _raters_table(book, queue, labels, raters),
        _answers_table(queue, units, [label for label in labels if label.unit in units]),
        _agreement_table(queue, ratings),
        Table(
            "disagreements",
            "Not settled",
            ("unit", "question", "labels"),
            tuple(apart[:MOST_SHOWN]),
            f"{len(apart) - MOST_SHOWN} more are not shown." if len(apart) > MOST_SHOWN else "",
        ),
    )


def _apart(queue: Queue, labels: list[Label]) -> list[tuple[Cell, ...]]:
    """The units that raters disagree on and the owner has not decided, and what each said."""
    rows: list[tuple[Cell, ...]] = []
    decided = {label.unit for label in labels if label.rater == OWNER}
    for asked in queue.asked:
        for unit, given in _labelled(asked, labels).items():
            several = asked.values and unit not in decided and len(given) > 1
            if several and settled([label.answers[asked.column] for label in given]) is None:
                told = ", ".join(f"{label.rater}: {label.answers[asked.column]}" for label in given)
                rows.append((unit, asked.column, told))
    return rows


def _labelled(asked: LabelQuestion, labels: list[Label]) -> dict[str, list[Label]]:
    return grouped((label.unit, label) for label in labels if asked.column in label.answers)


def _raters_table(book: LabelBook, queue: Queue, labels: list[Label], raters: list[str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for rater in raters:
        mine = [label for label in labels if label.rater == rater]
        seconds = [label.seconds for label in mine if label.answers and not label.imported]
        rows.append(
            (
                rater,
                sum(bool(label.answers) for label in mine),
                len(book.tasks(queue.name, rater)),
                sum(bool(label.skipped) for label in mine),
                round(sum(seconds) / len(seconds), 1) if seconds else None,
            )
        )
    columns = ("rater", "labelled", "assigned", "skipped", "seconds per unit")
    return Table("raters", "Raters", columns, tuple(rows))


def _answers_table(queue: Queue, units: dict[str, Unit], labels: list[Label]) -> Table:
    """The share of the labelled units that each answer settles, and of units with several labels that are all alike."""
    rows: list[tuple[Cell, ...]] = []
    for asked in (one for one in queue.asked if one.values):
        said = {unit: [one.answers[asked.column] for one in given] for unit, given in _labelled(asked, labels).items()}
        shares = {answer: {unit: settled(given) == answer for unit, given in said.items()} for answer in asked.values}
        shares["all raters agree"] = {unit: len(set(given)) == 1 for unit, given in said.items() if len(given) > 1}
        for answer, found in ((answer, found) for answer, found in shares.items() if found):
            # Units that share the first part of their key, such as the parts of one tree, are not independent.
            shared = [next(iter(units[unit].key.values())) for unit in found]
            interval = clustered_mean_interval([float(one) for one in found.values()], shared)
            rows.append((asked.column, answer, len(found), fmean(found.values()), interval_text(interval, _SHARE)))
    columns = ("question", "answer", "units", "share", "95 % interval")
    return Table("answers", "Answers", columns, tuple(rows), units={"share": _SHARE})


def _agreement_table(queue: Queue, ratings: dict[str, Ratings]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for asked in queue.asked:
        each = {rater: labels for rater, labels in ratings[asked.column].items() if labels}
        try:
            alpha = alpha_of(each, asked.values, "nominal" if asked.values else "interval")
        except ValueError:
            continue
        # All labels the same: there is no expected disagreement, and no coefficient.
        value = None if alpha.value != alpha.value else round(alpha.value, 3)
        interval = interval_text(alpha.interval, "number", digits=2)
        rows.append((asked.column, alpha.coefficient, value, interval, alpha.units))
    columns = ("question", "coefficient", "value", "95 % interval", "units")
    return Table("agreement", "Agreement", columns, tuple(rows))


def judge_rows(found: JudgeAndPeople) -> tuple[tuple[tuple[str, str], ...], Table]:
    """A measure according to the judge and to people, and the episodes on which they differ most."""
    unit, corrected = found.measure.unit, found.corrected
    facts: list[tuple[str, str]] = [("labels", str(found.labels))]
    if corrected is not None:
        facts += [
            ("judge", number(corrected.judge, unit)),
            ("corrected by people", estimate(corrected.value, unit, corrected.interval)),
            ("bias of the judge", estimate(corrected.bias, unit, corrected.bias_interval)),
        ]
    rows = tuple((one.episode, number(one.judge, unit), number(one.people, unit)) for one in found.apart[:MOST_SHOWN])
    return tuple(facts), Table("apart", "Judge and people differ", ("episode", "judge", "people"), rows)


@guard.only(guard.OWNER)
async def board_page(request: web.Request) -> web.StreamResponse:
    """The state of the queue."""
    book, queue = request.app[BOOK], request.app[QUEUE]
    board = await asyncio.to_thread(board_of, book, queue.name)
    found = await asyncio.to_thread(request.app[FIND_RUN], queue) if queue.measured else None
    facts, apart = judge_rows(found) if found is not None else ((), None)
    return owner_page(
        request,
        "rate_board.html",
        visitor=guard.visitor_of(request),
        board=board,
        queue=queue,
        facts=facts,
        apart=apart,
    )


QUEUE = web.AppKey("queue", Queue)
BOOK = web.AppKey("label_book", LabelBook)
LONGEST_REASON = 500
SHOWN_LETTERS = 90


@guard.landing
async def welcome_page(request: web.Request) -> web.StreamResponse:
    """Asks for the code."""
    guard.check_secret(request, request.app[QUEUE].secret)
    return rater_page(request, "rate_welcome.html")


@guard.landing
async def sign_in(request: web.Request) -> web.StreamResponse:
    """Exchanges a code for a session; limits the rate of guesses."""
    guard.check_secret(request, request.app[QUEUE].secret)
    who, queue, book = guard.address_of(request), request.app[QUEUE], request.app[BOOK]
    request.app[guard.CODES].check(who)
    rater = book.with_code(queue.name, (await guard.form_of(request)).get("code", ""))
    if rater is None:
        return rater_page(request, "rate_welcome.html", "wrong code", 403)
    request.app[guard.CODES].forgive(who)
    response = see_other("/rate")
    guard.set_cookie(request, response, book.open_session(queue.name, rater))
    return response


@guard.only(guard.OWNER)
async def dispute_page(request: web.Request) -> web.StreamResponse:
    """A unit that raters disagree on, with what they said, for the owner to decide."""
    return _unit_page(request, request.query.get("unit", ""))


@guard.only(guard.RATER)
async def rate_page(request: web.Request) -> web.StreamResponse:
    """The unit that the query names, or the next one without a label."""
    wanted = request.query.get("unit", "")
    if wanted:
        _own_unit(request, wanted)
        return _unit_page(request, wanted)
    labels = own_labels(request)
    tasks = request.app[BOOK].tasks(request.app[QUEUE].name, rater_of(request))
    waiting = next((unit for unit in tasks if unit not in labels), None)
    if waiting is not None:
        return _unit_page(request, waiting)
    if any(label.skipped for label in labels.values()):
        return see_other("/own")
    return rater_page(request, "rate_done.html")


@guard.only(guard.OWNER)
async def decide(request: web.Request) -> web.StreamResponse:
    """Stores the owner's label of a disputed unit, which settles it."""
    return await _rate(request, "/owner#open")


@guard.only(guard.RATER)
async def rate(request: web.Request) -> web.StreamResponse:
    """Stores a label, or the reason why the unit was skipped."""
    return await _rate(request, "/rate")


async def _rate(request: web.Request, to: str) -> web.StreamResponse:
    queue, book, rater = request.app[QUEUE], request.app[BOOK], rater_of(request)
    given = await guard.form_of(request)
    unit = _own_unit(request, given.get("unit", ""))
    began = given.get("began", "")
    seconds = max(0.0, time.time() - float(began)) if began.replace(".", "", 1).isdecimal() and len(began) < 20 else 0.0
    try:
        if given.get("action") == "skip":
            reason = given.get("reason", "").strip()[:LONGEST_REASON]
            if not reason:
                raise BadForm("need reason")
            book.put(queue.name, Label(unit.id, rater, skipped=reason, seconds=round(seconds, 1)))
        else:
            answers = {asked.column: _answer(asked, given) for asked in queue.asked}
            book.put(queue.name, Label(unit.id, rater, answers, seconds=round(seconds, 1)))
    except BadForm as error:
        return _unit_page(request, unit.id, str(error), given)
    return see_other(to)


@guard.only(guard.RATER)
async def own_page(request: web.Request) -> web.StreamResponse:
    """The rater's own labels, those skipped first, each with a link to change it."""
    units = request.app[BOOK].units(request.app[QUEUE].name)
    labels = sorted(own_labels(request).values(), key=lambda label: not label.skipped)
    rows = [(label, _first_words(units[label.unit])) for label in labels if label.unit in units]
    return rater_page(request, "rate_own.html", rows=rows, named=answer_name)


def _first_words(unit: Unit) -> str:
    """The beginning of the text that tells units apart."""
    replies = [text for name, text in unit.shown.items() if name in names_of("last reply")]
    text = max(replies or unit.shown.values(), key=len, default=unit.id)
    return text if len(text) <= SHOWN_LETTERS else text[:SHOWN_LETTERS] + " …"


def answer_name(asked: LabelQuestion, said: str) -> str:
    """An answer as the page names it."""
    if asked.names and said in asked.values:
        return asked.names[asked.values.index(said)]
    return {"y": "yes", "n": "no"}.get(said, said)


def names_of(part: str) -> list[str]:
    """What a part of a unit is called in the languages of the pages; a stored unit has one of these names."""
    return [texts("rating", code)[_SHOWN + part] for code in languages_of("rating")]


_SPEAKER = re.compile(r"^([^\s:：][^:：\n]{0,19})[:：] ?", re.MULTILINE)


def turns_of(text: str) -> list[tuple[str, str]]:
    """A dialogue as (speaker, words); only the first two speakers count, so that words before a colon stay words."""
    names: dict[str, None] = {}
    starts = []
    for found in _SPEAKER.finditer(text):
        if len(names) < 2 or found[1] in names:
            names[found[1]] = None
            starts.append(found)
    if not starts or starts[0].start():
        return [("", text)]
    ends = [*(one.start() for one in starts[1:]), len(text)]
    return [(one[1], text[one.end() : end].strip()) for one, end in zip(starts, ends, strict=True)]


def _own_unit(request: web.Request, name: str) -> Unit:
    """A unit of the rater's own, or any for the owner; 403 for those of others."""
    book, queue, rater = request.app[BOOK], request.app[QUEUE], rater_of(request)
    own = rater == OWNER or name in book.tasks(queue.name, rater)
    unit = book.unit(queue.name, name) if own else None
    if unit is None:
        raise web.HTTPForbidden(text="This unit belongs to another rater.")
    return unit


def _answer(asked: LabelQuestion, given: Mapping[str, str]) -> str:
    said = given.get(f"answer-{asked.column}", "").strip()
    if asked.problem(said):
        raise BadForm("choose one" if asked.values else "a number")
    return said if asked.values else f"{float(said):g}"


def _unit_page(
    request: web.Request, name: str, problem: str = "", given: Mapping[str, str] | None = None
) -> web.Response:
    queue, book = request.app[QUEUE], request.app[BOOK]
    tasks, labels = book.tasks(queue.name, rater_of(request)), own_labels(request)
    before = labels.get(name)
    filled = dict(given or {}) or {
        f"answer-{column}": said for column, said in (before.answers if before else {}).items()
    }
    unit = _own_unit(request, name)
    owner = rater_of(request) == OWNER
    others = [one for one in book.labels(queue.name) if one.unit == name and one.rater != rater_of(request)]
    return rater_page(
        request, "rate_unit.html", problem, visitor=guard.visitor_of(request), unit=unit, owner=owner,
        # Only the owner, who decides, sees what others said, without their names and in no order of theirs.
        others=sorted((one.answers for one in others if one.answers), key=str) if owner else [],
        leads=names_of("question") if PART in unit.key else (), named=answer_name, turns_of=turns_of,
        talk_columns=names_of("talk"), reply_columns=names_of("last reply"), planned=len(tasks), given=filled,
        began=f"{time.time():.1f}",
        done=sum(bool(label.answers) for label in labels.values()),
        skipped=sum(bool(label.skipped) for label in labels.values()),
    )  # fmt: skip


def rater_page(
    request: web.Request, name: str, problem: str = "", status: int = BAD_FORM, **context: Any
) -> web.Response:
    """A page in the language of the queue; `problem` is the key of what is wrong with a form, which gives `status`."""
    queue, words = request.app[QUEUE], texts("rating", request.app[QUEUE].language)
    return page(
        name,
        status=status if problem else 200,
        queue=queue,
        language=queue.language,
        words=words,
        problem=words[problem] if problem else "",
        **context,
    )


def rater_of(request: web.Request) -> str:
    """The rater who sent the request; the owner decides disputes."""
    visitor = guard.visitor_of(request)
    return OWNER if visitor.role == guard.OWNER else visitor.who


def own_labels(request: web.Request) -> dict[str, Label]:
    """The rater's own labels, by unit; labels of others are not read."""
    book, queue, rater = request.app[BOOK], request.app[QUEUE], rater_of(request)
    tasks = book.tasks(queue.name, rater)
    found = (book.label(queue.name, unit, rater) for unit in tasks)
    return {label.unit: label for label in found if label is not None}


def annotate_application(
    queue: Queue, book: LabelBook, find: Callable[[Queue], JudgeAndPeople | None] = lambda queue: None
) -> web.Application:
    """The pages of one queue; `find` compares the judge with people."""
    app = guest_application(guard.RATER, partial(book.session, queue.name), queue.language)
    app[QUEUE], app[BOOK], app[FIND_RUN] = queue, book, find
    app.router.add_get("/join/{secret}", welcome_page)
    app.router.add_post("/join/{secret}", sign_in)
    app.router.add_get("/rate", rate_page)
    app.router.add_post("/rate", rate)
    app.router.add_get("/own", own_page)
    app.router.add_get("/owner", board_page)
    app.router.add_get("/owner/unit", dispute_page)
    app.router.add_post("/owner/unit", decide)
    return app


def compared(store: Path, load: Callable[..., Instrument], book: LabelBook, queue: Queue) -> JudgeAndPeople | None:
    """The judge compared with people on the measure that a queue labels; None if the run no longer exists."""
    if queue.measured is None:
        return None
    try:
        with Store(store) as opened:
            run = Engine(opened, load).stored(queue.measured.run)
            return judge_and_people(run, queue, book)
    except SociometerError:
        return None


def serve_queue(
    store: Path, name: str, load: Callable[..., Instrument], place: Place, tell: Callable[[str, str], None]
) -> None:
    """Serves a queue until Ctrl-C; `tell` gets the raters' link, and a link for the owner that works once."""
    with closing(LabelBook(book_path(store))) as book:
        queue = book.queue(name)
        app = annotate_application(queue, book, lambda one: compared(store, load, book, one))
        serve(app, place, lambda owner: tell(f"{app[guard.ADDRESS].url}/join/{queue.secret}", owner))
