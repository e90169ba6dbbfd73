"""The ranking of three or more subjects on each task, with the verdict as a sentence."""

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations, product

from msgspec import Struct, structs

from sociometer.core.conversation import SUBJECT
from sociometer.core.task import AnyRun
from sociometer.core.words import counted, grouped, listed, spelled, verb_of
from sociometer.results.candidates import NO_SCORED_ITEM, item_sets, why_not_comparable
from sociometer.results.leaderboard import Leaderboard, Standing, leaderboard, ranked_measure
from sociometer.statistics.formatting import other_stand_ins
from sociometer.statistics.intervals import MINIMUM_CLUSTERS

_NAMED = 3


class Ranking(Struct, frozen=True):
    """The subjects of one task, best first; `unranked` says why each other subject has no rank."""

    instrument: str
    title: str
    task: str
    task_title: str
    measure: str
    unit: str
    standings: tuple[Standing, ...]
    unranked: dict[str, str]
    clusters: int
    sentence: str
    cluster: str = "independent item"
    """What the independent parts of the task are."""
    leaders: tuple[str, ...] = ()
    """The models that no other model surely beats; empty if the items are too few."""
    item_set: str = ""
    """Whose items these are, in words; empty if all runs of the task have the bundled ones."""
    baselines: frozenset[str] = frozenset()
    """The subjects that guess or know the key."""

    def of(self, subject: str) -> Standing | None:
        """The standing of a subject; None if it has no rank."""
        return next((standing for standing in self.standings if standing.subject == subject), None)

    @property
    def too_few(self) -> bool:
        """Whether there are too few independent items to tell which ranks are certain."""
        return any(standing.ranks.too_few for standing in self.standings)


def rankings(runs: Sequence[AnyRun]) -> tuple[Ranking, ...]:
    """A ranking for each task and item set that at least two subjects took, or a note of why they cannot be ranked."""
    able = [run for run in runs if any(measure.value for measure in run.card.measures_of(run.task))]
    sets = item_sets(able)
    groups = grouped(((run.card.name, run.task, sets[run.run, run.task]), run) for run in able)
    return tuple(
        structs.replace(found, item_set=items, task_title=f"{found.task_title}, {items}".removesuffix(", "))
        for (_, _, items), members in groups.items()
        if len(members) > 1
        for found in _of_task(members)
    )


def _of_task(members: Sequence[AnyRun]) -> Iterable[Ranking]:
    unranked = {one.subject: reason for one in members if (reason := _why_not(one))}
    groups = _comparable([one for one in members if one.subject not in unranked])
    several = [group for group in groups if len(group) > 1]
    for group in several:
        alone = {
            other.subject: f"cannot be compared with {group[0].subject}: {why_not_comparable(group[0], other)}"
            for (other, *rest) in groups
            if not rest
        }
        board = leaderboard(group)
        left_out = dict(_named(line, group) for line in board.left_out)
        company = company_of(group[0]) if len(several) > 1 else ""
        yield _made(group, board, unranked | alone | left_out, company)
    if not several:
        yield _made(members, None, unranked)


def _why_not(candidate: AnyRun) -> str:
    """Why a subject has no rank whatever the others scored; empty if it may have one."""
    found = candidate.summary.find(ranked_measure(candidate).name)
    used = ", ".join(other_stand_ins(candidate.stand_ins))
    stand_in = f"played with a stand-in, {used}" if used else ""
    return stand_in or candidate.failed or ("" if found and found.items else NO_SCORED_ITEM)


def _comparable(candidates: Sequence[AnyRun]) -> list[list[AnyRun]]:
    """The candidates in groups that can be compared, the largest first."""
    groups: list[list[AnyRun]] = []
    for candidate in candidates:
        home = next((group for group in groups if not why_not_comparable(group[0], candidate)), None)
        if home is None:
            groups.append([candidate])
        else:
            home.append(candidate)
    return sorted(groups, key=lambda group: -len(group))


def company_of(candidate: AnyRun) -> str:
    """The models in the other roles: “simulator gpt-4o”."""
    return ", ".join(f"{role} {name}" for role, name in candidate.roles.items() if role != SUBJECT)


def _leaders(standings: Sequence[Standing], baselines: Collection[str]) -> tuple[str, ...]:
    """The models that no other model surely beats; baselines count only if nobody else is ranked."""
    if any(standing.ranks.too_few for standing in standings):
        return ()
    models = [standing for standing in standings if standing.subject not in baselines] or list(standings)
    beaten = {name for standing in models for name in standing.beats}
    return tuple(standing.subject for standing in models if standing.subject not in beaten)


def _named(line: str, group: Sequence[AnyRun]) -> tuple[str, str]:
    """A line about a run that is left out, as the run's label and the reason."""
    labels = [candidate.subject for candidate in group if line.startswith(candidate.subject)]
    label = max(labels, key=len, default="")
    return label, line.removeprefix(label).lstrip(": ")


def _made(group: Sequence[AnyRun], board: Leaderboard | None, unranked: dict[str, str], company: str = "") -> Ranking:
    first, baselines = group[0], frozenset(one.subject for one in group if one.baseline)
    measure = ranked_measure(first)
    standings = board.standings if board else ()
    clusters = standings[0].interval.clusters if standings else 0
    made = Ranking(
        first.card.name, first.card.short_title, first.task,
        first.card.task_title(first.task) + (f", {company}" if company else ""), measure.title, measure.unit,
        standings, unranked, clusters, "", first.card.cluster_of(first.task), _leaders(standings, baselines),
        baselines=baselines,
    )  # fmt: skip
    doubt = f"; {board.doubt}" if board and board.doubt and len(made.leaders) == 1 else ""
    return structs.replace(made, sentence=f"{_sentence(made)}{doubt}.")


def _sentence(ranking: Ranking) -> str:
    """The verdict: which subject leads, or why none does."""
    if not ranking.standings:
        reasons = set(ranking.unranked.values())
        return f"no subject can be ranked ({reasons.pop()})" if len(reasons) == 1 else "no subject can be ranked"
    if ranking.too_few:
        items = counted(ranking.clusters, ranking.cluster)
        return f"{items} cannot rank the subjects; at least {MINIMUM_CLUSTERS} are needed"
    leaders, everyone = ranking.leaders, [standing.subject for standing in ranking.standings]
    models = [subject for subject in everyone if subject not in ranking.baselines]
    items = counted(ranking.standings[0].items, "shared item")
    if len(models) == 1 < len(everyone):
        return _beside_baselines(ranking, models[0], items)
    among = models or everyone
    if len(leaders) == len(among) == 2:
        return f"{items} cannot separate {leaders[0]} from {leaders[1]}"
    if len(leaders) == len(among):
        return f"{items} cannot separate the {len(among)} {'models' if 0 < len(models) < len(everyone) else 'subjects'}"
    others = [subject for subject in among if subject not in leaders]
    near = _not_separated(ranking, leaders, others)
    more = f", nor {near}" if near else ""
    if len(leaders) == 1:
        of = " of the models" if 0 < len(models) < len(everyone) else ""
        said = f"{leaders[0]} {verb_of(leaders[0])} clearly first{of}"
        return f"{said}; {items} cannot separate {near}" if near else said
    if all(set(others) <= set(standing.beats) for standing in ranking.standings if standing.subject in leaders):
        behind = listed(others) if len(others) <= _NAMED else f"the other {len(others)}"
        first = spelled(len(leaders), "leader")
        return f"{listed(leaders)} are clearly ahead of {behind}; {items} cannot separate the {first}{more}"
    return f"{listed(leaders)} lead; {items} cannot separate them{more}"


def _not_separated(ranking: Ranking, leaders: Sequence[str], others: Sequence[str]) -> str:
    """The pairs of subjects, not both leaders, of which neither surely beats the other: “b from c”."""
    sure = {(one.subject, beaten) for one in ranking.standings for beaten in one.beats}
    pairs = [*product(leaders, others), *combinations(others, 2)]
    near = [(a, b) for a, b in pairs if (a, b) not in sure and (b, a) not in sure]
    if len(others) > 2 and near == [*combinations(others, 2)]:
        return f"the other {len(others)}"
    return listed([f"{a} from {b}" for a, b in near], _NAMED)


def _beside_baselines(ranking: Ranking, model: str, items: str) -> str:
    """The verdict on the only model, against the baselines next to it."""
    worse = next(one.beats for one in ranking.standings if one.subject == model)
    better = [one.subject for one in ranking.standings if model in one.beats]
    parts = [f"{word} {listed(found)}" for word, found in (("better than", worse), ("worse than", better)) if found]
    return f"{model} is {listed(parts)}" if parts else f"{items} cannot separate {model} from the baselines"
