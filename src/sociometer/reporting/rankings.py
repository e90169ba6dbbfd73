"""The ranking of three or more subjects on each task, with the verdict as a sentence."""

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations, product

from msgspec import Struct, structs

from sociometer.core.conversation import SUBJECT
from sociometer.core.task import AnyRun
from sociometer.core.words import counted, grouped, listed, sentence, spelled, verb_of
from sociometer.results.candidates import NO_SCORED_ITEM, item_sets, why_not_comparable
from sociometer.results.leaderboard import Leaderboard, Standing, leaderboard, ranked_measure
from sociometer.statistics.formatting import number, other_stand_ins
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
    sentence: str
    cluster: str = "independent item"
    """What the independent parts of the task are."""
    leaders: tuple[str, ...] = ()
    """The models that no other model surely beats; empty if the items are too few."""
    others: tuple[str, ...] = ()
    """The other models, best first."""
    item_set: str = ""
    """Whose items these are, in words; empty if all runs of the task have the bundled ones."""
    baselines: frozenset[str] = frozenset()
    """The subjects that guess or know the key."""
    below: str = ""
    """Which of the subjects behind the leaders cannot be separated, and which limit the items; empty for neither."""
    company: str = ""
    """The models in the other roles, if other runs of the task have others."""
    contest: Leaderboard | None = None
    """Its leaderboard as `compare` has it, without the baselines that know the key, if there are models."""

    def of(self, subject: str) -> Standing | None:
        """The standing of a subject; None if it has no rank."""
        return next((standing for standing in self.standings if standing.subject == subject), None)


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
    several, companies = [group for group in groups if len(group) > 1], {company_of(one) for one, *_ in groups}
    for group in several:
        alone = {
            other.subject: f"cannot be compared with {group[0].subject}: {why_not_comparable(other, group[0])}"
            for (other, *rest) in groups
            if not rest
        }
        board = leaderboard(group)
        left_out = dict(_named(line, group) for line in board.left_out)
        company = company_of(group[0]) if len(companies) > 1 else ""
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
            groups.append(home := [])
        home.append(candidate)
    return sorted(groups, key=lambda group: -len(group))


def company_of(candidate: AnyRun) -> str:
    """The models in the other roles: “simulator gpt-4o”."""
    return ", ".join(f"{role} {name}" for role, name in candidate.roles.items() if role != SUBJECT)


def _leaders(standings: Sequence[Standing], baselines: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The models that no other model surely beats, and the others; baselines count only if nobody else is ranked."""
    if any(standing.ranks.too_few for standing in standings):
        return (), ()
    models = [standing for standing in standings if standing.subject not in baselines] or list(standings)
    names, beaten = [one.subject for one in models], {name for one in models for name in one.beats}
    return tuple(one for one in names if one not in beaten), tuple(one for one in names if one in beaten)


def _named(line: str, group: Sequence[AnyRun]) -> tuple[str, str]:
    """A line about a run that is left out, as the run's label and the reason."""
    labels = [candidate.subject for candidate in group if line.startswith(candidate.subject)]
    label = max(labels, key=len, default="")
    return label, line.removeprefix(label).lstrip(": ")


def _made(group: Sequence[AnyRun], board: Leaderboard | None, unranked: dict[str, str], company: str = "") -> Ranking:
    first, baselines = group[0], frozenset(one.subject for one in group if one.baseline)
    measure = ranked_measure(first)
    standings = board.standings if board else ()
    oracles = {one.subject for one in group if one.baseline and one.roles.get(SUBJECT, "").endswith("/oracle")}
    knowing = oracles if len(baselines) < len(group) else ()
    contest = board and structs.replace(board, standings=tuple(x for x in standings if x.subject not in knowing))
    made = Ranking(
        first.card.name, first.card.short_title, first.task,
        first.card.task_title(first.task) + (f", {company}" if company else ""), measure.title, measure.unit,
        standings, unranked, "", first.card.cluster_of(first.task), *_leaders(standings, baselines),
        baselines=baselines, company=company, contest=contest,
    )  # fmt: skip
    items = counted(standings[0].items, "shared item") if standings else ""
    near = _near_leaders(made)
    said = [_sentence(made, items, near, [one.subject for one in group if one.subject not in unranked]), *near]
    said += [board.doubt] if board and board.doubt and len(made.leaders) == 1 else []
    behind = _not_separated(made, combinations(made.others, 2)) if made.leaders else ""
    below = f"{items} cannot separate {behind}." if behind else ""
    below = " ".join(filter(None, (below, sentence(board.limit) if board else "")))
    return structs.replace(made, sentence=f"{'; '.join(said)}.", below=below)


def _near_leaders(ranking: Ranking) -> list[str]:
    """What leading models are not surely better than, as clauses: chance, and the best baseline that guesses."""
    contest, leaders = ranking.contest, [one for one in ranking.standings if one.subject in ranking.leaders]
    if contest is None or ranking.baselines.issuperset(ranking.leaders) or len(leaders) + len(ranking.others) < 2:
        return []
    chance = f"chance ({number(contest.chance, ranking.unit)})"
    near = [(tuple(one.subject for one in leaders if contest.near_chance(one)), chance)]
    marks = (one.subject for one in contest.standings if one.subject in ranking.baselines)
    level = ((tuple(one.subject for one in leaders if mark not in one.beats), mark) for mark in marks)
    names = grouped([one for one in near if one[0]] + [one for one in level if one[0]][:1])
    said = {who: f"{listed(who)} {'are' if len(who) > 1 else 'is'} not" for who in names}
    said[ranking.leaders] = "none of them is" if len(leaders) > 1 else "it is not"
    return [f"{said[who]} clearly better than {' or '.join(what)}" for who, what in names.items()]


def _sentence(ranking: Ranking, items: str, near: Sequence[str], alone: Sequence[str]) -> str:
    """The verdict: which subject leads, or why none does; `alone` are those that could be ranked with others."""
    if not ranking.standings:
        reasons, one = set(ranking.unranked.values()), bool(ranking.unranked) and len(alone) == 1
        who = f"only {alone[0]}" if one else "no subject"
        left = f"{listed([*ranking.unranked])}: " if one else ""
        return f"{who} can be ranked" + (f" ({left}{reasons.pop()})" if len(reasons) == 1 else "")
    if ranking.standings[0].ranks.too_few:
        clusters = counted(ranking.standings[0].ranks.clusters, ranking.cluster)
        return f"{clusters} cannot rank the subjects; at least {MINIMUM_CLUSTERS} are needed"
    leaders, others = ranking.leaders, ranking.others
    beside = (among := len(leaders) + len(others)) < len(ranking.standings)
    if beside and among == 1:
        return _beside_baselines(ranking, leaders[0], items)
    if not others and len(leaders) == 2:
        return f"{items} cannot separate {leaders[0]} from {leaders[1]}"
    if not others:
        return f"{items} cannot separate the {len(leaders)} {'models' if beside else 'subjects'}"
    behind = _not_separated(ranking, product(leaders, others))
    if len(leaders) == 1:
        said, rest = f"{leaders[0]} {verb_of(leaders[0])}", "models" if beside else "subjects"
        first = f"ahead of the other {rest}" if near else "first" + " of the models" * beside
        return f"{said} ahead; {items} cannot separate {behind}" if behind else f"{said} clearly {first}"
    if not behind:
        those = listed(others) if len(others) <= _NAMED else f"the other {len(others)}"
        first = spelled(len(leaders), "leader")
        return f"{listed(leaders)} are clearly ahead of {those}; {items} cannot separate the {first}"
    return f"{listed(leaders)} {'have the best scores' if near else 'lead'}; {items} cannot separate them, nor {behind}"


def _not_separated(ranking: Ranking, pairs: Iterable[tuple[str, str]]) -> str:
    """The pairs of subjects of which neither surely beats the other: “b from c”."""
    every, sure = [*pairs], {(one.subject, beaten) for one in ranking.standings for beaten in one.beats}
    near = [(a, b) for a, b in every if (a, b) not in sure and (b, a) not in sure]
    if len(ranking.others) > 2 and near == [*combinations(ranking.others, 2)]:
        return f"the other {len(ranking.others)}"
    return listed([f"{a} from {b}" for a, b in near], _NAMED)


def _beside_baselines(ranking: Ranking, model: str, items: str) -> str:
    """The verdict on the only model, against the baselines next to it."""
    worse = next(one.beats for one in ranking.standings if one.subject == model)
    better = [one.subject for one in ranking.standings if model in one.beats]
    parts = [f"{word} {listed(found)}" for word, found in (("better than", worse), ("worse than", better)) if found]
    near = f"{items} cannot separate {model} from the baselines"
    return f"{model} {verb_of(model)} {listed(parts)}" if parts else near
