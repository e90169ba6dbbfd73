"""Factors as the paper reports them: a test for each, the size next to the noise floor, and models by level."""

from collections.abc import Mapping, Sequence

import numpy as np

from sociometer.core.measure import Cell, Table
from sociometer.instruments.sesi.conditions import CONTROL, NOISE, TRAITS, conditions, implied_gender
from sociometer.instruments.sesi.omnibus import Omnibus, Spread, cochran_q, spread
from sociometer.instruments.sesi.probing import Probe
from sociometer.statistics.intervals import Floats
from sociometer.statistics.paired import holm

EVERY = "all subjects"
_ROLE = "role"
_DRAWS = 5000
_FEW_DRAWS = 1000
"""For factors with many conditions, all of which each draw permutes."""


def levels(names: Sequence[str], factor: str) -> list[str]:
    """The conditions of a factor among those that were played."""
    return [name for name in names if conditions()[name].factor == factor]


def factors_in(names: Sequence[str]) -> list[str]:
    """The factors of some conditions, without the noise, and without roles if only those of a gender were played."""
    found = dict.fromkeys(conditions()[name].factor for name in names)
    gendered = {name for kind in ("male", "neutral", "female") for name in implied_gender(kind)}
    partly = {_ROLE} if set(levels(names, _ROLE)) <= gendered else set()
    return [factor for factor in found if factor not in ("", NOISE, *partly)]


def tested(probes: Sequence[Probe], names: Sequence[str], noise: Sequence[str] = ()) -> tuple[Omnibus, Spread] | None:
    """The test and the size of some conditions against the control, on the items that all subjects have in all."""
    shared = [
        item
        for item in probes[0].answers[CONTROL]
        if all(item in probe.answers[name] for probe in probes for name in (CONTROL, *names, *noise))
    ]
    if not shared:
        return None
    clusters = [probes[0].clusters[item] for item in shared]
    control = [_columns(probe, (CONTROL,), shared)[:, 0] for probe in probes]
    played = [_columns(probe, names, shared) for probe in probes]
    idle = [_columns(probe, noise, shared) for probe in probes] if noise else []
    beside = [np.column_stack([own, table]) for own, table in zip(control, played, strict=True)]
    found = cochran_q(beside, clusters, draws=_DRAWS if len(names) <= 12 else _FEW_DRAWS)
    return found, spread(control, played, idle, clusters)


def _columns(probe: Probe, names: Sequence[str], items: Sequence[str]) -> Floats:
    return np.array([[probe.answers[name][item] for name in names] for item in items], dtype=np.float64)


def factor_table(probes: Sequence[Probe], names: Sequence[str], noise: Sequence[str]) -> Table:
    """Cochran's Q for each factor and subject, and for all subjects together, with the size next to the noise floor."""
    lines: list[tuple[Cell, ...]] = []
    groups = [(probe.subject, [probe]) for probe in probes]
    groups += [(EVERY, list(probes))] if len(probes) > 1 else []
    for subject, members in groups:
        found = [
            (factor, result)
            for factor in factors_in(names)
            if (result := tested(members, levels(names, factor), noise)) is not None
        ]
        corrected = holm([test.p_value for _, (test, _) in found]).tolist() if found else []
        for (factor, (test, size)), p_holm in zip(found, corrected, strict=True):
            lines.append(_line(factor, subject, test, size, p_holm))
        if noise and (idle := tested(members, noise)) is not None:
            lines.append(_line("noise (placebos and paraphrases)", subject, *idle, None))
    columns = ("factor", "subject", "size", "floor", "above the floor", "from", "to", "p", "p (Holm)", "Q", "df",
               "p (chi-square)", "conditions", "items")  # fmt: skip
    note = (
        "p: Cochran's Q over the control and all levels, conditions permuted within items (for all subjects together "
        "if there are several). Size: root mean square difference from the control; floor: the same of placebo "
        "texts of the same length and of paraphrases; above the floor: the root of the difference of their squares, "
        "with its interval."
    )
    units = {"size": "share-points", "floor": "share-points", "above the floor": "share-points",
             "from": "share-points", "to": "share-points"}  # fmt: skip
    details = ("Q", "df", "p (chi-square)", "conditions", "items")
    return Table("factors", "Factors", columns, tuple(lines), note, units, details)


def _line(factor: str, subject: str, test: Omnibus, size: Spread, p_holm: float | None) -> tuple[Cell, ...]:
    low, high = (size.interval.low, size.interval.high) if size.interval else (None, None)
    return (factor, subject, size.size, size.floor, size.excess, low, high, test.p_value, p_holm, test.statistic,
            test.degrees, test.p_chi_square, test.conditions, test.items)  # fmt: skip


def finding(table: Table) -> str:
    """Which factors change the accuracy of each subject, and whether by more than irrelevant words do."""
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    sentences = []
    for subject in dict.fromkeys(str(row["subject"]) for row in rows):
        mine = [row for row in rows if row["subject"] == subject and row["p (Holm)"] is not None]
        found = [row for row in mine if float(str(row["p (Holm)"])) < 0.05]
        if not found:
            which = f"none of {len(mine)} factors changes" if len(mine) > 1 else "the factor does not change"
            sentences.append(f"{subject}: {which} the accuracy significantly.")
            continue
        said = ", ".join(f"{row['factor']}{_doubt(row)}" for row in found)
        sentences.append(f"{subject}: {len(found)} of {len(mine)} factors changed the accuracy: {said}.")
    return "\n".join(sentences)


def _doubt(row: Mapping[str, Cell]) -> str:
    """The remark on a factor that is not clearly above its noise floor."""
    if row["floor"] is None:
        return ""
    if not isinstance(row["from"], float):
        return " (too few items to compare it with placebos)"
    return "" if row["from"] > 0 else " (not clearly more than placebos do)"


def trait_table(probes: Sequence[Probe]) -> Table | None:
    """Accuracy by personality, in the layout of Extended Data Table 2: one line per model, two cells per trait."""
    names = [f"{trait}-{level}" for trait in TRAITS for level in ("high", "low")]
    heads = [f"{trait.capitalize()} {level}" for trait in TRAITS for level in ("high", "low")]
    return _by_level(probes, names, heads, "traits", "Accuracy by personality (Extended Data Table 2)")


def emotion_table(probes: Sequence[Probe]) -> Table | None:
    """Accuracy by emotion, in the same layout."""
    names = ["boredom", "normal", "anxiety"]
    return _by_level(probes, names, [name.capitalize() for name in names], "emotions", "Accuracy by emotion")


def _by_level(
    probes: Sequence[Probe], names: Sequence[str], heads: Sequence[str], name: str, title: str
) -> Table | None:
    able = [probe for probe in probes if all(level in probe.answers for level in names)]
    if not able:
        return None
    lines: list[tuple[Cell, ...]] = []
    for probe in able:
        values = [accuracy(probe, level) for level in (CONTROL, *names)]
        best = max(range(len(values)), key=lambda place: values[place])
        lines.append((probe.subject, *values, ("Control", *heads)[best]))
    columns = ("model", "Control", *heads, "best")
    return Table(name, title, columns, tuple(lines), units=dict.fromkeys(columns[1:-1], "share"))


def accuracy(probe: Probe, name: str) -> float:
    """The mean over all items of a condition."""
    values = probe.answers[name].values()
    return sum(values) / len(values)
