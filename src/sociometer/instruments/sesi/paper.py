"""The paper's tables and figures, filled from runs for `sociometer paper`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from sociometer.core.errors import UsageError
from sociometer.core.measure import Figure
from sociometer.core.paper import (
    Estimate,
    PaperCell,
    PaperColumn,
    PaperInput,
    PaperPart,
    PaperRow,
    PaperTable,
    estimate,
    number_in,
    printed,
    remarks_on,
)
from sociometer.core.settings import PAPER
from sociometer.core.task import AnyRun
from sociometer.core.words import grouped
from sociometer.instruments._paper import PaperParts
from sociometer.instruments.sesi import academic
from sociometer.instruments.sesi.build.composition import set_figures
from sociometer.instruments.sesi.conditions import COMMENT, CONTROL, NOISE, TRAITS, conditions
from sociometer.instruments.sesi.figures import cause_figure
from sociometer.instruments.sesi.probe_figures import probe_figures
from sociometer.instruments.sesi.probing import probe_of
from sociometer.instruments.sesi.published.reproduce import table as published
from sociometer.statistics.agreement import majorities
from sociometer.statistics.item_values import item_values
from sociometer.statistics.model_kinds import family_from_name

_ACADEMIC = {
    "NQ": "Knowledge", "MMLU": "Knowledge", "BBH": "Reasoning", "WinoGrande": "Reasoning", "RACE-h": "Comprehension",
    "DROP": "Comprehension", "GSM8K": "Math", "MATH": "Math", "TruthfulQA": "Safety",
}  # fmt: skip
_PERSONALITIES = tuple(f"{trait}-{level}" for trait in TRAITS for level in ("high", "low"))
_DRAWN = {
    "Fig. 3": "factors", "Fig. 4a": "personality", "Fig. 4b": "gender", "Fig. 4c": "roles", "Fig. 4d": "person",
    "Extended Data Fig. 2": "intelligence", "Extended Data Fig. 3": "prompt-types",
}  # fmt: skip
"""The figures of the paper that a probe draws."""
PARTS = PaperParts(Path(__file__).parent)
_NEEDS_SCORES = "It needs scores on other benchmarks: --models FILE with a column for each ({names})."

Probed = dict[str, dict[str, AnyRun]]
"""The runs of each subject, by condition."""


def paper(given: PaperInput) -> Sequence[PaperPart]:
    """Every table and figure of the paper."""
    probed = _probed(given)
    correlated = _correlations(given, probed)
    drawn = _figures(probed)
    return PARTS.all(
        _table_1(given, probed),
        _matrix(correlated),
        *(_drawn(drawn, label, name) for label, name in _DRAWN.items()),
        _statistics(given),
        _causes(given),
        _correlation_table(correlated),
        _personalities(probed),
    )


def _probed(given: PaperInput) -> Probed:
    """The runs by subject and condition; of several, the one with the most items.

    A subject's conditions all have the same items (official or others) and the same wording (the authors' own, or ours
    with the same request): those with more conditions, then the paper's items, then more items, then its wording.
    """
    found: dict[str, dict[tuple[bool | None, str], dict[str, AnyRun]]] = {}
    for run in given.of_task("questions"):
        wording = str(run.settings.get("wording") or COMMENT)
        if wording not in (COMMENT, PAPER):
            continue
        mine = found.setdefault(run.name, {}).setdefault((run.official, wording), {})
        condition = str(run.settings.get("condition") or CONTROL)
        if condition not in mine or _items(run) > _items(mine[condition]):
            mine[condition] = run
    return {
        subject: max(
            sets.items(),
            key=lambda one: (len(one[1]), one[0][0] is True, max(map(_items, one[1].values())), one[0][1] == PAPER),
        )[1]
        for subject, sets in found.items()
    }


def _items(run: AnyRun) -> int:
    found = run.summary.find("accuracy")
    return 0 if found is None else found.items


def _controls(probed: Probed) -> list[AnyRun]:
    return [mine[CONTROL] for mine in probed.values() if CONTROL in mine]


def _table_1(given: PaperInput, probed: Probed) -> PaperPart:
    """Table 1: scores on other benchmarks, and on SESI."""
    rows = []
    for run in _controls(probed):
        facts = given.facts(run)
        scores = (number_in(facts.get(name, "")) for name in _ACADEMIC)
        cells = (*map(Estimate, scores), estimate(run, "accuracy", scale=100))
        rows.append(PaperRow((run.name, *cells), facts.get("family", ""), remarks_on(run), model=run.model))
    rows.sort(key=lambda row: row.section)
    names = [*_ACADEMIC, "SI"]
    rows += [
        printed(row["model"], *(Estimate(float(row[name])) for name in names), section=row["family"])
        for row in published("table1")
    ]
    columns = (PaperColumn("Model"), *(PaperColumn(name, group, 1) for name, group in _ACADEMIC.items()))
    lacking = "" if given.models else _NEEDS_SCORES.format(names=", ".join(_ACADEMIC))
    table = PaperTable((*columns, PaperColumn("SESI", "SI", 1)), tuple(rows))
    return PARTS.part("Table 1", table=table, missing=None if all(row.published for row in rows) else lacking)


class _Correlated(Struct, frozen=True):
    """The correlations of all scores over the models with a run, or why there are none."""

    pairs: tuple[academic.PairResult, ...] = ()
    names: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    why_not: str = ""


def _correlations(given: PaperInput, probed: Probed) -> _Correlated:
    """The correlations over the models that have a run and other scores, all on the same items."""
    members, values, families = [], {}, {}
    for run in _controls(probed):
        facts, name = given.facts(run), run.name
        known = {column: score for column, text in facts.items() if (score := number_in(text)) is not None}
        found = academic.Member(name, run.run, item_values(run, "correct"))
        if known and found.items:
            members.append(found)
            values[name], families[name] = known, facts.get("family") or family_from_name(name)
    if len(members) < 3:
        return _Correlated(why_not=_NEEDS_SCORES.format(names="at least three models with runs"))
    try:
        accuracies, shared = academic.shared_accuracies(members)
    except UsageError as error:
        return _Correlated(why_not=f"Not computed: {error}")
    scores = academic.Scores(
        {name: {**values[name], academic.SOCIAL: value} for name, value in accuracies.items()}, families
    )
    pairs = academic.correlate(scores)
    remarks = [f"{len(members)} models, SESI on the {len(shared.items)} items that all have"]
    remarks.append(academic.apart(scores))
    names = {member.model for member in members}
    remarks += dict.fromkeys(
        f"{run.name}: {remark}" for run in _controls(probed) if run.name in names for remark in remarks_on(run)
    )
    found_any = any(pair.correlation is not None for pair in pairs)
    why = "" if found_any else "No two scores vary over the models."
    return _Correlated(tuple(pairs) if found_any else (), tuple(scores.benchmarks()), tuple(remarks), why)


def _matrix(found: _Correlated) -> PaperPart:
    """Fig. 2: the correlations as a heat map."""
    figures = (academic.matrix_figure(found.pairs, found.names, found.remarks),) if found.pairs else ()
    return PARTS.part("Fig. 2", figures=figures, missing=found.why_not, remarks=". ".join(found.remarks))


def _correlation_table(found: _Correlated) -> PaperPart:
    """Extended Data Table 1: the same correlations as a table."""
    known = {(pair.first, pair.second): pair.correlation for pair in found.pairs}
    rows = []
    for row, second in enumerate(found.names if found.pairs else ()):
        cells: list[PaperCell] = []
        for column, first in enumerate(found.names):
            one = known.get((first, second)) if column < row else None
            mark = "" if one is None else "**" if one.p_value < 0.005 else "*" if one.p_value < 0.05 else ""
            cells.append(None if one is None else Estimate(one.r, one.interval, mark))
        rows.append(PaperRow((second, *cells), remarks=found.remarks))
    columns = (PaperColumn(""), *(PaperColumn(name, digits=2) for name in found.names))
    table = PaperTable(columns, tuple(rows), "* p < .05, ** p < .005, two-sided.")
    return PARTS.part("Extended Data Table 1", table=table, missing=found.why_not)


def _figures(probed: Probed) -> dict[str, Figure]:
    """The figures of the probes by name, from the subjects that have a control."""
    probes = [probe_of(subject, runs) for subject, runs in probed.items() if CONTROL in runs]
    names = [name for name, entry in conditions().items() if entry.factor not in ("", NOISE)]
    played = [name for name in names if any(name in probe.answers for probe in probes)]
    return {figure.name: figure for figure in probe_figures(probes, played)} if played else {}


def _drawn(drawn: Mapping[str, Figure], label: str, name: str) -> PaperPart:
    """One of the figures of a probe."""
    found = (drawn[name],) if name in drawn else ()
    return PARTS.part(label, figures=found, how=found[0].caption if found else "", tasks=("questions",))


def _statistics(given: PaperInput) -> PaperPart:
    """Fig. 5: lengths of situations and answers, characters, abilities and relationships."""
    fullest = max(given.of_task("questions"), key=_items, default=None)
    items = {} if fullest is None else {item.id: item for item, _, _ in fullest.scored()}
    return PARTS.part("Fig. 5", figures=tuple(set_figures(list(items.values()))) if items else ())


def _causes(given: PaperInput) -> PaperPart:
    """Extended Data Fig. 1: causes of wrong answers."""
    named = {
        f"{run.subject} (people)": {key[0]: cause for key, cause in majorities(labels, "cause").items()}
        for run in given.of_task("questions")
        if (labels := run.labels.get("causes"))
    }
    people = {name: causes for name, causes in named.items() if causes}
    judged = []
    for run in given.of_task("errors"):
        known = [one for one in run.summary.measures if f"{one.group.get('subject')} (people)" not in people]
        if any(one.group.get("subject") for one in known):
            judged.append(structs.replace(run.summary, measures=tuple(known)))
    figures = (cause_figure(judged, people),) if people or judged else ()
    tasks = ("errors", "questions") if people else ("errors",)
    return PARTS.part("Extended Data Fig. 1", figures=figures, tasks=tasks)


def _personalities(probed: Probed) -> PaperPart:
    """Extended Data Table 2: accuracy under every personality."""
    columns = [PaperColumn("Control", digits=1)]
    columns += [PaperColumn(level, trait.capitalize(), 1) for trait in TRAITS for level in ("High", "Low")]
    heads = {name: column.name for name, column in zip((CONTROL, *_PERSONALITIES), columns, strict=True)}
    rows = []
    for subject, runs in probed.items():
        played = [name for name in heads if name in runs]
        said = grouped((remark, name) for name in played for remark in remarks_on(runs[name]))
        about = {
            remark if on == played else f"{', '.join(on)}: {remark}": [heads[name] for name in on]
            for remark, on in said.items()
        }
        cells = (estimate(runs[name], "accuracy", scale=100) if name in runs else Estimate(None) for name in heads)
        why = "not probed: " + ", ".join(name for name in heads if name not in runs)
        if {*played} - {CONTROL}:
            model = runs[played[0]].model
            rows.append(PaperRow((subject, *cells), remarks=tuple(about), why_empty=why, about=about, model=model))
    rows += [
        printed(row["model"], *(Estimate(float(row[name])) for name in ("control", *_PERSONALITIES)))
        for row in published("extended2")
    ]
    return PARTS.part("Extended Data Table 2", table=PaperTable((PaperColumn("Model"), *columns), tuple(rows)))
