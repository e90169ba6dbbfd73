"""Recomputes what the paper prints, as far as released dialogues, profiles and printed tables allow."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from sociometer.core.measure import PublishedFigure
from sociometer.core.source import Source
from sociometer.instruments.sage.items import PROFILES, read_profiles
from sociometer.instruments.sage.published.claims import claims
from sociometer.instruments.sage.published.printed import rounded, table
from sociometer.instruments.sage.published.released import ReleasedFile, released_files
from sociometer.statistics.agreement import spearman

DIALOGUES = "sage/dataset"
_JUDGE = "DeepSeek-V3"
_ALL = 100
_FEWEST_RANKED = 3
_PLAIN, _THINKING = "Claude3.7", "Claude3.7-Think"


def rows(source: Source) -> Iterable[PublishedFigure]:
    """Tables 2 and 3 and Figure 7 from released dialogues, Table 4 from profiles, and the paper's contradictions."""
    files = released_files(source.folders)
    if not files:
        source.find(DIALOGUES)  # noted as missing
    yield from _table3([one for one in files if one.simulator == _JUDGE])
    yield from _table2(files)
    yield from _figure7(files)
    yield from _table4(source)
    yield from _contradictions()
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
            reason = f"the paper's mean is over more models; dialogues of {len(scores)} are here"
            what = f"mean of {row['simulator']} over {len(scores)} models"
            yield PublishedFigure("Appendix B", what, stated, value, stated == value, reason)
    gemini = {one.model: score_of(one) for one in files if one.simulator == "Gemini2.5"}
    if _PLAIN in gemini and _THINKING in gemini:
        for model, stated in ((_PLAIN, 71.5), (_THINKING, 74.3)):
            value = rounded(gemini[model])
            yield PublishedFigure("Appendix B", f"{model} before Gemini2.5", stated, value, stated == value)
        gain = rounded(100 * (gemini[_THINKING] / gemini[_PLAIN] - 1))
        yield PublishedFigure("Appendix B", "gain of Claude3.7 by thinking, percent", 3.9, gain, gain == 3.9)


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
