"""Recomputes what the paper prints: Extended Data Tables 1 and 2 from its own tables, item facts from the release."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

from msgspec import structs

from sociometer.core.measure import PublishedFigure
from sociometer.core.paper import PublishedModel, Replication, ReplicationPlan, printed_figure
from sociometer.core.sheets import read_records, read_table
from sociometer.core.source import Source
from sociometer.instruments.sesi.build.checks import SMALL, answer_lengths, length_difference
from sociometer.instruments.sesi.items import ABILITIES, OFFICIAL, read_official
from sociometer.statistics.correlation import pearson
from sociometer.statistics.distributions import t_below
from sociometer.statistics.formatting import p_phrase

HERE = Path(__file__).parent
_MATH = "This cell of the MATH row follows neither from all models of Table 1 nor from its GPT models."
_COUNTED = "The paper's way of counting words is not given."
REASONS: dict[tuple[str, object, object], str] = {
    **{
        (f"r of {row} with {column}", printed, recomputed): _MATH
        for row, column, printed, recomputed in (
            ("MATH", "NQ", 0.64, 0.82), ("MATH", "WinoGrande", 0.87, 0.82), ("MATH", "RACE-h", 0.75, 0.77),
            ("MATH", "DROP", 0.77, 0.74), ("MATH", "GSM8K", 0.81, 0.86), ("SI", "MATH", 0.53, 0.58),
        )
    },
    ("stars of GSM8K with WinoGrande, n = 13", "**", "*"): "No number of models up to 13 gives .65 two stars.",
    ("control of mixtral-8x7b-instruct = its SI in Table 1", 46.4, 50.8): "Table 1 prints another accuracy for the"
    " same model without a prompt.",
    ("mean words of a situation", 44.2, 43.2): _COUNTED,
    ("mean words of an answer", 25.8, 25.7): _COUNTED,
}  # fmt: skip
"""Known differences, each for one cell with these two values; any other difference has no reason."""


def table(name: str) -> list[dict[str, str]]:
    """One of the paper's tables as it is printed."""
    return read_table(HERE / f"{name}.csv")


def rows(source: Source) -> Iterable[PublishedFigure]:
    """Every printed number that can be recomputed, with its recomputation."""
    for figure in (*_correlations(), *_personality(), *_claims(), *_items(source)):
        key = (figure.what, figure.printed, figure.recomputed)
        reason = figure.reason or REASONS.get(key, "")
        yield structs.replace(figure, reason="" if figure.match else reason)


def _correlations() -> Iterable[PublishedFigure]:
    """Each r from Table 1, and its stars from the printed r.

    The academic cells of DROP follow from the six GPT models, their stars too; the stars of the SI row follow from ten
    models. The paper states neither.
    """
    where, everyone = "Extended Data Table 1", table("table1")
    for cell in table("extended1"):
        gpt = cell["row"] == "DROP" or (cell["row"], cell["column"]) == ("GSM8K", "DROP")
        models = [model for model in everyone if not gpt or model["family"] == "GPT"]
        first, second = ([float(model[cell[side]]) for model in models] for side in ("row", "column"))
        printed, recomputed = float(cell["r"]), round(pearson(first, second).r, 2)
        pair = f"{cell['row']} with {cell['column']}"
        about = f"r of {pair}, over the GPT models" if gpt else f"r of {pair}"
        yield PublishedFigure(where, about, printed, recomputed, abs(printed - recomputed) < 0.005)
        count = 10 if cell["row"] == "SI" else len(models)
        p_value = 2 * t_below(-abs(printed) * ((count - 2) / (1 - printed**2)) ** 0.5, count - 2)
        stars = "**" if p_value < 0.005 else "*" if p_value < 0.05 else ""
        about = f"stars of {pair}, n = {count}"
        yield PublishedFigure(where, about, cell["stars"] or "none", stars or "none", stars == cell["stars"])


def _personality() -> Iterable[PublishedFigure]:
    accuracy = {model["model"]: float(model["SI"]) for model in table("table1")}
    where = "Extended Data Table 2"
    for model in table("extended2"):
        name, printed = model["model"], float(model["control"])
        about = f"control of {name} = its SI in Table 1"
        yield PublishedFigure(where, about, printed, accuracy[name], printed == accuracy[name])
        levels = {level: float(value) for level, value in model.items() if level not in ("model", "best")}
        best = [level for level, value in levels.items() if value == max(levels.values())]
        yield PublishedFigure(where, f"best level of {name}", model["best"], " and ".join(best), model["best"] in best)
    for trait, claimed, other in (("agreeableness", "low", "high"), ("extraversion", "high", "low")):
        wins = [m["model"] for m in table("extended2") if float(m[f"{trait}-{claimed}"]) > float(m[f"{trait}-{other}"])]
        what = f"models in which {claimed} {trait} beats {other}"
        yield PublishedFigure("section 2.4", what, 6, len(wins), len(wins) == 6)


def _claims() -> Iterable[PublishedFigure]:
    """Two claims of section 2.4: who is best with low agreeableness, and the role for which a pattern fails."""
    named = ("llama-2-70b-chat", "mixtral-8x7b-instruct", "text-davinci-002")
    found = sorted(row["model"] for row in table("extended2") if row["best"] == "agreeableness-low")
    davinci = {row["model"]: row for row in table("extended2")}["text-davinci-002"]
    yield PublishedFigure(
        "section 2.4", "models that are best with low agreeableness", ", ".join(named), ", ".join(found),
        found == sorted(named),
        "Extended Data Table 2 prints text-davinci-003 as best there; text-davinci-002 has"
        f" {davinci['agreeableness-low']} with low agreeableness and {davinci['openness-low']} with low openness.",
        claim=True,
    )  # fmt: skip
    yield PublishedFigure(
        "section 2.4", "the protagonist's role helps more than a role given directly", "except for Boss", None, False,
        "Extended Data Fig. 3 is a plot without numbers, and its caption names no exception. 'sociometer sesi probe"
        " --factor role' measures both prompts for all 21 roles of Extended Data Table 4, boss included.",
        claim=True,
    )  # fmt: skip


def _items(source: Source) -> Iterable[PublishedFigure]:
    path = source.find(OFFICIAL)
    if path is None:
        return
    items = list(read_official(path))
    where = "section 3 and the release"
    yield PublishedFigure(where, "items", 500, len(items), len(items) == 500)
    counts = Counter(str(item.ability) for item in items)
    for ability in ABILITIES:
        yield PublishedFigure(where, f"items of {ability}", 100, counts[ability], counts[ability] == 100)
    situations = [len(item.situation.split()) for item in items]
    right, wrong = answer_lengths(items)
    means = (
        ("Fig. 5a", "mean words of a situation", 44.2, situations),
        ("Fig. 5b", "mean words of an answer", 25.8, right + wrong),
    )
    for label, what, printed, lengths in means:
        recomputed = round(fmean(lengths), 1)
        yield PublishedFigure(label, what, printed, recomputed, recomputed == printed)
    d, p_value = length_difference(right, wrong)
    yield PublishedFigure(
        "Fig. 5b", "lengths of right and wrong answers", "nearly the same",
        f"{fmean(right):.1f} and {fmean(wrong):.1f} words, d = {d:.2f}, {p_phrase(p_value)}",
        p_value >= 0.05 or abs(d or 0.0) < SMALL,
        f"Right answers are longer by more than the paper's own bound for a small difference (|d| < {SMALL}).",
        claim=True,
    )  # fmt: skip
    counted = read_table(HERE / "characters.csv")
    many = [sum(int(row[f"reader {nth}"]) > 2 for row in counted) for nth in (1, 2)]
    yield PublishedFigure(
        "Fig. 5c", "situations with three or more active characters", "50 %",
        f"{many[0]} and {many[1]} of {len(counted)} drawn situations", 40 <= fmean(many) <= 60,
        "Two readers, language models, counted those who do, say or feel something; the paper does not define them.",
        claim=True,
    )  # fmt: skip


REMARKS = (
    "The release reads a reply by its first letter A to D; here replies are read by Sociometer's rules.",
    "Only Table 1's social score is replicated; the texts of the factors' conditions are ours.",
)


def replications() -> ReplicationPlan:
    """Return the models and one run for each."""
    runs = [
        Replication(row["model"], "questions", (printed_figure("Table 1", "accuracy", row["SI"], percent=True),))
        for row in read_table(HERE / "table1.csv")
    ]
    return ReplicationPlan(tuple(read_records(HERE / "models.csv", PublishedModel)), tuple(runs), REMARKS)
