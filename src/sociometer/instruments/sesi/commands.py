"""What only this instrument offers on the command line: lint, probe, analyse, correlate, build."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from sociometer.analysis.reliability import cronbach_alpha
from sociometer.core.errors import UsageError
from sociometer.core.measure import Cell, Table
from sociometer.core.settings import Settings
from sociometer.core.workbench import Result, StoredRun, Workbench
from sociometer.instruments.sesi import academic, errors, items, probing, readings
from sociometer.instruments.sesi.conditions import CONTROL, of_factors
from sociometer.instruments.sesi.construction import building
from sociometer.instruments.sesi.scoring import length_baseline


def lint(bench: Workbench, options: Settings) -> Result:
    """Counts and checks the items; fails on a contradiction or a duplicate id, not on an unconverted item."""
    found = list(items.questions(bench.source()))
    pairs = items.contradictions(found)
    repeated = [name for name, count in Counter(item.id for item in found).items() if count > 1]
    conversions = items.in_second_person(found, bench.source().settings.text("readings"))
    counts = Counter((str(item.ability), item.answer) for item in found)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (ability, *(counts[ability, place] for place in range(4))) for ability in items.ABILITIES
    )
    rules = (
        ("any option", 0.25),
        ("the longest option", length_baseline(found, max)),
        ("the shortest option", length_baseline(found, min)),
    )
    doubts = tuple((name, "; ".join(str(doubt) for doubt in why)) for name, why in conversions.doubts.items())
    converted = len(conversions.converted)
    second = (
        f"{converted / len(found):.1%} are converted: {converted - len(conversions.read)} items by rule alone, "
        f"{len(conversions.read)} with what readers found."
    )
    tables = (
        Table("positions", "Right answers by position", ("ability", "A", "B", "C", "D"), rows),
        Table("baselines", "What no understanding earns", ("rule", "accuracy"), rules),
        Table("doubts", "Not converted to the second person", ("item", "why"), doubts, second),
    )
    notes = [
        f"contradiction: {p.first} and {p.second} are the same item with keys {p.keys[0]} and {p.keys[1]}"
        for p in pairs
    ]
    notes += [f"duplicate id: {name}" for name in repeated]
    wrote = []
    if options.text("sheet"):
        texts = {item.id: item.texts for item in found}
        sheet = readings.sheet({name: (texts[name], why) for name, why in conversions.doubts.items()})
        wrote.append(bench.write(Path(options.text("sheet")), sheet))
        if doubts:
            notes.append("write into the column becomes what stands there in the second person; give it as --readings.")
    return Result(tables, tuple(notes), wrote=tuple(wrote), failed=bool(repeated or pairs))


def probe(bench: Workbench, options: Settings) -> Result:
    """Plays the control and every condition of the factors for every subject, and compares on the same items."""
    if not bench.subjects:
        raise UsageError("probe needs a subject: give --model MODEL (several may be given).")
    wanted = [entry.name for entry in of_factors(options.texts("factor"))]
    given = _pairs(options.texts("family"), "family", "FAMILY=MODEL")
    families = {model: family for family, models in given.items() for model in models}
    probes = []
    for subject in bench.subjects:
        runs = {
            name: bench.play("questions", subject=subject, settings={"condition": name}).view("questions")
            for name in (*wanted, CONTROL)
        }
        probes.append(probing.probe_of(subject, probing.family_of(subject, families), runs))
    tables = [
        probing.change_table(probes, wanted),
        probing.most_moved(probes, wanted),
        probing.contrast_table(probes),
        probing.role_table(probes),
        probing.family_table(probes, wanted),
    ]
    notes = [f"{len(wanted)} conditions were compared with the control; stars are of uncorrected p."]
    if "second-person" in wanted:
        source = bench.source(condition=CONTROL)
        left = items.in_second_person(items.questions(source), source.settings.text("readings")).doubts
        notes.append(f"{len(left)} items could not be put in the second person with certainty; 'lint sesi' names them.")
    return Result(
        tuple(t for t in tables if t is not None and t.rows), tuple(notes), (probing.change_figure(probes, wanted),)
    )


def analyse(bench: Workbench, options: Settings) -> Result:
    """Has a judge name the causes of a sample of wrong answers, or prepares and imports the same for people."""
    references = options.texts("run") or ("last",)
    runs = [bench.run(reference) for reference in references]
    sample = [
        entry
        for run in runs
        for entry in errors.sample_wrong(run.view("questions"), options.whole("sample"), bench.seed)
    ]
    if not sample:
        raise UsageError("there is no readable wrong answer in these runs: nothing to explain.")
    if options.text("sheet"):
        wrote = bench.write(Path(options.text("sheet")), errors.write_sheet(sample))
        return Result(
            notes=(f"{len(sample)} wrong answers; fill in the column cause with one of: {', '.join(errors.CAUSES)}.",),
            wrote=(wrote,),
        )
    judged = bench.play("errors", items=sample)
    summary = judged.summary("errors")
    subjects = list(dict.fromkeys(entry.subject for entry in sample))
    tables = [errors.cause_table(summary, subjects)]
    notes = list(summary.notes)
    if options.text("labels"):
        labels = errors.read_labels(Path(options.text("labels")))
        tables.append(errors.label_table(labels))
        notes.append(_agreement(labels, judged))
    return Result(tuple(tables), tuple(notes))


def _agreement(labels: dict[str, str], judged: StoredRun) -> str:
    verdicts = {item.id: outcome.cause for item, outcome, _ in judged.view("errors").scored() if outcome.cause}
    found = errors.agreement(labels, verdicts)
    if found is None:
        return "People and judge labelled no answer in common: no agreement can be given."
    bounds = found.interval
    shown = (
        f" (95 % {bounds.low:.2f} to {bounds.high:.2f})"
        if bounds and bounds.low is not None and bounds.high is not None
        else ""
    )
    raw = f"raw agreement {found.observed:.0%}, {found.units} answers"
    return f"People and judge: Cohen's kappa {found.value:.2f}{shown}, {raw}."


def correlate(bench: Workbench, options: Settings) -> Result:
    """Joins SESI accuracies of stored runs with academic scores and correlates all of them."""
    scores = academic.read_scores([Path(path) for path in options.texts("academic")])
    renamed = {model: names[-1] for model, names in _pairs(options.texts("as"), "as", "MODEL=NAME").items()}
    runs = [bench.run(reference) for reference in options.texts("run")]
    notes = []
    for run in runs:
        name = renamed.get(run.subject, run.subject)
        measure = run.summary("questions").measure("accuracy")
        if name not in scores.values:
            near = ", ".join(sorted(scores.values))
            raise UsageError(f"'{name}' has no academic scores; known: {near}. Map it with --as {run.subject}=NAME.")
        if measure is None or measure.value is None:
            notes.append(f"run {run.id} of {run.subject} has no accuracy and is left out")
            continue
        scores.values[name][academic.SOCIAL] = 100 * measure.value
    known = {name: float(values[-1]) for name, values in _numbers(options.texts("reliability")).items()}
    reliability = _own_reliability(runs)
    if reliability is not None and academic.SOCIAL not in known:
        known[academic.SOCIAL] = reliability
        notes.append(f"Reliability of SESI over these runs: Cronbach's alpha {reliability:.2f}.")
    if academic.SOCIAL not in scores.benchmarks():
        raise UsageError("there is no SESI score: give --run RUN, or a column SESI in the CSV.")
    results = academic.correlate(scores, known)
    test, why = academic.apart(scores)
    notes += [why] if why else []
    tables = (academic.pair_table(results), *((test,) if test else ()))
    return Result(tables, tuple(notes), (academic.matrix_figure(results, scores.benchmarks()),))


def _own_reliability(runs: Sequence[StoredRun]) -> float | None:
    """Cronbach's alpha over the items that all runs share, where there are enough distinct subjects."""
    answers = [{item.id: score.values["correct"] for item, _, score in run.view("questions").scored()} for run in runs]
    shared = sorted(set.intersection(*(set(own) for own in answers))) if answers else []
    if len({run.subject for run in runs}) < len(runs) or len(shared) < 2 or len(runs) < 2:
        return None
    found = cronbach_alpha([[own[item] for item in shared] for own in answers])
    return found.value if found.value is not None and 0 < found.value <= 1 else None


def build(bench: Workbench, options: Settings) -> Result:
    """Makes items from posts; see `construction.building`."""
    return building.build(bench, options)


def _pairs(given: Sequence[str], name: str, shape: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in given:
        left, separator, right = entry.partition("=")
        if not separator or not left or not right:
            raise UsageError(f"--{name} needs {shape}, not '{entry}'.")
        found.setdefault(left, []).append(right)
    return found


def _numbers(given: Sequence[str]) -> dict[str, list[str]]:
    found = _pairs(given, "reliability", "BENCHMARK=VALUE")
    for name, values in found.items():
        try:
            inside = 0 < float(values[-1]) <= 1
        except ValueError:
            inside = False
        if not inside:
            raise UsageError(f"--reliability {name}={values[-1]}: a reliability lies above 0 and at most at 1.")
    return found
