"""`run --against` and `plan` on the command line."""

import json
import re
import time
from statistics import fmean

import pytest
from msgspec import structs

import sociometer as sm
from servers.faults import SERVER_ERROR, slow
from sociometer.cli.main import run_command
from sociometer.cli.options import open_engine
from sociometer.core.stopping import Look
from sociometer.instruments import cards, load
from sociometer.results.export import rows
from sociometer.web.browsing import ViewedStore, figures_of


@pytest.fixture
def play(tmp_path, capsys):
    def call(command, *words):
        code = run_command([command, "sesi", *words, "--store", str(tmp_path / "s.db")])
        return code, capsys.readouterr()

    return call


def models(*names):
    return [word for name in names for word in ("--model", f"baseline/{name}")]


def test_items_that_ended_ahead_of_the_order_are_told_apart(play, tmp_path, capsys):
    calls = []

    def slow_at_first(messages):
        calls.append(messages)
        if len(calls) == 1:
            time.sleep(1)
        return "A"

    store = tmp_path / "s.db"
    sm.run("sesi", "baseline/oracle", name="base", store=store)
    run = sm.run("sesi", slow_at_first, against="base", in_flight=8, store=store, name="new")
    used, ahead = run.part("questions")[0], len(run.finished("questions")) - run.part("questions")[0]
    assert ahead > 0
    assert run_command(["show", "new", "--store", str(store)]) == 0
    said = " ".join(capsys.readouterr().out.replace("#", "").split())
    assert f"{used} items (and {ahead} played ahead of the order, not counted)" in said
    assert run_command(["runs", "--store", str(store)]) == 0
    assert f"\t{used} (+{ahead} not counted)\t" in capsys.readouterr().out
    scores = [(row["score.correct"], row["counted"]) for row in rows(run)]
    assert fmean(value for value, counts in scores if counts) == run.summary().measure("accuracy").value
    assert len(scores) == used + ahead
    for name in ("random", "first"):
        sm.run("sesi", f"baseline/{name}", store=store)
    few = f"has {used} of the 192 items that most runs have"
    assert run_command(["compare", "all", "--store", str(store)]) == 0
    assert few in " ".join(capsys.readouterr().out.split())
    assert run_command(["report", "all", "--store", str(store), "--to", str(tmp_path / "page.html")]) == 0
    assert few in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_run_whose_rule_did_not_need_its_failed_items_has_nothing_to_retry(play, tmp_path, openai_server):
    play("run", *models("oracle"), "--name", "old", "--quiet")
    old = sm.get_run("old", store=tmp_path / "s.db")
    needed = {old.transcript(item)[0].messages[-1].content for item, _ in old.in_order("questions")[:39]}
    asked = openai_server.received
    openai_server.fault_of = lambda number: (
        slow(0.02) if asked[number].body["messages"][-1]["content"] in needed else SERVER_ERROR
    )
    words = ("--model", f"vllm/m@{openai_server.url}", "--against", "old", "-o", "retries=0")
    code, printed = play("run", *words, "-o", "in-flight=16", "--quiet")
    (run,) = (one for one in sm.runs(store=tmp_path / "s.db") if one.id != old.id)
    assert len(list(run.episodes())) > run.part("questions")[0] == len(run.finished("questions")) == 39
    assert (code, printed.err) == (0, "") and not run.failures()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((*models("random"), "--margin", "3"), "--margin needs --against RUN"),
        ((*models("random"), "--against", "nothing"), "there is no run 'nothing'"),
        ((*models("random"), "--against", "x", "--margin", "0"), "--margin 0 must be above 0"),
    ],
)
def test_what_no_rule_can_follow_is_refused(play, words, told):
    code, printed = play("run", *words, "--limit", "60")
    assert code == 2
    assert told in printed.err


def test_plan_says_what_difference_the_items_can_show(play):
    code, printed = play("plan", *models("random"))
    said = " ".join(printed.out.split())
    assert code == 0
    assert "192 items (118 scenes) can show a difference of 11.8 points or more (80 % power, paired by item)." in said
    assert "Assumed: two models answer 20 % of the items differently" in said
    _, printed = play("run", *models("random"), "--dry-run", "--limit", "60")
    assert "60 items (51 scenes) can show a difference of 17 points or more" in " ".join(printed.out.split())


def test_plan_needs_no_model_to_say_what_a_run_asks(play):
    assert "--max-cost 1 needs --model MODEL" in play("plan", "--max-cost", "1")[1].err
    code, printed = play("plan", "--limit", "60", "--max-requests", "40")
    said = " ".join(printed.out.split())
    assert code == 0 and "sesi questions subject MODEL 60 60" in said and "vllm" not in said
    assert "For the cost, give --model MODEL. --max-requests 40 will probably stop the run" in said
    assert "points or more (80 % power, paired by item)" in said
    _, printed = play("plan", "--limit", "60", "--json")
    (told,) = json.loads(printed.out)
    assert (told["estimate"]["requests"], told["estimate"]["cost"]) == (60, None) and "plan" not in told


def test_a_run_that_its_rule_ended_says_so_in_lists_and_in_view(play, tmp_path, capsys):
    play("run", *models("random"), "--name", "old", "--quiet")
    _, printed = play("run", *models("oracle"), "--against", "old", "--quiet", "--name", "new")
    seen = r"until decided: better after 39 of 192 items \(look 1 of at most 15\): \d+ points higher \[\d+, \d+\], "
    assert re.search(f"against old {seen}allowing for the looks\\.", " ".join(printed.out.split()))
    assert printed.out.count("until decided: better after") == 1, "not in the note of the table too"
    path = tmp_path / "s.db"
    run_command(["runs", "--store", str(path)])
    assert "better after 39 of 192" in capsys.readouterr().out
    figures, _ = figures_of(ViewedStore(path, load, cards()), "new")
    evidence = figures[-1]
    assert evidence.title == "Evidence over items" and "better after 39 of 192" in evidence.caption
    assert evidence.save(tmp_path / "evidence.svg").read_text().startswith("<svg")
    code, printed = play("run", *models("first"), "--against", "new")
    assert code == 2 and "without --against" in printed.err


def test_the_verdict_of_a_rule_shows_in_the_digits_of_its_interval(play, tmp_path, capsys):
    """A bound that is rounded to zero, or to the margin, would contradict the verdict next to it."""
    play("run", *models("oracle"), "--name", "old", "--quiet")
    play("run", *models("random"), "--against", "old", "--margin", "3", "--quiet", "--name", "new")
    for look, shown in (
        (Look(39, 0.0943, 0.0015, 0.1837, "better"), "9.4 points higher [0.2, 18.4]"),
        (Look(39, 0.005, -0.018, 0.0296, "equivalent"), "0.50 points higher [−1.80, 2.96]"),
        (Look(39, 0.09, 0.02, 0.17, "better"), "9 points higher [2, 17]"),
    ):
        with open_engine(tmp_path / "s.db") as engine:
            new = engine.stored("new")
            new.keep_summary("questions", structs.replace(new.stopping("questions"), looks=(look,)))
        assert run_command(["show", "new", "--store", str(tmp_path / "s.db")]) == 0
        assert f": {shown}, allowing for the looks." in " ".join(capsys.readouterr().out.split())


def test_a_run_of_another_instrument_is_no_reference_and_is_called_that(tmp_path, capsys):
    store = ["--model", "baseline/random", "--limit", "4", "--store", str(tmp_path / "s.db"), "--quiet"]
    assert run_command(["run", "sesi", "--name", "other", *store]) == 0
    (other,) = sm.runs(store=tmp_path / "s.db")
    assert run_command(["run", "seceu", "--against", "other", *store]) == 2
    assert f"error: --against {other.id} is a run of sesi; give a run of seceu." in capsys.readouterr().err
