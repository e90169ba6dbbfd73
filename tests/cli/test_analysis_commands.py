"""compare, leaderboard, reliability, reproduce, report and plot, on a small store of real runs."""

import json
import re
from itertools import count
from pathlib import Path

import pytest

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.instruments.sesi.items import bundled

SUBJECTS = ("baseline/random", "baseline/oracle", "baseline/first")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three baselines on forty questions of SESI and the scenarios of SECEU."""
    path = tmp_path_factory.mktemp("store") / "runs.db"
    for subject in SUBJECTS:
        for name, limit in (("sesi", "40"), ("seceu", "12")):
            arguments = ["run", name, "--model", subject, "--limit", limit, "--store", str(path), "--json"]
            assert run_command(arguments) == 0
    return path


@pytest.fixture
def call(store, capsys):
    """Runs a command on the store; gives the exit code and what it printed."""

    def run(*arguments: str) -> tuple[int, str]:
        capsys.readouterr()
        code = run_command([*arguments, "--store", str(store)])
        captured = capsys.readouterr()
        return code, captured.out if "--json" in arguments else captured.out + captured.err

    return run


def _runs(call, instrument: str) -> dict[str, str]:
    _, text = call("runs", "--json")
    return {run["subject"]: run["run"] for run in json.loads(text) if run["instrument"] == instrument}


def test_compare_says_who_is_better_and_gates_on_worse(call):
    runs = _runs(call, "sesi")
    worse = (runs["baseline/oracle"], runs["baseline/random"])
    code, text = call("compare", *worse)
    assert code == 0
    assert "baseline/random is worse than baseline/oracle: " in text
    assert call("compare", *worse, "--fail-if", "worse")[0] == 1
    assert call("compare", *worse[::-1], "--fail-if", "worse")[0] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("sesi --reliability --fail-if worse", "--fail-if"), ("sesi --reliability --margin 3", "--margin"),
        ("sesi --level 0.8", "--level"), ("sesi --level 7", "between 0.5 and 1"),
        ("sesi --level nan", "not a finite number"), ("sesi --measure trapped --fail-if worse", "--measure"),
    ],
)  # fmt: skip
def test_an_option_of_compare_that_has_no_effect_is_refused(call, words, told):
    code, text = call("compare", *words.split())
    assert code == 2
    assert told in text


def test_a_refused_comparison_does_not_pass_the_gate(tmp_path, capsys):
    path = str(tmp_path / "apart.db")
    pair = []
    for seed in ("1", "2"):
        drawn = ["--limit", "1", "--seed", seed, "--store", path, "--json"]
        assert run_command(["run", "sesi", "--model", "baseline/oracle", *drawn]) == 0
        pair.append(json.loads(capsys.readouterr().out)[0]["run"])
    assert run_command(["compare", *pair, "--store", path]) == 2
    assert "cannot be compared: they share no scored item" in capsys.readouterr().err
    assert run_command(["compare", *pair, "--store", path, "--fail-if", "worse"]) == 1
    assert "on sesi/questions: they share no scored item" in capsys.readouterr().err


def test_a_gate_passes_only_what_it_can_see(tmp_path, capsys):
    path = str(tmp_path / "s.db")
    for name, seed in (("main", "2"), ("change", "1")):
        drawn = ["--model", "baseline/random", "--seed", seed, "--name", name, "--fresh", "--store", path, "--quiet"]
        assert run_command(["run", "sesi", *drawn]) == 0
    gate = ["compare", "main", "change", "--store", path]
    assert run_command([*gate, "--fail-if", "worse"]) == 0
    said = capsys.readouterr().err
    assert said.startswith("Gate passed: not worse on 1 task.\nSmallest loss that would have been seen (80 % power, ")
    assert run_command([*gate, "--fail-if", "worse", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (seen,) = told["gate"].pop("detectable")
    assert told["gate"] == {"condition": "not worse", "holds": True, "reasons": [], "stopped": []}
    assert [one["second"] for one in told["comparisons"]] == ["change"]
    loss = told["comparisons"][0]["measures"][0]["detectable"]
    assert seen == {"task": "sesi/questions", "subject": "change", "measure": "accuracy", "loss": loss}
    assert f": {100 * loss:.0f} points on sesi/questions (" in said
    assert run_command([*gate, "--fail-unless", "no-worse", "--margin", "3"]) == 1
    said = capsys.readouterr().err
    assert "do not rule out a loss of 3 points" in said and "Smallest loss" not in said
    assert run_command([*gate, "--fail-unless", "no-worse", "--margin", "0.03"]) == 1
    assert "do not rule out a loss of 0.03 points" in capsys.readouterr().err
    assert run_command([*gate, "--fail-unless", "no-worse", "--margin", "30"]) == 0
    assert capsys.readouterr().err == "Gate passed: no loss of 30 points on 1 task.\n"
    assert run_command([*gate, "--fail-unless", "no-worse"]) == 2


def test_failed_items_that_could_hide_a_loss_do_not_pass_the_gate(tmp_path, capsys):
    calls = count()

    def answer(_):
        if next(calls) % 3 == 0:
            raise RuntimeError("no answer")
        return "A"

    path = tmp_path / "s.db"
    main = sm.run("sesi", model="baseline/first", store=path).id
    change = sm.run("sesi", model=answer, store=path, second_question=False).id
    gate = ["compare", main, change, "--store", str(path), "--fail-unless", "no-worse", "--margin", "5"]
    assert run_command(gate) == 1
    said = capsys.readouterr().err.partition("\n")[0]
    lost = (
        r": the data do not rule out a loss of 5 points: accuracy is [^;]+ at their worst\. To retry the failed items: "
    )
    assert re.search(lost + rf"sm\.resume\('{change}', code=\[FUNCTION\], store=", said), said


def test_a_gate_that_failed_items_fail_says_that_it_could_be_worse_and_how_to_retry_them(tmp_path, capsys):
    calls, path = count(), str(tmp_path / "s.db")

    def answer(_):
        if next(calls) % 3 == 0:
            raise RuntimeError("no answer")
        return "A"

    sm.run("sesi", model="baseline/first", store=path, name="main")
    change = sm.run("sesi", model=answer, store=path, second_question=False, name="change").id
    assert run_command(["compare", "main", "change", "--store", path, "--fail-if", "worse"]) == 1
    said = capsys.readouterr().err.partition("\n")[0]
    could = r": could be worse, because \d+ items failed: accuracy is as high \[[^;]+\] with the failed items at their "
    assert re.search(could + rf"worst\. To retry the failed items: sm\.resume\('{change}', code=\[FUNCTION\]", said), (
        said
    )


def test_a_gate_that_passes_on_part_of_the_items_says_so_and_why(tmp_path, capsys):
    path = str(tmp_path / "s.db")
    sm.run("sesi", model=lambda _: "A", store=path, name="main", revision="1")
    sm.run("sesi", model=lambda _: "A", store=path, name="cut", revision="2", max_requests=60)
    gate = ["compare", "main", "cut", "--store", path, "--fail-if", "worse"]
    assert run_command(gate) == 0
    why = "the run of cut stopped at 60 of 192 items of sesi/questions (--max-requests 60 is reached)"
    said = capsys.readouterr().err.partition("\n")[0]
    assert said == f"Gate passed: not worse on 1 task. It rests on part of the items: {why}."
    assert run_command([*gate, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gate"]["stopped"] == [why]


def test_a_finished_pilot_does_not_hide_that_the_longer_run_was_stopped(tmp_path, capsys):
    path = str(tmp_path / "s.db")
    sm.run("sesi", model=lambda _: "A", store=path, name="main", revision="1")
    sm.run("sesi", model=lambda _: "A", store=path, name="cut", revision="2", limit=4)
    sm.run("sesi", model=lambda _: "A", store=path, revision="2", max_requests=60)
    assert run_command(["compare", "main", "cut", "--store", path, "--fail-if", "worse"]) == 0
    assert "It rests on part of the items" in capsys.readouterr().err


def test_a_gate_calls_no_run_stopped_that_its_own_rule_ended(tmp_path, capsys):
    path = str(tmp_path / "s.db")
    sm.run("sesi", model="baseline/random", store=path, name="main")
    sm.run("sesi", model="baseline/oracle", store=path, name="change", against="main")
    assert run_command(["compare", "main", "change", "--store", path, "--fail-if", "worse"]) == 0
    assert capsys.readouterr().err.startswith("Gate passed: not worse on 1 task.\n")


def test_the_loss_that_a_gate_could_see_is_told_for_each_of_several_runs(tmp_path, capsys):
    path = str(tmp_path / "s.db")
    for name in ("oracle", "random", "first"):
        sm.run("sesi", model=f"baseline/{name}", store=path, name=name)
    run_command(["compare", "first", "random", "oracle", "--store", path, "--fail-if", "worse"])
    said = capsys.readouterr().err
    assert re.search(r"points for random on sesi/questions \(.*, \d+ points for oracle on sesi/questions \(", said), (
        said
    )


def test_a_gate_says_that_replies_were_unreadable_and_that_a_run_stopped_early(tmp_path, capsys):
    path = tmp_path / "s.db"
    sm.run("sesi", model="baseline/oracle", store=path, name="main")
    sm.run("sesi", model=lambda _: "Nothing to say.", store=path, name="change", limit=60)
    for condition in (["--fail-if", "worse"], ["--fail-unless", "no-worse", "--margin", "3"]):
        assert run_command(["compare", "main", "change", "--store", str(path), "--json", *condition]) == 1
        out, err = capsys.readouterr()
        (reason,) = json.loads(out)["gate"]["reasons"]
        said = r"points lower \[−100, −\d+\]; (\d+) replies of change could not be read \(\1 items\); "
        said += r"the run of change stopped at \1 of 60 items of sesi/questions \(.+\)\.$"
        assert re.search(said, reason), reason
        assert err.startswith(f"Gate failed: {reason}\n")


def test_failing_selectively_pays_nowhere(tmp_path, capsys):
    """Right in a quarter, and fails in half of the questions, only where it would be wrong."""
    items = list(bundled())

    def subject(right, fails=()):
        def answer(messages):
            text = messages[-1]["content"]
            place, item = next((n, one) for n, one in enumerate(items) if one.situation in text)
            if place % 4 in fails:
                raise RuntimeError("no answer")
            letters = dict(re.findall(r"^([A-D])[.):] (.*)$", text, re.MULTILINE))
            key = next(letter for letter, option in letters.items() if option == item.options[item.answer])
            return key if place % 4 in right else "ABCD"["BCDA".index(key)]

        return answer

    path = tmp_path / "s.db"
    first = sm.run("sesi", model=subject((0, 1)), name="half", store=path, second_question=False).id
    run = sm.run("sesi", model=subject((0,), (1, 2)), name="picky", store=path, second_question=False)
    found = run.summary("questions").measure("accuracy")
    assert found.value == 0.5 and found.errors == 96 and [case.value for case in found.cases] == [0.25, 0.75]
    assert run_command(["compare", first, run.id, "--store", str(path)]) == 0
    said = capsys.readouterr().out
    assert "No clear difference: picky is " in said and "without the 96 failed items" in said
    assert run_command(["compare", first, run.id, "--store", str(path), "--fail-if", "worse"]) == 1


def test_a_model_is_planned_beside_stored_runs_without_a_subject(tmp_path, openai_server, capsys):
    openai_server.say = lambda body: "A"
    model, at = f"vllm/m@{openai_server.url}", ["--store", str(tmp_path / "s.db")]
    assert run_command(["run", "sesi", "--model", model, "--limit", "12", "--name", "one", *at]) == 0
    run_command(["sesi", "analyse", "one", "--role", f"judge={model}", *at])
    assert run_command(["plan", "sesi", "--model", model, "--limit", "12", *at]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Length of a reply: 3 tokens, the mean of 1 stored run of m as subject in sesi/questions." in said


def test_a_reply_is_as_long_as_those_of_the_same_model_role_and_task(tmp_path, openai_server, capsys):
    openai_server.say = lambda body: "A"
    at, judge = ["--store", str(tmp_path / "s.db")], f"judge=vllm/other@{openai_server.url}"
    model, other = f"vllm/m@{openai_server.url}", f"simulator=vllm/other@{openai_server.url}"

    def lengths(*command):
        capsys.readouterr()
        assert run_command(["plan", *command, "--limit", "12", "--json", *at]) == 0
        rows = json.loads(capsys.readouterr().out)
        return {row["estimate"]["role"]: row["estimate"]["replies_from"].split(",")[0] for row in rows}

    assert run_command(["run", "sesi", "--model", model, "--limit", "12", "--name", "one", *at]) == 0
    assert lengths("sesi", "--model", model) == {"subject": "3 tokens"}
    assert lengths("sesi", "--model", f"vllm/other@{openai_server.url}") == {"subject": "120 tokens"}
    assert lengths("sage", "--model", model, "--role", other) == dict.fromkeys(("subject", "simulator"), "120 tokens")
    run_command(["sesi", "analyse", "one", "--role", judge, *at])
    assert lengths("sesi", "--model", f"vllm/other@{openai_server.url}") == {"subject": "120 tokens"}, (
        "it was the judge"
    )
    openai_server.usage = {"prompt_tokens": 9, "completion_tokens": 40}
    run_command(["run", "sage", "--model", model, "--role", other, "--limit", "1", "--task", "dialogue", *at])
    assert lengths("sage", "--model", model, "--role", other, "--task", "dialogue")["subject"] == "40 tokens"


def test_a_failed_repeat_counts_at_its_worst_and_best(tmp_path):
    calls = count()

    def answer(_):
        if next(calls) % 4 == 0:
            raise RuntimeError("no answer")
        return "A"

    kept = {"store": tmp_path / "s.db", "limit": 12, "repeats": 2}
    runs = [sm.run("sesi", model="baseline/first", **kept), sm.run("sesi", model=answer, second_question=False, **kept)]
    row = sm.compare(*runs).comparisons[0].measures[0]
    assert row.failed == 6
    assert row.paired.difference == 0 and row.extremes[0].low < 0 < row.extremes[1].high


def test_a_label_hides_no_baseline(tmp_path, capsys):
    path = ["--store", str(tmp_path / "s.db"), "--limit", "12", "--quiet"]
    for model, label in (("baseline/oracle", "Claude-X"), ("baseline/random", "GPT-9")):
        assert run_command(["run", "sesi", "--model", model, "--name", label, *path]) == 0
        assert f"{label} is a baseline, not a model." in capsys.readouterr().out
    assert run_command(["compare", "Claude-X", "GPT-9", "--measure", "accuracy", *path[:2]]) == 0
    assert "Claude-X: a baseline, not a model" in capsys.readouterr().out
    other = str(tmp_path / "other.db")
    assert run_command(["store", "copy", path[1], other]) == 0
    assert run_command(["show", "Claude-X", "--store", other]) == 0
    assert "Claude-X is a baseline, not a model." in capsys.readouterr().out


def test_a_comparison_has_the_chance_of_a_majority_over_orders(tmp_path, capsys):
    path = ["--store", str(tmp_path / "s.db")]
    for name in ("first", "random"):
        run = ["run", "sesi", "--model", f"baseline/{name}", "--orders", "3", "--limit", "12", "--name", name]
        assert run_command([*run, *path, "--quiet"]) == 0
    capsys.readouterr()
    assert run_command(["compare", "first", "random", *path, "--json"]) == 0
    rows = {
        row["name"]: row["chance"]
        for row in json.loads(capsys.readouterr().out)["comparisons"][0]["measures"]
        if not row["group"]
    }
    assert rows["accuracy"] == rows["trapped"] == 10 / 64
    assert rows["single"] == 0.25


def test_a_clear_loss_on_too_few_trees_does_not_pass_the_gate(tmp_path, capsys):
    path, pair = str(tmp_path / "trees.db"), []
    for subject in ("baseline/oracle", "baseline/random"):
        played = ["--task", "goals", "--store", path, "--json"]
        assert run_command(["run", "socialeval", "--model", subject, *played]) == 0
        pair.append(json.loads(capsys.readouterr().out)[0]["run"])
    assert run_command(["compare", *pair, "--store", path, "--fail-if", "worse"]) == 1
    captured = capsys.readouterr()
    assert "7 trees are too few to tell" in captured.out
    assert "socialeval/goals: too few trees to tell (goal achieved: 7)" in captured.err


def test_a_task_that_a_run_lacks_does_not_pass_the_gate(tmp_path, capsys):
    path, pair = str(tmp_path / "tasks.db"), []
    for tasks in (("counterfactual", "worlds"), ("counterfactual",)):
        only = [word for task in tasks for word in ("--task", task)]
        assert run_command(["run", "egosocial", "--model", "baseline/oracle", *only, "--store", path, "--json"]) == 0
        pair.append(json.loads(capsys.readouterr().out)[0]["run"])
    gate = ["compare", *pair, "--store", path, "--fail-if", "worse"]
    assert run_command(gate) == 1
    captured = capsys.readouterr()
    assert f"egosocial/worlds: not compared with baseline/oracle ({pair[1]}), which has no run of it." in captured.out
    assert "has no run of this task" in captured.err
    assert run_command([*gate, "--task", "counterfactual"]) == 0


def test_all_runs_can_be_compared(call):
    code, text = call("compare", "all")
    assert code == 0
    assert "sesi/questions, accuracy: baseline/oracle is first of 3" in text
    for more in ((), ("--reliability",)):  # of the tests that have the task
        code, text = call("compare", "all", "--task", "questions", *more)
        assert code == 0 and "questions" in text, text
    assert call("compare", "all", "--task", "nothing")[0] == 2
    runs = _runs(call, "sesi")
    pair = runs["baseline/random"], runs["baseline/oracle"]
    assert "baseline/oracle is better than baseline/random: " in call("compare", *pair)[1]
    assert "A verdict follows from the interval next to it" in call("compare", *pair, "--format", "wide")[1]
    assert call("compare", pair[0])[0] == 2
    assert "compare needs two different runs" in call("compare", pair[0])[1]


def test_the_table_names_the_subjects_and_keeps_to_one_unit(call):
    runs = _runs(call, "sesi")
    words = ("compare", runs["baseline/oracle"], runs["baseline/random"], "--margin", "5")
    lines = call(*words)[1].splitlines()
    assert lines[0].startswith("baseline/random is worse than baseline/oracle: ")
    assert lines[3].split("\t") == ["measure", "baseline/oracle", "baseline/random", "difference", "verdict", "items"]
    assert lines[4].split("\t")[0] == "Accuracy"
    assert lines[4].split("\t")[4:] == ["worse", "40"]
    assert any("adjusted for the number of comparisons: by ability 5" in line for line in lines)
    text = call(*words, "--format", "wide")[1]
    head, row = text.split("# sesi/questions")[2].splitlines()[1:3]
    assert head.split("\t")[2:5] == ["baseline/oracle", "baseline/random", "difference"]
    cells = dict(zip(head.split("\t"), row.split("\t"), strict=True))
    low, high = (float(end) for end in cells["interval"].strip("[]").replace("−", "-").split(","))
    assert low < -float(cells["difference"].strip("−").removesuffix(" points")) < high
    assert cells["p"] == "< .001"
    assert cells["same within"] == "5 points: not shown"
    assert cells["adjusted for"] == "–"
    assert any(line.split("\t")[1:2] == ["ability: empathy"] for line in text.splitlines())


@pytest.mark.parametrize(("words", "pairs"), [("--margin 5", 2), ("", 0)])
def test_several_runs_say_once_for_how_many_comparisons_their_intervals_are_adjusted(call, words, pairs):
    runs = _runs(call, "sesi")
    printed = call("compare", *(runs[name] for name in SUBJECTS), *words.split())[1]
    assert printed.count("# sesi/questions: ") == pairs
    assert printed.count("Intervals of differences are adjusted for 3 comparisons.") == bool(pairs)
    assert printed.count("Intervals are adjusted for the number of comparisons: by ability 15") == bool(pairs)
    assert "primary measures" not in printed


def test_compare_as_json_holds_the_whole_comparison(call):
    runs = _runs(call, "seceu")
    code, text = call("compare", runs["baseline/oracle"], runs["baseline/first"], "--margin", "0.5", "--json")
    (found,) = json.loads(text)["comparisons"]
    assert code == 0
    assert found["measures"][0]["verdict"] == "worse"
    assert found["measures"][0]["chance"] == 4.998, "what random answers have on the bundled stories"
    assert found["measures"][0]["paired"]["interval"]["low"] > 0


def test_compare_as_json_has_one_shape(call):
    first, second, third = _runs(call, "sesi").values()
    for words, filled in (
        ([first, second], ["comparisons"]),
        ([first, second, third], ["rankings"]),
        ([first, second, third, "--margin", "3"], ["comparisons"]),
        ([first, second, "--fail-if", "worse"], ["comparisons", "gate"]),
    ):
        found = json.loads(call("compare", *words, "--json")[1])
        assert list(found) == ["comparisons", "rankings", "gate", "not_compared"]
        assert [name for name, value in found.items() if value] == filled


def test_compare_of_two_instruments_is_refused_with_the_next_step(call):
    one, two = _runs(call, "sesi")["baseline/first"], _runs(call, "seceu")["baseline/first"]
    code, text = call("compare", one, two)
    assert code == 2
    assert "no two of the given runs have the same task" in text
    assert call("compare", one)[0] == 2


def test_leaderboard_gives_ranges_of_ranks(call):
    code, text = call("compare", "sesi", "--json")
    (board,) = json.loads(text)["rankings"]
    assert code == 0
    assert board["standings"][0]["subject"] == "baseline/oracle"
    assert board["standings"][0]["ranks"]["high"] == 1
    assert "rank, 95 %" in call("compare", "sesi")[1]
    assert "no measure 'speed'" in call("compare", "sesi", "--measure", "speed")[1]


def test_leaderboard_and_reliability_take_instruments_runs_or_all(call):
    runs = _runs(call, "sesi")
    for what in ((), ("--reliability",)):
        named = json.loads(call("compare", "sesi", *what, "--json")[1])
        assert [found["instrument"] for found in (named if what else named["rankings"])] == ["sesi"]
        assert json.loads(call("compare", *runs.values(), *what, "--json")[1]) == named
        assert json.loads(call("compare", "sesi", *runs.values(), *what, "--json")[1]) == named
        for words in ((), ("all",)):
            every = json.loads(call("compare", *words, *what, "--json")[1])
            assert {found["instrument"] for found in (every if what else every["rankings"])} == {"sesi", "seceu"}
    code, text = call("compare", "sesy")
    assert code == 2 and "unknown instrument 'sesy'; did you mean 'sesi'?" in text
    code, text = call("compare", "seceu", runs["baseline/first"])
    assert code == 2 and "'baseline/first' has no result of seceu, only of sesi." in text
    assert "unknown run 'nobody'" in call("compare", "--reliability", "nobody")[1]


def test_the_id_of_a_run_that_is_not_in_the_store_is_called_a_run(call):
    _, text = call("compare", "seceu-ngah5", "seceu-dfkp2")
    assert "unknown run 'seceu-ngah5'" in text and "If it is in another store, give --store. To see all: " in text
    assert "unknown instrument 'secue'; did you mean 'seceu'?" in call("compare", "secue")[1]


def test_the_table_of_several_subjects_says_whose_replies_are_unreadable(tmp_path, capsys):
    models = [f"--model=baseline/{name}" for name in ("random", "refuse", "oracle")]
    assert run_command(["run", "sesi", *models, "--limit", "12", "--store", str(tmp_path / "s.db"), "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "items\tunreadable replies" in out and "\t12\tbaseline/refuse 12\n" in out


def test_a_report_with_official_items_says_so_once_and_how_to_leave_them_out(tmp_path, capsys, official_data):
    store, to = ["--store", str(tmp_path / "s.db")], ["--to", str(tmp_path / "r.html")]
    for model, items in (
        ("first", ["--data", str(official_data)]),
        ("last", ["--data", str(official_data)]),
        ("random", []),
    ):
        chosen = ["--official"] * bool(items)
        assert run_command(["run", "sesi", f"--model=baseline/{model}", "--limit", "8", *chosen, *items, *store]) == 0
    for words, times in (
        (["baseline/first", "baseline/last"], 1),
        (["baseline/first", "--evidence", "0"], 0),
        (["baseline/random"], 0),
    ):
        capsys.readouterr()
        assert run_command(["report", *words, *to, *store]) == 0
        told = capsys.readouterr().err
        assert told.count("has official items of sesi word for word") == told.count("--evidence 0 leaves") == times


def test_twins_are_one_scene_wherever_too_few_are_told(tmp_path, capsys):
    path = ["--store", str(tmp_path / "few.db")]
    for model in ("first", "random"):
        assert (
            run_command(["run", "sesi", "--limit", "10", "--model", f"baseline/{model}", "--name", model, *path]) == 0
        )
    assert "too few (3 scenes)" in capsys.readouterr().out
    told = {
        "first random": "first: 9 scenes are too few to tell.", "first random --format wide": "[too few scenes]",
        "sesi": "9 scenes cannot rank the 2 subjects; at least 10 are needed.",
        "--reliability sesi": "the 10 items of 9 scenes count as 9 parts",
    }  # fmt: skip
    for words, said in told.items():
        assert run_command(["compare", *words.split(), *path]) == 0
        text = capsys.readouterr().out
        assert said in text and "9 questions" not in text and "one cluster" not in text
    page = tmp_path / "page.html"
    assert run_command(["report", "first", "random", "--to", str(page), *path]) == 0
    text = page.read_text(encoding="utf-8")
    assert "9 scenes" in text and "questions at most" not in text and "too few clusters" not in text


def test_reliability_says_that_three_subjects_are_too_few(call):
    code, text = call("compare", "--reliability", "sesi")
    assert code == 0
    assert "too few distinct subjects: 3" in text
    (found,) = json.loads(call("compare", "--reliability", "sesi", "--json")[1])
    assert found["subjects"] == list(SUBJECTS)


def test_reliability_says_how_many_items_it_shows_and_that_nothing_varied(tmp_path, capsys):
    path = str(tmp_path / "many.db")
    names = ("first", "last", "random", "longest", "even")
    models = [word for name in names for word in ("--model", f"baseline/{name}")]
    played = ["--limit", "60", "--store", path]
    assert run_command(["run", "sesi", *models, *played]) == 0
    assert run_command(["run", "sesi", "--model", "baseline/refuse", "--repeats", "2", *played]) == 0
    capsys.readouterr()
    assert run_command(["compare", "--reliability", "sesi", "--store", path]) == 0
    text = capsys.readouterr().out
    assert "of 60 in all." in text and "--format wide" in text
    assert "gave the same value: baseline/refuse." in text
    assert "nan" not in text


def test_a_later_smaller_run_is_one_result_with_the_fuller_one(tmp_path, capsys):
    path = str(tmp_path / "two.db")
    for model, limit in (("first", "30"), ("first", "5"), ("last", "30")):
        if model == "last":
            assert run_command(["compare", "sesi", "--store", path]) == 2
            assert "only baseline/first can be ranked" in " ".join(capsys.readouterr().err.split())
        assert run_command(["run", "sesi", "--model", f"baseline/{model}", "--limit", limit, "--store", path]) == 0
    capsys.readouterr()
    assert run_command(["compare", "sesi", "--store", path, "--json"]) == 0
    captured = capsys.readouterr()
    (board,) = json.loads(captured.out)["rankings"]
    assert [(one["subject"], one["items"]) for one in board["standings"]] == [
        ("baseline/first", 30),
        ("baseline/last", 30),
    ]
    assert board["left_out"] == [] and captured.err == ""


def test_report_writes_one_page_about_all_runs(call, tmp_path):
    out = tmp_path / "page" / "report.html"
    out.parent.mkdir()
    code, text = call("report", "all", "--to", str(out))
    assert code == 0
    assert f"wrote {out}" in text
    page = out.read_text(encoding="utf-8")
    assert all(subject in page for subject in SUBJECTS)
    assert len(page) < 5_000_000
    assert not list(out.parent.glob("*.part"))


def test_a_report_without_a_name_says_that_it_replaces_the_one_before(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = [call("report", "last", "--evidence", "0")[1] for _ in range(2)]
    assert ["is replaced" in one for one in said] == [False, True]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--to page.png", "--figure NAME"), ("--to page.txt", ".html"), ("--to=", ".html"),
        ("--evidence -1", "not at least 0"), ("--figure profile --width 0 --to f.svg", "not from 100 to 10000"),
        ("--figure profile --width 100000000 --to f.png", "not from 100 to 10000"),
        ("--to x.html --format csv", "--format csv"), ("--figure profile --level 7 --to f.svg", "between 0.5 and 1"),
    ],
)  # fmt: skip
def test_what_a_report_cannot_be_is_refused(call, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    code, text = call("report", *words.split())
    assert code == 2
    assert told in text
    assert list(tmp_path.iterdir()) == []


def test_plot_lists_the_figures_and_draws_one(call, tmp_path):
    code, text = call("report", "--figure", "list", "--json")
    names = [row[0] for row in json.loads(text)["tables"][0]["rows"]]
    assert code == 0
    assert "profile" in names
    assert any(name.startswith("sesi/") for name in names)
    out = tmp_path / "figure.svg"
    assert call("report", "--figure", "profile", "--to", str(out))[0] == 0
    assert out.read_text(encoding="utf-8").startswith("<svg")
    assert call("report", "--figure", "profile")[0] == 2
    assert (
        "unknown picture format '.gif'"
        in call("report", "--figure", "profile", "--to", str(tmp_path / "figure.gif"))[1]
    )


def test_a_figure_shows_the_same_results_as_the_page(tmp_path, capsys):
    store, out = ["--store", str(tmp_path / "s.db")], tmp_path / "figure.svg"
    for model, limit in (("oracle", "40"), ("random", "40"), ("first", "8")):
        assert run_command(["run", "sesi", f"--model=baseline/{model}", "--limit", limit, "--quiet", *store]) == 0
    for words in ([], ["sesi"], ["all"]):
        for wanted in (["--figure", "list"], ["--figure", "sesi/abilities", "--to", str(out)], ["--to", f"{out}.html"]):
            capsys.readouterr()
            assert run_command(["report", *words, *wanted, *store]) == 0
        for shown in (out.read_text("utf-8"), Path(f"{out}.html").read_text("utf-8")):
            assert all(f"baseline/{model}" in shown for model in ("oracle", "random", "first"))
    assert "has 8 of the 40 items that most runs have" in Path(f"{out}.html").read_text("utf-8")


def test_plot_lists_the_figures_of_the_runs_given(call, tmp_path):
    run = _runs(call, "seceu")["baseline/first"]
    code, text = call("report", run, "--figure", "list", "--json")
    names = [row[0] for row in json.loads(text)["tables"][0]["rows"]]
    assert code == 0
    assert names and all(name == "profile" or name.startswith("seceu/") for name in names)
    code, text = call("report", "--figure", "seceu/results-1", run)
    assert code == 2 and "with one of these endings: .csv" in text
    out = tmp_path / "accuracy.csv"
    assert call("report", "--figure", "seceu/results-1", run, "--to", str(out))[0] == 0
    assert out.read_text(encoding="utf-8").startswith("subject,")
    assert "unknown figure 'nowhere'" in call("report", "--figure", "nowhere")[1]
    told = call("report", "--figure", "seceu/dist", run)[1]
    assert "did you mean 'seceu/distances'? To see all: sociometer report --figure list" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--json --to q.csv", "--format json"), ("--json --to folder", "--format json"),
        ("--format csv --to q.json", "--format csv"), ("--format wide --to q.json", "--format wide"),
        ("--to q.txt", "a .csv or .json file, or a folder"), ("--to=", "a .csv or .json file, or a folder"),
    ],
)  # fmt: skip
def test_a_file_that_would_not_be_written_as_named_is_refused(call, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    for command in (["show", "last"], ["compare", "sesi"], ["runs"]):
        code, text = call(*command, *words.split())
        assert code == 2
        assert told in text
    assert list(tmp_path.iterdir()) == []


def test_the_ending_of_a_file_is_read_without_case(call, tmp_path):
    assert call("show", "last", "--to", str(tmp_path / "q.CSV"))[0] == 0
    assert (tmp_path / "q.CSV").read_text().startswith("run,instrument")
    assert call("show", "last", "--to", str(tmp_path / "q.JSON"))[0] == 0
    assert json.loads((tmp_path / "q.JSON").read_text())["run"]


def test_a_command_of_an_instrument_writes_the_same_files_with_json(call, tmp_path):
    text = call("sesi", "lint", "--json", "--to", str(tmp_path / "lint"))[1]
    wrote = json.loads(text)["wrote"]
    assert wrote
    assert sorted(wrote) == sorted(str(path) for path in (tmp_path / "lint").iterdir())


def test_a_command_of_an_instrument_writes_its_figures_where_it_is_told(tmp_path, capsys):
    path, folder = str(tmp_path / "probe.db"), tmp_path / "figures"
    probe = ["sesi", "probe", "--model", "baseline/first", "--limit", "12", "--factor", "emotion", "--store", path]
    assert run_command([*probe, "--quiet"]) == 0
    assert (
        "To write the figures (factors, changes, emotion), give a folder for them with --to." in capsys.readouterr().out
    )
    assert run_command([*probe, "--quiet", "--to", str(folder)]) == 0
    assert capsys.readouterr().out.rstrip().endswith(f"wrote {folder / 'emotion.svg'}")
    assert (folder / "changes.svg").read_text(encoding="utf-8").startswith("<svg")


def test_an_empty_store_says_how_to_fill_it(tmp_path, capsys):
    assert run_command(["report", "--store", str(tmp_path / "empty.db")]) == 2
    assert "Create one with: sociometer run" in capsys.readouterr().err


def test_reproduce_shows_the_published_figures_and_their_reasons(capsys, official_data):
    assert run_command(["paper", "reproduce", "seceu", "--data", str(official_data), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["reproduced"]
    differing = [figure for figure in found["figures"]["seceu"] if not figure["match"]]
    assert differing and all(figure["reason"] for figure in differing)
    assert run_command(["paper", "reproduce", "seceu", "--data", str(official_data)]) == 0
    text = capsys.readouterr().out
    assert "227 numbers of the paper: 103 hold, 2 do not hold, 122 cannot be checked." in text
    assert "33 claims of the paper: 24 hold, 5 do not hold, 4 cannot be checked." in text
    assert "our own findings, which are no claims of the paper" in text


def test_reproduce_shows_why_numbers_cannot_be_checked_and_counts_them_once(capsys, official_data):
    command = ["paper", "reproduce", "seceu", "--data", str(official_data)]
    assert run_command([*command, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["figures"]["seceu"]
    unchecked = [row for row in rows if row["result"] == "cannot be checked"]
    assert run_command(command) == 0
    text = capsys.readouterr().out
    lines = [line for line in text.splitlines() if "\tcannot be checked\t" in line]
    assert {line.split("\t")[-1] for line in lines} == {row["reason"] for row in unchecked}
    numbers = sum(row.get("count", 1) for row in unchecked if not row.get("claim"))
    told = sum(int(found[1]) for line in lines if (found := re.search(r"\((\d+) numbers\)", line)))
    assert text.count(f"{numbers} cannot be checked.") == 1 and told == numbers
    assert "Not shown" not in text


def test_reproduce_says_which_official_files_were_not_found(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("SOCIOMETER_DATA", str(tmp_path / "empty"))
    assert run_command(["paper", "reproduce", "sage"]) == 0
    text = capsys.readouterr().out
    assert "Official files not found: " in text
    assert "sociometer get data sage" in text


def test_reproduce_all_begins_with_a_sentence_on_each_paper(capsys):
    assert run_command(["paper", "reproduce", "all"]) == 0
    sentences = capsys.readouterr().out.split("\n\n")[0].splitlines()
    assert [line.partition(":")[0] for line in sentences] == ["egosocial", "sage", "seceu", "sesi", "socialeval"]


def test_reproduce_of_an_unknown_instrument_names_the_known_ones(capsys):
    assert run_command(["paper", "reproduce", "sesy"]) == 2
    assert "did you mean 'sesi'?" in capsys.readouterr().err
