"""The paper's tables and figures, filled from runs for `sociometer paper`."""

from collections.abc import Sequence

from sociometer.core.paper import (
    Estimate,
    PaperColumn,
    PaperInput,
    PaperPart,
    PaperRow,
    PaperTable,
    estimate,
    printed,
    remarks_on,
)
from sociometer.instruments._paper import PaperParts
from sociometer.instruments.socialeval.abilities import DIMENSIONS
from sociometer.instruments.socialeval.figures import figures
from sociometer.instruments.socialeval.published.reproduce import HERE
from sociometer.instruments.socialeval.published.reproduce import table as published
from sociometer.instruments.socialeval.worldtree import CATEGORIES, PAPER_LANGUAGES

_TITLES = {"proself": "Pro-self"}
PARTS = PaperParts(HERE.parent)


def paper(given: PaperInput) -> Sequence[PaperPart]:
    """Every table and figure of the paper, named after what it shows, since their numbers are not known to us."""
    drawn = {figure.name: figure for figure in figures(given.runs)}
    inside = [name for name in drawn if name.startswith("inside-")]
    figures_of = {
        "Fig. preference": ["prosocial-gap", "prosocial-gap-attainable"],
        "Fig. scale": ["scale"],
        "Fig. clusters": [name for name in inside if name.startswith("inside-plane")],
        "Fig. neurons": [name for name in inside if name.startswith(("inside-overlap", "inside-neuron"))],
    }
    return PARTS.all(
        _rate_table(given, "Table GAE", "goals", "achieved", "category", CATEGORIES),
        _rate_table(given, "Table IAE", "abilities", "accuracy", "dimension", tuple(DIMENSIONS)),
        _summary_table(given, "Table languages", "goals", "languages"),
        _summary_table(given, "Table generation", "utterances", "utterances"),
        *(
            PARTS.part(label, figures=tuple(drawn[name] for name in names if name in drawn), tasks=tasks)
            for label, names in figures_of.items()
            for tasks in [() if {*names} & {*inside} else ("goals",)]
        ),
    )


def _rate_table(given: PaperInput, label: str, task: str, measure: str, facet: str, levels: Sequence[str]) -> PaperPart:
    """Rates by the levels of a facet and overall, with a Chinese and an English column for each."""
    groups: list[dict[str, str]] = [*({facet: level} for level in levels), {}]
    places = [(group, language) for group in groups for language in PAPER_LANGUAGES]
    rows = [
        PaperRow(
            (run.subject, *(estimate(run, measure, scale=100, **group, language=code) for group, code in places)),
            remarks=remarks_on(run),
            model=run.model,
        )
        for run in given.of_task(task)
    ]
    names = [*(level.replace(" ", "_").replace("-", "_") for level in levels), "overall"]
    cells = [f"{name}_{language}" for name in names for language in PAPER_LANGUAGES]
    rows += [
        printed(row["model"], *(Estimate(float(row[cell]) if row[cell] else None) for cell in cells))
        for row in published(task)
    ]
    titles = [_TITLES.get(level, level.capitalize()) for level in (*levels, "overall")]
    columns = [PaperColumn("Model")]
    columns += [PaperColumn(language, title, 1) for title in titles for language in PAPER_LANGUAGES]
    return PARTS.part(label, table=PaperTable(tuple(columns), tuple(rows)))


def _summary_table(given: PaperInput, label: str, task: str, name: str) -> PaperPart:
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
    return PARTS.part(label, table=PaperTable(heads, tuple(rows)))
