"""Remarks in figures: on the runs that a figure shows, by name where they are few, and once where all share them."""

import pytest

from fake_runs import summarised_run
from sociometer.core.measure import Summary
from sociometer.core.paper import remarks_on
from sociometer.reporting.paper_figures import MOST_NAMES, figure_remarks
from sociometer.statistics.charts import Dot, interval_chart


def run(subject, label="", *, whose="official", stand_ins=()):
    return summarised_run(
        "r1", "questions", label or subject, {}, Summary(()), stand_ins, name=subject, whose_items=whose
    )


def figure(*names):
    return interval_chart([Dot(name, 0.5) for name in names])


def test_a_remark_names_the_runs_that_it_is_true_for():
    runs = [run("owl"), run("emu", whose="bundled"), run("kiwi", whose="bundled")]
    assert figure_remarks(figure("owl", "emu"), runs) == ["emu: not the paper's items."]
    assert figure_remarks(figure("emu", "kiwi"), runs) == ["emu, kiwi: not the paper's items."]
    assert figure_remarks(figure("owl"), runs) == []


def test_a_remark_on_the_runs_is_not_said_of_models_that_the_paper_prints():
    runs = [run("owl", whose="bundled"), run("emu", whose="bundled")]
    assert figure_remarks(figure("owl", "emu", "DeepSeek-R1"), runs) == ["owl, emu: not the paper's items."]


def test_an_analysis_without_a_subject_has_no_empty_name():
    runs = [run("owl"), run("", whose="runs")]
    assert figure_remarks(figure("owl"), runs) == ["Items from earlier runs."]


def test_many_runs_of_one_subject_are_named_once():
    runs = [run("owl", f"owl (condition {number})", whose="bundled") for number in range(70)]
    assert figure_remarks(figure("owl"), runs) == ["owl: not the paper's items."]


def test_many_subjects_are_counted():
    runs = [run("ok"), *(run(f"owl {number}", whose="bundled") for number in range(9))]
    said = figure_remarks(figure("ok", *(f"owl {number}" for number in range(9))), runs)
    assert said == [f"owl 0, owl 1, owl 2, owl 3 and {9 - MOST_NAMES} more: not the paper's items."]


@pytest.mark.parametrize("name", ['owl "1"', "owl & emu", "鸮"])
def test_odd_names_are_found_in_charts(name):
    runs = [run(name, stand_ins=("judge: baseline/random",))]
    said = [f"{name}: stand-in for a real model: judge: baseline/random."]
    assert figure_remarks(figure(name), runs) == said


def test_a_figure_about_people_says_nothing_about_subjects():
    runs = [run("owl", whose="bundled", stand_ins=("judge: x",))]
    assert figure_remarks(figure("story 1"), runs) == ["Not the paper's items."]


def test_an_analysis_of_stored_runs_says_so():
    assert remarks_on(run("owl", whose="runs")) == ("items from earlier runs",)
