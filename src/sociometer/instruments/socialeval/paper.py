"""The paper's tables and figures, filled from runs for `sociometer paper`."""

from collections.abc import Sequence

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
from sociometer.core.task import AnyRun
from sociometer.instruments.socialeval.abilities import DIMENSIONS
from sociometer.instruments.socialeval.figures import figures
from sociometer.instruments.socialeval.published.reproduce import table as published
from sociometer.instruments.socialeval.worldtree import CATEGORIES, PAPER_LANGUAGES

_CATEGORY_TITLES = {"prosocial": "Prosocial", "proself": "Pro-self", "antisocial": "Antisocial"}


def paper(given: PaperInput) -> Sequence[PaperPart]:
    """Every table and figure of the paper, named after what it shows, since their numbers are not known to us."""
    drawn = {figure.name: figure for figure in figures(given.runs)}
    return [
        _goals(given),
        _abilities(given),
        _figure(drawn, "Fig. preference", "Prosocial preference: prosocial minus antisocial goal achievement",
                ("prosocial-gap", "prosocial-gap-attainable"),
                "Difference of the two rates with a Welch interval over trees, beside the exact random walk and the"
                " paper's people and models; then the difference as shares of what is attainable, where a random walk"
                " has 0.",
                "It needs prosocial and antisocial trees in one run of 'goals'."),
        _summary_table(given, "goals", "languages", "Table languages", "Chinese against English",
                       "Wilcoxon's signed-rank test over the trees played in both languages.",
                       "It needs a run in both languages: 'sociometer run socialeval --language both'."),
        _figure(drawn, "Fig. scale", "Social intelligence and model size", ("scale",),
                "Goal achievement against the parameters that the name, or the setting 'parameters', gives.",
                "It needs at least three models whose number of parameters is known."),
        _summary_table(given, "utterances", "utterances", "Table generation", "Free utterances and the candidates",
                       "Semantic similarity of what a model says freely to the candidates, and how often it then picks"
                       " the nearest.",
                       "It needs a run with '--task utterances' and an embedder."),
        _figure(drawn, "Fig. clusters", "Five dimensions in the space of representations",
                tuple(name for name in drawn if name.startswith("inside-plane")),
                "t-SNE of the states of an open model over the utterances of the ability questions.",
                "It needs the weights of an open model: 'sociometer socialeval inside --model hf/OWNER/NAME'."),
        _figure(drawn, "Fig. neurons", "Neurons of the five dimensions",
                tuple(name for name in drawn if name.startswith(("inside-overlap", "inside-neuron"))),
                "Neurons with the highest Wanda scores for each dimension, and how far they are shared.",
                "It needs the weights of an open model: 'sociometer socialeval inside --model hf/OWNER/NAME'."),
    ]  # fmt: skip


def _estimates(run: AnyRun, name: str, groups: Sequence[dict[str, str]]) -> list[PaperCell]:
    return [
        estimate(run, name, scale=100, **group, language=language) for group in groups for language in PAPER_LANGUAGES
    ]  # fmt: skip


def _goals(given: PaperInput) -> PaperPart:
    """Goal achievement by category and language."""
    groups: list[dict[str, str]] = [*({"category": name} for name in CATEGORIES), {}]
    rows = [
        PaperRow((run.subject, *_estimates(run, "achieved", groups)), remarks=remarks_on(run))
        for run in given.of_task("goals")
    ]
    rows += [
        printed(row["model"], *(Estimate(float(text) if (text := row[f"{name}_{language}"]) else None)
                                for name in (*CATEGORIES, "overall") for language in PAPER_LANGUAGES))
        for row in published("goals")
    ]  # fmt: skip
    return _rate_table(
        "Table GAE",
        "Goal achievement rate (%)",
        [_CATEGORY_TITLES.get(name, name) for name in CATEGORIES],
        rows,
        "Share of walks that end with the goal achieved, in percent; each tree counts once. Intervals are over trees.",
        "" if given.of_task("goals") else "No run has the task 'goals'.",
    )


def _abilities(given: PaperInput) -> PaperPart:
    """Accuracy by dimension and language."""
    groups: list[dict[str, str]] = [*({"dimension": name} for name in DIMENSIONS), {}]
    rows = [
        PaperRow((run.subject, *_estimates(run, "accuracy", groups)), remarks=remarks_on(run))
        for run in given.of_task("abilities")
    ]
    names = [*(name.replace(" ", "_").replace("-", "_") for name in DIMENSIONS), "overall"]
    rows += [
        printed(
            row["model"],
            *(Estimate(float(row[f"{name}_{language}"])) for name in names for language in PAPER_LANGUAGES),
        )
        for row in published("abilities")
    ]
    return _rate_table(
        "Table IAE",
        "Interpersonal ability, selection accuracy (%)",
        [name.capitalize() for name in DIMENSIONS],
        rows,
        "Share of questions whose majority over the shuffled orders is right, in percent.",
        "" if given.of_task("abilities") else "No run has the task 'abilities'.",
    )


def _rate_table(
    label: str, title: str, groups: Sequence[str], rows: Sequence[PaperRow], how: str, missing: str
) -> PaperPart:
    """A table with a Chinese and an English column for each group and overall."""
    columns = [PaperColumn("Model")]
    columns += [PaperColumn(language, group, 1) for group in (*groups, "Overall") for language in PAPER_LANGUAGES]
    table = PaperTable(tuple(columns), tuple(rows))
    return PaperPart(label=label, title=title, how=how, missing=missing, table=table)


def _figure(
    drawn: dict[str, Figure], label: str, title: str, names: Sequence[str], how: str, needs: str
) -> PaperPart:  # fmt: skip
    found = tuple(drawn[name] for name in names if name in drawn)
    return PaperPart(label=label, title=title, how=how, missing="" if found else needs, figures=found)


def _summary_table(
    given: PaperInput, task: str, name: str, label: str, title: str, how: str, needs: str
) -> PaperPart:  # fmt: skip
    """A table of the summaries, with the subject first in each row."""
    rows: list[PaperRow] = []
    columns: tuple[str, ...] = ()
    for run in given.of_task(task):
        found = next((table for table in run.summary.tables if table.name == name), None)
        if found is None or not found.rows or (columns and found.columns != columns):
            continue
        columns = found.columns
        rows += [PaperRow((run.subject, *row), remarks=remarks_on(run)) for row in found.rows]
    heads = (PaperColumn("Model"), *(PaperColumn(column) for column in columns))
    return PaperPart(
        label=label, title=title, how=how, missing="" if rows else needs, table=PaperTable(heads, tuple(rows))
    )
