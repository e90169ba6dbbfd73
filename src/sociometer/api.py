"""The Python API of `import sociometer`, which the commands use too.

A run is given as a `StoredRun`, or by its id, name or subject as on the command line; several as a list or one by one.
`store` is the file or the PostgreSQL address with runs and journal; the default is SOCIOMETER_STORE, then the file in
the user's data folder. Nothing is printed unless `progress=True`.
"""

import asyncio
import atexit
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Unpack

from msgspec import field, structs

from sociometer.core.card import Card
from sociometer.core.config import Caps, RunConfig
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import DataError, SociometerError, StopCause, UsageError, unknown
from sociometer.core.hints import called, hint, in_python, use_store
from sociometer.core.measure import Figure, PublishedFigure, Shown, Table
from sociometer.core.paper import PaperInput, checked, ledger
from sociometer.core.player import Player
from sociometer.core.server_fields import server_fields
from sociometer.core.settings import Settings
from sociometer.core.sheets import folder_for, read_rows
from sociometer.core.source import Source
from sociometer.core.version import __version__
from sociometer.core.words import cell_text, counted
from sociometer.engine.data import data_folders
from sociometer.engine.engine import Engine, Listener, PlayedRun
from sociometer.engine.progress import Callback
from sociometer.engine.replay import check_file, export_bundle, why_no_bundle
from sociometer.engine.run_options import RunOptions, as_python, make_config
from sociometer.instruments import card_of, cards, load
from sociometer.models.python import Function, PythonPlayer
from sociometer.models.registry import ModelEntry, describe
from sociometer.reporting.figures import run_figures
from sociometer.reporting.progress import ProgressDisplay
from sociometer.reporting.terminal import with_texts
from sociometer.results import choice
from sociometer.results.export import export_runs, frame_of
from sociometer.results.groups import PeopleRun
from sociometer.results.published import (
    findings_table,
    ledger_table,
    reproduction_sentence,
    reproduction_table,
    unexplained,
)
from sociometer.results.runs import Comparisons, Gate, compare_runs
from sociometer.results.runs import gate as gate_of
from sociometer.results.stopping import stopping_rule
from sociometer.results.summaries import caveats, finding
from sociometer.results.verdicts import Terms
from sociometer.store.bundle import ENDING
from sociometer.store.place import StorePlace, chosen_place
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun
from sociometer.store.verify import verify_run

if TYPE_CHECKING:
    from sociometer.reporting.paper import PaperPack
    from sociometer.results.reliability import Reliabilities
    from sociometer.results.study_tables import StudyResults

Run = StoredRun | str
"""A run, or what finds it."""
Runs = Run | Iterable[Run]
_COMMAND = re.compile("('sociometer [^']+')")


@contextmanager
def _calling(progress: bool = False) -> Iterator[ProgressDisplay | None]:
    """A call from Python: its hints and errors are in Python's words; with a display of progress, if wanted."""
    with called(python=True), ProgressDisplay() if progress else nullcontext() as listener:
        try:
            yield listener
        except SociometerError as error:
            if not in_python():
                raise
            short = error.__class__.__new__(error.__class__, _spelled(str(error)))  # without our own frames
            vars(short).update(vars(error))
            raise short from error.__cause__


def _spelled(text: str) -> str:
    """The text with options as arguments of Python; a command in quotes stays as it is, if it is not `run`."""
    known = [setting for card in cards().values() for setting in card.setting]
    text = re.sub("--(models|figure) ([A-Z]+)", r"\1=\2", text)
    text = text.replace("this command without RUN", "sm.paper(INSTRUMENT, FOLDER)")

    def spelled(part: str) -> str:
        if not part.startswith("'sociometer"):
            return as_python(part, known)
        command, *options = part.strip("'").split(" --")
        _, verb, *words = command.split()
        quoted = (re.sub(r" ([a-z][\w-]*)$", r" '\1'", f"--{one}") for one in options)
        arguments = (*map(repr, words), *(as_python(one, known) for one in quoted))
        return f"sm.run({', '.join(arguments)})" if verb == "run" else part

    return "".join(map(spelled, _COMMAND.split(text)))


def _in_words(run: StoredRun) -> str:
    return _spelled("\n".join([f"{run.reference}: {finding(run)}", *caveats(run)]))


def _texts(table: Table) -> Table:
    return with_texts(structs.replace(table, note=_spelled(table.note)))


StoredRun.in_words, Table.texts = _in_words, _texts


def run(
    instrument: str,
    model: str | Function = "",
    *,
    store: str | Path | None = None,
    progress: bool = False,
    callback: Callback | None = None,
    **options: Unpack[RunOptions],
) -> StoredRun:
    """Plays an instrument on a model and returns the stored run; repeating the call sends no request that has a reply.

    The model is a name as `sociometer list models` lists them, or a function of the messages. `options` are those of
    `RunOptions`. A run that a limit stopped is returned, too: its `status` says so, and `resume` with a higher limit
    continues it. `callback` is called when an item is done, when a stopping rule has looked, and at the end.
    Example: `sm.run("sesi", model=lambda messages: "A", name="always A", limit=20)`
    """
    with _calling(progress) as listener:
        engine = _engine(store, listener, callback)
        config, players = _config(instrument, model, options), _players(model, options)
        return _played(engine.run(config, players=players))


async def arun(
    instrument: str,
    model: str | Function = "",
    *,
    store: str | Path | None = None,
    progress: bool = False,
    callback: Callback | None = None,
    **options: Unpack[RunOptions],
) -> StoredRun:
    """The same as `run`, on the caller's event loop: `run = await sm.arun("sesi", model="baseline/random")`."""
    with _calling(progress) as listener:
        engine = _engine(store, listener, callback)
        config, players = _config(instrument, model, options), _players(model, options)
        plan = await asyncio.to_thread(engine.plan, config, players=players)
        return _played(await engine.play(await asyncio.to_thread(engine.prepare, plan)))


def resume(
    reference: str | StoredRun,
    *,
    max_cost: float | None = None,
    max_requests: int | None = None,
    max_tokens: int | None = None,
    in_flight: int | None = None,
    key_variable: str | Mapping[str, str] = "",
    insecure_http: bool = False,
    code: Collection[str | Function] = (),
    headers: Mapping[str, str] | None = None,
    store: str | Path | None = None,
    progress: bool = False,
) -> StoredRun:
    """Continues a stopped or killed run and returns it; the limits replace those given last.

    `key_variable` names the environment variable with the subject's key, or with the key of each role. It is needed
    for servers other than the provider's own, because it is never taken from the store. `code` gives again the
    functions that the run asks: themselves (`code=[agent]`) or by name (`python/MODULE:FUNCTION`). `headers` gives
    again those of `server_fields`, by the same names (`header.X-Team`). Example: `sm.resume("old", max_requests=100)`
    """
    with _calling(progress) as listener:
        engine = _engine(store, listener)
        found = reference if isinstance(reference, str) else reference.id
        named = {SUBJECT: key_variable} if isinstance(key_variable, str) else key_variable
        given = {role: variable for role, variable in named.items() if variable}
        caps, fields = Caps(max_cost, max_requests, max_tokens), server_fields(headers or {})
        keys = {"key_variables": given, "insecure_http": insecure_http}
        return _played(engine.resume(found, caps, in_flight, code=code, fields=fields, **keys))


@_calling()
def get_run(reference: Run = "last", instrument: str = "", *, store: str | Path | None = None) -> StoredRun:
    """The stored run with this id, name, subject, or beginning of an id; `last` is the newest run.

    The name of a study gives all people of the study who count, as one run. `instrument` chooses if a subject has runs
    of several. Example: `sm.get_run("new", "sesi").summary().measure("accuracy").value`
    """
    if isinstance(reference, StoredRun):
        return reference
    return choice.find_run(_store(store), load, reference, [instrument] if instrument else [])


@_calling()
def runs(*, store: str | Path | None = None) -> list[StoredRun]:
    """The runs in the store, oldest first; runs of instruments that are not installed are left out.

    Example: `[run.subject for run in sm.runs() if run.instrument == "sesi"]`
    """
    opened = _store(store)
    if not opened.path.exists():
        return []
    known = [one for one in opened.runs.all() if one.instrument in cards() or one.manifest.card is not None]
    return [StoredRun(opened, one, load(one.instrument, one.manifest.card)) for one in known]


def list_instruments() -> dict[str, Card]:
    """The cards of all instruments, by name: `sm.list_instruments()["sesi"].task`."""
    return _Named(cards())


def list_models() -> tuple[ModelEntry, ...]:
    """The models that `run` accepts, and whether each is ready: `[one for one in sm.list_models() if one.ready]`."""
    return describe()


@_calling()
def choose(*words: Runs, store: str | Path | None = None) -> choice.ChosenRuns:
    """The runs that `sociometer compare` takes for these words: runs, ids, names, instruments, or `all`.

    An instrument and `all` mean the results of every subject; what was played in several calls on the same items,
    wording and settings is one result. The value says which stored runs are no results, and why.
    Example: `sm.choose("sesi").left_out`
    """
    every = [one for word in words for one in ((word,) if isinstance(word, Run) else word)]
    if words and all(isinstance(one, StoredRun) for one in every):
        return choice.ChosenRuns(tuple(one for one in every if isinstance(one, StoredRun)))
    return choice.choose(_store(store), load, cards(), every)


@_calling()
def compare(
    *compared: Runs,
    task: str = "",
    margin: float | Mapping[str, float] | None = None,
    level: float = 0.95,
    store: str | Path | None = None,
) -> Comparisons:
    """Compares every run with the first, item by item; `ranking()` of the result ranks them.

    The runs are those of `choose`: `compare("all").ranking()` is what `sociometer compare all` prints. A study is
    compared by its name. `margin` is the smallest difference that matters, as the measure is shown (3 is three points
    of a share): one number for the primary measures, or one for each measure by its name. Each task has `value`,
    `interval` and `verdict`. A UsageError says why two runs cannot be compared.
    Example: `sm.compare("old", "new")["sesi/questions"].verdict`
    """
    chosen = choose(*compared, store=store) if compared else choice.ChosenRuns(())
    found = compare_runs(chosen.runs, task, Terms(level, margin))
    if found.refused and all(len(runs) <= 2 for runs in chosen.by_instrument.values()):  # more may have a ranking
        raise UsageError(found.refused)
    return structs.replace(found, chosen=chosen)


@_calling()
def gate(
    *compared: Runs, task: str = "", margin: float | None = None, level: float = 0.95, store: str | Path | None = None
) -> Gate:
    """Whether a build passes: no later run is, or with its failed items could be, worse than the first.

    With a `margin`, the data must rule out a loss that large. What cannot be compared does not pass. The result is true
    if it passes, and prints why it does not. Example: `bool(sm.gate("old", "new", margin=3))`
    """
    return gate_of(choose(*compared, store=store).runs, task, Terms(level, margin), no_worse=margin is not None)


def _write_figure(figure: Figure, path: Path) -> Path:
    from sociometer.reporting.plot import write_figure  # here, since only the files need vl_convert

    return write_figure(figure, path)


Figure.writer = _write_figure


class _Named(dict[str, Any]):
    def __missing__(self, name: str) -> Any:
        raise unknown("name", name, self)


@_calling()
def figures(run: Run, *, store: str | Path | None = None) -> dict[str, Figure]:
    """The figures of a run, by name. Example: `sm.figures("new")["abilities"].save("abilities.svg")`"""
    return _Named((figure.name, figure) for figure in run_figures(get_run(run, store=store)))


@_calling()
def frame(run: Runs, task: str = "", *, store: str | Path | None = None) -> Any:
    """One row for each episode of one or several runs, as a pandas frame.

    Of a study it has only the people who count; `sm.study("spring").frame()` has everybody who joined.
    Example: `sm.frame(["old", "new"]).groupby("subject")["score.correct"].mean()`. If a run had `against` or
    stopped early, first leave out the rows that do not count: `frame[frame["counted"] != False]`.
    """
    return frame_of(choose(run, store=store).runs, task)


@_calling()
def reliability(*runs: Runs, task: str = "", measure: str = "", store: str | Path | None = None) -> "Reliabilities":
    """Cronbach's alpha over models, or over the people of a study; repeatability; the statistics of items.

    Each task of the result, such as `["feelings"]`, has `alpha.value`, `alpha.interval` and `alpha.note`.
    Example: `sm.reliability("old", "new").items.frame()`
    """
    from sociometer.results.reliability import reliabilities  # here, since it takes longer than all else to load

    return reliabilities(choose(*runs, store=store), task, measure)


@_calling()
def export(runs: Runs, path: str | Path, *, store: str | Path | None = None) -> Path:
    """Write runs to a file: .jsonl, .csv, .parquet or .sociometer (one run, for others to check); or each to a folder.

    The name of an instrument means the results of all subjects on it, `all` those on every instrument. Of these, what
    cannot be written is left out, with a warning that says why.
    Example: `sm.export(["old", "new"], "scores.csv")`
    """
    words = [runs] if isinstance(runs, Run) else [*runs]
    chosen = [run for run in words if isinstance(run, StoredRun)]
    if names := [word for word in words if isinstance(word, str)]:
        chosen += choice.choose(_store(store), load, cards(), names).runs
    for why in write_runs(chosen, Path(path), words)["left_out"].values():
        warnings.warn(f"left out: {why}", stacklevel=3)
    return Path(path)


def write_runs(runs: Sequence[StoredRun], to: Path, words: Collection[Run]) -> dict[str, Any]:
    """Write runs in the format of a file's ending, or a file for each; gives the number of rows, or roots by file.

    A run that cannot be written is an error if `words` name it; of others, `left_out` says why.
    """
    is_folder = to.is_dir() or not to.suffix
    if is_folder or to.suffix == ENDING:
        runs = [part for run in runs for part in run.parts]
    if to.suffix not in (endings := (".jsonl", ".csv", ".parquet", ENDING)) and not is_folder:
        raise UsageError(f"'{to}' has none of the endings {', '.join(endings)}; the ending decides the format.")
    left = {run.id: why for run in runs if (is_folder or to.suffix == ENDING) and (why := why_no_bundle(run))}
    for run in (run for run in runs if isinstance(run, PeopleRun)):
        export = hint("study export", run.taking.study.name, "--to", "FOLDER")
        left[run.id] = f"'{run.id}' is a study; to write it: {export}"
    if left and (len(left) == len(runs) or choice.names_runs(words, runs)):
        raise UsageError("\n".join(left.values()))
    runs, wrote = [run for run in runs if run.id not in left], {"wrote": str(to), "left_out": left}
    if is_folder:
        return wrote | {"roots": {str(file := to / f"{run.id}{ENDING}"): export_bundle(run, file, to) for run in runs}}
    if to.suffix == ENDING and len(runs) > 1:
        raise UsageError(f"a {ENDING} file has one run, not {len(runs)}; to write a file for each: --to FOLDER")
    folder_for(to)
    if to.suffix == ENDING:
        return wrote | {"root": export_bundle(runs[0], to)}
    return wrote | {"rows": export_runs(runs, to)}


@_calling()
def check(instrument: str | Path) -> Table:
    """Whether an instrument can be played and scored, or the numbers in a file of `export` follow from its replies.

    A row is a check; `ok` is None where it needs more, such as a model. A file that ends in .sociometer and was changed
    is an error that names the first row that differs. Example: `sm.check("sesi")`
    """
    if str(instrument).endswith(ENDING):
        file, found = check_file(Path(instrument), load)
        checks = ((f"run {file.run.id}", None if found.why_not else True, found.finding),)
        digests = f"plan {file.run.plan}, root {file.root}"
        return Table("checks", f"Check of {instrument}", ("what", "ok", "state"), checks, digests)
    card, definition = card_of(str(instrument)), load(str(instrument))
    rows: list[tuple[str, bool | None, str]] = [("loads", True, f"{card.title}, version {card.version}")]
    with TemporaryDirectory() as folder, Store(Path(folder) / "check.db") as store:
        engine = Engine(store, load)
        for task in definition.tasks:
            try:
                played = engine.run(make_config(card, "baseline/first", tasks=(task,), limit=2, repeats=1))
                done, failed = store.episodes.counts(played.run.id)
                problems = [*verify_run(played.run)]
                said = problems[0].what if problems else f"{counted(done, 'item')} played and scored, {failed} failed"
                rows.append((f"task {task}", done > 0 and not failed and not problems, said))
            except (DataError, UsageError) as error:
                lacking = any(not role.default and role.name != SUBJECT for role in card.roles_of(task))
                breach = not lacking and (card.task_card(task).default or bool(getattr(error, "path", "")))
                rows.append((f"task {task}", False if breach else None, f"{'' if breach else 'not checked: '}{error}"))
    return Table("checks", f"Checks of {instrument}", ("what", "ok", "state"), tuple(rows))


@_calling()
def study(name: str, *, store: str | Path | None = None) -> "StudyResults":
    """The people of a study: `sm.study("spring").frame()`; compared with a model: `sm.compare("spring", "model")`."""
    from sociometer.results.study_tables import StudyResults  # here, since norms take long to load

    engine = _engine(store)
    return StudyResults(engine.store, name, load, partial(engine.plan, sends=False))


@_calling()
def report(
    reported: Runs,
    path: str | Path,
    *,
    figure: str = "",
    evidence: int | None = None,
    margin: float | Mapping[str, float] | None = None,
    level: float = 0.95,
    top: int = 40,
    left_out: Sequence[str] = (),
    store: str | Path | None = None,
) -> Path:
    """Write one self-contained page about runs; with `figure`, one of its figures (.svg, .pdf or .png; a table: .csv).

    The runs are those of `choose`. `evidence` is the number of transcripts of each kind for each run and task: by
    default four, fewer for many runs, none of people.
    Subjects after the `top` best of a panel or ranking are folded; `left_out` says why others are not there.
    Example: `sm.report(["old", "new"], "report.html")`
    """
    from sociometer.reporting.content import gather  # here, since only the page needs jinja2 and vl_convert
    from sociometer.reporting.page import write_report
    from sociometer.reporting.plot import find_figure, write_figure

    if not figure and Path(path).suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"a page cannot be written to '{path}'; give FILE.html, or add --figure NAME for a figure.")
    words = [reported] if isinstance(reported, Run) else [*reported]
    runs = choose(words, store=store).runs if words else ()
    if figure:
        return write_figure(find_figure(gather(runs, evidence=0).figures(), figure), Path(path))
    now = datetime.now(UTC)
    return write_report(
        runs,
        Path(path),
        made=f"{now.day} {now:%B %Y}",
        version=__version__,
        terms=Terms(level, margin),
        evidence=evidence,
        top=top,
        left_out=left_out,
    )


@_calling()
def paper(
    reported: Runs,
    folder: str | Path,
    *,
    models: str | Path | None = None,
    published: bool = False,
    store: str | Path | None = None,
) -> "PaperPack":
    """Write the tables and figures of an instrument's paper from runs, or for its name from all that are official.

    `models` is a CSV file with a column `model` and facts that the paper shows next to the scores. `published` adds the
    rows that the paper prints. Example: `sm.paper(["old", "new"], "tables")`
    """
    from sociometer.reporting.paper import write_pack  # here, since only the files need vl_convert

    named = isinstance(reported, str) and reported in cards()
    chosen = choice.choose_for_paper(_store(store), load, str(reported)) if named else choose(reported, store=store)
    found = {run.instrument: run.definition for run in chosen}
    if len(found) > 1:
        raise UsageError(f"the runs must be of one instrument, and these are of {', '.join(sorted(found))}.")
    if not found:
        raise UsageError(f"paper needs at least one run; '{hint('runs')}' lists the stored runs.")
    pack = write_pack(
        next(iter(found.values())),
        chosen.runs,
        Path(folder),
        version=__version__,
        models=_model_facts(Path(models)) if models is not None else {},
        published=published,
    )
    spelled = _spelled if in_python() else str
    return structs.replace(pack, parts=tuple(structs.replace(one, missing=spelled(one.missing)) for one in pack.parts))


def _model_facts(path: Path) -> dict[str, dict[str, str]]:
    """The rows of a file about models, by model."""
    facts: dict[str, dict[str, str]] = {}
    for line, row in read_rows(path, ("model",), next_step="Each row is about one model."):
        name = row.pop("model").strip()
        if not name or name in facts:
            raise DataError(f"the model '{name}' is empty or appears twice", path, line)
        facts[name] = {column: cell.strip() for column, cell in row.items()}
    return facts


class Reproduction(Shown, frozen=True):
    """Published figures next to their recomputed values; `missing` names the official files that were not found."""

    instrument: str  # The name of the instrument.
    figures: tuple[PublishedFigure, ...]  # Each published figure with its recomputed value.
    missing: tuple[str, ...] = ()  # The official files that were not found.

    @property
    def good(self) -> bool:
        """Whether every figure is recomputed, or its mismatch has a known reason."""
        return not unexplained(self.figures)

    def table(self, mismatches_only: bool = False) -> Table:
        """The figures as a table."""
        return reproduction_table(self.instrument, self.figures, mismatches_only)

    def findings(self) -> Table:
        """Our own findings about the data, which are no claims of the paper."""
        return findings_table(self.instrument, self.figures)

    def frame(self) -> Any:
        """The ledger with our findings as a pandas frame."""
        return ledger_table({self.instrument: self.figures}).frame()

    def __str__(self) -> str:
        """How many claims hold, and those that do not or cannot be checked, one to a line."""
        rows = (row for table in (self.table(mismatches_only=True), self.findings()) for row in table.rows)
        lines = (" | ".join(cell_text(cell) for cell in row) for row in rows)
        return "\n".join([reproduction_sentence(self.instrument, self.figures), *lines])

    def _shown(self) -> list[Table]:
        return [self.table()]


class _SearchedSource(Source, frozen=True):
    """A source that records which official files were requested and not found."""

    asked: dict[str, bool] = field(default_factory=dict)

    def find(self, name: str) -> Path | None:
        """The official file or folder with this name, or None; the result is recorded."""
        found = super().find(name)
        self.asked[name] = found is not None
        return found

    @property
    def missing(self) -> tuple[str, ...]:
        """The files that were not found anywhere, each once, even if several folders were searched for it."""
        had = {Path(name).name for name, found in self.asked.items() if found}
        places: dict[str, str] = {}
        for name in self.asked:
            places.setdefault(Path(name).name, name)
        return tuple(place for bare, place in places.items() if bare not in had)


@_calling()
def reproduce(instrument: str, *, data: str | Path = "") -> Reproduction:
    """Recompute every published figure that can be recomputed: `sm.reproduce("seceu").frame()`."""
    card, found = card_of(instrument), load(instrument)
    settings = Settings.chosen(card.setting, {})
    source = _SearchedSource(settings, found.prompts(), card.name, True, data_folders(str(data)))
    figures = tuple(found.reproduce(source)) if found.reproduce else ()
    parts = found.paper(PaperInput(())) if found.paper else ()
    figures += tuple(checked(ledger(found.folder), parts))
    return Reproduction(card.name, figures, source.missing)


@cache
def _opened(path: StorePlace) -> Store:
    store = Store(path)
    atexit.register(store.close)
    return store


def _store(path: str | Path | None) -> Store:
    use_store("" if path is None else str(path))
    return _opened(chosen_place(path))


def _engine(store: str | Path | None, listener: Listener | None = None, callback: Callback | None = None) -> Engine:
    return Engine(_store(store), load, listener, stopping_rule, callback)


def _config(instrument: str, model: str | Function, options: RunOptions) -> RunConfig:
    card = card_of(instrument)
    for name in options:
        if name not in RunOptions.__annotations__ and any(name == setting.name for setting in card.setting):
            raise UsageError(f"'{name}' is a setting of {instrument}: give settings={{'{name}': …}}.")
    return make_config(card, model, **options)


def _played(played: PlayedRun) -> StoredRun:
    if played.ending.cause is StopCause.INTERRUPTED:
        raise KeyboardInterrupt
    failed, run = played.progress.failed, played.run
    if failed and not played.progress.done:
        kinds = ", ".join(f"{kind}: {count}" for kind, count in failed.items())
        warnings.warn(f"every item of run {run.reference} failed ({kinds}), so it has no score", stacklevel=3)
    if played.ending.cause is StopCause.UNREACHABLE:
        warnings.warn(f"run {run.reference} stopped: {played.ending.reason}", stacklevel=3)
    return run


def _players(model: str | Function, options: RunOptions) -> dict[str, Player]:
    """The players of the functions among the models, by their specification."""
    models, revision = (model, *options.get("roles", {}).values()), options.get("revision", "")
    functions = [one for nth, one in enumerate(models) if not isinstance(one, str) and one not in models[:nth]]
    made = [PythonPlayer(one, revision) for one in functions]
    names = [f"python/{one.identity.name}" for one in made]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"two functions are both called '{twice[0]}'; give each a name of its own.")
    return dict(zip(names, made, strict=True))
