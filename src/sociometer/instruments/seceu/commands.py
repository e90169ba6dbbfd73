"""The instrument's own commands: your own norms, and analyses over several subjects."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from sociometer.core.command import CommandContext, Run, StudyPerson
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Result
from sociometer.core.measure import Table
from sociometer.core.settings import Settings
from sociometer.instruments._recall import examine
from sociometer.instruments.seceu import contrasts, recall
from sociometer.instruments.seceu.figures import norm_figures
from sociometer.instruments.seceu.norm import PRINTED, SHUFFLED, Norm, read_norm
from sociometer.instruments.seceu.norming import Norming, Person, build_norm, described, read_people
from sociometer.statistics.formatting import stand_in_notes
from sociometer.statistics.model_kinds import read_properties

TASK = "feelings"
PERSON = "human"


def norms(context: CommandContext, options: Settings) -> Result:
    """Builds a norm from people's answers, or shows one."""
    if options.text("action") == "build":
        return _build(context, options)
    if not options.text("file"):
        raise UsageError("norms show needs --file NORM.json.")
    norm = read_norm(Path(options.text("file")))
    return Result(
        tables=(_norm_table(norm), percentile_table(norm)),
        figures=tuple(norm_figures(norm)),
        data=msgspec.to_builtins(norm),
    )


def analyse(context: CommandContext, options: Settings) -> Result:
    """Contrasts between kinds of models."""
    runs = [context.run(reference) for reference in options.texts("runs")]
    if not (runs and options.text("models")) and not options.flag("published"):
        raise UsageError(
            "analyse needs stored runs and --models FILE about them, or --published for the paper's models."
        )
    subjects = [contrasts.subject_of(run) for run in runs]
    published = contrasts.published_subjects() if options.flag("published") else []
    properties = read_properties(Path(options.text("models"))) if options.text("models") else {}
    found = contrasts.analysis(subjects, published, properties)
    return msgspec.structs.replace(found, notes=(*stand_in_notes(run.view(TASK) for run in runs), *found.notes))


def contamination(context: CommandContext, options: Settings) -> Result:
    """Asks every subject about pairs of public and unseen items, and says whether it knows the public ones by heart."""
    return examine(context, options, recall.recalled)


def _build(context: CommandContext, options: Settings) -> Result:
    scenarios: tuple[str, ...] = ()
    people: list[Person] = []
    if options.text("responses"):
        scenarios, people = read_people(Path(options.text("responses")))
    scenarios, people = _with_runs(context, options, scenarios, people)
    if not people:
        raise UsageError("norms build needs --responses PEOPLE.csv, or people who took it: --run RUN, --study NAME.")
    made = build_norm(
        people,
        scenarios,
        name=options.text("name") or options.text("study") or Path(options.text("responses") or "people").stem,
        sample=options.text("sample"),
        experts=options.texts("expert"),
        most_missing=options.number("most-missing"),
        columns=options.texts("group") or None,
        order=_order_of(context, options),
        own=options.flag("include-self"),
    )
    target = Path(options.text("to") or "norm.json")
    result = Result(
        tables=tuple(norming_tables(made)),
        notes=(*_left_out(context, options), *_notes(made, target, options.number("most-missing"))),
        data={"norming": msgspec.to_builtins(made)},
        more=(percentile_table(made.norm),),
    )
    # Last, so that a command that fails leaves the norm that was there.
    text = msgspec.json.format(msgspec.json.encode(made.norm), indent=1).decode()
    return msgspec.structs.replace(result, wrote=(context.write(target, text + "\n"),))


def _order_of(context: CommandContext, options: Settings) -> str:
    """The order in which people saw the feelings: as stated, else that of their runs if it is the same in all."""
    if options.text("order") != "unknown":
        return options.text("order")
    runs = [context.run(reference) for reference in options.texts("run")]
    if options.text("study"):
        runs += context.runs_of_study(options.text("study"))
    orders = {SHUFFLED if run.settings.flag("shuffle") else PRINTED for run in runs}
    return orders.pop() if len(orders) == 1 and not options.text("responses") else ""


def _with_runs(
    context: CommandContext, options: Settings, scenarios: tuple[str, ...], people: list[Person]
) -> tuple[tuple[str, ...], list[Person]]:
    """The people of a file and of the given runs; each counts once, and all answer the same scenarios."""
    found = list(people)
    known: Mapping[str, StudyPerson] = {}
    runs = [context.run(reference) for reference in options.texts("run")]
    if options.text("study"):
        known = context.people_of_study(options.text("study"))
        every = _begun(context.runs_of_study(options.text("study")))
        runs += [run for run in every if run.id not in known or not known[run.id].excluded]
        # Participants may have had forms of their own: the scenarios are those that anybody had.
        everything = (episode.item.scenario for run in runs for episode in run.view(TASK).episodes())
        scenarios = tuple(dict.fromkeys((*scenarios, *everything)))
    for run in runs:
        person = person_of(run, known[run.id].about if run.id in known else {})
        if any(person.name == other.name for other in found):
            raise UsageError(f"person '{person.name}' is already in the data; a norm counts each person once.")
        played = tuple(dict.fromkeys(episode.item.scenario for episode in run.view(TASK).episodes()))
        scenarios = scenarios or played
        strangers = sorted(set(played) - set(scenarios))
        if strangers:
            raise UsageError(
                f"run {run.id} has story '{strangers[0]}', which the others do not have; build separate norms."
            )
        found.append(person)
    return scenarios, found


def _left_out(context: CommandContext, options: Settings) -> list[str]:
    """The participants who are excluded by the rules of their study, with the reasons."""
    if not options.text("study"):
        return []
    known = context.people_of_study(options.text("study"))
    found = {run: person.excluded for run, person in known.items() if person.excluded}
    named = "; ".join(f"{context.run(run).revision}, {reason}" for run, reason in found.items())
    return [f"Excluded by the rules of study {options.text('study')}: {named}."] if found else []


def _begun(runs: Sequence[Run]) -> list[Run]:
    """The runs of participants who shared points at least once; the others have no answers."""
    return [run for run in runs if any(any(outcome.points) for _, outcome, _ in run.view(TASK).scored())]


def person_of(run: Run, about: Mapping[str, str]) -> Person:
    """Return the answers of a person's run as one row, named by its revision; repeats are averaged, nulls left out.

    `about` is what the person said about themselves, as the columns of a file of people.
    """
    if run.subject != PERSON:
        raise UsageError(
            f"run {run.id} was played by {run.subject}, not by a person; a norm needs people's answers (a "
            "participant of a study, or --responses)."
        )
    points: dict[str, list[tuple[float, ...]]] = {}
    ways: set[str] = set()
    for item, outcome, _ in run.view(TASK).scored():
        ways.add(item.prompting)
        points.setdefault(item.scenario, [])
        if any(outcome.points):
            points[item.scenario].append(outcome.points)
    if len(ways) > 1:
        raise UsageError(f"run {run.id} used several prompting methods ({', '.join(sorted(ways))}); a norm needs one.")
    answers = {scenario: tuple(np.mean(given, axis=0).tolist()) for scenario, given in points.items() if given}
    if not answers:
        raise UsageError(f"run {run.id} contains no allocation.")
    return Person(run.revision or f"{run.subject} {run.id}", answers, described(about))


def norming_tables(made: Norming) -> list[Table]:
    """Return the tables to check before using a norm."""
    spreads = [
        (entry.scenario, round(entry.mean, 2), round(entry.deviation, 2), entry.concern) for entry in made.spreads
    ]
    tables = [
        _norm_table(made.norm, made),
        Table("items", "Distances by story", ("scenario", "mean", "SD", "concern"), tuple(spreads)),
    ]
    if made.people:
        told = tuple((line.column, line.text, line.unknown) for line in made.people)
        tables.insert(1, Table("sample", "Who the people are", ("column", "people", "unknown"), told))
    means = tuple(
        (one.column, mean.group, mean.people, round(mean.mean, 2), round(mean.error, 3), one.test, one.p_value)
        for one in made.groups
        for mean in one.groups
    )
    if means:
        columns = ("column", "group", "people", "mean score", "SE", "test", "p")
        tables.append(Table("groups", "Scores by group", columns, means, units={"p": "p"}))
    if made.excluded:
        rows = tuple((entry.person, entry.reason) for entry in made.excluded)
        tables.append(Table("excluded", "Excluded from the norm", ("person", "reason"), rows))
    if made.experts:
        placed = tuple(
            (entry.name, round(entry.score, 2), made.norm.percent_text(entry.percent_below)) for entry in made.experts
        )
        tables.append(Table("experts", "Experts on the norm", ("expert", "score", "people below"), placed))
    return tables


def percentile_table(norm: Norm) -> Table:
    """Return scores at chosen percentiles, each with its standard error."""
    rows = []
    for percent in (0.1, 1, 2.5, 5, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.9):
        score = min(norm.score_below, key=lambda pair: abs(pair[1] - percent))[0]
        error = round(norm.percent_error(percent), 2) if norm.counted else None
        rows.append((percent, round(score, 3), round(norm.eq(score), 1), error))
    columns = ("people below (%)", "score", "EQ", "standard error (%)")
    note = "" if norm.counted else "Published pairs only: no standard errors."
    return Table("percentiles", "Percentiles of people", columns, tuple(rows), note)


def _norm_table(norm: Norm, made: Norming | None = None) -> Table:
    rows: list[tuple[str, str | float]] = [
        ("name", norm.name),
        ("sample", norm.sample),
        ("people", norm.people),
        ("scenarios", len(norm.standards)),
        ("mean score (M)", round(norm.mean, 3)),
        ("SD", round(norm.deviation, 3)),
        ("Cronbach's alpha", "too few people" if norm.alpha is None else round(norm.alpha, 3)),
        ("pattern similarity", f"{norm.similarity_mean:.3f}, SD {norm.similarity_deviation:.3f}"),
        ("different mechanism below", norm.different_below),
        ("order of the feelings", norm.order or "unknown"),
    ]
    if norm.error_of_measurement is not None:
        rows.append(("standard error of measurement", f"{norm.error_of_measurement:.1f} EQ points"))
    if made is not None and made.reliability.interval is not None and made.reliability.interval.low is not None:
        rows.append(
            ("95 % interval of alpha", f"{made.reliability.interval.low:.3f} to {made.reliability.interval.high:.3f}")
        )
    return Table("norm", "Norm", ("what", "value"), tuple(rows))


def _notes(made: Norming, target: Path, most_missing: float) -> tuple[str, ...]:
    rules = (
        f"Excluded: people with more than {most_missing:.0%} of the stories missing or not adding up to ten "
        "points (within half a point), and people who gave the same four numbers in at least 95 % of the "
        "stories."
    )
    few = "Fewer than 100 people: percentiles and alpha are rough." if made.norm.people < 100 else ""
    differ = [one.note for one in made.groups]
    use = f"Use it with: sociometer run seceu --norm {target} …"
    draw = f"Draw it with: sociometer seceu norms show --file {target} --to FOLDER"
    return tuple(note for note in (rules, few, *differ, use, draw) if note)
