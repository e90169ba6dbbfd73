"""A number is the same wherever it is shown: in a terminal, as JSON and CSV, in the browser, on the page, in Python."""

import json
from hashlib import sha256

import msgspec
import pytest

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.measure import Interval
from sociometer.instruments import cards, load
from sociometer.reporting.content import gather
from sociometer.reporting.page import all_numbers
from sociometer.reporting.terminal import with_texts
from sociometer.results import summaries
from sociometer.results.runs import compare_runs
from sociometer.statistics.formatting import number
from sociometer.store.records import RunStatus
from sociometer.store.store import Store
from sociometer.web.browsing import ViewedStore, read_sides, read_summary, read_verdicts, run_row

PLAYED = {
    "egosocial": {"tasks": ("generated", "blackjack"), "settings": {"stories": 2, "deals": 12}},
    "sage": {"limit": 12, "roles": {"simulator": "baseline/random"}, "settings": {"turns": 3, "judge-last": True}},
    "seceu": {"limit": 14},
    "sesi": {"limit": 20, "repeats": 2},
    "socialeval": {"limit": 4},
}


IN_TABLES = {
    "egosocial": [("gain", "all", "gain", "gain")],
    "seceu": [("results", "direct", "distance", "distance"), ("results", "direct", "evenness", "evenness")],
    "socialeval": [("goals", "all", "goal achieved", "achieved"), ("goals", "all", "partly", "partly")],
}
"""Values in the tables of an instrument: the table, the first cell of the row, the column, and the measure."""


async def faulty(messages):
    """Fails on some questions, gives no answer to some, and the same answer to all others."""
    lot = sha256(str(messages).encode()).digest()[0] % 6
    if lot == 0:
        raise RuntimeError("no answer")
    return "I would rather not say." if lot == 1 else "4, 3, 2, 1" if "10" in str(messages) else "A"


@pytest.fixture(scope="module", params=PLAYED)
def played(request, tmp_path_factory):
    """A store with the run of a subject that fails now and then."""
    path = tmp_path_factory.mktemp(request.param) / "s.db"
    run = sm.run(request.param, faulty, store=path, name="faulty", **PLAYED[request.param])
    assert run.failures()
    return path, sm.get_run(run.id, store=path)


def in_json(run):
    """The summaries of a run as `--json` prints them."""
    return json.loads(msgspec.json.encode(summaries.run_json(run), enc_hook=str))["summaries"]


def test_a_number_is_the_same_wherever_it_is_shown(played):
    _, run = played
    lines = summaries.lines_of(run)
    told = [(task, one) for task, summary in in_json(run).items() for one in summary["measures"]]
    read = [
        (task, one["name"], one.get("group", {}), one["value"], one.get("unreadable", 0), one["errors"], one["chance"])
        for task, one in told
    ]
    known = [
        (
            one.task,
            one.measure.name,
            one.measure.group,
            one.measure.value,
            one.measure.unreadable,
            one.failed,
            one.chance,
        )
        for one in lines
    ]
    assert sorted(read, key=str) == sorted(known, key=str)
    for row, one in zip(summaries.raw_measures([run]).records(), lines, strict=True):
        known_bounds = one.measure.interval or Interval(None, None)
        bounds = Interval(None, None) if known_bounds.without_bounds else known_bounds
        seen = tuple(row[part] for part in ("value", "low", "high", "items", "unreadable", "errors"))
        counts = one.measure.items, one.measure.unreadable, one.failed
        assert seen == (one.measure.value, bounds.low, bounds.high, *counts)
    shown = {
        (run.definition.card.task_title(one.task), one.card.title, one.group): (
            one.value, one.interval, number(one.chance, one.card.unit), str(one.measure.items),
            str(one.measure.unreadable), one.errors, one.note,
        )
        for one in lines
    }  # fmt: skip
    (chapter,) = gather([run]).chapters
    page = [[text for text, _ in cells] for cells in all_numbers(chapter)]
    assert {(task, title, group): tuple(rest) for _, task, title, group, *rest in page} == shown


def test_the_tables_of_an_instrument_have_the_values_and_intervals_of_the_summary(played):
    _, run = played
    tables = {table.name: with_texts(table).records() for task in run.tasks for table in run.summary(task).tables}
    for name, first, column, measure in IN_TABLES.get(run.instrument, []):
        row = next(row for row in tables[name] if first in row.values())
        line = next(one for one in summaries.lines_of(run) if one.measure.name == measure and not one.group)
        assert row[column] == line.estimate


def test_the_notes_on_a_number_are_the_same_wherever_it_is_shown(played):
    path, run = played
    viewed, (chapter,), told = ViewedStore(path, load, cards()), gather([run]).chapters, in_json(run)
    for task, page in zip(run.tasks, chapter.results, strict=True):
        every = summaries.notes_beside(run, task, run.summary(task))
        beside = tuple(every)
        assert page.summary.notes == read_summary(viewed, run.id, task).notes == beside
        assert told[task]["notes"] == every
        assert all(note in summaries.finding(run) + summaries.summary_table(run).note for note in every)
    if run.instrument == "sesi":
        assert any(note.startswith("Right in all 2 repeats") for note in beside)


@pytest.mark.parametrize("killed", [False, True])
def test_the_lists_of_runs_have_the_score_that_its_page_has(played, capsys, killed):
    path, run = played
    with Store(path) as store:
        if killed:
            store.runs.set_status(run.id, RunStatus.PLAYING)
            store.flush()
        line = next(one for one in summaries.lines_of(run) if one.card.primary and one.measure.value is not None)
        assert run_command(["runs", "--store", str(path), "--json"]) == 0
        (listed,) = json.loads(capsys.readouterr().out)
        assert listed["score"].startswith(line.estimate) and listed["value"] == line.measure.value
        row = run_row(ViewedStore(path, load, cards()), store, store.runs.get(run.id))
        assert (row.score, row.bounds, row.chance) == (line.value, line.interval, line.chance_text or "")


def test_a_difference_and_its_notes_are_the_same_wherever_they_are_shown(tmp_path):
    path = tmp_path / "s.db"
    whole = sm.run("sesi", "baseline/random", store=path, limit=30)
    part = sm.run("sesi", faulty, store=path, name="faulty", limit=30, max_requests=25)
    (told,) = compare_runs([whole, part])
    (page,) = gather([whole, part]).comparisons
    viewed = ViewedStore(path, load, cards())
    (seen,) = read_verdicts(viewed, read_sides(viewed, [whole.id, part.id], "questions"))
    assert any("of 30 items in their random order" in note for note in told.notes)
    assert (page.sentence, page.measures, page.notes) == (told.sentence, told.measures, told.notes)
    assert seen[0] == told.sentence and set(told.notes) <= set(seen[1])
