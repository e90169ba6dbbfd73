"""Outcome -> score -> summary of the static scenarios; pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from sociometer.core.measure import Cell, Measure, Summary, Table
from sociometer.core.reply_kind import count_replies
from sociometer.core.task import RunView, Score
from sociometer.core.words import grouped
from sociometer.instruments.egosocial.games.game import NOTES
from sociometer.instruments.egosocial.play import Picks
from sociometer.instruments.egosocial.scene import Scene
from sociometer.statistics.formatting import CHANCE, estimate, p_phrase
from sociometer.statistics.measures import Observation, grouped_measures, mean_measure
from sociometer.statistics.paired import paired_difference

Run = RunView[Scene, Picks]
STORY_FACETS = ("order", "story type", "measures", "belief", ("story type", "order"), ("belief", "order"))


def score(item: Scene, outcome: Picks) -> Score:
    """Right or wrong for each telling; an unreadable reply is wrong and counted."""
    values: dict[str, float] = {}
    unreadable = 0
    for telling in item.tellings:
        pick = outcome.of(telling.name)
        if pick is None:
            continue
        unreadable += pick.picked is None
        values[telling.name] = float(pick.picked == telling.answer)
        if telling.official is not None:
            values[f"{telling.name}_official"] = float(pick.picked == telling.official)
        if telling.home is not None:
            values["home"] = float(pick.picked == telling.home)
    replies = count_replies(pick.vote.how for pick in outcome.picks)
    return Score(values=values, facets=item.facets, unreadable=unreadable, replies=replies)


def summarise_generated(run: Run) -> Summary:
    """Both persons by order and story type, and the paired difference."""
    return msgspec.structs.replace(_summarise_pairs(run, ["first", "third"], STORY_FACETS), series=_chance_series(run))


def summarise_tomi(run: Run) -> Summary:
    """Both persons on the corrected and on the official key, by order and story type, and the paired difference."""
    values = ["first", "third", "first_official", "third_official"]
    summary = _summarise_pairs(run, values, STORY_FACETS)
    causes = Counter(item.facets["cause"] for item, _, _ in run.scored())
    table = Table("key", "Oracle and official key", ("cause", "questions"), tuple(sorted(causes.items())))
    return msgspec.structs.replace(summary, tables=(*summary.tables, table), notes=(NOTES["key"],))


def summarise_tombench(run: Run) -> Summary:
    """Accuracy by ability, test and what is measured; the paired difference if there are conversions."""
    summary = _summarise_pairs(run, ["third", "first"], ["ability", "test", "measures", "options"])
    return msgspec.structs.replace(summary, series=_chance_series(run))


def _summarise_pairs(run: Run, values: Iterable[str], by: Sequence[str | tuple[str, ...]]) -> Summary:
    measures = [measure for value in values for measure in _measures(run, value, by)]
    paired, table = contrast(run, "third", "first", "gain", [facet for facet in by if isinstance(facet, str)])
    return Summary((*measures, *paired), (table,) if table.rows else ())


def summarise_twins(run: Run) -> Summary:
    """Accuracy under the counterfactual and the factual rule, and the counterfactual gap: factual − counterfactual."""
    measures = [*_measures(run, "counterfactual", ["kind"]), *_measures(run, "factual", ["kind"])]
    paired, table = contrast(run, "counterfactual", "factual", "gap", ["kind"])
    return Summary((*measures, *paired), (table,) if table.rows else ())


def summarise_worlds(run: Run) -> Summary:
    """Accuracy in invented worlds, and the share of errors that follow the real world."""
    wrong = [
        Observation(item.id, item.cluster or item.id, score.values["home"], score.facets)
        for item, _, score in run.scored()
        if not score.values["worlds"]
    ]
    measures = [*_measures(run, "worlds"), *_measures(run, "home", telling="worlds")]
    return Summary((*measures, mean_measure("home_among_errors", wrong)))


def summarise_newworld(run: Run) -> Summary:
    """Accuracy on the paper's New World."""
    return Summary(tuple(_measures(run, "newworld", ["release"])), notes=(NOTES["newworld"],))


def summarise_official(run: Run) -> Summary:
    """Accuracy on the authors' counterfactual file, which has no factual versions."""
    return Summary(tuple(_measures(run, "counterfactual")))


def summarise_socialfirst(run: Run) -> Summary:
    """Accuracy on the authors' first-person ToMBench file by ability; two or four options, so chance is given."""
    return Summary(tuple(_measures(run, "first", ["ability"])), series=_chance_series(run))


def _chance_series(run: Run) -> dict[str, dict[str, float]]:
    """The score of guessing on the items played, which have different numbers of options."""
    chances = [1 / len(item.tellings[0].options) for item, _, _ in run.scored()]
    return {CHANCE: dict.fromkeys(("first", "third"), sum(chances) / len(chances))} if chances else {}


def _measures(run: Run, value: str, by: Sequence[str | tuple[str, ...]] = (), telling: str = "") -> Iterator[Measure]:
    """The mean of a value by facets, with the unreadable replies of its own telling alone."""
    told = telling or value.removesuffix("_official")
    unread = [
        item.facets
        for item, outcome, _ in run.scored()
        if (pick := outcome.of(told)) is not None and pick.picked is None
    ]
    for measure in grouped_measures(run, value, by=by):
        group = measure.group.items()
        count = sum(all(facets.get(key) == level for key, level in group) for facets in unread)
        yield msgspec.structs.replace(measure, unreadable=count)


def contrast(run: Run, first: str, second: str, name: str, by: Sequence[str]) -> tuple[list[Measure], Table]:
    """The paired difference second − first over the scenes that have both, overall and for each level of each facet."""
    both = [(item, score) for item, _, score in run.scored() if first in score.values and second in score.values]
    groups = grouped(
        (place, (item, score))
        for item, score in both
        for place in [("", ""), *((facet, score.facets[facet]) for facet in by if facet in score.facets)]
    )
    measures = list[Measure]()
    lines = list[tuple[Cell, ...]]()
    for (facet, level), members in sorted(groups.items(), key=lambda group: group[0]):
        one, two = ([score.values[value] for _, score in members] for value in (first, second))
        clusters, names = [item.cluster or item.id for item, _ in members], [item.id for item, _ in members]
        found = paired_difference(one, two, clusters, items=names)
        group = {facet: level} if facet else {}
        note = f"paired sign-flip test by cluster: {p_phrase(found.p_value)}"
        sizes = (found.items, found.clusters)
        measures.append(Measure(name, found.difference, group, found.interval, *sizes, note=note))
        means = (found.first, found.second, estimate(found.difference, "share-points", found.interval))
        lines.append((facet or "all", level, *means, found.p_value, found.mcnemar, *sizes))
    tests = ("p (sign flip)", "p (McNemar)", "scenes", "stories")
    columns = ("facet", "level", first, second, name, *tests)
    note, units = "The interval is of the paired difference.", {first: "share", second: "share"}
    return measures, Table(name, f"{second} − {first}, paired", columns, tuple(lines), note, units)
