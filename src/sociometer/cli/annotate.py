"""`sociometer annotate`: several raters label the same units in the browser or in files."""

import secrets
from contextlib import closing
from pathlib import Path
from random import Random

import click
from msgspec import structs

from sociometer.cli.options import open_engine, shown_command, store_path, stored_command
from sociometer.cli.output import Display, Group, link_teller, option, print_json, print_line, print_table, tell
from sociometer.cli.view import place_options, who_can_open
from sociometer.core.config import check_characters
from sociometer.core.errors import DataError, ExitCode, UsageError, hint
from sociometer.core.measure import Table
from sociometer.core.sheets import read_rows, whole_file, write_sheet
from sociometer.core.words import counted
from sociometer.instruments import cards, load
from sociometer.results.corrected import PART, judged_episodes, measure_of, random_episodes, settled_answers
from sociometer.store.labels import OWNER, Label, LabelBook, LabelQuestion, Measured, Queue, Unit, book_path
from sociometer.store.place import StorePlace, file_of
from sociometer.store.store import Store
from sociometer.store.studies import shown_code
from sociometer.web import annotate
from sociometer.web.rendering import languages_of, texts
from sociometer.web.serving import Place

SETTLED = "settled"


def _no_queues() -> str:
    return f"There are no queues yet. Create one with: {hint('annotate create NAME --sheet FILE')}"


def _file(store: StorePlace | None) -> Path:
    """The store whose labels are in a separate file next to it."""
    return file_of(store_path(store), "'annotate'")


def _create(
    name: str,
    sheet: Path | None,
    run: str,
    task: str,
    measure: str,
    sample: int | None,
    raters: int,
    per_item: int,
    language: str,
    seed: int,
    store: StorePlace | None,
    as_json: bool,
) -> None:
    check_characters("NAME", name)
    if (sheet is None) == (not run):
        raise UsageError("annotate create needs either --sheet FILE or --run RUN.")
    lots, path = Random(seed), _file(store).absolute()
    queue = Queue(name, "", (), language=language, per_item=per_item, seed=seed, secret=secrets.token_urlsafe(16))
    if sheet is not None:
        known, card = annotate.kind_of(sheet, cards())
        instrument, sheet_name = load(known.partition("/")[0]), known.partition("/")[2]
        words = annotate.rater_words(instrument, language, sheet_name)
        columns, units = annotate.sheet_units(sheet, card, words)
        units = units if sample is None else lots.sample(units, min(sample, len(units)))
        title, asked = words.get(card.title, card.title), annotate.asked_of(card, words)
        guide = annotate.guide_of(instrument, sheet_name, language)
        queue = structs.replace(queue, title=title, asked=asked, kind=known, columns=columns, guide=guide)
    else:
        measured, title, of_run, units, guide = _measured(path, run, task, measure, sample, language, seed)
        queue = structs.replace(queue, title=title, asked=(of_run,), kind="run", measured=measured, guide=guide)
    units = annotate.numbered(units, Random(secrets.token_bytes(16)))
    names = [f"rater-{number}" for number in range(1, raters + 1)]
    tasks = annotate.assigned(units, names, per_item, lots)
    with closing(LabelBook(book_path(path))) as book, book.changing():
        _require_run(path, queue)
        codes = book.create(queue, units, names, tasks)
    shown = {rater: shown_code(code) for rater, code in codes.items()}
    if as_json:
        print_json({"queue": name, "units": len(units), "label_set": queue.label_set, "codes": shown})
        return
    rows = tuple((rater, code, sum(one == rater for one, _, _ in tasks)) for rater, code in shown.items())
    note = "The codes are shown only once. Give each rater their own code."
    few = f" (there are only {len(units)})" * (len(units) < (sample or 0))
    print_table(
        Table("raters", f"Queue {name}: {counted(len(units), 'unit')}{few}", ("rater", "code", "units"), rows, note)
    )
    print_line(f"Open it with: {hint('annotate open', name)}")


def _measured(
    path: Path, run: str, task: str, measure: str, sample: int | None, language: str, seed: int
) -> tuple[Measured, str, LabelQuestion, list[Unit], str]:
    """The measure to label, its title and question, a random sample of the run's episodes, and the raters' guide."""
    with open_engine(path) as engine:
        stored = engine.stored(run)
        chosen = task or stored.tasks[0]
        primary = [one.name for one in stored.definition.card.measures_of(chosen) if one.value and one.primary]
        known = measure_of(stored, chosen, measure or next(iter(primary), ""))
        measured = Measured(stored.id, chosen, known.name, known.value)
        draft = Queue("", "", (), measured=measured, seed=seed)
        names = random_episodes(stored, draft, sample or 40)
        if not names:
            raise UsageError(f"run {stored.reference} has no episode with a value of '{known.name}'.")
        words = annotate.rater_words(stored.definition, language)
        units = annotate.episode_units(stored, chosen, names, known.value, words)
        if any(PART in unit.key for unit in units):
            asked = annotate.parts_asked(language)
        else:
            whole = {one.judge for one in judged_episodes(stored, draft, {})} <= {0.0, 1.0}
            known = structs.replace(known, question=words.get(known.question, known.question))
            asked = annotate.measure_asked(known, language, whole=whole)
        title = texts("rating", language)["title"] or known.title
        return measured, title, asked, units, annotate.guide_of(stored.definition, known.name, language)


def _open(name: str, port: int, host: str, public_url: str, store: StorePlace | None, as_json: bool) -> int:
    place = Place(host, port, public_url)
    stop = "Press Ctrl-C to stop the server. Labels are stored, and you can open it again."
    tell = link_teller("raters", who_can_open(place) + stop, as_json)
    annotate.serve_queue(_file(store).absolute(), name, load, place, tell)
    return int(ExitCode.OK)


def _list(store: StorePlace | None, display: Display) -> None:
    path, rows = book_path(_file(store)), []
    if path.exists():
        with closing(LabelBook(path)) as book:
            for one in book.queues():
                units, labels = book.units(one.name), book.labels(one.name)
                rows.append((one.name, one.kind, one.title, len(units), len(book.raters(one.name)), len(labels)))
    note = "" if rows else _no_queues()
    columns = ("queue", "kind", "title", "units", "raters", "labels")
    table = Table("queues", "Queues", columns, tuple(rows), note)
    display.show([table], limits=[len(rows)], data=table.records())


def _show(name: str, store: StorePlace | None, display: Display) -> None:
    path = _file(store)
    with _book(path) as book:
        board, found = annotate.board_of(book, name), annotate.compared(path, load, book, book.queue(name))
    tables = [board.raters, board.answers, board.agreement, board.disagreements]
    tables = [one for one in tables if one.rows or one in (board.raters, board.agreement)]
    if found is not None:
        facts, apart = annotate.judge_rows(found)
        tables += [Table("judge", f"Judge and people: {found.measure.title}", ("what", "value"), facts), apart]
    display.show(tables, limits=[len(one.rows) for one in tables], data={"board": board, "judge": found})


def _export(name: str, rater: str, to: Path, store: StorePlace | None, as_json: bool) -> None:
    with _book(_file(store)) as book:
        queue, units, labels = book.queue(name), book.units(name), book.labels(name)
        if rater != SETTLED and rater not in book.raters(name):
            raise UsageError(f"queue {name} has no rater '{rater}'; it has {', '.join(book.raters(name))}.")
    answers: dict[str, dict[str, str]] = {}
    for asked in queue.asked:
        if rater == SETTLED:
            found = settled_answers(asked, labels)
        else:
            found = {one.unit: one.answers[asked.column] for one in labels if one.rater == rater and one.answers}
        for unit, answer in found.items():
            answers.setdefault(unit, {})[asked.column] = answer
    columns = queue.columns or (*next(iter(units.values())).key, "value")
    rows = [
        [{**unit.row, **unit.key, **answers.get(unit.id, {})}.get(column, "") for column in columns]
        # A sheet of episodes is often filled in from the top: in random order, that part is a random sample too.
        for unit in sorted(units.values(), key=lambda one: tuple(one.key.values()) if queue.columns else (one.id,))
    ]
    if to.exists():
        raise UsageError(f"{to} already exists; give another --to.")
    with whole_file(to, private=True) as file:
        file.write_text(write_sheet(columns, rows, guard_formulas=True), encoding="utf-8")
    about = {"wrote": str(to), "labelled": len(answers)}
    tell(as_json, about, f"wrote {to}: {len(answers)} of {len(rows)} rows have labels.")


def _import(name: str, file: Path, rater: str, store: StorePlace | None, as_json: bool) -> None:
    if rater.strip() in ("", OWNER):
        raise UsageError(f"--rater must be the name of a person, not '{rater}'.")
    with _book(_file(store)) as book:
        counts = _import_file(book, book.queue(name), file, rater)
    tell(
        as_json,
        {"queue": name, "rater": rater, **counts},
        f"{counts['new']} labels of {rater} are new, {counts['same']} were there already, "
        f"{counts['changed']} replaced another label of the same rater.",
    )


def _import_file(book: LabelBook, queue: Queue, file: Path, rater: str) -> dict[str, int]:
    """Stores the labels of a filled-in sheet; the same rater in two files counts once."""
    units = {tuple(unit.key.values()): unit for unit in book.units(queue.name).values()}
    keys = tuple(next(iter(units.values())).key)
    counts = {"new": 0, "same": 0, "changed": 0}
    read: list[Label] = []
    for line, row in read_rows(file, (*keys, *(asked.column for asked in queue.asked)), guarded=True):
        answers = {asked.column: said for asked in queue.asked if (said := row[asked.column].strip())}
        if not answers:
            continue
        unit = units.get(tuple(row[key] for key in keys))
        if unit is None:
            raise DataError(f"row {', '.join(row[key] for key in keys)} is not in queue {queue.name}", file, line)
        for asked in queue.asked:
            if (answer := answers.get(asked.column)) is not None and (problem := asked.problem(answer)):
                raise DataError(f"{asked.column} '{answer}'; {problem}", file, line)
        read.append(Label(unit.id, rater, answers, imported=True))
    with book.changing():
        book.add_rater(queue.name, rater)
        for label in read:
            before = book.label(queue.name, label.unit, rater)
            same = before is not None and before.answers == label.answers
            kind = "new" if before is None or not before.answers else "same" if same else "changed"
            counts[kind] += 1
            if kind != "same":
                book.put(queue.name, label)
    return counts


def _require_run(path: Path, queue: Queue) -> None:
    """Raises an error if the run of a queue was deleted after its episodes were read: its person has withdrawn."""
    if queue.measured is not None:
        with Store(path) as store:
            store.runs.get(queue.measured.run)


def _book(store: Path) -> closing[LabelBook]:
    path = book_path(store)
    if not path.exists():
        raise UsageError(_no_queues())
    return closing(LabelBook(path))


_NAME = click.Argument(["name"])
_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)

_COMMANDS = [
    stored_command(
        "create",
        _create,
        "Create a queue of units for raters, and print a code for each.",
        _NAME,
        option("--sheet", "Sheet of an instrument with the rows to label (CSV).", type=_FILE),
        option("--run", "Run with the episodes to label, in place of a sheet.", default=""),
        option("--task", "Task of the run [default: its first].", default=""),
        option("--measure", "Measure that people rate [default: the primary one].", default=""),
        option(
            "--sample", "Number of random units [default: 40 episodes, or all rows of a sheet].", type=click.IntRange(1)
        ),
        option("--raters", "Number of raters.", type=click.IntRange(1, 50), default=2),
        option("--per-item", "Number of raters per unit.", type=click.IntRange(1, 50), default=2),
        option(
            "--language", "Language of the raters' pages.", type=click.Choice([*languages_of("rating")]), default="en"
        ),
        option("--seed", "Seed for the sample and the order.", type=int, default=0, show_default=True),
    ),
    stored_command(
        "open", _open, "Serve a queue until Ctrl-C, and print the link for raters.", _NAME, *place_options(8767)
    ),
    shown_command("list", _list, "List the queues."),
    shown_command(
        "show", _show, "Show progress, agreement, disagreements, and how the judge compares with people.", _NAME
    ),
    stored_command(
        "export",
        _export,
        "Write the sheet with the labels filled in.",
        _NAME,
        option("--rater", "Rater to export, or 'settled' for all together.", default=SETTLED),
        option("--to", "CSV file to write.", type=click.Path(path_type=Path, dir_okay=False), required=True),
    ),
    stored_command(
        "import",
        _import,
        "Read the labels of a filled-in sheet. Labels of the same rater in two files count once.",
        _NAME,
        click.Argument(["file"], type=_FILE),
        option("--rater", "Name of the person who filled in the file.", required=True),
    ),
]

command = Group("annotate", commands=_COMMANDS, help="Let several raters label the same units.")
