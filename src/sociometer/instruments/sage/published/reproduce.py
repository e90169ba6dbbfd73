"""Recomputes what the paper prints, as far as released dialogues, profiles and printed tables allow."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev

from sociometer.core.hints import hint
from sociometer.core.measure import PublishedFigure
from sociometer.core.paper import PrintedFigure, PublishedModel, Replication, ReplicationPlan, printed_figure
from sociometer.core.sheets import read_records
from sociometer.core.source import Source
from sociometer.core.words import rounded
from sociometer.instruments._paper import printed_tables
from sociometer.instruments.sage.items import PROFILES, Scenario, read_profiles
from sociometer.instruments.sage.published.released import ReleasedFile, listed, released_files
from sociometer.statistics.agreement import spearman

HERE = Path(__file__).parent
table = printed_tables(HERE)
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
        for row in table("table3")
    ]
    return ReplicationPlan(tuple(read_records(HERE / "models.csv", PublishedModel)), tuple(runs), REMARKS)


def _figures(row: dict[str, str]) -> Iterator[PrintedFigure]:
    yield printed_figure("Table 3", "sentient", row["score"])
    yield printed_figure("Table 3", "success", row["success"], percent=True)
    yield printed_figure("Table 3", "failure", row["failure"], percent=True)


_MODEL = "GPT-4.5-Preview"
_INTENTION = "listening"
_PRINTED = 57.1
_OVERALL = 62.7
_HAN = re.compile(r"[\u4e00-\u9fff]")


def _weak_spot(scenarios: set[str], files: Sequence[ReleasedFile]) -> Iterator[PublishedFigure]:
    """GPT-4.5's score on the scenarios of people who want to be listened to, against its score on all."""
    where = "Appendix E.2"
    overall = {row["model"]: float(row["score"]) for row in table("table3")}[_MODEL]
    what = f"{_MODEL} overall, as in Table 3"
    yield PublishedFigure(where, what, _OVERALL, overall, overall == _OVERALL)
    parts = {file.model: [file.finals[name] for name in scenarios & set(file.finals)] for file in files}
    there = parts.get(_MODEL, [])
    value = rounded(fmean(there)) if there else None
    what = f"{_MODEL} on {_INTENTION} scenarios"
    reason = "The mean over its released dialogues." if there else f"Needs its dialogues and the profiles: {_GET}."
    yield PublishedFigure(where, what, _PRINTED, value, value == _PRINTED, reason)
    if several := {model: found for model, found in parts.items() if len(found) > 1}:
        yield _told_apart(where, several)


def _told_apart(where: str, parts: Mapping[str, Sequence[int]]) -> PublishedFigure:
    """Whether the printed gap is larger than the sampling error of so few scenarios, as other models show it."""
    gap = rounded(_OVERALL - _PRINTED)
    what = f"{_MODEL}'s printed gap of {gap} points on {_INTENTION} scenarios"
    margin = rounded(fmean(1.96 * stdev(found) / len(found) ** 0.5 for found in parts.values()))
    count = max(map(len, parts.values()))
    reason = (
        f"A mean over {count} scenarios has a margin of {margin} points (95 %), averaged over {len(parts)} models with"
        " dialogues; a smaller gap may be chance."
    )
    return PublishedFigure(where, what, None, f"margin {margin}", False, reason, finding=True)


def _language(openings: Sequence[str]) -> PublishedFigure:
    where, what = "limitations", "language of the scenarios"
    if not openings:
        reason = f"Needs the profiles: '{hint('get data sage')}'."
        return PublishedFigure(where, what, "English", None, False, reason, claim=True)
    chinese = sum(bool(_HAN.search(opening)) for opening in openings)
    reason = "The people in every released scenario speak Chinese." if chinese == len(openings) else ""
    found = f"Chinese in {chinese} of {len(openings)}"
    return PublishedFigure(where, what, "English", found, not chinese, reason, claim=True)


DIALOGUES = "sage/dataset"
_JUDGE = "DeepSeek-V3"
_ALL = 100
_GET = f"'{hint('get data sage --dialogues')}'"
_PLAIN, _THINKING = "Claude3.7", "Claude3.7-Think"


def rows(source: Source) -> Iterable[PublishedFigure]:
    """Tables 2 and 3 and Figure 7 from released dialogues, Table 4 from profiles, and the paper's contradictions."""
    files, unused = released_files(source.folders)
    if not files:
        source.find(DIALOGUES)  # noted as missing
    path = source.find(PROFILES)
    profiles = list(read_profiles(path)) if path is not None else []
    judged = [one for one in files if one.simulator == _JUDGE]
    yield from _table3(judged)
    yield from _table2(files)
    yield from _figure7(files)
    if profiles:
        yield from _table4(profiles)
    yield from _contradictions()
    told = {one.path: "used, but its bytes are not the released ones" for one in files if one.known_by == "name"}
    told |= dict.fromkeys(unused, "not used: neither bytes nor names of a released file, or here twice")
    for path, reason in told.items():
        yield PublishedFigure("files", f"{path.parent.name}/{path.name}", None, None, False, reason, finding=True)
    yield from _weak_spot({profile.id for profile in profiles if profile.intention == _INTENTION}, judged)
    yield _language([profile.first_words for profile in profiles])


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
    """Scores, successes and failures of every model with dialogues."""
    printed = {row["model"]: row for row in table("table3")}
    here = {one.model: one for one in files if one.model in printed}
    for model, row in printed.items():
        if model not in here:
            what = f"{model} score, success and failure"
            yield PublishedFigure("Table 3", what, None, None, False, f"Needs its dialogues: {_GET}.", count=3)
            continue
        reason = _part_of(here[model])
        for what, value in _counts(here[model]).items():
            stated = float(row[what])
            yield PublishedFigure("Table 3", f"{model} {what}", stated, value, stated == value, reason)


def _table2(files: Sequence[ReleasedFile]) -> Iterator[PublishedFigure]:
    """Rank agreement of every two simulators, on the models that have dialogues with both."""
    for row in table("table2"):
        first, second = (
            {one.model: score_of(one) for one in files if one.simulator == row[place]} for place in ("first", "second")
        )
        shared = sorted(set(first) & set(second))
        what, stated = f"{row['first']} and {row['second']}", float(row["spearman"])
        released = _released(row["first"]) & _released(row["second"])
        if len(shared) < len(released):
            reason = f"Needs the dialogues of {len(released)} models, of which {len(shared)} are here: {_GET}."
            yield PublishedFigure("Table 2", what, stated, None, False, reason)
            continue
        rho = rounded(spearman([first[name] for name in shared], [second[name] for name in shared])[0], 2)
        reason = f"Over these models: {', '.join(shared)}."
        yield PublishedFigure("Table 2", what, stated, rho, stated == rho, reason)


def _figure7(files: Sequence[ReleasedFile]) -> Iterator[PublishedFigure]:
    """The scores with other simulators; the paper prints only a plot, the means and one gain."""
    for file in files:
        if file.simulator != _JUDGE:
            for what, value in _counts(file).items():
                reason = "The paper prints no number." + (f" {part}." if (part := _part_of(file)) else "")
                where = f"Figure 7, {file.simulator}"
                yield PublishedFigure(where, f"{file.model} {what}", None, value, False, reason, finding=True)
    for row in table("simulators"):
        scores = [score_of(one) for one in files if one.simulator == row["simulator"]]
        stated, whole = float(row["mean"]), len(scores) == len(_released(row["simulator"]))
        mean = rounded(fmean(scores)) if whole else None
        reason = f"dialogues of {len(scores)} models are here; {_which_models()}"
        yield PublishedFigure("Appendix B", f"mean of {row['simulator']}", stated, mean, stated == mean, reason)
    gemini = {one.model: score_of(one) for one in files if one.simulator == "Gemini2.5"}
    for model, stated in ((_PLAIN, 71.5), (_THINKING, 74.3)):
        score = rounded(gemini[model]) if model in gemini else None
        reason = "" if score is not None else f"Needs its dialogues: {_GET}."
        yield PublishedFigure("Appendix B", f"{model} before Gemini2.5", stated, score, stated == score, reason)


def _released(simulator: str) -> set[str]:
    """The models whose dialogues with a simulator were released."""
    return {one.model for one in listed() if one.simulator == simulator}


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


def _table4(profiles: Sequence[Scenario]) -> Iterator[PublishedFigure]:
    counts = Counter(profile.intention for profile in profiles)
    for row in table("table4"):
        printed, value = int(row["scenarios"]), counts[row["intention"]]
        yield PublishedFigure("Table 4", f"scenarios on {row['intention']}", printed, value, match=printed == value)


def _contradictions() -> Iterator[PublishedFigure]:
    """Two printed statements about one thing; the second one is used in place of a recomputation."""
    consistency = {row["metric"]: float(row["percent"]) for row in table("table1")}["model-human consistency"]
    yield PublishedFigure(
        "abstract",
        "consistency with people, percent",
        85.3,
        consistency,
        match=False,
        reason="the paper contradicts itself: Table 1 prints 82.65; the annotations were not released",
    )
    lowest = min(float(row["spearman"]) for row in table("table2"))
    yield PublishedFigure(
        "Appendix B",
        "rho of every two simulators",
        "> 0.91",
        lowest,
        match=False,
        reason="the paper contradicts itself: Table 2 prints 0.84",
        claim=True,
    )
