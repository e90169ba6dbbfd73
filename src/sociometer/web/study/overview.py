"""The owner's view of a study: the progress of each participant, and whose answers do not count."""

import asyncio
from pathlib import Path

from aiohttp import web

from sociometer.core.measure import Cell, Table
from sociometer.store.runs import RunSearch
from sociometer.store.store import Store
from sociometer.store.stored_run import status_of
from sociometer.web.guard import OWNER, only, visitor_of
from sociometer.web.language import owner_page
from sociometer.web.study.attention import checks_of
from sociometer.web.study.book import StudyBook, book_path
from sociometer.web.study.exclusions import Facts, exclusion_rules, reasons
from sociometer.web.study.pages import BOOK, CARD, STORE, STUDY
from sociometer.web.study.records import Participant, Study, Timing

COLUMNS = ("participant", "run", "status", "items", "failed", "answers", "seconds", "checks failed", "excluded")


class Taking:
    """What is known about the participants of a study, read once."""

    def __init__(self, study: Study, book: StudyBook, store: Store) -> None:
        self.study, self._store = study, store
        self.participants = book.participants(study.name)
        self._timings: dict[str, list[Timing]] = {}
        for timing in book.timings(study.name):
            self._timings.setdefault(timing.participant, []).append(timing)
        self._passed = book.passed_checks(study.name)

    def row(self, one: Participant) -> tuple[Cell, ...]:
        """A participant as the table shows them."""
        status, facts = self.facts(one)
        failed = self._store.episodes.counts(one.run)[1] if one.run else 0
        why = "; ".join(reasons(self.study, facts)) if status != "playing" else ""
        about = tuple(one.about.get(question, "") for question in self.study.questions)
        took = round(sum(facts.seconds), 1)
        return (
            one.id, one.run, status, facts.done, failed, len(facts.seconds), took, facts.failed_checks, why, *about,
        )  # fmt: skip

    def facts(self, one: Participant) -> tuple[str, Facts]:
        """The status of a participant's run, and what the rules look at."""
        record = next(self._store.runs.found(RunSearch(ids=(one.run,))), None) if one.run else None
        done = self._store.episodes.counts(record.id)[0] if record else 0
        planned = record.manifest.episodes if record else 0
        status = str(status_of(self._store, record)) if record else "not started"
        timings = self._timings.get(one.id, [])
        wrong = self._failed_checks(one, done, planned, over=status == "finished")
        patterns, seconds = (each.pattern for each in timings), (each.seconds for each in timings)
        return status, Facts(done, planned, wrong, tuple(patterns), tuple(seconds))

    def _failed_checks(self, one: Participant, done: int, planned: int, *, over: bool) -> int:
        """Checks with a wrong answer, and at the end also those that were skipped."""
        passed = self._passed.get(one.id, {})
        due = [check.number for check in checks_of(self.study, one.id, planned) if over or check.after < done]
        return sum(not passed.get(number, False) for number in due)


def participants_table(study: Study, book: StudyBook, store: Store) -> Table:
    """Every participant of a study; the last columns are what the study asks about the person."""
    taking = Taking(study, book, store)
    rows = tuple(taking.row(one) for one in taking.participants)
    note = "A norm leaves out participants with: " + "; ".join(map(str, exclusion_rules(study))) + "."
    return Table("participants", f"Study {study.name}", (*COLUMNS, *study.questions), rows, note)


def excluded_runs(store: Store, study: str) -> dict[str, str]:
    """The runs of a study whose answers do not count, each with the reason; none if there is no such study.

    The caller decides how many items may be missing.
    """
    if not isinstance(store.path, Path) or not (path := book_path(store.path)).exists():
        return {}
    book = StudyBook(path)
    try:
        known = next((one for one in book.studies() if one.name == study), None)
        if known is None:
            return {}
        taking = Taking(known, book, store)
    finally:
        book.close()
    found = {one.run: reasons(known, taking.facts(one)[1], count_missing=False) for one in taking.participants}
    return {run: "; ".join(why) for run, why in found.items() if run and why}


@only(OWNER)
async def overview_page(request: web.Request) -> web.StreamResponse:
    """The participants of the study."""
    study, book, store = request.app[BOOK].study(request.app[STUDY].name), request.app[BOOK], request.app[STORE]
    table = await asyncio.to_thread(participants_table, study, book, store)
    return owner_page(
        request,
        "study_overview.html",
        visitor=visitor_of(request),
        study=study,
        card=request.app[CARD],
        columns=table.columns,
        rows=table.rows,
        rules=exclusion_rules(study),
        left_out=sum(bool(row[8]) for row in table.rows),
        done=sum(row[2] == "finished" for row in table.rows),
    )
