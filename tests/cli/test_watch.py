"""`run --watch` evaluates each checkpoint of a training once, whatever happens to the process and to the files."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections import Counter
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import pytest

import forked
import sociometer as sm
from servers.faults import SERVER_ERROR, UNKNOWN_MODEL, slow
from servers.openai import OpenAIServer
from sociometer.cli import watch
from sociometer.cli.main import run_command
from sociometer.cli.watch import find_files, seconds_of, series_of
from sociometer.core.conversation import Exchange
from sociometer.core.errors import UsageError
from sociometer.instruments import cards, load
from sociometer.results.checkpoints import checkpoint_curve
from sociometer.web.browsing import ViewedStore, figures_of
from tiny_gguf import make_tiny_gguf

QUICK = "from sociometer.cli import main, watch; watch.SETTLED_SECONDS, watch.POLL_SECONDS = 0.3, 0.05; "
STEPS = [1000, 2000, 3000, 4000]


@pytest.fixture
def when_idle(monkeypatch):
    """A list of what happens each time that a watch finds nothing to do; after the last, somebody presses Ctrl-C."""
    events = []

    def sleep(seconds):
        if not events:
            raise KeyboardInterrupt
        events.pop(0)()

    monkeypatch.setattr(watch, "SETTLED_SECONDS", 0.0)
    monkeypatch.setattr(watch, "time", SimpleNamespace(monotonic=time.monotonic, sleep=sleep))
    return events


def start(*words):
    """The command in a process of its own, which waits less for files to settle."""
    return forked.start(["-c", program_of(words)], stdout=forked.PIPE, stderr=forked.PIPE)


def program_of(words):
    return f"{QUICK}raise SystemExit(main.run_command({[*map(str, words)]!r}))"


def kill_in(process, store, step, episodes):
    """Kill the process with SIGKILL in the middle of the run of a step."""
    ends = time.monotonic() + 120
    while time.monotonic() < ends:
        assert process.poll() is None, process.communicate()
        for run in sm.runs(store=store) if store.exists() else ():
            if run.subject.endswith(f" step {step}") and len(run.finished("questions")) >= episodes:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                return
        time.sleep(0.02)
    pytest.fail("the step was never played")


def by_step(store):
    return {run.manifest.config.until.checkpoint.step: run for run in sm.runs(store=store) if run.manifest.config.until}


def test_files_are_each_evaluated_once_though_the_watch_is_killed_twice(tmp_path):
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    store, folder = tmp_path / "s.db", tmp_path / "checkpoints"
    folder.mkdir()
    common = ("-o", "answer=probability", "--limit", "2", "--store", store, "--quiet")
    base = make_tiny_gguf(tmp_path / "base.gguf", 99)
    sm.run("sesi", f"local/{base}", answer="probability", limit=2, name="base", store=store)
    words = ("run", "sesi", "--watch", folder, "--against", "base", "--watch-steps", len(STEPS), *common)
    for step in STEPS[:2]:
        make_tiny_gguf(folder / f"step-{step}.gguf", step)
    (folder / "step-1500.gguf").write_bytes((folder / "step-1000.gguf").read_bytes()[:20_000])
    kill_in(start(*words), store, 2000, 1)
    for step in STEPS[2:]:
        make_tiny_gguf(folder / f"step-{step}.gguf", step)
    (folder / "step-1000.gguf").unlink()  # evaluated, so a trainer may delete it
    kill_in(start(*words), store, 3000, 1)
    out, err = start(*words, "--json").communicate(timeout=300)
    curve = json.loads(out)
    assert [one["step"] for one in curve["steps"]] == STEPS
    assert "step 1500" in err and "is skipped" in err and "damaged or incomplete" in err
    runs = by_step(store)
    assert sorted(runs) == STEPS and len(sm.runs(store=store)) == len(STEPS) + 1
    assert {run.status for run in runs.values()} == {"finished"}
    # Each of the runs has each of its items once, and a reply to each of its requests is stored once.
    assert {len(list(run.episodes())) for run in runs.values()} == {2}
    assert {run.count_replies() for run in runs.values()} == {runs[1000].count_replies()}
    assert len({run.revision for run in runs.values()}) == len(STEPS)


class Aliases(OpenAIServer):
    """Serves the steps of a training under names of their own, as vLLM serves adapters."""

    def __init__(self, right):
        super().__init__()
        self.names, self.broken, self.ill, self._right = ["base-model"], set(), set(), right

    def good(self, path, body, fault):
        if path.endswith("/models"):
            return {"object": "list", "data": [{"id": name, "object": "model"} for name in self.names]}
        return super().good(path, body, fault)

    def _fault(self, number):
        asked = self.received[number].body.get("model")
        if asked in self.ill and [*self._right].index(self.received[number].body["messages"][-1]["content"]) % 8 == 0:
            return SERVER_ERROR
        return UNKNOWN_MODEL if asked in self.broken else slow(0.002)

    def answer(self, body):
        """Right until step 4000, then the first option always."""
        step = int(re.search(r"\d+", body["model"])[0])
        return self._right[body["messages"][-1]["content"]] if step < 4000 else "A"


@pytest.fixture
def served(tmp_path):
    """A server of checkpoints, and a store with a run that has every item right."""
    base = sm.run("sesi", "baseline/oracle", limit=60, name="base", store=tmp_path / "s.db")
    with Aliases(replies_of(base)) as server:
        server.say = server.answer
        yield server


def replies_of(run):
    """The replies of a run, by the message that each answers."""
    events = [event for episode in run.episodes() for event in run.transcript(episode.item.id)]
    return {one.messages[-1].content: one.reply.text for one in events if isinstance(one, Exchange)}


def words_of(server, store, *more, steps=10):
    return (
        "run", "sesi", "--watch", f"vllm/lora-{{step}}@{server.url}", "--against", "base", "--limit", "60",
        "--store", store, "-o", "in-flight=2", "--watch-steps", steps, *more,
    )  # fmt: skip


def test_served_names_are_each_asked_once_though_the_watch_is_killed_twice(served, tmp_path):
    store = tmp_path / "s.db"
    served.names += [f"lora-{step}" for step in STEPS[:2]] + ["lora-1500", "lora-x"]
    served.broken.add("lora-1500")
    words = words_of(served, store, steps=len(STEPS))
    kill_in(start(*words), store, 2000, 5)
    served.names += [f"lora-{step}" for step in STEPS[2:]]
    kill_in(start(*words), store, 3000, 5)
    out, err = start(*words, "--json").communicate(timeout=300)
    curve = json.loads(out)
    assert [one["step"] for one in curve["steps"]] == STEPS
    assert "step 1500 (vllm/lora-1500@" in err and "does not exist" in err
    verdicts = {one["step"]: one["look"]["verdict"] for one in curve["steps"]}
    assert {step for step, verdict in verdicts.items() if verdict == "worse"} == set(STEPS[3:])
    assert curve["sentence"].startswith("Step 4000 is the first that is worse than base, by ")
    asked = Counter(
        (one.body["model"], one.body["messages"][-1]["content"])
        for one in served.received
        if one.path.endswith("/chat/completions") and one.body["model"] not in served.broken
    )
    again = sum(count - 1 for count in asked.values())
    assert again <= 2 * 2, "only what was in flight when it was killed is asked again"
    assert len(sm.runs(store=store)) == len(STEPS) + 1, "a run for each step, and the base"
    count = len(served.received)
    assert run_command([*map(str, words), "--quiet"]) == 0
    assert not [one for one in served.received[count:] if one.path.endswith("/completions")]


def test_the_page_about_watching_shows_what_is_printed(served, tmp_path, when_idle, monkeypatch, capsys):
    page = (Path(__file__).parents[2] / "docs/how-to/checkpoints.md").read_text(encoding="utf-8")
    command, shown = re.search(r"```text\n\$ sociometer (.*?)\n(.*?)```", page, re.DOTALL).groups()
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "s.db"))
    served.names = [f"lora-{step}" for step in STEPS]
    words = shlex.split(command.replace("http://localhost:8000/v1", served.url))
    assert run_command([*words, "--quiet"]) == 0
    printed, written = (re.sub(r"sesi-\w{5}\b|#", "", text).split() for text in (capsys.readouterr().out, shown))
    assert printed == written


def test_the_curve_is_in_the_report_and_on_the_page_of_each_step(served, tmp_path, when_idle, capsys):
    store = tmp_path / "s.db"
    served.names += ["lora-3000", "lora-4000", "lora-5000"]
    words = [str(word) for word in words_of(served, store)]
    assert run_command(words) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("Step 4000 is the first that is worse than base, by ")
    assert "3 of 10 announced checkpoints" in " ".join(printed.out.split())
    assert "with one error rate for all looks at 10 announced checkpoints" in " ".join(printed.err.split())
    runs = by_step(store)
    curve = checkpoint_curve(runs[3000])
    assert [one.step for one in curve.steps] == [3000, 4000, 5000]
    assert all(one.look.low <= one.look.value <= one.look.high for one in curve.steps[1:])
    figures, _ = figures_of(ViewedStore(store, load, cards()), runs[3000].id)
    assert curve.sentence in figures[0].caption
    shown = viewed_page(store, f"/run/{runs[4000].id}/")
    assert 0 < shown.index(curve.sentence) < shown.index('id="numbers"') < shown.index('id="items"')
    assert all(f'href="/run/{run.id}/"' in shown for run in runs.values())
    drawn = figures[0].save(tmp_path / "curve.svg").read_text()
    assert drawn.startswith("<svg")
    assert "Accuracy: difference in points, higher is better<" in drawn and drawn.count(">worse<") == 2
    assert re.findall(r">step (\d+)<span class=\"under( warn)?\">", shown) == [
        ("3000", ""), ("4000", " warn"), ("5000", " warn")
    ]  # fmt: skip
    base = next(run.id for run in sm.runs(store=store) if run.subject == "baseline/oracle")
    assert f'<dt>against</dt><dd><a href="/run/{base}/">base</a>' in shown
    page = tmp_path / "report.html"
    assert run_command(["report", *(run.id for run in runs.values()), "--to", str(page), "--store", str(store)]) == 0
    fronted = page.read_text()
    front, _, chapter = fronted.partition('<p class="finding">')[2].partition('class="chapter')
    assert front.startswith(curve.sentence), "the verdict is the first sentence of the page"
    assert chapter.index('data-chart="sesi/questions-vllm-lora-checkpoints"') < chapter.index('class="panel')
    assert chapter.index('class="panel') < chapter.index('<details class="more">'), "and the curve is in no fold"
    told = re.search(r"Figure: sociometer (report .*)", printed.out)[1].replace("curve.svg", str(tmp_path / "one.svg"))
    assert run_command(shlex.split(told)) == 0
    assert (tmp_path / "one.svg").read_text() == drawn


def test_the_curve_labels_the_steps_that_are_better(served, tmp_path, when_idle):
    store = tmp_path / "s.db"
    sm.run("sesi", "baseline/first", limit=60, name="low", store=store)
    served.names += ["lora-2000", "lora-3000", "lora-4000"]
    assert run_command([str(word) for word in words_of(served, store, "--against", "low", "--quiet")]) == 0
    runs = by_step(store)
    assert [one.look.verdict == "better" for one in checkpoint_curve(runs[2000]).steps] == [True, True, False]
    drawn = next(iter(sm.figures(runs[2000]).values())).save(tmp_path / "curve.svg").read_text()
    assert drawn.count(">better<") == 2 and ">worse<" not in drawn


def viewed_page(store, path):
    """A page of `sociometer view`."""
    process = forked.start(
        ["-m", "sociometer.cli.main", "view", "--store", store, "--port", "0", "--json"], stdout=forked.PIPE
    )
    try:
        site, _, token = json.loads(process.stdout.readline())["link"].partition("/enter?token=")
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        sent = urllib.parse.urlencode({"token": token}).encode()
        with browser.open(urllib.request.Request(f"{site}/enter", sent, {"Origin": site})):
            pass
        with browser.open(site + path) as got:
            return unescape(got.read().decode())
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


def test_help_leads_to_the_watch(capsys):
    assert run_command(["run", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "--watch FOLDER --against RUN: it evaluates each checkpoint" in said
    assert "--watch FOLDER|MODEL In place of --model" in said
    assert run_command(["help", "watch"]) == 2
    assert "unknown command 'watch'; see 'sociometer run --watch'" in capsys.readouterr().err


def test_a_comparison_of_a_checkpoint_has_the_interval_of_the_watch(served, tmp_path, when_idle):
    store = tmp_path / "s.db"
    served.names += ["lora-4000"]
    assert run_command([*map(str, words_of(served, store, "--quiet"))]) == 0
    step = by_step(store)[4000]
    look = checkpoint_curve(step).steps[0].look
    (compared,) = sm.compare("base", step.id, store=store)
    row = compared.primary_rows[0]
    assert (row.paired.interval.low, row.paired.interval.high) == pytest.approx((look.low, look.high))
    assert row.verdict == "worse" and row.p_adjusted == pytest.approx(min(1.0, 10 * row.paired.p_value))


def test_a_watch_ends_after_the_announced_checkpoints_and_keeps_their_number(served, tmp_path, when_idle, capsys):
    store = tmp_path / "s.db"
    served.names += ["lora-4000", "lora-5000", "lora-6000"]
    assert run_command([*map(str, words_of(served, store, "--quiet", steps=2))]) == 0
    assert sorted(by_step(store)) == [4000, 5000]
    assert run_command([*map(str, words_of(served, store, "--quiet"))]) == 2
    assert "was watched before with --watch-steps 2" in capsys.readouterr().err
    assert {run.stopping("questions").comparisons for run in by_step(store).values()} == {2}


def test_a_checkpoint_that_waits_at_the_end_or_is_skipped_is_named(served, tmp_path, monkeypatch, when_idle, capsys):
    store = tmp_path / "s.db"
    served.names += ["lora-1500", "lora-4000"]
    served.broken.add("lora-1500")
    words = [*map(str, words_of(served, store, "--quiet"))]
    monkeypatch.setattr(sys, "argv", ["sociometer", *words])
    assert run_command(words) == 1
    said = capsys.readouterr().err
    again = f"To try again, repeat: {shlex.join(['sociometer', *words])}\n"
    assert f"Not evaluated: step 1500 (vllm/lora-1500@{served.url}).\n{again}" in said
    served.names[1:] = ["lora-4000", "lora-5000"]
    monkeypatch.setattr(watch, "SETTLED_SECONDS", 600.0)
    monkeypatch.setattr(watch, "time", time)
    assert run_command([*words, "--watch-for", "0.1s"]) == 1
    assert f"Still waiting: step 5000 (vllm/lora-5000@{served.url}).\n{again}" in capsys.readouterr().err


def test_the_retry_command_of_a_watch_retries_failed_items(served, tmp_path, when_idle, monkeypatch, capsys):
    store = tmp_path / "s.db"
    served.names += ["lora-1000", "lora-4000"]
    served.ill.add("lora-4000")
    words = [*map(str, words_of(served, store, "-o", "retries=0", "--quiet", steps=2))]
    monkeypatch.setattr(sys, "argv", ["sociometer", *words])
    for _ in range(2):  # also if all announced steps are evaluated
        assert run_command(words) == 4
        printed, (_, ill) = capsys.readouterr(), checkpoint_curve(by_step(store)[4000]).steps
        again = shlex.join(["sociometer", *words])
        assert f"\nRetry with: {again}\n" in printed.err
        assert f"Failed items: step 4000 ({ill.failed}).\nTo try again, repeat: {again}\n" in printed.err
        assert ill.played + ill.failed == ill.look.items and f"\t{ill.played}, {ill.failed} failed\t" in printed.out
        assert by_step(store)[4000].summary().measure("accuracy").items == ill.played
    served.ill.clear()
    asked = len(served.received)
    assert run_command(words) == 0
    sent = [one.body["model"] for one in served.received[asked:] if one.path.endswith("/completions")]
    assert set(sent) == {"lora-4000"} and len(sent) >= ill.failed
    assert [one.failed for one in checkpoint_curve(by_step(store)[4000]).steps] == [0, 0]
    assert "ailed" not in capsys.readouterr().err


def test_a_step_is_continued_and_retried_also_with_a_judge_that_may_have_changed(tmp_path, when_idle):
    store = tmp_path / "s.db"
    with Aliases({}) as server:
        server.names, judge = ["lora-1000"], f"vllm/judge@{server.url}"  # without a revision
        options = {"tasks": ["blackjack"], "roles": {"judge": judge}, "limit": 12, "name": "base", "store": store}
        base = sm.run("egosocial", "baseline/oracle", **options)
        server._right.update(right := replies_of(base))
        server.say = lambda body: right.get(body["messages"][-1]["content"], "1")
        words = [
            "run", "egosocial", "--task", "blackjack", "--watch", f"vllm/lora-{{step}}@{server.url}", "--role",
            f"judge={judge}", "--against", "base", "--limit", "12", "--store", str(store), "--watch-steps", "1",
            "-o", "in-flight=1", "-o", "retries=0", "--quiet",
        ]  # fmt: skip
        assert run_command([*words, "--max-requests", "10"]) == 3
        (step,) = (run.id for run in sm.runs(store=store) if run.id != base.id)
        server.ill.add("lora-1000")
        assert run_command(words) == 4
        server.ill.clear()
        assert run_command(words) == 0
    assert [run.id for run in sm.runs(store=store)] == [base.id, step] and not sm.get_run(step, store=store).failures()


def test_failed_items_of_a_checkpoint_that_is_gone_are_named(served, tmp_path, when_idle, capsys):
    served.names += ["lora-4000"]
    served.ill.add("lora-4000")
    words = [*map(str, words_of(served, tmp_path / "s.db", "-o", "retries=0", "--quiet", steps=1))]
    assert run_command(words) == 4
    served.names.remove("lora-4000")
    capsys.readouterr()
    assert run_command(words) == 4
    assert capsys.readouterr().err.startswith("Failed items: step 4000 (")


def test_a_spending_limit_holds_for_the_whole_training(served, tmp_path, when_idle, monkeypatch, capsys):
    served.names += [f"lora-{step}" for step in STEPS]
    words = [*map(str, words_of(served, tmp_path / "s.db", "--quiet", "--max-requests", "45"))]
    for _ in range(2):
        monkeypatch.setattr(sys, "argv", ["sociometer", *words])
        assert run_command(words) == 3
        said = capsys.readouterr()
        assert "Not evaluated: step 2000 (" in said.err
        assert f"continue with: {shlex.join(['sociometer', *words, '--max-requests', 'MORE'])}\n" in said.err
        assert "resume" not in said.err and re.search(r"2000\t.*not ended\t1\d\t", said.out)
        assert sum(one.path.endswith("/completions") for one in served.received) == 45


def test_other_weights_under_a_step_that_is_stored_are_named(tmp_path, when_idle, capsys):
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    store, folder = tmp_path / "s.db", tmp_path / "checkpoints"
    folder.mkdir()
    sm.run("sesi", "baseline/random", answer="probability", limit=4, name="base", store=store)
    words = [
        "run", "sesi", "--watch", str(folder), "--against", "base", "--limit", "4", "-o", "answer=probability",
        "--store", str(store), "--quiet",
    ]  # fmt: skip
    make_tiny_gguf(folder / "step-10.gguf", 1)
    assert run_command(words) == 0
    make_tiny_gguf(folder / "step-10.gguf", 2)
    assert run_command(words) == 1
    said = capsys.readouterr().err
    assert f"step 10 ({folder}/step-10.gguf) is skipped: " in said and "has this step with other weights" in said
    assert f"Not evaluated: step 10 ({folder}/step-10.gguf)." in said
    assert list(by_step(store)) == [10]


def test_what_is_deleted_before_its_turn_is_named(tmp_path, when_idle, monkeypatch, capsys):
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    (folder / "step-7.gguf").touch()
    monkeypatch.setattr(watch, "SETTLED_SECONDS", 600.0)
    when_idle.append((folder / "step-7.gguf").unlink)
    sm.run("sesi", "baseline/random", limit=4, name="base", store=tmp_path / "s.db")
    words = ["run", "sesi", "--watch", str(folder), "--against", "base", "--limit", "4"]
    assert run_command([*words, "--store", str(tmp_path / "s.db")]) == 4
    printed = capsys.readouterr()
    assert "step 7" in printed.err and "deleted before it was evaluated" in printed.err
    assert "No checkpoint was evaluated" in printed.out


def test_the_extra_that_loads_checkpoints_is_asked_for_before_the_first(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    (folder := tmp_path / "checkpoints").mkdir()
    sm.run("sesi", "baseline/random", limit=4, name="base", store=tmp_path / "s.db")

    def said(where):
        words = ["run", "sesi", "--watch", str(where), "--against", "base", "--limit", "4", "--watch-for", "0.2s"]
        assert run_command([*words, "--store", str(tmp_path / "s.db")]) == 2
        return capsys.readouterr().err

    assert "the extra 'hf' is not installed" in (none_yet := said(folder)) and "step-{step}.gguf" in none_yet
    assert "the extra 'local' is not installed" in said(folder / "step-{step}.gguf")
    (folder / "step-7.gguf").touch()
    assert "the extra 'local' is not installed" in said(folder)


def test_a_watch_ends_after_its_time(tmp_path, capsys):
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    sm.run("sesi", "baseline/random", limit=4, name="base", store=tmp_path / "s.db")
    where = str(tmp_path / "{step}.gguf")
    words = ["run", "sesi", "--watch", where, "--against", "base", "--limit", "4", "--watch-for", "0.2s"]
    assert run_command([*words, "--store", str(tmp_path / "s.db")]) == 4
    assert "No checkpoint was evaluated: none was found that loads in " in capsys.readouterr().out


def test_a_server_that_is_away_is_named_and_a_watch_without_a_checkpoint_fails(served, tmp_path, when_idle, capsys):
    served.say, store = (lambda body: "A"), tmp_path / "s.db"
    words, listed = [*map(str, words_of(served, store, "--quiet"))], served.good
    served.good = lambda path, body, fault: {} if path.endswith("/models") else listed(path, body, fault)
    assert run_command(words) == 4
    printed = capsys.readouterr()
    assert "cannot be read" in printed.err and "Waiting for it: the watch goes on when it answers." in printed.err
    assert printed.out.startswith("No checkpoint was evaluated: ") and "cannot be read" in printed.out
    when_idle += [lambda: setattr(served, "good", listed), lambda: served.names.append("lora-4000")]
    assert run_command(words) == 0
    assert capsys.readouterr().out.startswith("Step 4000 is the first that is worse")


MORTAL = """
import json, os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    left = int(sys.argv[2])

    def do_GET(self):
        self.say({"data": [{"id": "lora-4000"}]})

    def do_POST(self):
        Handler.left -= 1
        if Handler.left < 0:
            os._exit(1)
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": "A"}
        self.say({"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9}})

    def say(self, answer):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print("ready", server.server_port, flush=True)
server.serve_forever()
"""
"""A server that ends with its process when it has answered so often: PORT ANSWERS."""


@pytest.mark.parametrize("answers", [0, 12])
def test_a_server_that_dies_in_a_step_is_waited_for_and_its_run_continues(tmp_path, when_idle, capsys, answers):
    store, before, processes = tmp_path / "s.db", [], []
    sm.run("sesi", "baseline/oracle", limit=60, name="base", store=store)

    def serve(port, answers):
        words = [sys.executable, "-c", MORTAL, str(port), str(answers)]
        processes.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
        return int(processes[-1].stdout.readline().split()[1])

    def back():
        before.extend(by_step(store).values())
        serve(port, 1000)

    port = serve(0, answers)
    when_idle.append(back)
    server = SimpleNamespace(url=f"http://127.0.0.1:{port}/v1")
    try:
        assert run_command([*map(str, words_of(server, store, "-o", "retries=2", steps=1))]) == 0
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    printed, away = capsys.readouterr(), f"annot reach {server.url}: Connection refused."
    assert (f"stopped: c{away}" in printed.err) == bool(answers) and f"\nC{away}" in printed.err
    assert printed.err.count("Waiting for it: the watch goes on when it answers.") == 1
    assert "failed" not in printed.err and printed.out.startswith("Step 4000 is the first that is worse")
    (run,) = by_step(store).values()
    assert [(one.id, one.status) for one in before] == [(run.id, "stopped")] * bool(answers) and not run.failures()


def test_a_server_that_does_not_answer_is_named_soon(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(watch, "LISTED_SECONDS", 0.3)
    sm.run("sesi", "baseline/random", limit=4, name="base", store=tmp_path / "s.db")
    with socket.socket() as hanging:  # it takes the connection and says nothing
        hanging.bind(("127.0.0.1", 0))
        hanging.listen()
        where = f"vllm/lora-{{step}}@http://127.0.0.1:{hanging.getsockname()[1]}/v1"
        words = ["run", "sesi", "--watch", where, "--against", "base", "--limit", "4", "--watch-for", "0.2s"]
        assert run_command([*words, "--store", str(tmp_path / "s.db")]) == 4
    assert "did not answer within 0.3 s. Waiting for it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--watch", "{tmp}/nothing", "--against", "base"), "there is no folder"),
        (("--watch", "{tmp}"), "give --against RUN"),
        (("--watch", "{tmp}", "--against", "other"), "unknown run 'other'"),
        (("--watch", "{tmp}", "--against", "base", "--until", "±3"), "no other --until"),
        (("--watch", "{tmp}", "--against", "base", "--seed", "4"), "the two differ in seed; add --seed 0."),
        (("--watch", "{tmp}", "--against", "short"), "the two differ in items; add --limit 3."),
        (("--watch", "{tmp}", "--against", "base", "--model", "baseline/random"), "takes the place of --model"),
        (("--watch", "vllm/m@http://127.0.0.1:9/v1", "--against", "base"), "needs {step} in the model's name"),
        (("--watch", "{tmp}", "--against", "base", "--watch-for", "soon"), "such as 30m or 12h"),
        (("--model", "baseline/random", "--watch-for", "2h"), "need --watch"),
        (
            (
                "--watch",
                "{tmp}",
                "--against",
                "base",
                "--role",
                "judge=baseline/first",
                "--role",
                "judge=baseline/even",
            ),
            "one model for each role",
        ),
        (("--watch", "{tmp}", "--against", "base", "--dry-run"), "cannot be combined with --dry-run"),
    ],
)
def test_what_cannot_be_watched_is_refused(tmp_path, capsys, words, told):
    sm.run("sesi", "baseline/random", limit=4, name="base", store=tmp_path / "s.db")
    sm.run("sesi", "baseline/random", limit=3, name="short", store=tmp_path / "s.db")
    given = [word.replace("{tmp}", str(tmp_path)) for word in words]
    assert run_command(["run", "sesi", *given, "--limit", "4", "--store", str(tmp_path / "s.db")]) == 2
    assert told in capsys.readouterr().err


def test_steps_are_read_from_names(tmp_path):
    for name in ("checkpoint-50", "checkpoint-200/actor", "best", "run2-step-100"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "step-70-q8.gguf").touch()
    (tmp_path / "notes-9.txt").touch()

    def steps(where):
        return {one.step: one.model.removeprefix("hf/").removeprefix(f"{tmp_path}/") for one in find_files(str(where))}

    assert {step: name.rpartition("/")[2] for step, name in steps(tmp_path).items()} == {
        50: "checkpoint-50", 200: "checkpoint-200", 100: "run2-step-100", 8: "step-70-q8.gguf"
    }  # fmt: skip
    assert [*steps(tmp_path / "step-{step}-q8.gguf")] == [70]
    assert steps(tmp_path / "checkpoint-{step}" / "actor") == {200: "checkpoint-200/actor"}
    assert series_of(str(tmp_path)) == tmp_path.name
    assert series_of("vllm/lora-{step}@http://h/v1") == "vllm/lora"


def test_times_have_units():
    assert [seconds_of(text) for text in ("90s", "30m", "1.5h", "2d", "")] == [90, 1800, 5400, 172_800, float("inf")]
    with pytest.raises(UsageError, match="30m"):
        seconds_of("30")


def test_ctrl_c_ends_a_watch_that_waits(tmp_path):
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    where, store = tmp_path / "{step}.gguf", tmp_path / "s.db"
    sm.run("sesi", "baseline/random", limit=4, name="base", store=store)
    words = ("run", "sesi", "--watch", where, "--against", "base", "--limit", "4", "--store", store)
    program, pipe = [sys.executable, "-c", program_of(words)], subprocess.PIPE
    process = subprocess.Popen(program, stdout=pipe, stderr=pipe, text=True)
    assert process.stderr.readline().startswith("Watching ")
    os.kill(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 4
    assert "No checkpoint was evaluated" in out
