"""A paper pack: the tables and figures of a paper, filled from runs, in a folder with a text about them."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from sociometer.core.card import Card
from sociometer.core.errors import UsageError, hint
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Figure, Shown, Table
from sociometer.core.paper import (
    PaperColumn,
    PaperInput,
    PaperPart,
    PaperRow,
    PaperTable,
    ledger,
    number_in,
    unread_replies,
    verdict_on,
)
from sociometer.core.sheets import folder_for, whole_files
from sociometer.core.task import TASK, AnyRun
from sociometer.core.words import counted, first_of, grouped
from sociometer.reporting.paper_figures import MOST_NAMES, figure_remarks, marked, without_intervals
from sociometer.reporting.paper_tables import all_remarks, is_empty, table_in_csv, table_in_latex
from sociometer.reporting.paper_texts import text_template
from sociometer.reporting.plot import drawn, free_stem
from sociometer.results.candidates import contamination_note, run_labels
from sociometer.statistics.chart_theme import with_subjects
from sociometer.store.labels import people_of
from sociometer.store.stored_run import StoredRun

MANIFEST = "pack.json"
TEXT = "README.md"
DOCUMENT = "all.tex"
WIDTH = 560
"""The width of a figure in points; a page of A4 has about 480 between its margins."""
_PLAIN_NAME = re.compile(r"[\w.-]+")
CLAIMS = "Claims"


def document(title: str, names: Sequence[str], captions: Mapping[str, str]) -> str:
    """A document that shows every table (`.tex`) and figure (`.pdf`) of a folder; figures with their captions."""
    return text_template("all.tex").render(title=title, names=names, captions=captions)


class WrittenPart(Struct, frozen=True):
    """A table or figure of the paper with its files; `missing` says what they lack, or why there are none."""

    label: str
    title: str
    files: tuple[str, ...]
    how: str
    missing: str


def pack_text(
    card: Card, given: Sequence[StoredRun], runs: Sequence[AnyRun], parts: Sequence[WrittenPart], version: str
) -> str:
    """The whole text."""
    entries = {entry.id: entry for entry in given}
    notes = [*_notes(runs), *_unchecked(card, runs)]
    own = [part for part in parts if part.label != CLAIMS]
    known = {"card": card, "given": entries, "runs": runs, "parts": parts, "own": own}
    return text_template("pack.md").render(**known, version=version, notes=notes)


def _notes(runs: Sequence[AnyRun]) -> list[str]:
    """The caveats of the summaries, each once with the names of the runs that it is about."""
    said = grouped((note, run.subject) for run in runs for note in run.summary.notes)
    everyone = {run.subject for run in runs}
    failed = ((f"{one.subject} {one.task}", max([0, *(each.errors for each in one.summary.measures)])) for one in runs)
    return [f"{name.strip()}: {counted(many, 'failed item')}." for name, many in failed if many] + [
        note if set(names) == everyone else f"{', '.join(dict.fromkeys(names))}: {note}" for note, names in said.items()
    ]


def _unchecked(card: Card, runs: Sequence[AnyRun]) -> list[str]:
    """A note on the models whose scores on public items have no verdict on contamination."""
    tested = card.default_tasks(official=True) if any(task.name == TASK for task in card.task) else ()
    left = [run.name for run in runs if run.task in tested and run.official and not (run.baseline or run.note)]
    return [f"Not checked for contamination: {', '.join(dict.fromkeys(left))}."] if left else []


class PaperPack(Shown, frozen=True):
    """What was written."""

    instrument: str
    folder: str
    parts: tuple[WrittenPart, ...]
    files: tuple[str, ...]
    partial: tuple[str, ...] = ()
    """The runs on a part of the paper's items, or with unreadable replies, which are marked in every file."""
    unused: tuple[str, ...] = ()
    """What the file about models has that no table shows: rows without a run, texts in a column of numbers."""

    @property
    def of_paper(self) -> list[WrittenPart]:
        """Its tables and figures of the paper; the list of claims is ours."""
        return [part for part in self.parts if part.label != CLAIMS]

    def table(self) -> Table:
        """Every table and figure of the paper, with its files, and what is missing if it is not complete."""
        states = ["not written" if not one.files else "partly" if one.missing else "written" for one in self.parts]
        rows = tuple(
            (one.label, one.title, state, ", ".join(one.files), one.missing)
            for one, state in zip(self.parts, states, strict=True)
        )
        columns = ("part", "title", "state", "files", "missing")
        return Table("parts", "Tables and figures of the paper", columns, rows, details=("files",))

    def __str__(self) -> str:
        return f"{self.table()}\nThe files are in {self.folder}."

    def _shown(self) -> list[Table]:
        return [self.table()]


def write_pack(
    instrument: Instrument,
    given: Sequence[StoredRun],
    folder: Path,
    *,
    version: str,
    models: dict[str, dict[str, str]] | None = None,
    published: bool = False,
) -> PaperPack:
    """Write the pack and return what was written; raises UsageError if nothing of the paper can be filled."""
    card = instrument.card
    if instrument.paper is None:
        raise UsageError(f"{card.name} has no tables and figures of a paper.")
    if not given:
        raise UsageError(f"paper needs at least one run; '{hint('runs')}' lists the stored runs.")
    folder_for(folder)
    before = _earlier_files(folder)
    runs = paper_runs(given)
    known = PaperInput(runs, models or {})
    facts = [known.facts(run) for run in runs]
    if models and not any(facts):
        ours = first_of(list(dict.fromkeys(run.name for run in runs if run.name)), MOST_NAMES)
        raise UsageError(f"the models file has no facts about {ours}, but about {first_of(list(models), MOST_NAMES)}.")
    every = instrument.paper(known)
    parts = [_chosen(part, published) for part in every]
    if not any(part.filled for part in parts):
        reasons = " ".join(f"{part.label}: {part.missing}" for part in parts if part.missing)
        raise UsageError(f"nothing of the paper can be filled from these runs. {reasons}")
    parts += claims_part(instrument, every)
    files, written = _files(card, runs, parts, version)
    files[TEXT] = pack_text(card, given, runs, written, version).encode()
    pictured = [name for name in files if name.endswith((".tex", ".pdf"))]
    captions = {name: f"{part.label}. {part.title}" for part in written for name in part.files}
    files[DOCUMENT] = document(f"{card.title}: tables and figures", pictured, captions).encode()
    names = (*files, MANIFEST)
    described = {"instrument": card.name, "version": version, "files": list(names), "parts": written}
    files[MANIFEST] = (json.dumps(msgspec.to_builtins(described), indent=1, ensure_ascii=False) + "\n").encode()
    with whole_files(*(folder / name for name in files), within=folder) as partial:
        for path, content in zip(partial, files.values(), strict=True):
            path.write_bytes(content)
    for name in before - set(files):
        (folder / name).unlink(missing_ok=True)
    tasks = Counter(run.run for run in runs)
    named = ((f"{run.subject} ({run.task})" if tasks[run.run] > 1 else run.subject, run) for run in runs)
    on_part = dict.fromkeys(f"{name}: {one}" for name, run in named for one in (run.part, unread_replies(run)) if one)
    paths = tuple(str(folder / name) for name in names)
    return PaperPack(card.name, str(folder), tuple(written), paths, tuple(on_part), _unused(models or {}, facts))


def _unused(models: Mapping[str, Mapping[str, str]], used: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """The rows of the file about models that no run has, and the texts in columns whose other cells are numbers."""
    lost = [f"no run of {name}" for name, row in models.items() if not any(row is one for one in used)]
    cells = grouped((column, (name, text)) for name, row in models.items() for column, text in row.items() if text)
    for column, found in cells.items():
        texts = [f"'{text}' is no number ({column} of {name})" for name, text in found if number_in(text) is None]
        lost += texts if 2 * len(texts) < len(found) else []
    return tuple(lost)


def paper_runs(given: Sequence[StoredRun]) -> tuple[AnyRun, ...]:
    """Every task of every run, with a label that tells apart runs of one subject, and with what people said of it."""
    names = run_labels(given)
    official = {run.subject for run in given if run.official}
    found = []
    for run in given:
        labels = people_of(run.store_path, run.id)
        # Other items have a row of their own beside those of the paper.
        other = run.subject in official and not run.official and not run.manifest.given_items
        for task in run.tasks:
            known = contamination_note(run, task, where=False).removesuffix(".")
            view = run.summarised(task)
            view = structs.replace(view, subject=names[run.id], labels=labels, note=known)
            if other:
                view = structs.replace(view, name=f"{view.name} ({run.manifest.whose_items} items)")
            analysis = run.manifest.given_items and task not in run.tests  # of stored runs
            found.append(structs.replace(view, whose_items="runs") if analysis else view)
    return tuple(found)


def claims_part(instrument: Instrument, parts: Sequence[PaperPart]) -> list[PaperPart]:
    """The claims of the paper that compare rows of its tables, on the printed rows and on those of the runs."""
    rows = []
    for claim in ledger(instrument.folder):
        mine = verdict_on(claim, parts, published=False) if claim.test else None
        if mine is not None:
            theirs = verdict_on(claim, parts, published=True)
            cells = (claim.where, claim.what, theirs.text if theirs else None, mine.text, mine.result)
            rows.append(PaperRow(cells, remarks=tuple(all_remarks(mine.rows))))
    columns = ("Where", "Claim", "Rows of the paper", "Your rows", "Result in your runs")
    how = "How many models agree in all their rows; baselines count only without models. Differences are not tested."
    table = PaperTable(tuple(PaperColumn(title) for title in columns), tuple(rows))
    return [PaperPart(label=CLAIMS, title="Claims of the paper on these runs", how=how, table=table)] if rows else []


def _chosen(part: PaperPart, published: bool) -> PaperPart:
    """The part with or without the rows that the paper prints; its own rows say why they have empty cells."""
    if part.table is None:
        return part
    rows = tuple(
        structs.replace(row, remarks=(*row.remarks, f"empty cells: {row.why_empty}"))
        if row.why_empty and any(map(is_empty, row.cells))
        else row
        for row in part.table.rows
        if published or not row.published
    )
    return structs.replace(part, table=structs.replace(part.table, rows=rows))


def _files(
    card: Card, runs: Sequence[AnyRun], parts: Sequence[PaperPart], version: str
) -> tuple[dict[str, bytes], list[WrittenPart]]:
    """The content of every table and figure by file name, and what each part has."""
    taken: set[str] = {Path(name).stem.casefold() for name in (TEXT, DOCUMENT, MANIFEST)}
    subjects = list(dict.fromkeys(run.subject for run in runs))
    files: dict[str, bytes] = {}
    written = []
    for part in parts:
        mine: dict[str, bytes] = {}
        if part.filled:
            if part.table is not None and part.table.rows:
                mine |= _table_files(card, part, part.table, taken, version)
            for figure in part.figures:
                mine |= _figure_files(part, figure, runs, subjects, taken)
        files |= mine
        written.append(WrittenPart(part.label, part.title, tuple(mine), part.how, part.missing))
    return files, written


def _table_files(card: Card, part: PaperPart, table: PaperTable, taken: set[str], version: str) -> dict[str, bytes]:
    stem = free_stem(_stem(part.label), taken)
    first = f"{part.label} of {card.paper.authors} ({card.paper.year}), filled from runs by Sociometer {version}."
    heading = (f"{part.title}.", f"tab:{card.name}-{stem}", (first, *all_remarks(table.rows)))
    return {f"{stem}.csv": table_in_csv(table).encode(), f"{stem}.tex": table_in_latex(table, *heading).encode()}


def _stem(label: str) -> str:
    """A label as the beginning of a file name: `Extended Data Fig. 2` becomes `extended-data-fig-2`."""
    return label.lower().replace(".", "").replace(" ", "-")


def _figure_files(
    part: PaperPart, figure: Figure, runs: Sequence[AnyRun], subjects: Sequence[str], taken: set[str]
) -> dict[str, bytes]:
    single = len(part.figures) == 1
    stem = free_stem(_stem(part.label if single else f"{part.label} {figure.name}"), taken)
    if figure.table is not None:
        return {f"{stem}.csv": drawn(figure, "csv")}
    # An analysis without a subject concerns only the parts that show it.
    shown_runs = [run for run in runs if (run.task in part.tasks if part.tasks else run.name)]
    if figure.chart is None:
        raise ValueError(f"the figure '{figure.name}' of a paper is neither a chart nor a table")
    remarks = [*figure_remarks(figure.chart, shown_runs), *filter(None, [without_intervals(figure.chart)])]
    chart = marked(with_subjects(figure.chart, subjects), figure.title, remarks)
    shown = structs.replace(figure, chart=chart)
    return {f"{stem}.{kind}": drawn(shown, kind, width=WIDTH) for kind in ("svg", "pdf")}


def _earlier_files(folder: Path) -> set[str]:
    """The files of an earlier pack in the folder; a folder with other content is refused."""
    if not folder.exists():
        return set()
    if not folder.is_dir():
        raise UsageError(f"'{folder}' is a file; give --to a folder.")
    if not any(folder.iterdir()):
        return set()
    try:
        names = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        return {name for name in names if isinstance(name, str) and _PLAIN_NAME.fullmatch(name) and name.strip(".")}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(
            f"the folder '{folder}' is not empty and was not written by 'paper'; give --to a new folder."
        ) from None
