"""The paper's tables and figures, filled from runs for `sociometer paper`."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from msgspec import structs

from sociometer.core.errors import hint
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
    printed,
    remarks_on,
)
from sociometer.core.task import AnyRun, PeopleLabel
from sociometer.core.words import grouped
from sociometer.instruments._paper import PaperParts
from sociometer.instruments.sage.analyses.stability import contexts
from sociometer.instruments.sage.figures import figures
from sociometer.instruments.sage.judges.sheets import SHEETS, check, context_key
from sociometer.instruments.sage.leaderboard import by_simulator, one_each, ranks_of, simulator_of, value_of
from sociometer.instruments.sage.person.emotion import CARDS
from sociometer.instruments.sage.published.reproduce import table as published
from sociometer.instruments.sage.samples import dialogues_of
from sociometer.instruments.sage.simulators import Played, cube, rank_agreements
from sociometer.statistics.charts import ScatterPoint, scatter_chart
from sociometer.statistics.correlation import pearson
from sociometer.statistics.intervals import clustered_mean_interval
from sociometer.statistics.model_kinds import family_from_name

PARTS = PaperParts(Path(__file__).parent)
_TALKS = ("dialogue", "rejudge")
_DRAWN = {
    "Fig. 3": ("relationship-emotion", "relationship"),
    "Fig. 4": ("talk-emotion", "relationship"),
    "Fig. 5": ("repetition", "strategies"),
    "Fig. 6": ("coordinate", "coordinate"),
    "Fig. 8": ("efficiency", *_TALKS),
    "Fig. 9": ("coordinate", "coordinate"),
    "Fig. 10": ("repetition", "strategies"),
    "Fig. 11": ("effectiveness", "strategies"),
}
"""The figures of the paper that the report also has: the name there, and the tasks whose runs they show."""


def paper(given: PaperInput) -> Sequence[PaperPart]:
    """Every table and figure of the paper that has numbers or definitions."""
    drawn = {figure.name: figure for figure in figures(given.runs)}
    dialogues = [run for task in _TALKS for run in given.of_task(task)]
    return PARTS.all(
        _human_check(given.of_task("dialogue")),
        *(_drawn(drawn, label, name, tasks) for label, (name, *tasks) in _DRAWN.items()),
        _correlations(given.of_task("relationship")),
        _agreement(dialogues),
        _leaderboard(given),
        _intentions(dialogues),
        _simulators(dialogues),
        _examples(given.of_task("dialogue")),
    )


def _human_check(runs: Sequence[AnyRun]) -> PaperPart:
    """Table 1: the simulator compared with people, one row for each metric; other items have a section of their own."""
    rows = []
    for members in grouped((run.official, run) for run in runs if run.labels.keys() & {*SHEETS}).values():
        known = {context_key(one): one for run in members for talk in dialogues_of(run) for one in contexts(talk)}
        labels: list[PeopleLabel] = []
        for run in members:
            for sheet in SHEETS:
                labels += run.labels.get(sheet, ())
        found = check(labels, known)
        remarks = tuple(dict.fromkeys(remark for run in members for remark in remarks_on(run)))
        section = f"{', '.join(dict.fromkeys(run.subject for run in members))}: {found.annotators} annotators"
        for row, each in zip(published("table1"), found.shares, strict=True):
            interval = each.interval.scaled(100) if each.interval else None
            value = Estimate(None if each.value is None else 100 * each.value, interval)
            why = "too few people answered it"
            rows.append(PaperRow((row["metric"], value, each.items), section, remarks, why_empty=why))
    rows += [printed(row["metric"], Estimate(float(row["percent"])), None) for row in published("table1")]
    columns = (PaperColumn("Metric"), PaperColumn("%", digits=2), PaperColumn("Answers"))
    return PARTS.part("Table 1", table=PaperTable(columns, tuple(rows)))


def _drawn(drawn: dict[str, Figure], label: str, name: str, tasks: Sequence[str]) -> PaperPart:
    """A figure that the report also has; one for each simulator if points cannot share a scale."""
    found = tuple(
        figure
        for full, figure in drawn.items()
        if full == name or (full.startswith(f"{name}-") and "simulator" in figure.title)
    )
    return PARTS.part(label, figures=found, how=found[0].caption if found else "", tasks=tuple(tasks))


def _correlations(runs: Sequence[AnyRun]) -> PaperPart:
    """Pearson's r of Figs. 3 and 4, one row for each simulator."""
    rows = []
    for simulator, several in by_simulator(runs).items():
        members, cells = one_each(several), list[PaperCell]()
        for name in ("relationship", "talk"):
            pairs = [(value_of(run, "emotion"), value_of(run, name), run.subject) for run in members]
            known = [(x, y, who, family_from_name(who)) for x, y, who in pairs if x is not None and y is not None]
            varied = len(known) > 2 and all(len({one[at] for one in known}) > 1 for at in (0, 1))
            found = pearson(*map(list, zip(*known, strict=True))) if varied else None
            cells += [None, None] if found is None else [Estimate(found.r, found.interval), found.n]
        if any(cell is not None for cell in cells):
            remarks = tuple(dict.fromkeys(remark for run in members for remark in remarks_on(run)))
            rows.append(PaperRow((simulator or "unknown", *cells), remarks=remarks))
    rows.append(printed("DeepSeek-V3", Estimate(0.818), None, Estimate(0.788), None))
    groups = ("Fig. 3, relationship", "Fig. 4, utterances")
    heads = [(PaperColumn("r", group, 3), PaperColumn("models", group)) for group in groups]
    columns = (PaperColumn("Simulator"), *heads[0], *heads[1])
    return PARTS.part("Figs. 3 and 4", table=PaperTable(columns, tuple(rows)))


def _examples(runs: Sequence[AnyRun]) -> PaperPart:
    """Fig. 12: the first exchange of every model with one person."""
    talks = {
        run.subject: {item.id: outcome for item, outcome, _ in run.scored() if outcome.turns and not outcome.rehearsed}
        for run in runs
    }
    shared = [name for name in next(iter(talks.values()), {}) if all(name in mine for mine in talks.values())]
    rows = []
    for run in runs if shared else ():
        talk = talks[run.subject][shared[0]]
        first = talk.turns[0]
        after = None if first.judgement is None else first.judgement.after
        cells = (run.subject, talk.opening, first.reply, first.tokens, after, first.words)
        rows.append(PaperRow(cells, remarks=remarks_on(run)))
    columns = ("Model", "Person", "Reply", "Tokens", "Emotion after", "Person's next words")
    table = PaperTable(tuple(PaperColumn(title) for title in columns), tuple(rows))
    return PARTS.part("Fig. 12", table=table, scenario=f" ({shared[0]})" if shared else "")


def _agreement(runs: Sequence[AnyRun]) -> PaperPart:
    """Table 2: Spearman's rho between simulators, as a lower triangle."""
    played: list[Played] = []
    remarks: dict[str, dict[str, None]] = {}
    for run in runs:
        for entry in run.summary.series.get("dialogues", []):
            simulator = str(entry["simulator"])
            remarks.setdefault(simulator, {}).update(dict.fromkeys(remarks_on(run)))
            played.append(Played(run.name, str(entry["scenario"]), simulator, float(entry["trajectory"][-1])))
    table = cube(played)
    rho = {(one.first, one.second): one for one in rank_agreements(table)}
    known = {name for pair, one in rho.items() if one.rho is not None for name in pair}
    names = [name for name in table.simulators if name in known]
    rows = []
    for row, second in enumerate(names):
        cells: list[PaperCell] = ["1" if column == row else None for column in range(len(names))]
        for column, first in enumerate(names[:row]):
            found = rho[first, second]
            cells[column] = None if found.rho is None else Estimate(found.rho, found.interval)
        rows.append(PaperRow((second, *cells), "", tuple(remarks[second])))
    shared = "; ".join(f"{one.first} and {one.second}: {one.subjects} subjects" for one in rho.values() if one.rho)
    columns = (PaperColumn(""), *(PaperColumn(name, digits=2) for name in names))
    return PARTS.part("Table 2", table=PaperTable(columns, tuple(rows), shared), shared=shared)


def _leaderboard(given: PaperInput) -> PaperPart:
    """Table 3: rank, score, success and failure of every model."""
    runs = given.of_task("dialogue")
    ranks = ranks_of(runs)
    rows = []
    order = {run.subject: place for place, run in enumerate(runs)}
    first = {simulator_of(run): order[run.subject] for run in reversed(runs)}
    for run in sorted(runs, key=lambda run: (first[simulator_of(run)], -(value_of(run, "sentient") or 0.0))):
        facts = given.facts(run)
        simulator = simulator_of(run)
        alone = sum((other.name, simulator_of(other)) == (run.name, simulator) for other in runs)
        cells = (
            run.name if alone == 1 else run.subject,
            facts.get("date", ""),
            ranks.get((run.subject, simulator)),
            estimate(run, "sentient"),
            estimate(run, "success", scale=100),
            estimate(run, "failure", scale=100),
            facts.get("arena_rank", ""),
            facts.get("arena_score", ""),
        )
        rows.append(PaperRow(cells, f"simulator {simulator}" if simulator else "", remarks_on(run), model=run.model))
    rows += [
        printed(
            row["model"], row["date"], row["rank"],
            *(Estimate(float(row[name])) for name in ("score", "success", "failure")),
            row["arena_rank"], row["arena_score"],
        )
        for row in published("table3")
    ]  # fmt: skip
    columns = (
        PaperColumn("Name", "Model"),
        PaperColumn("Date", "Model"),
        PaperColumn("Rank", "Sentient"),
        PaperColumn("Score", "Sentient", 1),
        PaperColumn("Success", "Supportive Dialogue", 0),
        PaperColumn("Failure", "Supportive Dialogue", 0),
        PaperColumn("Rank", "Arena"),
        PaperColumn("Score", "Arena"),
    )
    unscored = [run.subject for run in runs if value_of(run, "sentient") is None]
    play = f"No score of {', '.join(unscored)}: {hint('run sage --official --model MODEL --role simulator=MODEL')}."
    about = "Date and Arena: --models FILE with the columns model, date, arena_rank, arena_score."
    missing = " ".join([play] * bool(unscored) + [about] * (bool(runs) and not given.models))
    ranked = "Rank: the order of the scores; 'compare' says which ranks the scenarios leave open."
    return PARTS.part("Table 3", table=PaperTable(columns, tuple(rows), ranked), missing=missing or None)


def _intentions(runs: Sequence[AnyRun]) -> PaperPart:
    """Table 4: how many scenarios have each hidden intention."""
    entries = [entry for run in runs for entry in run.summary.series.get("dialogues", [])]
    kinds = Counter({entry["scenario"]: str(entry["intention"]) for entry in entries}.values())
    remarks = tuple(dict.fromkeys(remark for run in runs for remark in remarks_on(run) if "items" in remark))
    rows = [PaperRow((_intention(name), count), remarks=remarks) for name, count in kinds.items()]
    rows += [printed(_intention(row["intention"]), int(row["scenarios"])) for row in published("table4")]
    columns = (PaperColumn("Hidden intention"), PaperColumn("Scenarios"))
    return PARTS.part("Table 4", table=PaperTable(columns, tuple(rows)))


def _intention(name: str) -> str:
    return CARDS[name].title if name in CARDS else name


def _simulators(runs: Sequence[AnyRun]) -> PaperPart:
    """Fig. 7: mean emotion and tokens of every model under every simulator."""
    talks = [(run.name, entry) for run in runs for entry in run.summary.series.get("dialogues", [])]
    found = grouped(((name, str(entry["simulator"])), entry) for name, entry in talks)
    counted = all(entry["tokens"] for entries in found.values() for entry in entries)
    points = []
    for (subject, simulator), entries in found.items():
        counts = [entry["tokens" if counted else "written"] for entry in entries]
        tokens = [float(count) for count in counts if isinstance(count, int | float)]
        finals = [float(entry["trajectory"][-1]) for entry in entries]
        if tokens and any(tokens):
            interval = clustered_mean_interval(finals, [str(entry["scenario"]) for entry in entries], binary=False)
            means, note = (fmean(tokens), fmean(finals)), f"{len(finals)} dialogues"
            points.append(ScatterPoint(subject, *means, simulator, interval.low, interval.high, note=note))
    estimated = "" if counted else ", estimated from the text of the replies by one rule for all subjects"
    part = PARTS.part("Fig. 7", tasks=_TALKS, estimated=estimated)
    if len({point.group for point in points}) < 2:
        return part
    chart = scatter_chart(points, x_title="tokens per dialogue", y_title="mean final emotion", y_unit="points")
    figure = Figure("simulators", part.title, part.how, chart=chart)
    return structs.replace(part, figures=(figure,), missing="")
