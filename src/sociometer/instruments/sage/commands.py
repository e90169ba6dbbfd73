"""The instrument's own commands."""

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec

from sociometer.core.card import Card
from sociometer.core.command import CommandContext, Run
from sociometer.core.conversation import Event, Exchange, Noted, Reply, assistant, user
from sociometer.core.errors import DataError, UsageError, hint
from sociometer.core.instrument import FinishedEpisode, Result
from sociometer.core.language import EVERY, languages_in
from sociometer.core.measure import Cell, Table
from sociometer.core.settings import Settings
from sociometer.core.task import Item, SheetRow
from sociometer.core.words import first_of, grouped, levels_of
from sociometer.instruments.sage import build, samples
from sociometer.instruments.sage.analyses.stability import Context, contexts
from sociometer.instruments.sage.build import Built
from sociometer.instruments.sage.dialogue import Dialogue, read_dialogues, simulator_of, subject_of
from sociometer.instruments.sage.figures import captioned, figures
from sociometer.instruments.sage.items import BUNDLED, RELEASED, Scenario, known_scenarios
from sociometer.instruments.sage.judges import sheets
from sociometer.instruments.sage.leaderboard import ends, value_of
from sociometer.instruments.sage.passport.comparing import people as people
from sociometer.instruments.sage.passport.comparing import ranking as ranking
from sociometer.instruments.sage.passport.comparing import style as style
from sociometer.instruments.sage.passport.examining import passport as passport
from sociometer.instruments.sage.passport.importing import import_people
from sociometer.instruments.sage.published.reproduce import table as published
from sociometer.instruments.sage.simulators import simulators as simulators
from sociometer.statistics.formatting import estimate, stand_in_notes

_USUAL_ANALYSES = ("relationship", "strategies", "coordinate")
CONTEXTS = 100
"""How many contexts of each run the stability test judges again, and how many a sheet has by default."""
LATTER = 0.44
"""The share of a sheet's contexts from the second half of their dialogues, as in the paper."""


def import_dialogues(context: CommandContext, options: Settings) -> Result:
    """Imports released dialogue files as runs, after checking each against the emotion protocol; or people's talks."""
    if options.text("people"):
        return import_people(context, Path(options.text("people")), options)
    if not options.texts("files"):
        raise UsageError("give released dialogue files (JSON lines), or --people FILE for talks of people.")
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for path in {Path(name).resolve(): Path(name) for name in options.texts("files")}.values():
        if not path.is_file():
            raise DataError("there is no file of this name; give released dialogue files (JSON lines)", path)
        subject = subject_of(path)
        simulator = options.text("simulator") or simulator_of(path)
        episodes, twice = _episodes(path, subject, simulator)
        if twice:
            notes.append(f"{path.name}: {twice} dialogues are in the file twice and count once.")
        if not options.text("simulator") and simulator == path.resolve().parent.name:
            notes.append(f"'{simulator}' is the name of the folder; --simulator NAME gives another.")
        if not episodes:
            raise DataError("contains no dialogue; give released dialogue files (JSON lines)", path)
        settings = {"language": RELEASED}
        run = context.keep("dialogue", subject, episodes, settings=settings, roles={"simulator": simulator})
        shown = run.summarised("dialogue")
        figures = [value_of(shown, each) for each in ("sentient", "success", "failure")]
        rows.append((run.id, subject, simulator, len(episodes), *figures))
    columns = ("run", "subject", "simulator", "dialogues", "score", "success", "failure")
    units = {"score": "points", "success": "share", "failure": "share"}
    table = Table("imported", "Imported dialogues", columns, tuple(rows), units=units)
    return Result(tables=(table,), notes=tuple(dict.fromkeys(notes)))


def _episodes(path: Path, subject: str, simulator: str) -> tuple[list[FinishedEpisode], int]:
    """The dialogues of a file, other dialogues of one scenario as repeats, and how many were there twice."""
    seen: dict[str, list[Dialogue]] = {}
    episodes, twice = [], 0
    for scenario, dialogue in read_dialogues(path):
        known = seen.setdefault(scenario.id, [])
        if dialogue in known:
            twice += 1
            continue
        played = msgspec.structs.replace(dialogue, simulator=simulator)
        episodes.append(FinishedEpisode(scenario, played, _events(scenario, dialogue, subject), len(known)))
        known.append(dialogue)
    return episodes, twice


def analyse(context: CommandContext, options: Settings) -> Result:
    """Runs the analyses of stored dialogues; running it again sends no new requests."""
    runs = [context.run(reference) for reference in options.texts("runs")]
    wanted = options.texts("what") or _USUAL_ANALYSES
    count = None if options["limit"] is None else options.whole("limit")
    names = _told_apart(runs)
    tables: list[Table] = []
    more: list[Table] = []
    findings: list[str] = []
    made: list[tuple[Cell, ...]] = []
    shown = [run.summarised(samples.dialogue_task(run)) for run in runs]
    views = [run.view(samples.dialogue_task(run)) for run in runs]
    said: list[tuple[str, str]] = []
    context.expect(len(wanted) * len(runs))
    for what in wanted:
        played: list[Run] = []
        for run in runs:
            dialogues = samples.some_dialogues(run, count, context.seed)
            items: Sequence[Item] = dialogues
            if what == "stability":
                items = samples.some_contexts(dialogues, CONTEXTS, context.seed)
            played.append(context.play(what, subject=run.subject, items=items))
        tables.append(_overview_table(what, played, names, context.instrument.card))
        findings.append(_range(what, played, names, context.instrument.card))
        more.append(_measures_table(what, played, names))
        shown += [run.summarised(what) for run in played]
        views += [run.view(what) for run in played]
        for name, run in zip(names, played, strict=True):
            made.append((what, name, run.id, _asked_of(what, run)))
            said += [(name, note) for note in run.summary(what).notes]
            failures = run.view(what).failures()
            said += [(name, f"{what}: {count} without an outcome ({kind})") for kind, count in failures.items()]
    more.append(Table("runs", "Runs of the analyses", ("analysis", "subject", "run", "simulator"), tuple(made)))
    finding = "\n".join(filter(None, findings))
    caveats = stand_in_notes(views)
    return Result(
        tables=tuple(tables),
        notes=(*caveats, *_told_once(said, len(names))),
        finding=finding,
        more=tuple(more),
        figures=tuple(captioned(figure, caveats) for figure in figures(shown)),
    )


def feelings(runs: Sequence[Run], count: int | None, seed: int) -> list[SheetRow]:
    """The rows of the sheet of feelings: contexts of the dialogues, with everything that the simulator knew."""
    return [sheets.feelings_row(each) for each in _rated_contexts(runs, count, seed)]


def reasoning(runs: Sequence[Run], count: int | None, seed: int) -> list[SheetRow]:
    """The rows of the sheet of reasoning, to be rated after the other one: it shows what the simulator thought."""
    return [sheets.reasoning_row(each) for each in _rated_contexts(runs, count, seed)]


def _rated_contexts(runs: Sequence[Run], count: int | None, seed: int) -> list[Context]:
    """Contexts for people, the same for both sheets."""
    dialogues = [each for run in runs for each in samples.stored_dialogues(run)]
    return samples.some_contexts(dialogues, count or CONTEXTS, seed, LATTER)


def annotations(context: CommandContext, options: Settings) -> Result:
    """Compares what people said in sheets with the simulator's judgements and the paper's figures."""
    runs = [context.run(name) for name in options.texts("runs")]
    read = [label for run in runs for name in sheets.SHEETS for label in context.labels(run.id, name)]
    if not read:
        write = hint("sheet write", *(run.reference for run in runs), "--of", "feelings", "--to", "FILE.csv")
        raise UsageError(f"nobody has labelled these runs. Write a sheet for people: {write}")
    known = {
        sheets.context_key(context): context
        for run in runs
        for dialogue in samples.stored_dialogues(run)
        for context in contexts(dialogue)
    }
    found = sheets.check(read, known)
    names = (
        "consistency of simulator and annotator",
        "consistency of simulator and majority",
        "agreement of annotators",
        "reasonableness",
        "agreement of annotators in reasonableness",
    )
    alpha = (found.alpha.value, *ends(found.alpha.interval)) if found.alpha else (None, None, None)
    paper = zip(names, (float(row["percent"]) / 100 for row in published("table1")), strict=True)
    rows = (
        *(
            (name, each.value, *ends(each.interval), each.items, value)
            for (name, value), each in zip(paper, found.shares, strict=True)
        ),
        ("agreement of annotators, Krippendorff's alpha", *alpha, found.shared, None),
    )
    columns = ("metric", "here", "from", "to", "answers", "paper")
    table = Table(
        "annotations",
        "Agreement of the simulator with people",
        columns,
        rows,
        note=f"{found.contexts} contexts, {found.shared} of them rated by two or more of {found.annotators} annotators;"
        f" {found.undecided} without a majority of more than half",
    )
    return Result(tables=(table,))


def build_scenarios(context: CommandContext, options: Settings) -> Result:
    """Builds scenarios and writes them to a file that `run sage --scenarios FILE` plays."""
    language = context.source().settings.text("language")
    if language == EVERY:
        known = ", ".join(languages_in(BUNDLED))
        raise UsageError(f"--language all is not supported here: build one language at a time; allowed: {known}.")
    schema = build.read_schema(Path(options.text("schema")) if options.text("schema") else None, language)
    briefs = list(build.briefs(options.whole("count"), language, schema, build.read_seeds(language), context.seed))
    run = context.play("build", items=briefs)
    view = run.view("build")
    built = [outcome.scenario for _, outcome, _ in view.scored() if isinstance(outcome, Built)]
    kept, alike = build.accepted(built, known_scenarios(context.source(), language))
    lines = "".join(msgspec.json.encode(each).decode() + "\n" for each in kept)
    wrote = (context.write(Path(options.text("to")), lines),) if kept else ()
    failed = [(each.item.id, each.failure.message) for each in view.episodes() if each.failure is not None]
    rows = (*alike, *failed)
    rejected = Table("rejected", "Rejected scenarios", ("scenario", "reason"), rows)
    tables = (_measures_table("build", [run], [run.subject]), *((rejected,) if rows else ()))
    finding = f"{len(kept)} of {len(briefs)} scenarios were accepted; {len(rows)} were rejected."
    return Result(tables=tables, notes=run.summary("build").notes, wrote=wrote, failed=not kept, finding=finding)


def _events(scenario: Scenario, dialogue: Dialogue, subject: str) -> tuple[Event, ...]:
    """An imported dialogue's transcript: the replies in their context, and the feelings noted after them."""
    events: list[Event] = []
    said = [user(scenario.first_words)]
    for number, turn in enumerate(dialogue.turns, 1):
        events.append(Exchange("subject", subject, tuple(said), Reply(turn.reply)))
        judged = turn.judgement
        if judged is not None:
            facts = {"turn": number, "before": judged.before, "change": judged.change, "after": judged.after}
            events.append(Noted("emotion", {**facts, "activity": judged.activity, "feeling": judged.feeling}))
        said += [assistant(turn.reply), user(turn.words)]
    events.append(
        Noted("end", {"ending": dialogue.ending, "emotion": dialogue.final, "words": dialogue.turns[-1].words})
    )
    return tuple(events)


def _told_apart(runs: Sequence[Run]) -> list[str]:
    """The subject of each run, with its simulator if the simulators differ."""
    several = len({samples.simulator_of_run(run) for run in runs}) > 1
    return [f"{run.subject} · {samples.simulator_of_run(run)}" if several else run.subject for run in runs]


def _asked_of(what: str, run: Run) -> str:
    """The simulator whose judgement an analysis uses."""
    if what == "rejudge":
        return samples.simulator_of_run(run)
    return run.view(what).roles["simulator"] if what == "stability" else ""


def _told_once(said: Sequence[tuple[str, str]], subjects: int) -> tuple[str, ...]:
    """Each note once, with its subjects unless it applies to all of them."""
    of = grouped((note, name) for name, note in said)
    return tuple(note if len(set(names)) == subjects else f"{first_of(names, 3)}: {note}" for note, names in of.items())


def _overview_table(what: str, runs: Sequence[Run], names: Sequence[str], card: Card) -> Table:
    """The overall measures of an analysis, one row per subject, the highest first."""
    goals = card.measures_of(what)
    rows: list[tuple[Cell, ...]] = []

    def first(pair: tuple[str, Run]) -> float:
        value = value_of(pair[1].summarised(what), goals[0].name)
        return math.inf if value is None else -value

    for name, run in sorted(zip(names, runs, strict=True), key=first):
        found = [run.summary(what).find(goal.name) for goal in goals]
        items = max((measure.items for measure in found if measure), default=0)
        values = (
            estimate(measure.value, goal.unit, measure.interval) if measure else None
            for goal, measure in zip(goals, found, strict=True)
        )
        rows.append((name, *values, items, max((measure.errors for measure in found if measure), default=0)))
    columns = ("subject", *(goal.title for goal in goals), "items", "errors")
    return Table(f"{what}-overview", f"{what[:1].upper()}{what[1:]}", columns, tuple(rows))


def _range(what: str, runs: Sequence[Run], names: Sequence[str], card: Card) -> str:
    """The lowest and the highest value of the first measure of an analysis, in a sentence."""
    goal = card.measures_of(what)[0]
    pairs = zip(names, (run.summary(what).find(goal.name) for run in runs), strict=True)
    found = [(measure.value, name, measure) for name, measure in pairs if measure and measure.value is not None]
    if not found:
        return f"{goal.title}: no result."
    ends = [min(found, key=lambda entry: entry[0]), max(found, key=lambda entry: entry[0])]
    said = [f"{estimate(value, goal.unit, measure.interval)} ({name})" for value, name, measure in ends]
    return f"{goal.title}: {said[0]}." if len(found) == 1 else f"{goal.title}: from {said[0]} to {said[1]}."


def _measures_table(what: str, runs: Sequence[Run], names: Sequence[str]) -> Table:
    rows = [
        (name, measure.name, ", ".join(levels_of(measure.group)), measure.value, *ends(measure.interval),
         measure.items, measure.errors, measure.note)
        for name, run in zip(names, runs, strict=True)
        for measure in run.summary(what).measures
    ]  # fmt: skip
    columns = ("subject", "measure", "group", "value", "from", "to", "items", "errors", "note")
    return Table(what, f"{what[:1].upper()}{what[1:]}", columns, tuple(rows))
