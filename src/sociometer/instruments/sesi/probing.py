"""Factor probes: every condition compared with the control on the same items, and the paper's contrasts as tables."""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from sociometer.core.measure import Cell, Interval, Table
from sociometer.core.settings import PAPER
from sociometer.core.task import RunView
from sociometer.instruments.sesi.academic import family_from_name
from sociometer.instruments.sesi.conditions import ANSWER, CONTROL, conditions, contrasts, role_class
from sociometer.instruments.sesi.items import ABILITIES
from sociometer.instruments.sesi.items import Question as Item
from sociometer.reading import ChoiceAnswer
from sociometer.statistics.contrast import Change, changes, stars
from sociometer.statistics.intervals import MINIMUM_CLUSTERS, SEED, cluster_codes
from sociometer.statistics.measures import Observation, observations
from sociometer.statistics.paired import benjamini_hochberg, holm, paired_difference


class Probe(Struct, frozen=True):
    """One subject's right and wrong answers, by condition and item."""

    subject: str
    family: str
    answers: dict[str, dict[str, float]]
    abilities: dict[str, str]
    clusters: dict[str, str]


def probe_of(subject: str, family: str, runs: Mapping[str, RunView[Item, ChoiceAnswer]]) -> Probe:
    """The results of one subject's runs, by condition; repeats of an item are averaged."""
    answers: dict[str, dict[str, float]] = {}
    abilities: dict[str, str] = {}
    clusters: dict[str, str] = {}
    for condition, run in runs.items():
        found: dict[str, list[Observation]] = {}
        for row in observations(run, "correct"):
            found.setdefault(row.item, []).append(row)
            abilities[row.item], clusters[row.item] = row.facets["ability"], row.cluster
        answers[condition] = {item: sum(r.value for r in same) / len(same) for item, same in found.items()}
    return Probe(subject, family, answers, abilities, clusters)


def family_of(subject: str, given: Mapping[str, str]) -> str:
    """The family given for a subject, or the letters at the start of its model's name."""
    return given.get(subject) or family_from_name(subject)


def compare(probe: Probe, names: Sequence[str], ability: str = "") -> list[Change]:
    """Each condition compared with the control on shared items; corrected over the given conditions."""
    control = probe.answers[CONTROL]
    found: list[Change] = []
    raw: list[tuple[str, list[str]]] = []
    for name in names:
        shared = [
            item
            for item in control
            if item in probe.answers[name] and (not ability or probe.abilities[item] == ability)
        ]
        raw.append((name, shared))
    same = {tuple(shared) for _, shared in raw}
    if len(same) == 1 and raw and raw[0][1]:
        shared = raw[0][1]
        return changes(
            [control[item] for item in shared],
            {name: [probe.answers[name][item] for item in shared] for name, _ in raw},
            [probe.clusters[item] for item in shared],
        )
    for name, shared in raw:
        if shared:
            found += changes(
                [control[item] for item in shared],
                {name: [probe.answers[name][item] for item in shared]},
                [probe.clusters[item] for item in shared],
            )
    return _corrected(found)


def _corrected(found: Sequence[Change]) -> list[Change]:
    """The corrections over all conditions, if they could not be compared together (their items differ)."""
    raw = [change.paired.p_value for change in found]
    pairs = zip(found, holm(raw).tolist(), benjamini_hochberg(raw).tolist(), strict=True)
    return [replace(change, p_holm=one, p_benjamini_hochberg=two) for change, one, two in pairs]


COLUMNS = ("subject", "condition", "ability", "control", "accuracy", "difference", "from", "to", "p (Holm)",
           "p", "stars", "p (BH)", "items")  # fmt: skip
UNITS = {"control": "share", "accuracy": "share", "difference": "share-points", "from": "share-points",
         "to": "share-points", "change ratio": "number", "first": "share", "second": "share",
         "mean difference": "share-points", "mean size of the change": "share-points",
         "floor": "share-points"}  # fmt: skip
DETAILS = ("p", "stars", "p (BH)", "items")


def change_table(probes: Sequence[Probe], names: Sequence[str]) -> Table:
    """Every condition of every subject overall, the clearest change first; `from` and `to` bound the difference."""
    found = [(probe.subject, change) for probe in probes for change in compare(probe, names)]
    found.sort(key=lambda entry: (entry[1].p_holm, -abs(entry[1].paired.difference)))
    lines = tuple(_line(subject, "all", change) for subject, change in found)
    note = "Differences and their intervals in points. p (Holm) is corrected over the conditions of a subject."
    details = (*DETAILS, "ability", *(("subject",) if len(probes) < 2 else ()))
    return Table("changes", "Conditions against the control", COLUMNS, lines, note, UNITS, details)


def ability_table(probes: Sequence[Probe], names: Sequence[str]) -> Table:
    """Every condition of every subject by ability."""
    lines = [
        _line(probe.subject, ability, change)
        for probe in probes
        for ability in ABILITIES
        for change in compare(probe, names, ability)
    ]
    note = "Stars as in Fig. 3, uncorrected; the interval is of the difference."
    return Table("abilities", "Conditions against the control, by ability", COLUMNS, tuple(lines), note, UNITS, DETAILS)


def ratio_table(probes: Sequence[Probe], names: Sequence[str]) -> Table:
    """The change ratio of every condition with its own interval, as in Fig. 3."""
    lines: list[tuple[Cell, ...]] = []
    for probe in probes:
        for change in compare(probe, names):
            bounds = ratio_interval(probe, [change.condition])
            line = (probe.subject, change.condition, change.ratio, bounds.low, bounds.high, change.stars)
            lines.append((*line, change.paired.items))
    columns = ("subject", "condition", "change ratio", "from", "to", "stars", "items")
    note = "(condition - control) / control; the interval is of the ratio (bootstrap over items). Stars: uncorrected p."
    units = {"change ratio": "number", "from": "number", "to": "number"}
    return Table("ratios", "Change ratios (Fig. 3)", columns, tuple(lines), note, units, ("items",))


def ratio_interval(probe: Probe, names: Sequence[str], level: float = 0.95) -> Interval:
    """The interval of the change ratio of the mean over some conditions, from a bootstrap over clusters of items."""
    control = probe.answers[CONTROL]
    shared = [item for item in control if all(item in probe.answers[name] for name in names)]
    codes, count = cluster_codes([probe.clusters[item] for item in shared], len(shared))
    if count < MINIMUM_CLUSTERS:
        return Interval(None, None, level, "", count)
    table = np.array([[control[item], _means(probe, names, [item])[0]] for item in shared])
    sums = np.zeros((count, 2))
    np.add.at(sums, codes, table)
    weights = np.random.default_rng(SEED).multinomial(count, np.full(count, 1 / count), 2000).astype(np.float64)
    own, other = (weights @ sums).T
    if not (own > 0).all():
        return Interval(None, None, level, "", count)
    low, high = np.quantile(other / own - 1, [0.5 - level / 2, 0.5 + level / 2])
    return Interval(float(low), float(high), level, "cluster bootstrap", count)


def _line(subject: str, ability: str, change: Change) -> tuple[Cell, ...]:
    paired = change.paired
    return (
        subject, change.condition, ability, paired.first, paired.second, paired.difference,
        paired.interval.low, paired.interval.high, change.p_holm, paired.p_value, change.stars,
        change.p_benjamini_hochberg, paired.items,
    )  # fmt: skip


_WORDINGS = {
    ANSWER: "answer: the comment that answers the question best.",
    PAPER: "paper: the authors' own prompt, from their file.",
}


def wording_table(probes: Sequence[Probe], wording: str) -> Table:
    """Two wordings on the same items: the best comment in our words, and another."""
    lines: list[tuple[Cell, ...]] = []
    for probe in probes:
        (change,) = compare(probe, [wording])
        paired = change.paired
        lines.append((probe.subject, paired.first, paired.second, paired.difference, paired.interval.low,
                      paired.interval.high, paired.p_value, paired.items))  # fmt: skip
    columns = ("subject", "comment", wording, "difference", "from", "to", "p", "items")
    note = f"comment: the most appropriate comment on the situation; {_WORDINGS[wording]}"
    units = {**UNITS, "comment": "share", wording: "share"}
    title = "Wording of the instruction" if wording == ANSWER else "The authors' wording"
    return Table("wordings" if wording == ANSWER else f"wordings-{wording}", title, columns, tuple(lines), note, units)


def most_moved(probes: Sequence[Probe], names: Sequence[str], noise: Sequence[str] = ()) -> Table:
    """The mean size of each ability's change, in either direction (the paper: empathy, concern and influence most)."""
    lines: list[tuple[Cell, ...]] = []
    for probe in probes:
        for ability in ABILITIES:
            moved, idle = (
                [abs(change.paired.difference) for change in compare(probe, group, ability)] for group in (names, noise)
            )
            if moved:
                floor = sum(idle) / len(idle) if idle else None
                lines.append((probe.subject, ability, sum(moved) / len(moved), floor, len(moved)))
    columns = ("subject", "ability", "mean size of the change", "floor", "conditions")
    note = (
        "Without intervals: a size in either direction is above 0 by chance alone. Compare it with the floor, the same "
        "of placebo texts and paraphrases (empty if none was played)."
    )
    return Table("moved", "Abilities that the conditions change", columns, tuple(lines), note, UNITS)


def contrast_table(probes: Sequence[Probe]) -> Table:
    """The paper's contrasts: the mean over one group of conditions minus the mean over another, item by item."""
    lines: list[tuple[Cell, ...]] = []
    for contrast in contrasts():
        for probe in probes:
            if not all(name in probe.answers for name in (*contrast.first, *contrast.second)):
                continue
            shared = [
                item
                for item in probe.answers[CONTROL]
                if all(item in probe.answers[name] for name in (*contrast.first, *contrast.second))
            ]
            if not shared:
                continue
            one, two = (_means(probe, names, shared) for names in (contrast.first, contrast.second))
            paired = paired_difference(two, one, [probe.clusters[item] for item in shared])
            lines.append(
                (contrast.title, probe.subject, paired.second, paired.first, paired.difference, paired.interval.low,
                 paired.interval.high, paired.p_value, stars(paired.p_value), len(shared), contrast.paper)
            )  # fmt: skip
    corrected = holm([float(str(line[7])) for line in lines]).tolist() if lines else []
    lines = [(*line[:9], p_value, *line[9:]) for line, p_value in zip(lines, corrected, strict=True)]
    columns = (
        "contrast",
        "subject",
        "first",
        "second",
        "difference",
        "from",
        "to",
        "p",
        "stars",
        "p (Holm)",
        "items",
        "paper",
    )
    return Table(
        "contrasts",
        "The paper's contrasts",
        columns,
        tuple(lines),
        units=UNITS,
        details=("p", "stars", "items", "paper"),
    )


def _means(probe: Probe, names: Sequence[str], items: Sequence[str]) -> list[float]:
    return [sum(probe.answers[name][item] for name in names) / len(names) for item in items]


def role_table(probes: Sequence[Probe]) -> Table | None:
    """Change by class of role and type of prompt (Fig. 4c and Extended Data Fig. 3)."""
    lines: list[tuple[Cell, ...]] = []
    for probe in probes:
        groups: dict[tuple[str, str], list[float]] = {}
        for name, entry in conditions().items():
            if entry.role and name in probe.answers:
                for change in compare(probe, [name]):
                    groups.setdefault((role_class(entry.role), entry.prompt.rpartition("/")[2]), []).append(
                        change.paired.difference
                    )
        lines += [(probe.subject, kind, prompt, sum(v) / len(v), len(v)) for (kind, prompt), v in groups.items()]
    columns = ("subject", "class of role", "prompt", "mean difference", "roles")
    return Table("roles", "Roles", columns, tuple(lines), units=UNITS) if lines else None


def family_table(probes: Sequence[Probe], names: Sequence[str]) -> Table | None:
    """Each factor's mean change by family of models, if several subjects are given."""
    families = sorted({probe.family for probe in probes})
    if len(probes) < 2:
        return None
    lines: list[tuple[Cell, ...]] = []
    for family in families:
        members = [probe for probe in probes if probe.family == family]
        for factor in dict.fromkeys(conditions()[name].factor for name in names):
            mine = [name for name in names if conditions()[name].factor == factor]
            first: list[float] = []
            second: list[float] = []
            labels: list[str] = []
            for probe in members:
                for item, value in probe.answers[CONTROL].items():
                    given = [probe.answers[name][item] for name in mine if item in probe.answers[name]]
                    if given:
                        first.append(value)
                        second.append(sum(given) / len(given))
                        labels.append(probe.clusters[item])
            if first:
                paired = paired_difference(first, second, labels)
                bounds = paired.interval
                lines.append(
                    (family, factor, len(members), paired.difference, bounds.low, bounds.high,
                     paired.p_value, stars(paired.p_value))
                )  # fmt: skip
    columns = ("family", "factor", "subjects", "difference", "from", "to", "p", "stars")
    return Table(
        "families",
        "Factors by family of models",
        columns,
        tuple(lines),
        "Each item counts once per subject; items are the clusters.",
        UNITS,
    )
