"""Recomputes what the paper prints, as far as released dialogues, profiles and printed tables allow."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev

from sociometer.core.measure import PublishedFigure
from sociometer.core.paper import PrintedFigure, PublishedModel, Replication, ReplicationPlan, printed_figure
from sociometer.core.sheets import read_records, read_table
from sociometer.core.source import Source
from sociometer.core.words import rounded
from sociometer.instruments.sage.items import PROFILES, read_profiles
from sociometer.instruments.sage.published.released import ReleasedFile, listed, released_files
from sociometer.statistics.agreement import spearman

HERE = Path(__file__).parent
SIMULATOR = "hf/deepseek-ai/DeepSeek-V3"
"""DeepSeek-V3 of December 2024, the simulator of Table 3."""
REMARKS = (
    f"The simulator of Table 3 is DeepSeek-V3 of December 2024 ({SIMULATOR}); --role simulator=MODEL chooses another,"
    " and other simulators give other scores.",
    "The release does not set the sampling of simulator and subject.",
)


def replications() -> ReplicationPlan:
    """Return the models and one run for each."""
    runs = [
        Replication(row["model"], "dialogue", tuple(_figures(row)), roles={"simulator": SIMULATOR})
        for row in read_table(HERE / "table3.csv")
    ]
    return ReplicationPlan(tuple(read_records(HERE / "models.csv", PublishedModel)), tuple(runs), REMARKS)


def _figures(row: dict[str, str]) -> Iterator[PrintedFigure]:
    yield printed_figure("Table 3", "sentient", row["score"])
    yield printed_figure("Table 3", "success", row["success"], percent=True)
    yield printed_figure("Table 3", "failure", row["failure"], percent=True)


def table(name: str) -> list[dict[str, str]]:
    """The rows of a printed table."""
    return read_table(HERE / f"{name}.csv")


_MODEL = "GPT-4.5-Preview"
_INTENTION = "listening"
_PRINTED = 57.1
_OVERALL = 62.7
_HAN = re.compile(r"[\u4e00-\u9fff]")


def claims(source: Source, files: Sequence[ReleasedFile]) -> Iterator[PublishedFigure]:
    """The claims with what the released files and the printed tables say; `files` have the paper's simulator."""
    path = source.find(PROFILES)
    profiles = list(read_profiles(path)) if path is not None else []
    yield from _weak_spot({profile.id for profile in profiles if profile.intention == _INTENTION}, files)
    yield _ssrr()
    yield _language([profile.first_words for profile in profiles])


def _weak_spot(scenarios: set[str], files: Sequence[ReleasedFile]) -> Iterator[PublishedFigure]:
    """GPT-4.5's score on the scenarios of people who want to be listened to, against its score on all."""
    where = "Appendix E.2"
    overall = {row["model"]: float(row["score"]) for row in table("table3")}[_MODEL]
    what = f"{_MODEL} overall, as in Table 3"
    yield PublishedFigure(where, what, _OVERALL, overall, overall == _OVERALL, claim=True)
    parts = {file.model: [file.finals[name] for name in scenarios & set(file.finals)] for file in files}
    there = parts.get(_MODEL, [])
    value = rounded(fmean(there)) if there else None
    what = f"{_MODEL} on {_INTENTION} scenarios"
    reason = "" if there else "Needs its dialogues and the profiles: 'sociometer get data sage --dialogues'."
    yield PublishedFigure(where, what, _PRINTED, value, value == _PRINTED, reason, claim=True)
    yield _told_apart(where, {model: found for model, found in parts.items() if len(found) > 1})


def _told_apart(where: str, parts: Mapping[str, Sequence[int]]) -> PublishedFigure:
    """Whether the printed gap is larger than the sampling error of so few scenarios, as other models show it."""
    gap = rounded(_OVERALL - _PRINTED)
    what = f"{_MODEL}'s gap on {_INTENTION} scenarios, larger than chance"
    if not parts:
        reason = "Needs released dialogues and the profiles: 'sociometer get data sage --dialogues'."
        return PublishedFigure(where, what, gap, None, False, reason, claim=True)
    margin = rounded(fmean(1.96 * stdev(found) / len(found) ** 0.5 for found in parts.values()))
    count = max(map(len, parts.values()))
    reason = (
        f"A mean over {count} scenarios has a margin of {margin} points (95 %), averaged over {len(parts)} models with"
        " dialogues; a smaller gap may be chance."
    )
    return PublishedFigure(where, what, gap, f"margin {margin}", gap > margin, reason, claim=True)


def _ssrr() -> PublishedFigure:
    """Two sections say opposite things about SSRR and rank."""
    return PublishedFigure(
        "section 4.2", "SSRR of high-ranked models", "low", "high (E.2)", False,
        "The paper contradicts itself: E.2 gives low SSRR to the lowest-ranked models. The values are only plotted and"
        " the labels were not released; 'sociometer sage analyse --what strategies' computes SSRR from dialogues.",
        claim=True,
    )  # fmt: skip


def _language(openings: Sequence[str]) -> PublishedFigure:
    chinese = sum(bool(_HAN.search(opening)) for opening in openings)
    reason = (
        "The people in every released scenario speak Chinese."
        if openings and chinese == len(openings)
        else ""
        if openings
        else "Needs the profiles: 'sociometer get data sage'."
    )
    found = f"Chinese in {chinese} of {len(openings)}" if openings else None
    holds = bool(openings) and not chinese
    return PublishedFigure("limitations", "language of the scenarios", "English", found, holds, reason, claim=True)


DIALOGUES = "sage/dataset"
_JUDGE = "DeepSeek-V3"
_ALL = 100
_FEWEST_RANKED = 3
_PLAIN, _THINKING = "Claude3.7", "Claude3.7-Think"


def rows(source: Source) -> Iterable[PublishedFigure]:
    """Tables 2 and 3 and Figure 7 from released dialogues, Table 4 from profiles, and the paper's contradictions."""
    files, unused = released_files(source.folders)
    if not files:
        source.find(DIALOGUES)  # noted as missing
    yield from _table3([one for one in files if one.simulator == _JUDGE])
    yield from _table2(files)
    yield from _figure7(files)
    yield from _table4(source)
    yield from _contradictions()
    told = {one.path: "used, but its bytes are not the released ones" for one in files if one.known_by == "name"}
    told |= dict.fromkeys(unused, "not used: neither bytes nor names of a released file, or here twice")
    for path, reason in told.items():
        yield PublishedFigure("files", f"{path.parent.name}/{path.name}", None, None, False, reason)
    yield from claims(source, [one for one in files if one.simulator == _JUDGE])


def score_of(file: ReleasedFile) -> float:
    """The mean final emotion of a file's dialogues."""
    return fmean(file.finals.values())


def _counts(file: ReleasedFile) -> dict[str, float]:
    finals = file.finals.values()
    return {
        "score": rounded(score_of(file)),
        "success": float(sum(final >= 100 for final in finals)),
        "failure": float(sum(final < 10 for final in finals)),
    }


def _table3(files: Sequence[ReleasedFile]) -> Iterator[PublishedFigure]:
    """Scores, successes and failures of every model with dialogues, and its place among these models."""
    printed = {row["model"]: row for row in table("table3")}
    here = {one.model: one for one in files if one.model in printed}
    for model, row in printed.items():
        if model not in here:
            continue
        reason = _part_of(here[model])
        for what, value in _counts(here[model]).items():
            stated = float(row[what])
            yield PublishedFigure("Table 3", f"{model} {what}", stated, value, stated == value, reason)
    whole = len(here) == len(printed)
    for model in printed:
        if model in here and len(here) > 1:
            stated = 1 + sum(int(printed[other]["rank"]) < int(printed[model]["rank"]) for other in here)
            place = 1 + sum(score_of(other) > score_of(here[model]) for other in here.values())
            among = "rank" if whole else f"place among the {len(here)} models with dialogues"
            yield PublishedFigure("Table 3", f"{model} {among}", stated, place, stated == place)


def _table2(files: Sequence[ReleasedFile]) -> Iterator[PublishedFigure]:
    """Rank agreement of every two simulators, on the models that have dialogues with both."""
    for row in table("table2"):
        first, second = (
            {one.model: score_of(one) for one in files if one.simulator == row[place]} for place in ("first", "second")
        )
        shared = sorted(set(first) & set(second))
        if len(shared) < _FEWEST_RANKED:
            continue
        rho = rounded(spearman([first[name] for name in shared], [second[name] for name in shared])[0], 2)
        stated = float(row["spearman"])
        reason = f"the paper ranks more models; dialogues of {len(shared)} are here: {', '.join(shared)}"
        what = f"{row['first']} and {row['second']} on {len(shared)} models"
        yield PublishedFigure("Table 2", what, stated, rho, stated == rho, reason)


def _figure7(files: Sequence[ReleasedFile]) -> Iterator[PublishedFigure]:
    """The scores with other simulators; the paper prints only a plot, the means and one gain."""
    for file in files:
        if file.simulator != _JUDGE:
            for what, value in _counts(file).items():
                reason = "the paper prints no number" + (f"; {part}" if (part := _part_of(file)) else "")
                yield PublishedFigure(f"Figure 7, {file.simulator}", f"{file.model} {what}", None, value, False, reason)
    for row in table("simulators"):
        scores = [score_of(one) for one in files if one.simulator == row["simulator"]]
        if scores:
            stated, value = float(row["mean"]), rounded(fmean(scores))
            reason = f"dialogues of {len(scores)} models are here; {_which_models()}"
            what = f"mean of {row['simulator']} over {len(scores)} models"
            yield PublishedFigure("Appendix B", what, stated, value, stated == value, reason)
    gemini = {one.model: score_of(one) for one in files if one.simulator == "Gemini2.5"}
    if _PLAIN in gemini and _THINKING in gemini:
        for model, stated in ((_PLAIN, 71.5), (_THINKING, 74.3)):
            value = rounded(gemini[model])
            yield PublishedFigure("Appendix B", f"{model} before Gemini2.5", stated, value, stated == value)
        gain = rounded(100 * (gemini[_THINKING] / gemini[_PLAIN] - 1))
        yield PublishedFigure("Appendix B", "gain of Claude3.7 by thinking, percent", 3.9, gain, gain == 3.9)


def _which_models() -> str:
    """What the paper leaves open about its mean over "all test models"."""
    scores = {row["model"]: float(row["score"]) for row in table("table3")}
    named = [scores[one.model] for one in listed() if one.simulator == "GPT-4o" and one.model in scores]
    return (
        f"the paper does not say which models its mean covers: the {len(scores)} of Table 3 have"
        f" {rounded(fmean(scores.values()))}, the {len(named)} of them that Appendix A names {rounded(fmean(named))}"
    )


def _part_of(file: ReleasedFile) -> str:
    return "" if len(file.finals) == _ALL else f"{len(file.finals)} of {_ALL} dialogues"


def _table4(source: Source) -> Iterator[PublishedFigure]:
    path = source.find(PROFILES)
    if path is None:
        return
    counts = Counter(scenario.intention for scenario in read_profiles(path))
    for row in table("table4"):
        printed, value = int(row["scenarios"]), counts[row["intention"]]
        yield PublishedFigure("Table 4", f"scenarios on {row['intention']}", printed, value, match=printed == value)


def _contradictions() -> Iterator[PublishedFigure]:
    """Two printed statements about one thing; the second one is used in place of a recomputation."""
    consistency = {row["metric"]: float(row["percent"]) for row in table("table1")}["model-human consistency"]
    yield PublishedFigure(
        "abstract", "consistency with people, percent", 85.3, consistency, match=False,
        reason="the paper contradicts itself: Table 1 prints 82.65; the annotations were not released",
    )  # fmt: skip
    lowest = min(float(row["spearman"]) for row in table("table2"))
    yield PublishedFigure(
        "Appendix B", "lowest rank agreement of two simulators", "> 0.91", lowest, match=False,
        reason="the paper contradicts itself: Table 2 prints 0.84",
    )  # fmt: skip
