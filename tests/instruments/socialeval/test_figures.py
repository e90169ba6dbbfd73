"""Figures from the summaries of several subjects."""

import msgspec
import pytest

from fake_runs import summarised_run
from rehearsal import Rehearsal
from sociometer.core.measure import Interval, Measure, Summary
from sociometer.instruments import load
from sociometer.instruments.socialeval.figures import beside, figures, parameters
from sociometer.instruments.socialeval.items import TreeItem
from sociometer.instruments.socialeval.play import Step, Walk
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve


def rehearsal(subject):
    player = resolve(f"baseline/{subject}", ModelOptions())
    return Rehearsal(load("socialeval"), {"subject": player})


@pytest.fixture(scope="module")
def runs():
    return [
        summarised_run(f"r{i}-{task}", task, name, {"parameters": size}, rehearsal(name).summarise(task))
        for i, (name, size) in enumerate((("random", 1.0), ("oracle", 70.0), ("longest", 7.0)))
        for task in ("goals", "abilities")
    ]


def test_every_figure_holds_exactly_one_kind_of_picture_and_survives_json(runs):
    found = figures(runs)
    names = [figure.name for figure in found]
    assert len(set(names)) == len(names)
    for figure in found:
        assert (figure.chart is None) != (figure.table is None)
        msgspec.json.encode(figure)
    assert {"goals-by-category", "goal-levels", "prosocial-gap", "scale", "abilities"} <= set(names)


def test_scale_needs_three_sizes(runs):
    assert not [figure for figure in figures(runs[:4]) if figure.name == "scale"]
    caption = next(figure.caption for figure in figures(runs) if figure.name == "scale")
    assert "3 models" in caption


def test_scale_is_a_correlation_with_orders_of_magnitude_as_it_is_drawn(runs):
    rates = {"random": 0.1, "oracle": 0.3, "longest": 0.2}
    sizes = {"random": 1.0, "oracle": 100.0, "longest": 10.0}
    sized = [
        msgspec.structs.replace(
            run,
            settings={"parameters": sizes[run.subject]},
            summary=Summary((Measure("achieved", rates[run.subject]),)),
        )
        for run in runs
        if run.task == "goals"
    ]
    caption = next(figure.caption for figure in figures(sized) if figure.name == "scale")
    assert caption.startswith("r with the logarithm of the parameters = 1.00")


def test_the_prosocial_gap_is_drawn_with_its_interval(runs):
    gap = Measure("prosocial_gap", 0.2, {"language": "zh"}, Interval(0.1, 0.3, clusters=12))
    summary = msgspec.structs.replace(runs[0].summary, measures=(gap,))
    drawn = figures([msgspec.structs.replace(runs[0], summary=summary)])
    dot, *paper = next(figure.chart for figure in drawn if figure.name == "prosocial-gap")["data"]["values"]
    assert (dot["low"], dot["high"]) == (0.1, 0.3)
    printed = {(one["group"], one["label"]): round(one["value"], 3) for one in paper}
    assert printed["DeepSeek-R1 (paper)", "Chinese"] == 0.263
    assert len(printed) == 14, "seven models in two languages"


def test_the_gap_is_drawn_next_to_the_random_walks_and_in_shares_of_what_is_attainable(runs):
    measures = (
        Measure("prosocial_gap", 0.2, {"language": "en"}, Interval(0.1, 0.3, clusters=12)),
        Measure("prosocial_gap_random", -0.063, {"language": "en"}),
        Measure("prosocial_gap_attainable", 0.3, {"language": "en"}, Interval(0.1, 0.5, clusters=12)),
    )
    summary = msgspec.structs.replace(runs[0].summary, measures=measures)
    drawn = {figure.name: figure for figure in figures([msgspec.structs.replace(runs[0], summary=summary)])}
    for name in ("prosocial-gap", "prosocial-gap-attainable"):
        assert ", in points" in str(drawn[name].chart) and "' %'" not in str(drawn[name].chart)
    assert "random walk, English" in str(drawn["prosocial-gap"].chart)
    assert "-0.063" in str(drawn["prosocial-gap"].chart)
    [dot] = drawn["prosocial-gap-attainable"].chart["data"]["values"]
    assert (dot["low"], dot["high"]) == (0.1, 0.5)


@pytest.mark.parametrize(
    ("subject", "settings", "size"),
    [
        ("vllm/Qwen2.5-72B-Instruct", {}, 72.0),
        ("ollama/llama3.1:8b", {}, 8.0),
        ("openai/gpt-4o", {}, None),
        ("vllm/phi-3.5b-x", {"parameters": 4.2}, 4.2),
        ("local/smollm2-135m", {}, 0.135),
        ("vllm/x-500M", {}, 0.5),
        ("vllm/Qwen2.5-7B-Instruct-1M", {}, 7.0),
        ("google/gemini-1.5-pro-1m", {}, None),
        ("ollama/mixtral-8x7b", {}, None),
        ("vllm/Mixtral-8x22B-Instruct", {}, None),
        ("vllm/Qwen3-30B-A3B", {}, 30.0),
    ],
)
def test_parameters_come_from_the_setting_or_the_name(runs, subject, settings, size):
    assert parameters(msgspec.structs.replace(runs[0], subject=subject, settings=settings)) == size


def test_beside_a_walk_stands_its_tree():
    import asyncio

    show = rehearsal("oracle")
    for task in ("goals", "abilities"):
        item = next(iter(show.instrument.task(task).items(show.source())))
        figure = beside(item, asyncio.run(show.play(task, item)).episode.outcome)
        rows = figure.table.rows
        assert (
            any(row[-1] for row in rows)
            if task == "goals"
            else [row[2:] for row in rows if row[2]] == [(True, True, 3)]
        )
    assert beside(None, None) is None


def test_a_walk_is_a_table_of_choices_with_those_taken(draw, at):
    tree = draw(at(0, 1, 2, 9), at(1, goal=2), at(2, goal=0))
    walk = Walk((Step(0, (), 1),), 2, 0, "ending")
    table = beside(TreeItem(id="t", tree=tree), walk).table
    assert table.rows == (
        (0, "say 0.0", "persuasive skill", "1: goal achieved", True, False),
        (0, "say 0.1", "persuasive skill", "2: not achieved", False, True),
        (0, "say 0.2", "persuasive skill", "9", False, False),
    )
