"""Recomputes what the paper prints: Extended Data Tables 1 and 2 from its own tables, item facts from the release."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from sociometer.core.measure import PublishedFigure
from sociometer.core.paper import PublishedModel, Replication, ReplicationPlan, printed_figure
from sociometer.core.sheets import read_records, read_table
from sociometer.core.source import Source
from sociometer.instruments.sesi.items import ABILITIES, OFFICIAL, contradictions, read_official
from sociometer.instruments.sesi.scoring import length_baseline
from sociometer.statistics.correlation import pearson

HERE = Path(__file__).parent
_DROP_ROW = "The six academic cells of the DROP row do not follow from Table 1; the row's SI cell does."
_MATH_ROW = "This cell of the MATH row does not follow from Table 1's thirteen models."
_STARS = "The printed stars do not follow from n = 13 at the printed levels (* .05, ** .005)."


def table(name: str) -> list[dict[str, str]]:
    """One of the paper's tables as it is printed."""
    return read_table(HERE / f"{name}.csv")


def rows(source: Source) -> Iterable[PublishedFigure]:
    """Every printed number that can be recomputed, with its recomputation."""
    yield from _correlations()
    yield from _personality()
    yield from _claims()
    yield from _items(source)


def _correlations() -> Iterable[PublishedFigure]:
    models = table("table1")
    for cell in table("extended1"):
        first, second = ([float(model[cell[side]]) for model in models] for side in ("row", "column"))
        result = pearson(first, second)
        printed, recomputed = float(cell["r"]), round(result.r, 2)
        what = f"r of {cell['row']} with {cell['column']}"
        match = abs(printed - recomputed) < 0.005
        reason = (
            ""
            if match
            else _DROP_ROW
            if "DROP" in (cell["row"], cell["column"]) and cell["row"] != "MATH"
            else _MATH_ROW
        )
        yield PublishedFigure("Extended Data Table 1", what, printed, recomputed, match, reason)
        stars = "**" if result.p_value < 0.005 else "*" if result.p_value < 0.05 else ""
        same = stars == cell["stars"]
        why = "" if same else f"{_STARS} Here p = {result.p_value:.4f}."
        yield PublishedFigure(
            "Extended Data Table 1", f"stars of {what[5:]}", cell["stars"] or "none", stars or "none", same, why
        )


def _personality() -> Iterable[PublishedFigure]:
    accuracy = {model["model"]: float(model["SI"]) for model in table("table1")}
    where = "Extended Data Table 2"
    for model in table("extended2"):
        name, printed = model["model"], float(model["control"])
        match = printed == accuracy[name]
        reason = "" if match else "Table 1 prints another accuracy for the same model and no prompt."
        yield PublishedFigure(where, f"control of {name} = its SI in Table 1", printed, accuracy[name], match, reason)
        levels = {level: float(value) for level, value in model.items() if level not in ("model", "best")}
        top = max(levels.values())
        best = [level for level, value in levels.items() if value == top]
        tie = "" if len(best) == 1 else f"A tie with {', '.join(level for level in best if level != model['best'])}."
        yield PublishedFigure(where, f"best level of {name}", model["best"], best[0], model["best"] in best, tie)
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
    words = sum(len(item.situation.split()) for item in items) / len(items)
    yield PublishedFigure(
        "Fig. 5a", "mean words of a situation", 44.2, round(words, 1), round(words, 1) == 44.2,
        "The released situations are a word shorter on average; the paper's way of counting is not given.",
    )  # fmt: skip
    option = sum(len(text.split()) for item in items for text in item.options) / (4 * len(items))
    close = round(option, 1) == 25.8
    yield PublishedFigure(
        "Fig. 5b", "mean words of an answer", 25.8, round(option, 1), close,
        "" if close else "A tenth of a word off; the paper's way of counting is not given.",
    )  # fmt: skip
    for which, pick, printed in (("longest", max, 33.2), ("shortest", min, 26.0)):
        accuracy = round(100 * length_baseline(items, pick), 1)
        what = f"accuracy of the {which} option, %"
        yield PublishedFigure("the release", what, printed, accuracy, accuracy == printed)
    pairs = contradictions(items)
    found = ", ".join(f"{pair.first} and {pair.second} (keys {pair.keys[0]}, {pair.keys[1]})" for pair in pairs)
    yield PublishedFigure("the release", "items that appear twice with different keys", 0, len(pairs), not pairs, found)


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
