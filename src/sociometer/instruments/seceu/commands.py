"""The instrument's own commands: your own norms, and analyses over several subjects."""

from pathlib import Path

import msgspec

from sociometer.core.command import CommandContext
from sociometer.core.errors import UsageError, hint
from sociometer.core.instrument import Result
from sociometer.core.measure import Table
from sociometer.core.settings import Settings
from sociometer.instruments._recall import examine
from sociometer.instruments.seceu import contrasts, recall
from sociometer.instruments.seceu.figures import norm_figures
from sociometer.instruments.seceu.norm import Norm, read_norm
from sociometer.instruments.seceu.norming import Norming, build_norm, concern, read_people
from sociometer.instruments.seceu.tables import TABLES
from sociometer.statistics.formatting import stand_in_notes
from sociometer.statistics.model_kinds import read_properties

TASK = "feelings"


def norms(context: CommandContext, options: Settings) -> Result:
    """Builds a norm from a file of people's answers, or shows one."""
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
    if not options.text("responses"):
        raise UsageError(f"norms build needs --responses FILE; for a study: {hint('study norms STUDY --to FILE')}")
    scenarios, people = read_people(Path(options.text("responses")))
    made = build_norm(
        people,
        scenarios,
        name=options.text("name") or Path(options.text("responses")).stem,
        sample=options.text("sample"),
        most_missing=options.number("most-missing"),
        order="" if options.text("order") == "unknown" else options.text("order"),
        own=options.flag("include-self"),
    )
    target = Path(options.text("to") or "norm.json")
    result = Result(
        tables=tuple(norming_tables(made)),
        notes=_notes(made, target, options.number("most-missing")),
        data={"norming": msgspec.to_builtins(made)},
        more=(percentile_table(made.norm),),
    )
    # Last, so that a command that fails leaves the norm that was there.
    text = msgspec.json.format(msgspec.json.encode(made.norm), indent=1).decode()
    return msgspec.structs.replace(result, wrote=(context.write(target, text + "\n"),))


def norming_tables(made: Norming) -> list[Table]:
    """Return the tables to check before using a norm."""
    norm = made.norm
    spreads = (
        (name, round(mean, 2), round(norm.deviations[name], 2), concern(norm, name))
        for name, mean in norm.template.items()
    )
    excluded = TABLES("excluded", ((entry.person, entry.reason) for entry in made.excluded))
    return [_norm_table(norm, made), TABLES("items", spreads), *([excluded] if excluded.rows else [])]


def percentile_table(norm: Norm) -> Table:
    """Return scores at chosen percentiles, each with its standard error."""
    rows = []
    for percent in (0.1, 1, 2.5, 5, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.9):
        score = min(norm.score_below, key=lambda pair: abs(pair[1] - percent))[0]
        error = round(norm.percent_error(percent), 2) if norm.counted else None
        rows.append((percent, round(score, 3), round(norm.eq(score), 1), error))
    return TABLES("percentiles", rows, note="" if norm.counted else "Published pairs only: no standard errors.")


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
    return TABLES("norm", rows)


def _notes(made: Norming, target: Path, most_missing: float) -> tuple[str, ...]:
    rules = (
        f"Excluded: people with more than {most_missing:.0%} of the stories missing or not adding up to ten "
        "points (within half a point), and people who gave the same four numbers in at least 95 % of the "
        "stories."
    )
    few = "Fewer than 100 people: percentiles and alpha are rough." if made.norm.people < 100 else ""
    stories = f"its {len(made.norm.standards)} stories (--item)"
    use = f"Use it on {stories} with: {hint('run seceu --model MODEL --norm', target)}"
    draw = f"Draw it with: {hint('seceu norms show --file', target, '--to', 'FOLDER')}"
    return tuple(note for note in (rules, few, use, draw) if note)
