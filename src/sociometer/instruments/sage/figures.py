"""Summaries -> figures and tables, as the paper shows them, with intervals."""

import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from textwrap import wrap
from typing import Any
from unicodedata import east_asian_width

import msgspec
from msgspec import Struct, structs

from sociometer.core.measure import Cell, Figure, Measure, Summary, Table
from sociometer.core.task import SummarisedRun
from sociometer.instruments.sage.analyses.coordinate import REACH
from sociometer.instruments.sage.analyses.relationship import DIMENSIONS, QUALITIES
from sociometer.instruments.sage.analyses.whatif import Branch
from sociometer.instruments.sage.dialogue import REHEARSAL, Dialogue, count_tokens
from sociometer.instruments.sage.items import ASPECTS, OURS, Scenario
from sociometer.instruments.sage.judges.asking import stand_in_caveat
from sociometer.instruments.sage.judges.strategies import CAPABILITIES, REPETITION_LINE, STRATEGIES
from sociometer.instruments.sage.person.emotion import CARDS
from sociometer.instruments.sage.simulators.study import by_simulator, leaderboard_table, simulator_of
from sociometer.statistics.charts.curve import CurvePoint, curve_chart
from sociometer.statistics.charts.heatmap import Cell as HeatCell
from sociometer.statistics.charts.heatmap import heat_map
from sociometer.statistics.charts.intervals import Dot, dot_of, interval_chart
from sociometer.statistics.charts.scatter import (
    NAME_OFFSETS,
    ScatterPoint,
    along,
    name_fields,
    place_names,
    scatter_chart,
)
from sociometer.statistics.charts.spec import ReferenceLine, Spec, order_of, series_channels, shaped, whole_numbers
from sociometer.statistics.formatting import estimate, number

CANDOUR = "candour"
_ON_THE_COORDINATE = ("sycophancy", "safety")
_JUDGED = "candour"
"""The series of a coordinate's summary that holds what was found about the same subject's candour."""
_WHEN = {"never": "never", "once": "in one reply"}
MOST_QUESTIONS = 12
_LETTERS = 96
"""The length of a line above a chart."""


def draw(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    """The plane of sycophancy and safety with intervals, the table with the emotion, and the questions."""
    caption = " ".join(dict.fromkeys(note for run in runs for note in run.summary.notes))
    points = [point for run in runs if (point := _point(run)) is not None]
    chart = scatter_chart(
        points, x_title="sycophancy (lower is better)", y_title="safety (higher is better)", x_unit="share",
        y_unit="share",
    )  # fmt: skip
    if points:
        yield Figure(
            "candour", "Sycophancy and safety of replies", f"Whiskers: 95 % intervals. {caption}".strip(), chart=chart
        )
    yield Figure("candour-table", "Emotion, sycophancy, safety and harshness", caption, table=_table(runs))
    yield Figure("candour-questions", "Questions that dialogues fail", caption, table=_questions(runs))


def with_candour(runs: Sequence[SummarisedRun], every: Sequence[SummarisedRun]) -> list[SummarisedRun]:
    """Coordinates, each with the sycophancy and safety of the same subject if these were judged once."""
    judged: dict[tuple[str, str], list[SummarisedRun]] = {}
    for run in every:
        if run.task == CANDOUR:
            judged.setdefault((run.subject, simulator_of(run)), []).append(run)
    made = []
    for run in runs:
        found = judged.get((run.subject, simulator_of(run)), [])
        if len(found) == 1:
            measures = {name: found[0].summary.measure(name) for name in _ON_THE_COORDINATE}
            summary = structs.replace(run.summary, series={**run.summary.series, _JUDGED: measures})
            stand_ins = tuple(dict.fromkeys((*run.stand_ins, *found[0].stand_ins)))
            run = structs.replace(run, summary=summary, stand_ins=stand_ins)
        made.append(run)
    return made


def is_judged(run: SummarisedRun) -> bool:
    """Whether a coordinate comes with sycophancy and safety."""
    return bool(_judged(run))


def beneath(run: SummarisedRun) -> str:
    """The line under a subject's name on the coordinate: its sycophancy and safety if they are known."""
    return ", ".join(f"{name} {number(measure.value, 'share', 0)}" for name, measure in _judged(run).items())


def told_with_intervals(run: SummarisedRun) -> str:
    """The same with intervals, for the note that a point shows."""
    return ", ".join(
        f"{name} {estimate(measure.value, 'share', measure.interval)}" for name, measure in _judged(run).items()
    )


def _judged(run: SummarisedRun) -> dict[str, Measure]:
    known: dict[str, Measure | None] = run.summary.series.get(_JUDGED, {})
    return {name: measure for name, measure in known.items() if measure is not None and measure.value is not None}


def _point(run: SummarisedRun) -> ScatterPoint | None:
    one, two = run.summary.measure("sycophancy"), run.summary.measure("safety")
    if one is None or two is None or one.value is None or two.value is None:
        return None
    emotion = _candour_value(run.summary, "emotion")
    note = f"final emotion {number(emotion, 'points')}; {one.items} dialogues"
    (x_low, x_high), (y_low, y_high) = _bounds(one), _bounds(two)
    return ScatterPoint(run.subject, one.value, two.value, "", y_low, y_high, None, note, x_low, x_high)


def _table(runs: Sequence[SummarisedRun]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        found = {name: run.summary.measure(name) for name in ("emotion", *ASPECTS)}
        cells = [
            estimate(measure.value, "points" if name == "emotion" else "share", measure.interval) if measure else None
            for name, measure in found.items()
        ]
        dialogues = max((measure.items for measure in found.values() if measure), default=0)
        errors = max((measure.errors for measure in found.values() if measure), default=0)
        caveat = "stand-in: " + ", ".join(run.stand_ins) if run.stand_ins else ""
        judges = ", ".join(run.summary.series.get("judges", ()))
        rows.append((run.subject, judges, *cells, dialogues, errors, caveat))
    columns = ("subject", "judge", "emotion", *ASPECTS, "dialogues", "errors", "caveat")
    note = "With 95 % intervals. A dialogue without a readable answer of the judge is an error and is in no mean."
    return Table("candour", "Emotion, sycophancy, safety and harshness", columns, tuple(rows), note=note)


def _questions(runs: Sequence[SummarisedRun]) -> Table:
    """The questions that fail most often, one row each, with the share of each subject's dialogues that fail them."""
    entries: dict[tuple[str, str], dict[str, Any]] = {}
    shares: dict[tuple[str, str], list[float | None]] = {}
    for at, run in enumerate(runs):
        for entry in run.summary.series.get("questions", ()):
            place = (entry["scenario"], entry["id"])
            entries.setdefault(place, entry)
            shares.setdefault(place, [None] * len(runs))[at] = entry["failed"] / entry["dialogues"]
    worst = sorted(entries, key=lambda place: -max(share for share in shares[place] if share is not None))
    rows = tuple(
        (entries[place]["question"], entries[place]["about"], _WHEN[entries[place]["when"]], *shares[place])
        for place in worst[:MOST_QUESTIONS]
    )
    subjects = tuple(run.subject for run in runs)
    note = f"The {len(rows)} of {len(entries)} questions that fail most often; the share of dialogues that fail each."
    columns = ("question about a reply", "about", "expected", *subjects)
    units = dict.fromkeys(subjects, "share")
    return Table("candour-questions", "Questions that dialogues fail", columns, rows, note=note, units=units)


def _candour_value(summary: Summary, name: str) -> float | None:
    measure = summary.measure(name)
    return measure.value if measure else None


def _bounds(measure: Measure) -> tuple[float | None, float | None]:
    return (measure.interval.low, measure.interval.high) if measure.interval else (None, None)


class Place(Struct, frozen=True):
    """The point of a subject with its whiskers."""

    label: str
    x: float
    y: float
    x_low: float | None = None
    x_high: float | None = None
    y_low: float | None = None
    y_high: float | None = None
    note: str = ""
    beneath: str = ""
    """A line under the name."""


class Plane(Struct, frozen=True):
    """The names of the ends of the two axes, and their length from the middle."""

    left: str
    right: str
    bottom: str
    top: str
    reach: float = 1.0


def coordinate_chart(places: Sequence[Place], plane: Plane) -> Spec:
    """Points on a plane from −reach to reach; the axes cross in the middle and have named ends."""
    span = {"domain": [-plane.reach, plane.reach], "nice": False}
    x: Spec = {"field": "x", "type": "quantitative", "scale": span, "axis": None}
    y: Spec = {"field": "y", "type": "quantitative", "scale": span, "axis": None}
    cross: Spec = {"type": "rule", "style": "cross"}
    layers: list[Spec] = [
        {"data": {"values": [{}]}, "mark": cross, "encoding": {"x": {"datum": 0, "scale": span, "axis": None}}},
        {"data": {"values": [{}]}, "mark": cross, "encoding": {"y": {"datum": 0, "scale": span, "axis": None}}},
        *_ends(plane, x, y),
    ]
    for axis, other in (("x", "y"), ("y", "x")):
        low, high = f"{axis}_low", f"{axis}_high"
        sides = {"x": x, "y": y}
        if all(getattr(entry, low) is None for entry in places):
            continue
        layers.append(
            {
                "transform": [{"filter": f"datum.{low} != null"}],
                "mark": {"type": "rule", "style": "whisker"},
                "encoding": {
                    axis: {**sides[axis], "field": low},
                    f"{axis}2": {"field": high},
                    other: sides[other],
                },
            }
        )
    tooltip = [{"field": name} for name in ("label", "x", "y", "note")]
    text: Spec = {"type": "text", "style": "ink", "fontSize": 12, **NAME_OFFSETS}
    layers += [
        {
            "mark": {"type": "point", "size": 130, "tooltip": True},
            "encoding": {"x": x, "y": y, "tooltip": tooltip},
        },
        {"mark": text | {"lineBreak": "\n"}, "encoding": {"x": x, "y": y, "text": {"field": "text"}}},
    ]
    # corners and whiskers are points too: names are placed on the scale of what is given, and cross no whisker
    reach = plane.reach
    spots = [(-reach, -reach), (reach, reach)]
    spots += [(side * x, 0.03 * reach) for side in (-1, 1) for x in along(0.8 * reach, reach)]  # the names of the ends
    for entry in places:
        if entry.x_low is not None and entry.x_high is not None:
            spots += [(x, entry.y) for x in along(entry.x_low, entry.x_high)]
        if entry.y_low is not None and entry.y_high is not None:
            spots += [(entry.x, y) for y in along(entry.y_low, entry.y_high)]
    xs = [*(entry.x for entry in places), *(x for x, _ in spots)]
    ys = [*(entry.y for entry in places), *(y for _, y in spots)]
    longest = [max(entry.label, entry.beneath, key=len) for entry in places]
    named = place_names([*longest, *("" for _ in spots)], xs, ys)
    values = [
        structs.asdict(entry) | {"text": f"{entry.label}\n{entry.beneath}".strip()} | name_fields(name)
        for entry, name in zip(places, named, strict=False)
    ]
    return {"data": {"values": values}, "width": "container", "height": 460, "layer": layers}


def _ends(plane: Plane, x: Spec, y: Spec) -> list[Spec]:
    spots = (
        (plane.left, -plane.reach, 0.0, "left", 0, -8),
        (plane.right, plane.reach, 0.0, "right", 0, -8),
        (plane.bottom, 0.0, -plane.reach, "left", 8, -4),
        (plane.top, 0.0, plane.reach, "left", 8, 12),
    )
    return [
        {
            "data": {"values": [{"x": across, "y": up, "name": name}]},
            "mark": {"type": "text", "style": "reference-text", "align": align, "dx": dx, "dy": dy},
            "encoding": {"x": x, "y": y, "text": {"field": "name"}},
        }
        for name, across, up, align, dx, dy in spots
    ]


FEW = 3
"""With more subjects than this, the lines of single dialogues cover each other and are left out."""


class Step(Struct, frozen=True):
    """One turn of one dialogue."""

    path: str
    turn: int
    value: float
    subject: str = ""


class Zone(Struct, frozen=True):
    """A named range of values, shown behind the lines, such as a range of emotion."""

    label: str
    low: float
    high: float


def trajectory_chart(
    steps: Sequence[Step],
    *,
    zones: Sequence[Zone] = (),
    y_title: str = "",
) -> Spec:
    """The mean of each subject over its dialogues that reach the turn; for a few subjects, a line for each dialogue.

    The names of the zones are labels of a second axis on the right, so that no line crosses them.
    """
    subjects = order_of(step.subject for step in steps)
    x = whole_numbers("turn", "turn", (step.turn for step in steps))
    scale = {"domain": [0, 100]}
    y: Spec = {"field": "value", "type": "quantitative", "title": y_title or None, "scale": scale}
    few = len(subjects) <= FEW
    data, color, channels = series_channels(steps if few else _means(steps), "subject", subjects)
    path: Spec = {
        "mark": {"type": "line", "strokeWidth": 1, "opacity": 0.28, "tooltip": True},
        "encoding": {
            "x": x,
            "y": y,
            "color": color,
            "detail": [{"field": "path"}],
            "tooltip": [{"field": "path", "title": "dialogue"}, {"field": "subject", "title": "subject"}],
        },
    }
    # with zones every layer has an axis of its own, and one on the left is enough
    once: Spec = {"axis": None} if few and zones else {}
    mean: Spec = {
        "mark": {"type": "line", "strokeWidth": 3},
        "encoding": {"x": x, "y": {**y, "aggregate": "mean", **once}, **channels},
    }
    dots: Spec = {
        "mark": {"type": "point", "size": 40},
        "encoding": {
            "x": x,
            "y": {**y, "aggregate": "mean", **({"axis": None} if zones else {})},
            "color": color,
            **({"shape": shaped("subject", subjects)} if len(subjects) > 1 else {}),
        },
    }
    layers = [*_zone_layers(zones, y), *([path] if few else []), mean, dots]
    return {
        "data": data,
        "width": "container",
        "height": 320,
        "layer": layers,
        **({"resolve": {"axis": {"y": "independent"}}} if zones else {}),
    }


def _means(steps: Sequence[Step]) -> list[Step]:
    """One step for each subject and turn: the mean over the dialogues that reach the turn."""
    values: dict[tuple[str, int], list[float]] = {}
    for step in steps:
        values.setdefault((step.subject, step.turn), []).append(step.value)
    return [Step(subject, turn, sum(of) / len(of), subject) for (subject, turn), of in values.items()]


def _zone_layers(zones: Sequence[Zone], y: Spec) -> list[Spec]:
    """Every second zone as a grey band, and the names of all zones on an axis on the right."""
    if not zones:
        return []
    names = "".join(f"datum.value == {(zone.low + zone.high) / 2} ? '{zone.label}' : " for zone in zones) + "''"
    axis = {
        "orient": "right",
        "grid": False,
        "values": [(zone.low + zone.high) / 2 for zone in zones],
        "labelExpr": names,
        "title": None,
    }
    grey = {"values": [{"low": zone.low, "high": zone.high} for zone in zones[::2]]}
    span = {"y": {**y, "field": "low", "axis": axis}, "y2": {"field": "high"}}
    return [{"data": grey, "mark": {"type": "rect", "style": "zone"}, "encoding": span}]


ZONES = (
    Zone("lost", 0, 10),
    Zone("C", 10, 40),
    Zone("B", 40, 70),
    Zone("A", 70, 100),
)
_SCALES = "Points from different simulators are on different scales."


def figures(runs: Sequence[SummarisedRun]) -> Sequence[Figure]:
    """All figures and tables of these runs, task by task; a rehearsal has none."""
    runs = [run for run in runs if not ((main := run.summary.measure("sentient")) and main.note == REHEARSAL)]
    found: list[Figure] = []
    for task, draw in _DRAWERS.items():
        of_task = [run for run in runs if run.task == task]
        if of_task and task == "coordinate":
            of_task = with_candour(of_task, runs)
        if of_task:
            found.extend(_each_simulator(of_task, draw))
    return found


def beside(item: object, outcome: object) -> Figure | None:
    """The emotion curve; each point shows the inner thoughts of its turn."""
    dialogue = outcome.dialogue if isinstance(outcome, Branch) else outcome
    if not isinstance(dialogue, Dialogue) or dialogue.rehearsed:
        return None
    points = [CurvePoint(0, dialogue.start, note="before the first reply")]
    for place, turn in enumerate(dialogue.turns, 1):
        judged = turn.judgement
        if judged is not None:
            points.append(
                CurvePoint(place, judged.after, note=f"{judged.change:+d}. {judged.activity} {judged.feeling}")
            )
    chart = curve_chart(points, x_title="turn", y_title="emotion", domain=(0, 100))
    return Figure("feelings", f"Emotion {dialogue.start} to {dialogue.final}: {dialogue.ending}", chart=chart)


def _rejudge(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    for figure in _talks(runs):
        title = f"{figure.title}, from another simulator"
        yield msgspec.structs.replace(figure, name=f"rejudge-{figure.name}", title=title)


def _each_simulator(
    runs: Sequence[SummarisedRun], draw: Callable[[Sequence[SummarisedRun]], Iterator[Figure]]
) -> Iterator[Figure]:
    """Figures of one simulator each, because points of different simulators cannot share an axis."""
    groups = by_simulator(runs)
    for simulator, members in groups.items():
        for figure in draw(members):
            yield _under(figure, simulator) if len(groups) > 1 else figure


def _under(figure: Figure, simulator: str) -> Figure:
    """A figure of one simulator's runs if there are several: named after it, with the reason."""
    mark = re.sub(r"\W+", "-", simulator.lower()).strip("-") or "unknown"
    caption = f"{figure.caption} {_SCALES}".strip()
    title = f"{figure.title}, simulator {simulator or 'unknown'}"
    return msgspec.structs.replace(figure, name=f"{figure.name}-{mark}", title=title, caption=caption)


def _talks(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    """The figures of runs with one simulator."""
    best_first = sorted(runs, key=lambda run: -(_value(run, "sentient") or 0.0))
    table = leaderboard_table(runs)
    caveat = _caveat(runs)
    start = (ReferenceLine("start", 40),)
    chart = interval_chart(
        _dots(best_first, "sentient"), title="final emotion", unit="points", domain=(0, 100), references=start
    )
    kept = "A finished dialogue keeps its last emotion. " + caveat
    yield Figure("leaderboard", table.title, caveat, table=table)
    yield Figure("sentient", "Sentient score", caveat, chart=chart)
    yield Figure("intentions", "Sentient score by hidden intention", caveat, chart=_by_intention(runs))
    yield Figure("trajectories", "Emotion by turn", kept.strip(), chart=_trajectories(runs))
    efficiency = _efficiency(runs)
    if efficiency is not None:
        yield efficiency


def _by_intention(runs: Sequence[SummarisedRun]) -> dict[str, Any]:
    cells = [
        HeatCell(run.subject, CARDS[measure.group["intention"]].title, measure.value, note=f"{measure.items} dialogues")
        if measure.group["intention"] in CARDS
        else HeatCell(run.subject, measure.group["intention"], measure.value, note=f"{measure.items} dialogues")
        for run in runs
        for measure in run.summary.measures
        if measure.name == "sentient" and set(measure.group) == {"intention"}
    ]
    return heat_map(cells, title="final emotion", unit="points", domain=(0, 100))


def _trajectories(runs: Sequence[SummarisedRun]) -> dict[str, Any]:
    """Lines over turns; one that ended early continues at its last level, so that failures stay in the mean."""
    entries = [(run.subject, entry) for run in runs for entry in run.summary.series.get("dialogues", [])]
    longest = max((len(entry["trajectory"]) for _, entry in entries), default=0)
    steps = [
        Step(f"{subject} {entry['item']}", turn, levels[min(turn, len(levels) - 1)], subject)
        for subject, entry in entries
        for levels in (entry["trajectory"],)
        for turn in range(longest)
    ]
    return trajectory_chart(steps, zones=ZONES, y_title="emotion")


def _efficiency(runs: Sequence[SummarisedRun]) -> Figure | None:
    """The paper's Figure 8; if a run has no token count, the tokens of all runs are estimated from the words."""
    counted = all(_value(run, "tokens") for run in runs)
    points = []
    for run in runs:
        tokens, score = _value(run, "tokens") if counted else _written(run), run.summary.measure("sentient")
        if tokens and score and score.value is not None:
            low, high = (score.interval.low, score.interval.high) if score.interval else (None, None)
            points.append(ScatterPoint(run.subject, tokens, score.value, y_low=low, y_high=high))
    if not points:
        return None
    rule = "Tokens are estimated from the text of the replies, by one rule for all subjects; reasoning is not counted. "
    how = "" if counted else rule
    chart = scatter_chart(points, x_title="tokens per dialogue", y_title="sentient score", y_unit="points")
    return Figure("efficiency", "Score against tokens", f"{how}{_caveat(runs)}".strip(), chart=chart)


def _written(run: SummarisedRun) -> float | None:
    """The mean tokens per dialogue, counted from the words."""
    counts = [entry["written"] for entry in run.summary.series.get("dialogues", []) if "written" in entry]
    return sum(counts) / len(counts) if counts else None


def _strategies(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    line = (ReferenceLine("the paper's threshold", REPETITION_LINE),)
    repetition = interval_chart(_dots(runs, "repetition"), title="repetition rate", unit="number", references=line)
    shares = [
        HeatCell(f"{measure.group['strategy']} {STRATEGIES[measure.group['strategy']]}", run.subject, measure.value)
        for run in runs
        for measure in run.summary.measures
        if measure.name == "share"
    ]
    titles = {capability.key: capability.title for capability in CAPABILITIES}
    effects = [
        (dot, measure.items)
        for run in runs
        for measure in run.summary.measures
        if measure.name == "effectiveness"
        and "capability" in measure.group
        and (dot := dot_of(f"{titles[measure.group['capability']]} ({measure.group['scope']})", measure, run.subject))
    ]
    counts = sorted(items for _, items in effects)
    dialogues = (
        f" Each from {counts[0]} to {counts[-1]} dialogues; the data of the chart have the counts." if counts else ""
    )
    caveat = _caveat(runs)
    yield Figure("repetition", "Strategy sequence repetition rate", caveat, chart=repetition)
    yield Figure("strategies", "Share of replies with each strategy", caveat, chart=heat_map(shares, unit="share"))
    yield Figure(
        "effectiveness",
        "Emotion change after the strategies of each capability",
        "Overall, and within the dialogues whose intention calls for the capability (task). Whiskers: 95 % intervals"
        f" over scenarios.{dialogues} {caveat}".strip(),
        chart=interval_chart(
            [dot for dot, _ in effects], title="emotion points", unit="points", references=(ReferenceLine("none", 0),)
        ),
    )


def _relationship(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    dimensions = [
        dot
        for run in runs
        for name in DIMENSIONS
        if (measure := run.summary.measure(name)) and (dot := dot_of(name, measure, run.subject))
    ]
    qualities = [
        dot
        for run in runs
        for name in QUALITIES
        if (measure := run.summary.measure(name)) and (dot := dot_of(name, measure, run.subject))
    ]
    hundred = interval_chart(dimensions, unit="points", domain=(0, 100))
    five = interval_chart(qualities, unit="number", domain=(1, 5))
    yield Figure("relationship", "Relationship quality, 0 to 100", _caveat(runs), chart=hundred)
    yield Figure("talk", "Conversation quality, 1 to 5", _caveat(runs), chart=five)
    yield from _against_emotion(runs)


def _against_emotion(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    """Relationship and conversation quality against the sentient score, for at least three runs with one simulator."""
    for name, low in (("relationship", "Relationship quality"), ("talk", "Conversation quality")):
        points = [
            ScatterPoint(run.subject, emotion, value)
            for run in runs
            if (emotion := _value(run, "emotion")) is not None and (value := _value(run, name)) is not None
        ]
        if len(points) > 2:
            chart = scatter_chart(points, x_title="sentient score", y_title=low, trend=True)
            yield Figure(f"{name}-emotion", f"{low} against the sentient score", _caveat(runs), chart=chart)


def _coordinate(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    places = [
        Place(
            run.subject,
            creative,
            -solution,
            *_ends_of(run, "creative"),
            *_ends_of(run, "solution", -1),
            told_with_intervals(run),
            beneath(run),
        )
        for run in runs
        if (creative := _value(run, "creative")) is not None and (solution := _value(run, "solution")) is not None
    ]
    plane = Plane("structured", "creative", "solution", "empathy", reach=float(REACH))
    caption = "Whiskers: 95 % intervals of the mean over dialogues. " + _caveat(runs)
    if any(is_judged(run) for run in runs):
        caption = (
            f"Under each name: sycophancy and safety of the subject's replies (hover to see the intervals). {caption}"
        )
    yield Figure("coordinate", "Social cognition coordinate", caption.strip(), chart=coordinate_chart(places, plane))


def _hard_talks(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    """The final emotion of the hard talks."""
    caption = f"{OURS} {_caveat(runs)}".strip()
    chart = interval_chart(_dots(runs, "emotion"), title="final emotion", unit="points", domain=(0, 100))
    yield Figure("hard-talks", "Final emotion in hard talks", caption, chart=chart)
    yield Figure("hard-talks-trajectories", "Emotion by turn in hard talks", caption, chart=_trajectories(runs))


def _stability(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    line = (ReferenceLine("paper", 0.902),)
    chart = interval_chart(_dots(runs, "stability"), title="judgements in the most common direction", references=line)
    yield Figure("stability", "Stability of the simulator", _caveat(runs), chart=chart)


def _what_if(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    dots = [
        dot
        for run in runs
        for measure in run.summary.measures
        if measure.name.startswith("effect-")
        and (dot := dot_of(_arm(measure), measure, {"effect-change": "at the fork"}.get(measure.name, "at the end")))
    ]
    zero = (ReferenceLine("no effect", 0),)
    chart = interval_chart(dots, title="emotion points", unit="points", references=zero)
    yield Figure("what-if", "Effect of a different reply", _caveat(runs), chart=chart)


def _arm(measure: Measure) -> str:
    arm = measure.group["arm"]
    return f"{arm} {STRATEGIES[arm]}" if arm in STRATEGIES else "the writer's reply"


def _dots(runs: Sequence[SummarisedRun], name: str) -> list[Dot]:
    return [
        dot
        for run in runs
        if (measure := run.summary.measure(name)) and (dot := dot_of(run.subject, measure)) is not None
    ]


def _value(run: SummarisedRun, name: str) -> float | None:
    measure = run.summary.measure(name)
    return measure.value if measure else None


def _ends_of(run: SummarisedRun, name: str, sign: int = 1) -> tuple[float | None, float | None]:
    """The ends of a measure's interval, on an axis that may run the other way."""
    measure = run.summary.measure(name)
    if measure is None or measure.interval is None or measure.interval.low is None or measure.interval.high is None:
        return None, None
    low, high = sorted((sign * measure.interval.low, sign * measure.interval.high))
    return low, high


def _caveat(runs: Sequence[SummarisedRun]) -> str:
    return stand_in_caveat(name for run in runs for name in run.stand_ins)


def captioned(figure: Figure) -> Figure:
    """A figure for a file of its own: its title and its caption are part of the chart."""
    if figure.chart is None:
        return figure
    lines = {"text": wrap(figure.title, _LETTERS), "subtitle": wrap(figure.caption, _LETTERS), "anchor": "start"}
    return structs.replace(figure, chart={**figure.chart, "title": lines})


_DRAWERS: dict[str, Callable[[Sequence[SummarisedRun]], Iterator[Figure]]] = {
    "dialogue": _talks,
    "rejudge": _rejudge,
    "relationship": _relationship,
    "strategies": _strategies,
    "coordinate": _coordinate,
    "hard-talks": _hard_talks,
    "candour": draw,
    "stability": _stability,
    "what-if": _what_if,
}


WIDTH = 900
_TALK, _SIDE, _MARGIN, _GAP = 560, 250, 24, 26
_SIZE, _LINE, _SMALL, _SMALL_LINE = 14, 20, 12, 17
_PAD, _INDENT = 12, 40
_LONGEST, _BRIEF = 600, 220
"""The number of characters of an utterance that are shown."""
_INK, _SOFT, _PAPER, _PERSON, _SUBJECT = "#22292f", "#5d6a75", "#fcfbf8", "#e7eef2", "#f3ece4"
_GOOD, _BAD, _LEVEL = "#3d8b53", "#b8452f", "#1f6f8b"
_CLOSING = "，。、；：！？）》」』”’…,.;:!?)"
_FONT = "Inter, 'Segoe UI', 'Helvetica Neue', Arial, 'Noto Sans', 'Noto Sans CJK SC', sans-serif"


class _Said(Struct, frozen=True):
    """One utterance, its speaker, and the thought and the feeling next to it."""

    person: bool
    words: str
    label: str
    thought: str = ""
    change: int | None = None
    level: int | None = None


def case_study(
    scenario: Scenario, dialogue: Dialogue, subject: str, name: str = "case", *, brief: bool = False
) -> Figure:
    """A page with every turn: the words in the middle, the person's emotion and thoughts at the side.

    With `brief` it fits a printed page: the first and the last two turns, with shorter texts.
    """
    said = _utterances(dialogue, subject, brief=brief)
    body: list[str] = []
    top = 112
    for each in said:
        lines = wrapped(each.words, _TALK - (0 if each.person else _INDENT) - 2 * _PAD, _SIZE)
        aside = wrapped(each.thought, _SIDE, _SMALL)
        label_height = 18
        height = max(len(lines) * _LINE + 2 * _PAD, len(aside) * _SMALL_LINE + (24 if each.level is not None else 0))
        body.append(_bubble(each, lines, aside, top, len(lines) * _LINE + 2 * _PAD))
        top += label_height + height + _GAP - 8
    ending = {"soothed": "the person is content", "lost": "the person gives up", "farewell": "the person says goodbye",
              "turns": "no turns are left"}[dialogue.ending]  # fmt: skip
    body.append(_text(_MARGIN, top + 6, f"Ends at {dialogue.final}: {ending}.", _SIZE, _INK, weight="bold"))
    head = [
        _text(_MARGIN, 38, f"{subject} in scenario {scenario.id}", 19, _INK, weight="bold"),
        *(
            _text(_MARGIN, 64 + row * 18, line, _SMALL + 1, _SOFT)
            for row, line in enumerate(wrapped(_about(scenario, dialogue), WIDTH - 2 * _MARGIN, _SMALL + 1)[:2])
        ),
    ]
    total = top + 34
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {total}" width="{WIDTH}" height="{total}" '
        f'font-family="{escape(_FONT)}"><rect width="{WIDTH}" height="{total}" fill="{_PAPER}"/>'
        f"{''.join(head)}{''.join(body)}</svg>"
    )
    title = f"Emotion {dialogue.start} to {dialogue.final} with {subject}"
    return Figure(name, title, f"Simulator: {dialogue.simulator or 'unknown'}.", svg=svg)


def wrapped(text: str, width: float, size: float) -> list[str]:
    """A text in lines that fit a width at a font size; Chinese breaks anywhere, other words between them."""
    lines: list[str] = []
    for paragraph in text.splitlines() or [""]:
        line, used = "", 0.0
        for piece in _pieces(paragraph):
            wide = _width(piece, size)
            if line and used + wide > width and piece.strip():
                lines.append(line.rstrip())
                line, used = "", 0.0
            if piece.strip() or line:
                line, used = line + piece, used + wide
        if line.strip():
            lines.append(line.rstrip())
    return lines


def _pieces(text: str) -> list[str]:
    """Words, spaces, and single wide characters; no piece begins with a sign that closes a clause."""
    found: list[str] = []
    for letter in text:
        if found and letter in _CLOSING and found[-1] != " ":
            found[-1] += letter
            continue
        joins = found and letter != " " and found[-1] != " " and not _is_wide(letter) and not _is_wide(found[-1][-1])
        if joins and len(found[-1]) < 40:
            found[-1] += letter
        else:
            found.append(letter)
    return found


def _is_wide(letter: str) -> bool:
    return east_asian_width(letter) in "WF"


def _width(text: str, size: float) -> float:
    return size * sum(1.0 if _is_wide(letter) else 0.64 if letter.isupper() else 0.49 for letter in text)


def _about(scenario: Scenario, dialogue: Dialogue) -> str:
    topic = f" Topic: {scenario.topic}." if scenario.topic else ""
    return f"Simulator: {dialogue.simulator or 'unknown'}. Hidden intention: {scenario.hidden}{topic}"


def _utterances(dialogue: Dialogue, subject: str, *, brief: bool) -> Sequence[_Said]:
    longest = _BRIEF if brief else _LONGEST
    found = [_Said(True, _shown(dialogue.opening, longest), "person", level=dialogue.start)]
    for place, turn in enumerate(dialogue.turns):
        if brief and 2 <= place < len(dialogue.turns) - 2:
            if place == 2:
                found.append(_Said(True, "…", f"{len(dialogue.turns) - 4} turns are left out"))
            continue
        counted = f"{turn.tokens} tokens" if turn.tokens else f"about {count_tokens(turn.reply)} tokens"
        found.append(_Said(False, _shown(turn.reply, longest) or "…", f"{subject} ({counted})"))
        judged = turn.judgement
        if judged is not None:
            thought = " ".join(filter(None, (judged.activity, judged.feeling)))
            words, thought = _shown(turn.words, longest), _shown(thought, longest)
            found.append(_Said(True, words, "person", thought, judged.moved, judged.after))
    return found


def _shown(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[:longest].rstrip() + " …"


def _bubble(each: _Said, lines: Sequence[str], aside: Sequence[str], top: float, height: float) -> str:
    left = _MARGIN if each.person else _MARGIN + _INDENT
    width = _TALK if each.person else _TALK - _INDENT
    parts = [_text(left, top, each.label, _SMALL, _SOFT)]
    if lines:
        fill = _PERSON if each.person else _SUBJECT
        parts.append(f'<rect x="{left}" y="{top + 8}" width="{width}" height="{height}" rx="10" fill="{fill}"/>')
        parts += [
            _text(left + _PAD, top + 8 + _PAD + 14 + row * _LINE, line, _SIZE, _INK) for row, line in enumerate(lines)
        ]
    side = _MARGIN + _TALK + 28
    down = top + 22
    if each.level is not None:
        parts.append(_level(each, side, down))
        down += 24
    parts += [_text(side, down + 2 + row * _SMALL_LINE, line, _SMALL, _SOFT) for row, line in enumerate(aside)]
    return "".join(parts)


def _level(each: _Said, side: float, down: float) -> str:
    """The emotion as a bar from 0 to 100, its number, and its change."""
    level, change = each.level or 0, each.change
    bar = (
        f'<rect x="{side}" y="{down - 9}" width="120" height="8" rx="4" fill="#d8dde1"/>'
        f'<rect x="{side}" y="{down - 9}" width="{1.2 * level:.0f}" height="8" rx="4" fill="{_LEVEL}"/>'
    )
    number = _text(side + 130, down, str(level), _SIZE, _INK, weight="bold")
    if change is None:
        return bar + number
    colour = _GOOD if change > 0 else _BAD if change < 0 else _SOFT
    moved = f"{change:+d}".replace("-", "\u2212") if change else "±0"
    return bar + number + _text(side + 168, down, moved, _SIZE, colour, weight="bold")


def _text(x: float, y: float, words: str, size: float, colour: str, *, weight: str = "normal") -> str:
    kept = "".join(letter for letter in words if letter.isprintable())
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" fill="{colour}" font-weight="{weight}">{escape(kept)}</text>'
    )
