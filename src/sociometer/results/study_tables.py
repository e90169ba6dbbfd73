"""A study as tables, in Python or for other programs: people, their scores, answers, items, and a codebook."""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from sociometer.core.config import RunConfig
from sociometer.core.conversation import Exchange, with_new_messages
from sociometer.core.errors import UsageError, unknown
from sociometer.core.hints import called
from sociometer.core.instrument import Instrument
from sociometer.core.language import read_texts
from sociometer.core.measure import Table
from sociometer.core.sheets import whole_file, write_sheet
from sociometer.core.task import Episode
from sociometer.core.words import grouped
from sociometer.results.groups import Taking, takings
from sociometer.results.norms import NormTable, norm_tables, study_norm, write_norm
from sociometer.results.participants import results_of
from sociometer.store.person_questions import PersonQuestion
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun
from sociometer.store.studies import Participant, Timing, find_study, role_of_people, study_books

Row = dict[str, Any]
_MOST_PARTS = 6
"""A longer list of an outcome is one cell of JSON."""
_MOST_VALUES = 12
"""A column with more different texts has no list of values in the codebook."""
_OUR_WORDS = ("condition_", "item", "instrument", "task", "cluster", "status", "model", "failure")
"""Beginnings of columns whose texts are ours. What people wrote, and why the owner left them out, is in no codebook."""
_LONGEST, _LONGEST_VALUE = 64, 40
_ITEM_NAMES = {"options": "option", "standard": "key", "answer": "key"}
_NAMED = ("condition_", "item_", "excluded_", "counts_")
_YES_OR_NO = ("last", "flag_", "counts", "passed")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_READ = re.compile(r"^(read_).*?([a-z]+)(_\d+)*$")
_LINE_END = re.compile(r"\r\n|[\r\n\u2028\u2029]")


class StudyResults:
    """The people of a study, what they answered, and the norm that they make; `sm.compare` takes its name."""

    def __init__(
        self, store: Store, name: str, load: Callable[[str], Instrument], checked: Callable[[RunConfig], object]
    ) -> None:
        """`checked` plans a run, to see whether it can use a norm."""
        self._store, self._load, self._checked = store, load, checked
        self.name, self._part = find_study(store.path, name)[0].name, name

    @cached_property
    def tables(self) -> dict[str, Table]:
        """`people`, `items`, the answers to each task (`seceu_feelings`) and to `checks`, `wide` and the `codebook`."""
        return study_tables(self._store, self.name, self._load)

    @property
    def people(self) -> Table:
        """Everyone who joined: progress, flags, why they do not count, what they said, and their results."""
        return self.tables["people"]

    def frame(self, table: str = "people") -> Any:
        """A table as a pandas frame: everybody who joined, with their results, or the answers to a task."""
        if table not in self.tables:
            raise unknown("table", table, self.tables)
        return self.tables[table].frame()

    @called(python=True)
    def norm(self, path: str | Path | None = None, part: str = "") -> NormTable:
        """Percentiles of the people who count, alpha and SEM; `path` writes the norm, for the setting `norm` of `run`.

        Of a study of several instruments, `part` is one of them: `sesi`, or `sm.study("spring.sesi").norm()`.
        """
        own = f"{self.name}.{part.removeprefix(f'{self.name}.')}" if part else self._part
        norm, people, taken = study_norm(self._store, own, self._load)
        if path is not None:
            write_norm(norm, taken, Path(path), self._checked)
        task, found = next(iter(norm.tasks.items()))
        return norm_tables(found, task, people)[0]

    @called(python=True)
    def export(self, folder: str | Path) -> Path:
        """Write all tables as CSV files, readable by you only."""
        write_study(self._store, self.name, self._load, Path(folder))
        return Path(folder)

    def __repr__(self) -> str:
        return f"<study {self.name}: {len(self.people.rows)} people; tables: {', '.join(self.tables)}>"


def write_study(store: Store, study: str, load: Callable[[str], Instrument], folder: Path) -> dict[str, int]:
    """Writes the tables of a study to a folder, readable by its owner only; returns the number of rows of each."""
    if folder.is_file() or folder.suffix in (".csv", ".jsonl"):
        raise UsageError(f"--to '{folder}' must be a folder: there is a file for each task, and a codebook.")
    tables = study_tables(store, study, load)
    for name, table in tables.items():
        with whole_file(folder / f"{name}.csv", private=True, within=folder) as file:
            file.write_text(sheet_of(table), encoding="utf-8")
    return {f"{name}.csv": len(table.rows) for name, table in tables.items()}


def study_tables(store: Store, study: str, load: Callable[[str], Instrument]) -> dict[str, Table]:
    """People with results, items, answers to each task and to checks, people with a column an item, and a codebook."""
    tables, declared = _study_rows(store, study, load)
    tables["codebook"] = list(_codebook(tables, declared))
    numbers = {column for (_, column), about in declared.items() if about.get("type") == "number"}
    found = {}
    for name, rows in tables.items():
        columns = _columns(rows)
        rows = [row for row in rows if row.get("person") != ""]
        cells = tuple(tuple(_cell(row.get(column), column in numbers) for column in columns) for row in rows)
        found[name] = Table(name, f"Study {study}: {name}", tuple(map(_variable, columns)), cells)
    return found


def sheet_of(table: Table) -> str:
    """A table as CSV."""
    return write_sheet(table.columns, table.rows, guard_formulas=True)


def _study_rows(
    store: Store, study: str, load: Callable[[str], Instrument]
) -> tuple[dict[str, list[Row]], dict[tuple[str, str], Row]]:
    """The rows of each table, and what the codebook says about columns of scores and of questions about people."""
    parts, declared = takings(store, study), dict[tuple[str, str], Row]()
    shown: set[tuple[str, str]] = set()
    for book in study_books(store.path):
        whole = Taking(book.study(study), book, store)
    names = about_columns(whole.study.questions)
    nobody = Participant("", study, 0.0)  # gives the columns if nobody has joined
    people = {one.id: _person(whole, one, names) for one in whole.participants or [nobody]}
    listed = {name: {"person": name, **more, **person} for name, (person, more) in people.items()}
    tables: dict[str, list[Row]] = {"people": [*listed.values()], "items": []}
    wide: dict[str, Row] = {name: {} for name in listed}
    asked = {names[question.name]: _declared(question) for question in whole.study.asked}
    for part, one in [(part, one) for part, each in parts.items() for one in each.participants]:
        taking = parts[part]
        person, record = _person(taking, one, names)[0], taking.record(one)
        own = _slug(part.removeprefix(f"{study}.")) if whole.study.further else ""
        if own:  # who did not finish one instrument may count in another
            listed[one.id] |= {f"{fact}_{own}": person[fact] for fact in ("excluded", "counts")}
        if record is None:
            continue
        run = StoredRun(store, record, load(record.instrument))
        times = grouped(((timing.task, timing.item), timing) for timing in taking.timings.get(one.id, []))
        places = {place: number for number, place in enumerate(times, 1)}
        for task in run.all_tasks:
            name = f"{run.instrument}_{task}"
            results = results_of(run, task)
            for measure in run.definition.card.measures_of(task):
                about: Row = {"title": measure.title, "unit": measure.unit, "better": measure.better}
                about |= {"possible_lowest": measure.low, "possible_highest": measure.high}
                declared.setdefault((name, f"score_{_slug(measure.value)}"), about)
                if measure.name in results:
                    with_whom = f"_{own}" if taking.study.talks and own else ""
                    column = f"result_{name}_{_slug(measure.name)}{with_whom}"
                    declared.setdefault(("people", column), about)
                    listed[one.id][column] = results[measure.name].value
                    for item, found in results[measure.name].items.items() if not taking.study.talks else ():
                        column = f"score_{name}_{_slug(item)}"
                        wide[one.id][column] = found.value
                        declared.setdefault(("wide", column), about | {"title": f"{measure.title}, {item}"})
            for episode in run.episodes(task):
                place = (task, episode.item.id)
                head = {"person": one.id, "item": episode.item.id, "position": places.get(place)}
                head |= {"model": run.subject} if taking.study.talks else {}
                answers = _answers(run, task, episode, times.get(place, []))
                tables.setdefault(name, []).extend({**head, **answer, **person} for answer in answers)
                if place not in shown:
                    shown.add(place)
                    for nth, option in enumerate(getattr(episode.item, "options", ()), 1):
                        said = {"title": f"option {nth} of the item, such as '{option}' in {episode.item.id}"}
                        for column in (f"read_points_{nth}", f"read_written_{nth}"):
                            declared.setdefault((name, column), said)
                    about = {"instrument": run.instrument, "task": task, "item": episode.item.id}
                    about |= {"cluster": episode.item.cluster, **dict(_item(msgspec.to_builtins(episode.item)))}
                    tables["items"].append({**about, "content": msgspec.json.encode(episode.item).decode()})
    for one in whole.participants if whole.study.attention else ():
        for number, (after, passed) in enumerate(whole.checks(one, listed[one.id]["planned"]), 1):
            row = {"person": one.id, "check": number, "after_items": after, "passed": passed}
            tables.setdefault("checks", []).append(row)
    if columns := sorted({column for scores in wide.values() for column in scores}):
        each = wide.items()
        tables["wide"] = [{**listed[name], **{one: scores.get(one) for one in columns}} for name, scores in each]
    declared |= {("wide", column): about for (table, column), about in declared.items() if table == "people"}
    return tables, declared | {(name, column): about for name in tables for column, about in asked.items()}


def _person(taking: Taking, one: Participant, names: dict[str, str]) -> tuple[Row, Row]:
    """What every table has about a person, and what only the table of people has."""
    facts, decision = taking.decision(one)
    about = {column: one.about.get(question) for question, column in names.items()}
    joined = datetime.fromtimestamp(one.joined, UTC).strftime("%Y-%m-%d %H:%M:%S")
    more: Row = {"joined": joined, "status": facts.status, "items": facts.done, "planned": facts.planned}
    more["seconds_median"] = round(median(facts.seconds), 3) if facts.seconds else None
    flagged = {f"flag_{kind}": int(kind in decision.flags) for kind in ("speed", "line", "checks")}
    counted: Row = {"excluded": "; ".join(map(str, decision.excluded)), "counts": int(decision.counts)}
    return {"checks_failed": facts.failed_checks, **flagged, **counted, **about}, more


def _answers(run: StoredRun, task: str, episode: Episode[Any, Any], times: list[Timing]) -> Iterator[Row]:
    """A row for each answer to an item; the last one has what came of it."""
    events = with_new_messages(run.transcript(episode, task))
    role = role_of_people(run.manifest.config)
    asked = [(event, new) for event, new in events if isinstance(event, Exchange) and event.role == role]
    score = episode.score
    condition = {f"condition_{_slug(name)}": value for name, value in score.facets.items()} if score else {}
    for number, (event, new) in enumerate(asked):
        took = times[number] if number < len(times) else None
        row: Row = {
            "question": number + 1,
            "last": int(number + 1 == len(asked)),
            "asked": "\n\n".join(message.content for message in new if message.role != "assistant"),
            "answer": event.reply.text,
            "seconds_page": took and took.page_seconds,
            "seconds_server": took and took.seconds,
            **condition,
        }
        if row["last"]:
            row |= _flat("read", msgspec.to_builtins(episode.outcome)) if episode.outcome is not None else ()
            row |= {f"score_{_slug(name)}": value for name, value in score.values.items()} if score else {}
            row["unreadable"] = score.unreadable if score else None
            row["failure"] = episode.failure and episode.failure.kind
        yield row


def _item(parts: Row) -> Iterator[tuple[str, Any]]:
    """The plain parts of an item as cells, its options and key by these names; the rest is in its JSON only."""
    for name, value in parts.items():
        each = value if isinstance(value, list | tuple) else [value]
        if name not in ("id", "cluster") and not any(isinstance(part, list | tuple | dict) for part in each):
            place = name == "answer" and "options" in parts
            yield from _flat(f"item_{_ITEM_NAMES.get(name, _slug(name))}", _from_one(value) if place else value)


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The parts of an outcome as cells."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _flat(f"{name}_{_slug(str(key))}", _from_one(part) if key in ("order", "picked") else part)
    elif isinstance(value, list | tuple) and len(value) <= _MOST_PARTS:
        for place, part in enumerate(value):
            yield from _flat(f"{name}_{place + 1}", part)
    else:
        yield name, msgspec.json.encode(value).decode() if isinstance(value, list | tuple) else value


def _from_one(place: Any) -> Any:
    """A place among the options, or several, counted from 1 as the columns of options in items.csv are."""
    several = [*map(_from_one, place)] if isinstance(place, list | tuple) else place
    return place + 1 if isinstance(place, int) else several


def _declared(question: PersonQuestion) -> Row:
    """What the owner of a study declared about a question: its type, range and choices, with the labels of a scale."""
    codes, labels = zip(*question.options, strict=True) if question.options else ((), ())
    number = question.kind == "number" or (bool(codes) and all(map(_NUMBER.fullmatch, codes)))
    low, high = (codes[0], codes[-1]) if number and codes else (question.low, question.high)
    texts = (label.removeprefix(code).strip() for code, label in zip(codes, labels, strict=True))
    return {
        "title": question.name,
        "type": "number" if number else "text" if codes else None,
        "values": " | ".join(f"{code} = {text}" if text else code for code, text in zip(codes, texts, strict=True)),
        "possible_lowest": low,
        "possible_highest": high,
    }


def about_columns(questions: Iterable[str]) -> dict[str, str]:
    """A column for each question about people, whose name every program takes."""
    found: dict[str, str] = {}
    for number, question in enumerate(questions, 1):
        name = f"about_{_slug(question)[:40]}" if _slug(question) and question.isascii() else f"about_{number}"
        found[question] = f"about_{number}" if name in found.values() else name
    return found


def _variable(column: str) -> str:
    """The name of a column as SPSS takes it too: at most 64 letters, digits and underscores, which do not end it."""
    if len(column) > _LONGEST:
        column = f"{column[: _LONGEST - 9].rstrip('_')}_{blake2b(column.encode(), digest_size=4).hexdigest()}"
    return column.rstrip("_")


def _slug(text: str) -> str:
    return re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_").lower()


def _cell(value: Any, number: bool = False) -> Any:
    """A cell on one line, since not every program reads a cell with several; the answer to a question for a number."""
    if number and isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value) if "." in value else int(value)
    return int(value) if isinstance(value, bool) else _LINE_END.sub(r"\\n", value) if isinstance(value, str) else value


def _columns(rows: list[Row]) -> list[str]:
    """The columns of a table: who and what, then the answer, the scores and the person."""
    ranks = {"condition_": 1, "read_": 2, "score_": 3, "unreadable": 4, "failure": 4, "checks_failed": 5, "about_": 6}
    ranks |= {"flag_": 5, "excluded": 5, "counts": 5}
    found = dict.fromkeys(column for row in rows for column in row)
    return sorted(found, key=lambda column: max((ranks[one] for one in ranks if column.startswith(one)), default=0))


def _codebook(tables: dict[str, list[Row]], declared: dict[tuple[str, str], Row]) -> Iterator[Row]:
    """A row for each column of each table."""
    meanings = read_texts(Path(__file__).with_name("codebook.toml"))
    for name, rows in tables.items():
        for column in _columns(rows):
            known = [cell for row in rows if (cell := row.get(column)) not in (None, "")]
            about = declared.get((name, column), {})
            kind = about.get("type") or ("text" if any(isinstance(cell, str) for cell in known) else "number")
            is_ours = name == "items" or column.startswith(_OUR_WORDS) or column.endswith("_rule")
            listed = kind == "text" and is_ours and len(set(known)) <= _MOST_VALUES
            values = sorted(set(map(str, known))) if listed else []
            prefix = next((one for one in meanings["beginnings"] if column.startswith(one)), "")
            place = column != "item_key" or all(isinstance(cell, int) for cell in known)
            said = (meanings["columns"].get(_READ.sub(r"\1\2", column)) if place else "") or meanings["beginnings"][
                prefix
            ]
            named = column.removeprefix(prefix).replace("_", " ") if prefix in _NAMED else None
            title, yes_or_no = about.get("title") or named, column.startswith(_YES_OR_NO)
            seen = " | ".join(values) if all(len(one) <= _LONGEST_VALUE for one in values) else None
            yield {
                "table": f"{name}.csv",
                "column": _variable(column),
                "meaning": f"{said}: {title}" if title else said,
                "type": kind if known or about.get("type") else "empty",
                "values": "0 = no | 1 = yes" if yes_or_no else about.get("values") or seen,
                **{fact: about.get(fact) for fact in ("unit", "better", "possible_lowest", "possible_highest")},
                "lowest": min(known, key=float) if known and kind == "number" else None,
                "highest": max(known, key=float) if known and kind == "number" else None,
                "empty": len(rows) - len(known),
            }
