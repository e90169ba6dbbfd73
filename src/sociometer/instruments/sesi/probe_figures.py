"""The paper's figures of a probe: change by factor and model (Fig. 3), and the factors one by one (Fig. 4 a to d)."""

from collections.abc import Iterable, Sequence

from sociometer.core.measure import Figure
from sociometer.instruments.sesi.conditions import (
    CONTROL,
    PROMPT_TYPES,
    SECOND_PERSON,
    TRAITS,
    conditions,
    implied_gender,
    roles,
)
from sociometer.instruments.sesi.items import ABILITIES, FIGURES
from sociometer.instruments.sesi.probing import Probe, compare, factors_in, levels, ratio_interval, tested
from sociometer.statistics.chart_parts import ReferenceLine
from sociometer.statistics.charts import Dot, HeatCell, heat_map, interval_chart
from sociometer.statistics.intervals import clustered_mean_interval
from sociometer.statistics.paired import stars


def probe_figures(probes: Sequence[Probe], names: Sequence[str]) -> tuple[Figure, ...]:
    """Every figure whose conditions were played."""
    made = [
        _factors(probes, names),
        _changes(probes, names),
        _personality(probes),
        _gender(probes),
        _roles(probes, ["role"], "roles"),
        _person(probes),
        _emotion(probes),
        _intelligence(probes),
        _roles(probes, PROMPT_TYPES, "prompt-types"),
    ]
    return tuple(figure for figure in made if figure is not None)


def _factors(probes: Sequence[Probe], names: Sequence[str]) -> Figure | None:
    dots = []
    for probe in probes:
        played = [name for name in names if name in probe.answers]
        for factor in factors_in(played):
            mine = levels(played, factor)
            found = tested([probe], mine)
            shared = probe.shared(mine)
            own, mean = (sum(probe.values(names, shared)) for names in ([CONTROL], mine))
            if found is None or not own:
                continue
            bounds = ratio_interval(probe, mine)
            label = _label(factor, stars(found[0].p_value), probe, probes)
            dots.append(Dot(label, mean / own - 1, bounds.low, bounds.high, probe.subject))
    return _changed("factors", dots)


def _changes(probes: Sequence[Probe], names: Sequence[str]) -> Figure | None:
    dots = []
    for probe in probes:
        for change in compare(probe, [name for name in names if name in probe.answers]):
            bounds = ratio_interval(probe, [change.condition])
            note = "" if change.ratio is not None else "the control is 0: no ratio"
            label = _label(change.condition, change.stars, probe, probes)
            dots.append(Dot(label, change.ratio or 0.0, bounds.low, bounds.high, probe.subject, note))
    return _changed("changes", dots)


def _label(name: str, mark: str, probe: Probe, probes: Sequence[Probe]) -> str:
    """The row of a change: its name and stars, and the subject if there are several."""
    return f"{name}, {probe.subject} {mark}" if len(probes) > 1 else f"{name} {mark}"


def _changed(name: str, dots: Sequence[Dot]) -> Figure | None:
    if not dots:
        return None
    return FIGURES(name, chart=interval_chart(dots, title="change ratio", references=[ReferenceLine("control", 0.0)]))


def _dot(probe: Probe, panel: str, group: str, names: Sequence[str], ability: str = "") -> Dot | None:
    """The accuracy under some conditions, averaged item by item, of one ability or all; None if not played."""
    if not all(name in probe.answers for name in names) or not (shared := probe.shared(names, ability)):
        return None
    values = probe.values(names, shared)
    bounds = clustered_mean_interval(values, probe.labels(shared))
    label = f"{panel}, {probe.subject}" if panel else probe.subject
    return Dot(label, sum(values) / len(values), bounds.low, bounds.high, group)


def _probed(probes: Sequence[Probe], names: Iterable[str]) -> list[Probe]:
    """The subjects that were asked under one of these conditions, not under the control alone."""
    return [probe for probe in probes if (set(names) - {CONTROL}) & set(probe.answers)]


def _panels(name: str, found: Sequence[Dot | None]) -> Figure | None:
    dots = [dot for dot in found if dot is not None]
    # the control alone is no figure
    if {dot.group for dot in dots} <= {CONTROL}:
        return None
    return FIGURES(name, chart=interval_chart(dots, title="accuracy"))


def _personality(probes: Sequence[Probe]) -> Figure | None:
    dots = [
        _dot(probe, trait, level, [f"{trait}-{level}"])
        for trait in TRAITS
        for probe in probes
        for level in ("high", "low")
    ]
    return _panels("personality", dots)


def _gender(probes: Sequence[Probe]) -> Figure | None:
    kinds = ("male", "neutral", "female")
    dots = [_dot(probe, "stated", kind, [f"gender-{kind}"]) for probe in probes for kind in kinds]
    dots += [_dot(probe, "implied by roles", kind, implied_gender(kind)) for probe in probes for kind in kinds]
    return _panels("gender", dots)


def _roles(probes: Sequence[Probe], prompts: Sequence[str], name: str) -> Figure | None:
    """Every role under some types of prompt, as the change against the control; None unless all were played."""
    cells = [
        HeatCell(
            f"{role} ({conditions()[f'role-{role}'].role_class})",
            probe.subject if len(prompts) == 1 else prompt if len(probes) == 1 else f"{probe.subject}: {prompt}",
            100 * change.paired.difference,
            change.stars.replace("ns", ""),
        )
        for role in roles()
        for probe in probes
        for prompt in prompts
        if f"{prompt}-{role}" in probe.answers
        for change in compare(probe, [f"{prompt}-{role}"])
    ]
    if len({cell.row for cell in cells}) < len(roles()) or len({cell.column for cell in cells}) < len(prompts):
        return None
    return FIGURES(name, chart=heat_map(cells, title="points", unit="points", diverging=True))


def _person(probes: Sequence[Probe]) -> Figure | None:
    dots: list[Dot | None] = []
    for probe in probes:
        played = probe.answers.get(SECOND_PERSON)
        if not played:
            continue
        same = {item: value for item, value in probe.answers[CONTROL].items() if item in played}
        alike = Probe(probe.subject, {**probe.answers, CONTROL: same}, probe.abilities, probe.clusters)
        dots.append(_dot(alike, "", "second person", [SECOND_PERSON]))
        dots.append(_dot(alike, "", "third person", [CONTROL]))
    return _panels("person", dots)


def _emotion(probes: Sequence[Probe]) -> Figure | None:
    names = ("boredom", "normal", "anxiety", CONTROL)
    dots = [_dot(probe, "", name, [name]) for probe in _probed(probes, names) for name in names]
    return _panels("emotion", dots)


def _intelligence(probes: Sequence[Probe]) -> Figure | None:
    names = {"high": "intelligence-high", "low": "intelligence-low", CONTROL: CONTROL}
    dots = [
        _dot(probe, ability or "all abilities", level, [name], ability)
        for ability in ("", *ABILITIES)
        for probe in _probed(probes, names.values())
        for level, name in names.items()
    ]
    return _panels("intelligence", dots)
