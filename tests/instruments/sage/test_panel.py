"""A panel of simulators: each scenario meets one, the same for all subjects; its interval covers as it says."""

import json

import numpy as np
import pytest

import sociometer as sm
from sociometer.instruments.sage.scoring import panel_interval
from sociometer.results.summaries import run_json, summary_table


def kind(tmp_path, name, change):
    felt = {"said": "a", "serves": "b", "activity": "c", "feeling": "d", "change": change}
    answer = dict.fromkeys(("attitude", "aim", "tone", "content"), "x") | {"words": "Go on."}
    lines = [{"match": "change", "reply": json.dumps(felt)}, {"match": ".", "reply": json.dumps(answer)}]
    path = tmp_path / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return f"scripted/{path}"


def test_each_scenario_meets_one_of_the_panel_the_same_for_all_subjects(tmp_path):
    panel = {"simulator": ("stern", -1), "simulator-2": ("kind", 3), "simulator-3": ("calm", 0)}
    roles = {role: kind(tmp_path, name, change) for role, (name, change) in panel.items()}
    met = []
    for model in ("baseline/random", "baseline/first"):
        run = sm.run("sage", model=model, roles=roles, settings={"turns": 2}, store=tmp_path / "s.db")
        met.append({each.item.id: each.outcome.simulator for each in run.episodes()})
        measure = run.summary("dialogue").measure("sentient")
        assert measure.interval.method == "Student's t over simulators" and measure.interval.clusters == 3
        assert measure.interval.low <= measure.value <= measure.interval.high
        assert any("A panel of 3 simulators" in note for note in run.summary("dialogue").notes)
    assert met[0] == met[1]
    assert sorted(map(list(met[0].values()).count, set(met[0].values()))) == [8, 8, 8]


def test_a_role_of_the_panel_is_not_needed(tmp_path):
    run = sm.run("sage", model="baseline/random", limit=1, roles={"simulator": "baseline/random"}, store=tmp_path / "s")
    assert {each.outcome.simulator for each in run.episodes()} == {"baseline/random"}


@pytest.mark.parametrize("simulators", [2, 5])
def test_the_interval_covers_the_mean_over_all_simulators(simulators):
    rng = np.random.default_rng(simulators)
    covered, naive, times = 0, 0, 500
    for _ in range(times):
        leniency = rng.normal(0, 8, simulators)
        finals = {
            str(one): (50 + leniency[one] + rng.normal(0, 25, 60 // simulators)).tolist() for one in range(simulators)
        }
        found = panel_interval(finals)
        covered += found.low <= 50 <= found.high
        every = np.concatenate(list(finals.values()))
        naive += abs(every.mean() - 50) <= 1.96 * every.std(ddof=1) / len(every) ** 0.5
    assert 0.92 <= covered / times <= 0.98
    assert naive / times < 0.90, "scenarios alone would promise too much"


def test_failures_of_a_simulator_are_told_as_its_own(tmp_path):
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"match": "no prompt has these words", "reply": "x"}\n', encoding="utf-8")
    roles = {"simulator": kind(tmp_path, "kind", 3), "simulator-2": f"scripted/{broken}"}
    run = sm.run("sage", model="baseline/random", roles=roles, settings={"turns": 2}, limit=4, store=tmp_path / "s.db")
    assert run.failures() == {"script ran dry of the simulator-2": 2}
    assert run.summary("dialogue").measure("sentient").errors == 2
    told = "2 episodes failed because of the simulator-2, not because of baseline/random."
    assert told in summary_table(run).note
    assert run_json(run)["failures"] == {"script ran dry of the simulator-2": 2}
