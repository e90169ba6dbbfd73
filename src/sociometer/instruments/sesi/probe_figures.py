"""The paper's figures of a probe: change by factor and model (Fig. 3), and the factors one by one (Fig. 4 a to d)."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.core.measure import Figure
from sociometer.instruments.sesi.conditions import (
    CONTROL,
    PROMPT_TYPES,
    SECOND_PERSON,
    TRAITS,
    explicit_gender,
    implied_gender,
    role_class,
    roles,
)
from sociometer.instruments.sesi.items import ABILITIES
from sociometer.instruments.sesi.probing import Probe, compare, factors_in, levels, ratio_interval, tested
from sociometer.statistics.charts.heatmap import Cell, heat_map
from sociometer.statistics.charts.spec import Spec, inline, nominal, number_format, order_of, quantitative, shaped
from sociometer.statistics.contrast import stars
from sociometer.statistics.intervals import clustered_mean_interval


class ChangeBar(Struct, frozen=True):
    """The change of one condition (a ratio: 0.1 is an increase of ten percent), its interval and its stars."""

    condition: str
    change: float
    stars: str = ""
    low: float | None = None
    high: float | None = None
    group: str = ""
    note: str = ""


def change_bars(bars: Sequence[ChangeBar], *, title: str = "Change against the control") -> Spec:
    """A bar from zero for each condition; one chart for each group if there are several."""
    conditions, groups = order_of(bar.condition for bar in bars), order_of(bar.group for bar in bars)
    x = quantitative("change", title, "share")
    x["scale"] = {"zero": True, "nice": True}
    y = nominal("condition", conditions)
    tooltip = [
        {"field": "condition", "title": "condition"},
        {"field": "change", "title": "change", "format": "+.1%"},
        {"field": "stars", "title": "significance"},
        {"field": "note", "title": "note"},
    ]
    bar: Spec = {"type": "bar", "height": {"band": 0.6}, "cornerRadius": 2, "tooltip": True}
    up: list[Spec] = [{"filter": "datum.change >= 0"}]
    down: list[Spec] = [{"filter": "datum.change < 0"}]
    text: Spec = {"type": "text", "style": "ink", "fontSize": 11, "baseline": "middle"}
    stars: Spec = {"x": {**x, "field": "tip"}, "y": y, "text": {"field": "stars"}}
    layer: list[Spec] = [
        {"transform": up, "mark": {**bar, "style": "good"}, "encoding": {"x": x, "y": y, "tooltip": tooltip}},
        {"transform": down, "mark": {**bar, "style": "bad"}, "encoding": {"x": x, "y": y, "tooltip": tooltip}},
        {"transform": [*up, _tip("high")], "mark": {**text, "align": "left", "dx": 5}, "encoding": stars},
        {"transform": [*down, _tip("low")], "mark": {**text, "align": "right", "dx": -5}, "encoding": stars},
    ]
    if any(bar.low is not None for bar in bars):
        span = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}
        keep = [{"filter": "datum.low != null"}]
        layer.append({"transform": keep, "mark": {"type": "rule", "style": "whisker"}, "encoding": span})
    if len(groups) < 2:
        return {"data": inline(bars), "width": "container", "height": {"step": 24}, "layer": layer}
    return {
        "data": inline(bars),
        "transform": [{"window": [{"op": "row_number", "as": "place"}]}],
        "facet": {"field": "group", "type": "nominal", "sort": {"field": "place", "op": "min"}, "title": None},
        "columns": 2,
        "spec": {"width": 300, "height": {"step": 20}, "layer": layer},
    }


def _tip(end: str) -> Spec:
    """The position of the stars: after the whisker if there is one."""
    return {"calculate": f"datum.{end} == null ? datum.change : datum.{end}", "as": "tip"}


class PanelDot(Struct, frozen=True):
    """One value with its interval, in the panel and row it belongs to; colour and shape show its group."""

    panel: str
    label: str
    group: str
    value: float
    low: float | None = None
    high: float | None = None


def panel_chart(dots: Sequence[PanelDot], *, title: str = "", unit: str = "share", columns: int = 3) -> Spec:
    """Dots and whiskers in panels that share their axes, in the order in which they are given."""
    labels, groups = order_of(dot.label for dot in dots), order_of(dot.group for dot in dots)
    panels = order_of(dot.panel for dot in dots)
    bounds = [at for dot in dots for at in (dot.value, dot.low, dot.high) if at is not None]
    room = 0.05 * ((max(bounds) - min(bounds)) or 1)
    x = quantitative("value", title, unit, (min(bounds) - room, max(bounds) + room))
    x["axis"] = {**x["axis"], "tickCount": 4}
    y = nominal("label", labels)
    y["scale"]["paddingInner"] = 0.35
    shared: Spec = {"y": y, "yOffset": nominal("group", groups), "color": nominal("group", groups)}
    tooltip = [
        {"field": "panel", "title": "panel"},
        {"field": "label", "title": "group"},
        {"field": "group", "title": "level"},
        *({"field": end, "format": number_format(unit).replace("0%", "1%")} for end in ("value", "low", "high")),
    ]
    whisker: Spec = {
        "transform": [{"filter": "datum.low != null"}],
        "mark": {"type": "rule", "style": "whisker"},
        "encoding": {**shared, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
    }
    point: Spec = {
        "mark": {"type": "point", "tooltip": True},
        "encoding": {**shared, "x": x, "shape": shaped("group", groups), "tooltip": tooltip},
    }
    height = {"step": 13, "for": "offset"} if len(groups) > 1 else {"step": 24}
    layer = [*([whisker] if any(dot.low is not None for dot in dots) else []), point]
    if len(panels) == 1:
        return {"data": inline(dots), "width": "container", "height": height, "layer": layer}
    return {
        "data": inline(dots),
        "transform": [{"window": [{"op": "row_number", "as": "place"}]}],
        "facet": {"field": "panel", "type": "nominal", "sort": {"field": "place", "op": "min"}, "title": None},
        "columns": columns,
        "spec": {"width": 190, "height": height, "layer": layer},
    }


_STARS = "ns p > .05, * .05, ** .01, *** .001, **** .0001, uncorrected"


def probe_figures(probes: Sequence[Probe], names: Sequence[str]) -> tuple[Figure, ...]:
    """Every figure whose conditions were played."""
    made = [
        _factors(probes, names),
        _changes(probes, names),
        _personality(probes),
        _gender(probes),
        _roles(probes),
        _person(probes),
        _emotion(probes),
        _intelligence(probes),
        _prompt_types(probes),
    ]
    return tuple(figure for figure in made if figure is not None)


def _factors(probes: Sequence[Probe], names: Sequence[str]) -> Figure | None:
    bars = []
    for probe in probes:
        played = [name for name in names if name in probe.answers]
        for factor in factors_in(played):
            mine = levels(played, factor)
            found = tested([probe], mine)
            control = probe.answers[CONTROL]
            shared = [item for item in control if all(item in probe.answers[name] for name in mine)]
            own = sum(control[item] for item in shared)
            if found is None or not own:
                continue
            mean = sum(probe.answers[name][item] for name in mine for item in shared) / len(mine)
            bounds = ratio_interval(probe, mine)
            mark = stars(found[0].p_value)
            bars.append(ChangeBar(factor, mean / own - 1, mark, bounds.low, bounds.high, probe.subject))
    caption = (
        "Fig. 3: change ratio against the control, mean over the levels of a factor with its 95 % interval. Stars: "
        f"Cochran's Q over all levels, which finds levels that differ even if their mean does not; {_STARS}."
    )
    if not bars:
        return None
    return Figure("factors", "Change by factor", caption, chart=change_bars(bars, title="change ratio"))


def _changes(probes: Sequence[Probe], names: Sequence[str]) -> Figure:
    bars = []
    for probe in probes:
        for change in compare(probe, [name for name in names if name in probe.answers]):
            bounds = ratio_interval(probe, [change.condition])
            note = "" if change.ratio is not None else "the control is 0: no ratio"
            bars.append(
                ChangeBar(
                    change.condition, change.ratio or 0.0, change.stars, bounds.low, bounds.high, probe.subject, note
                )
            )
    caption = f"Change ratio of each condition against the control, with its 95 % interval; {_STARS}."
    return Figure("changes", "Change under each condition", caption, chart=change_bars(bars, title="change ratio"))


def _dot(probe: Probe, panel: str, group: str, names: Sequence[str], ability: str = "") -> PanelDot | None:
    """The accuracy under some conditions, averaged item by item, of one ability or all; None if not played."""
    if not all(name in probe.answers for name in names):
        return None
    shared = [item for item in probe.answers[names[0]] if all(item in probe.answers[name] for name in names)]
    shared = [item for item in shared if not ability or probe.abilities[item] == ability]
    if not shared:
        return None
    values = [sum(probe.answers[name][item] for name in names) / len(names) for item in shared]
    bounds = clustered_mean_interval(values, [probe.clusters[item] for item in shared])
    return PanelDot(panel, probe.subject, group, sum(values) / len(values), bounds.low, bounds.high)


def _panels(name: str, title: str, caption: str, found: Sequence[PanelDot | None]) -> Figure | None:
    dots = [dot for dot in found if dot is not None]
    # the control alone is no figure
    if {dot.group for dot in dots} <= {CONTROL}:
        return None
    return Figure(name, title, caption, chart=panel_chart(dots, title="accuracy"))


def _personality(probes: Sequence[Probe]) -> Figure | None:
    dots = [
        _dot(probe, trait, level, [f"{trait}-{level}"])
        for trait in TRAITS
        for probe in probes
        for level in ("high", "low")
    ]
    caption = "Fig. 4a: accuracy with high and low levels of each trait, with 95 % intervals."
    return _panels("personality", "Personality", caption, dots)


def _gender(probes: Sequence[Probe]) -> Figure | None:
    kinds = ("male", "neutral", "female")
    dots = [
        _dot(probe, "stated", kind, [name])
        for probe in probes
        for kind, name in zip(kinds, explicit_gender(), strict=True)
    ]
    dots += [_dot(probe, "implied by roles", kind, implied_gender(kind)) for probe in probes for kind in kinds]
    caption = "Fig. 4b: accuracy by gender, stated or implied by roles (mean over the roles), with 95 % intervals."
    return _panels("gender", "Gender", caption, dots)


def _roles(probes: Sequence[Probe]) -> Figure | None:
    cells = [
        Cell(
            f"{role} ({role_class(role)})",
            probe.subject,
            100 * change.paired.difference,
            change.stars.replace("ns", ""),
        )
        for role in roles()
        for probe in probes
        if f"role-{role}" in probe.answers
        for change in compare(probe, [f"role-{role}"])
    ]
    caption = f"Fig. 4c: change of accuracy against the control with each role, in points; {_STARS}."
    if len({cell.row for cell in cells}) < len(roles()):
        return None
    return Figure("roles", "Roles", caption, chart=heat_map(cells, title="points", unit="points", diverging=True))


def _person(probes: Sequence[Probe]) -> Figure | None:
    dots: list[PanelDot | None] = []
    for probe in probes:
        played = probe.answers.get(SECOND_PERSON)
        if not played:
            continue
        same = {item: value for item, value in probe.answers[CONTROL].items() if item in played}
        alike = Probe(probe.subject, probe.family, {**probe.answers, CONTROL: same}, probe.abilities, probe.clusters)
        dots.append(_dot(alike, "person", "second person", [SECOND_PERSON]))
        dots.append(_dot(alike, "person", "third person", [CONTROL]))
    caption = "Fig. 4d: accuracy in the second and the third person, on the same items, with 95 % intervals."
    return _panels("person", "Person", caption, dots)


def _emotion(probes: Sequence[Probe]) -> Figure | None:
    names = ("boredom", "normal", "anxiety", CONTROL)
    dots = [_dot(probe, "emotion", name, [name]) for probe in probes for name in names]
    return _panels("emotion", "Emotion", "Accuracy by emotion, with 95 % intervals.", dots)


def _intelligence(probes: Sequence[Probe]) -> Figure | None:
    names = {"high": "intelligence-high", "low": "intelligence-low", CONTROL: CONTROL}
    dots = [
        _dot(probe, ability or "all abilities", level, [name], ability)
        for ability in ("", *ABILITIES)
        for probe in probes
        for level, name in names.items()
    ]
    caption = (
        "Extended Data Fig. 2: accuracy with a stated level of social intelligence, overall and by ability, with 95 % "
        "intervals."
    )
    return _panels("intelligence", "Stated social intelligence", caption, dots)


def _prompt_types(probes: Sequence[Probe]) -> Figure | None:
    """Every role under every type of prompt, as the change against the control."""
    cells = [
        Cell(
            f"{role} ({role_class(role)})",
            f"{probe.subject}: {prompt}" if len(probes) > 1 else prompt,
            100 * change.paired.difference,
            change.stars.replace("ns", ""),
        )
        for role in roles()
        for probe in probes
        for prompt in PROMPT_TYPES
        if f"{prompt}-{role}" in probe.answers
        for change in compare(probe, [f"{prompt}-{role}"])
    ]
    if len({cell.column for cell in cells}) < len(PROMPT_TYPES):
        return None
    caption = (
        "Extended Data Fig. 3: change of accuracy against the control with each role and type of prompt, in points; "
        f"{_STARS}."
    )
    chart = heat_map(cells, title="points", unit="points", diverging=True)
    return Figure("prompt-types", "Types of role prompts", caption, chart=chart)
