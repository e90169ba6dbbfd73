"""`import sociometer`: what a script or a notebook can do, and what it is told where it cannot."""

import asyncio
import gzip
import inspect
import re
import shlex
import subprocess
import sys
import threading
from contextlib import nullcontext
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

import forked
import sociometer as sm
from results.test_norms import POINTS, make_study
from simulated_people import SCENARIOS, simulated_people
from sociometer.cli.main import run_command
from sociometer.core.errors import DataError, NeverAnswered, NotFound, SociometerError, UsageError
from sociometer.core.words import cell_text
from sociometer.instruments.seceu.norming import build_norm
from sociometer.store.bundle import Difference


@pytest.fixture
def store(tmp_path):
    return tmp_path / "s.db"


async def answers_b(messages):
    """A subject that always picks B."""
    assert {message["role"] for message in messages} <= {"system", "user", "assistant"}
    return "B"


def test_the_names_are_sorted_documented_and_there():
    assert sm.__all__ == sorted(sm.__all__)
    for name in sm.__all__:
        assert inspect.getdoc(getattr(sm, name)), name
    assert set(sm.__all__) <= set(dir(sm))
    with pytest.raises(AttributeError, match="it has: ChosenRuns, CommandContext"):
        _ = sm.nothing


EXAMPLE = re.compile(r"`((?:\[|bool\()?[^`]*\bsm\.\w+\([^`]*)`")


def make_runs(folder):
    """A store with two runs of SESI, and the people of a study with a model beside them."""
    store = make_study(folder / "s.db", "seceu", POINTS, people=6, limit=4)
    for name, model in (("old", "baseline/random"), ("new", "baseline/oracle")):
        sm.run("sesi", model, limit=30, store=store, name=name)
    sm.run("seceu", "baseline/first", limit=4, store=store, name="model")
    return store


@pytest.fixture(scope="module")
def old_and_new(tmp_path_factory):
    return make_runs(tmp_path_factory.mktemp("old-and-new"))


def test_every_function_has_examples_that_run(undrawn, tmp_path, monkeypatch):
    monkeypatch.setenv("SOCIOMETER_STORE", str(make_runs(tmp_path)))
    monkeypatch.chdir(tmp_path)
    for name in (name for name in sm.__all__ if name.islower()):
        examples = EXAMPLE.findall(" ".join(inspect.getdoc(getattr(sm, name)).split()))
        assert any(f"sm.{name}(" in example for example in examples), name
        for example in examples:
            if "await" not in example:
                assert eval(example, {"sm": sm}) is not None


def test_importing_it_loads_neither_models_nor_statistics():
    code = "import sociometer, sys; print([m for m in ('scipy', 'aiohttp', 'numpy', 'jinja2') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_a_function_is_measured_like_a_model(store, capsys):
    run = sm.run("sesi", model=answers_b, limit=12, store=store, name="always B")
    assert (run.subject, run.status, run.instrument) == ("always B", "finished", "sesi")
    picked = [event.reply.text for episode in run.episodes() for event in run.transcript(episode.item.id)[:1]]
    assert picked == ["B"] * 12
    assert capsys.readouterr() == ("", "")


def test_the_same_call_again_asks_only_a_function_that_may_have_changed(store):
    asked = []

    def count(messages):
        asked.append(messages)
        return "A"

    for revision, expected in (("", 3), ("", 6), ("one", 9), ("one", 9)):
        sm.run("sesi", model=count, limit=3, store=store, revision=revision)
        assert len(asked) == expected


def test_run_works_inside_a_running_loop_and_arun_plays_on_it(store):
    threads = []

    async def subject(messages):
        threads.append(threading.current_thread())
        return "A"

    async def notebook():
        sm.run("sesi", model=subject, limit=2, store=store)
        return await sm.arun("sesi", model=subject, limit=2, store=store)

    assert asyncio.run(notebook()).status == "finished"
    assert [thread is threading.main_thread() for thread in threads] == [False, False, True, True]


def test_functions_are_asked_side_by_side(store):
    together = threading.Barrier(4, timeout=30)

    def wait(messages):
        together.wait()
        return "A"

    assert sm.run("sesi", model=wait, limit=4, store=store, in_flight=4).status == "finished"


def test_an_error_of_a_function_is_no_wrong_answer(store):
    def broken(messages):
        raise ValueError("no idea")

    with pytest.raises(NeverAnswered, match=r"broken raised ValueError: no idea \(test_api.py, line \d+\)$") as raised:
        sm.run("sesi", model=broken, limit=3, store=store)
    assert isinstance(raised.value.__cause__, ValueError)
    assert sm.runs(store=store) == []


@pytest.mark.parametrize("waits", [True, False])
def test_a_function_that_exits_fails_one_item_and_not_the_run(store, waits):
    def exits(messages):
        if len(messages[-1]["content"]) % 2:
            sys.exit(3)
        return "A"

    async def awaited(messages):
        return exits(messages)

    run = sm.run("sesi", model=awaited if waits else exits, limit=12, store=store)
    assert run.status == "finished" and 0 < run.failures()["python error"] < 12
    failed = next(one.failure.message for one in run.episodes() if one.failure)
    assert re.search(r"(exits|awaited) raised SystemExit: 3 \(test_api.py, line \d+\)$", failed)


def test_a_module_that_exits_while_it_loads_is_named(store, tmp_path, monkeypatch):
    (tmp_path / "leaving.py").write_text("import sys\nsys.exit(3)\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"cannot load 'python/leaving:f': SystemExit: 3 \(leaving.py, line 2\)"):
        sm.run("sesi", model="python/leaving:f", store=store)


def test_an_interrupt_in_a_function_stops_the_run(store):
    def interrupted(messages):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sm.run("sesi", model=interrupted, limit=2, store=store)


def test_the_line_of_a_timeout_is_that_of_the_function(store):
    def slow(messages):
        raise TimeoutError("no reply in 30 s")

    with pytest.raises(NeverAnswered, match=r"slow raised TimeoutError: no reply in 30 s \(test_api.py, line \d+\)$"):
        sm.run("sesi", model=slow, limit=3, store=store)


def test_a_function_that_raises_again_and_again_is_not_called_for_every_item(store):
    calls = []

    def broken(messages):
        calls.append(messages)
        raise ValueError("no idea")

    with pytest.raises(NeverAnswered, match="no idea"):
        sm.run("sesi", model=broken, store=store, in_flight=4)
    assert 10 <= len(calls) < 40


def test_a_function_that_sometimes_raises_plays_to_the_end(store):
    def moody(messages):
        if len(messages[-1]["content"]) % 2:
            raise ValueError("no idea")
        return "A"

    run = sm.run("sesi", model=moody, limit=12, store=store)
    assert run.status == "finished" and 0 < run.failures()["python error"] < 12


def test_print_shows_the_score_and_hints_are_python(store):
    run = sm.run("sesi", model=lambda messages: "A", limit=12, store=store, name="mine", max_requests=5)
    assert str(run).startswith(f"{run.id}: mine on sesi: accuracy ") and f"{run.id} is stopped, 41 %" in str(run)
    with pytest.raises(UsageError, match=r"^items and limit cannot be combined"):
        sm.run("sesi", "baseline/first", items=["x"], limit=3, store=store)
    with pytest.raises(UsageError) as raised:
        sm.get_run("nobody", store=store)
    assert str(raised.value).endswith(f"To see all: sm.runs(store={str(store)!r})")
    assert len(sm.runs(store=str(store))) == 1


def test_a_function_that_sometimes_gives_no_text_plays_to_the_end(store):
    def forgetful(messages):
        return None if len(messages[-1]["content"]) % 2 else "A"

    run = sm.run("sesi", model=forgetful, limit=12, store=store)
    assert run.status == "finished" and 0 < run.failures()["python error"] < 12


def test_a_function_that_never_gives_a_text_ends_the_run_and_is_not_called_for_every_item(store):
    calls = []

    def number(messages):
        calls.append(messages)
        return 7

    for more in ({"limit": 3}, {"in_flight": 4}):
        with pytest.raises(NeverAnswered, match="returned a int; it must return a string or a Reply"):
            sm.run("sesi", model=number, store=store, **more)
    assert len(calls) < 40


@pytest.mark.parametrize("model", [lambda: "A", lambda messages, tools: "A"])
def test_a_function_that_does_not_take_the_messages_is_told_what_it_takes(store, model):
    with pytest.raises(
        UsageError, match=r"argument.* A model is a function of one argument, the list of messages"
    ) as raised:
        sm.run("sesi", model=model, limit=3, store=store)
    assert "python.py" not in str(raised.value)


def test_any_role_can_be_a_function(store):
    def judge(messages):
        return '{"reason": "r", "cause": "other"}'

    with pytest.raises(UsageError, match="unknown sesi role 'opponent'"):
        sm.run("sesi", model=answers_b, roles={"opponent": judge}, store=store)


def test_a_function_can_be_named_on_the_command_line(store, capsys, tmp_path, monkeypatch):
    (tmp_path / "my_agent.py").write_text("async def answer(messages):\n    return 'C'\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    words = ["run", "sesi", "--limit", "2", "--store", str(store), "--quiet"]
    assert run_command([*words, "--model", "python/my_agent:answer"]) == 0
    assert sm.get_run(store=store).subject.startswith("python/my_agent:answer (20")
    for model, message in (
        ("python/my_agent", "write python/package.module:function"),
        ("python/my_agent:nothing", "unknown function of my_agent 'nothing'; known: answer."),
        ("python/my_agent:anwser", "unknown function of my_agent 'anwser'; did you mean 'answer'?"),
        ("python/my_agent.py:reply", "write python/my_agent:reply."),
        ("python/./agents/mine.py:reply", "write python/agents.mine:reply"),
        ("python/no_such_module:f", "unknown module 'no_such_module'"),
        ("python/my_agent:__name__", "is a str, not a function"),
    ):
        assert run_command([*words, "--model", model]) == 2
        assert message in capsys.readouterr().err


def test_a_function_in_the_working_folder_is_found_by_the_installed_command(store, tmp_path, monkeypatch):
    (tmp_path / "agent_here.py").write_text("from words_here import WORD\n\ndef answer(messages):\n    return WORD\n")
    (tmp_path / "words_here.py").write_text("WORD = 'C'\n")
    # An installed command has its own folder on the path, not the working folder.
    called = (
        "import sys; sys.path[:] = [place for place in sys.path if place]; import sociometer.cli.main as m; m.main()"
    )
    words = ["run", "sesi", "--limit", "2", "--store", str(store), "--quiet", "--model", "python/agent_here:answer"]
    monkeypatch.chdir(tmp_path)
    done = forked.start(["-c", called, *words], stderr=forked.PIPE)
    said = done.communicate()
    assert done.returncode == 0, said
    assert sm.get_run(store=store).failures() == {}


def test_chosen_items_are_played_in_the_tasks_that_have_them(store):
    run = sm.run("socialeval", model="baseline/random", items=["altruism-three-nights-en"], store=store, repeats=1)
    known = {episode.item.id for task in run.tasks for episode in run.episodes(task)}
    assert known == {"altruism-three-nights-en"} and run.tasks == ("goals",)


def test_an_unknown_item_names_the_nearest(store):
    with pytest.raises(UsageError, match="unknown sesi item 'sesi-emp-0'; did you mean 'sesi-emp-"):
        sm.run("sesi", model="baseline/random", items=["sesi-emp-0"], store=store)
    with pytest.raises(UsageError, match="items and limit cannot be combined"):
        sm.run("sesi", model="baseline/random", items=["sesi-emp-104"], limit=2, store=store)


@pytest.fixture
def three_subjects(store):
    """Results of three subjects on two instruments, and one that has a seed of its own."""
    for subject, limit in (("random", 12), ("oracle", 12), ("first", 12), ("random", 4)):
        sm.run("sesi", model=f"baseline/{subject}", limit=limit, store=store, seed=limit)
    for subject in ("first", "even"):
        sm.run("seceu", model=f"baseline/{subject}", limit=12, store=store)
    return store


def test_all_means_the_same_runs_in_python_as_on_the_command_line(three_subjects, capsys):
    found = sm.compare("all", store=three_subjects)
    assert run_command(["compare", "all", "--json", "--store", str(three_subjects)]) == 0
    out, err = capsys.readouterr()
    assert msgspec.json.decode(msgspec.json.encode(found.ranking().boards)) == msgspec.json.decode(out)["rankings"]
    assert list(found.chosen.notes) == err.splitlines()
    assert run_command(["compare", "all", "--store", str(three_subjects)]) == 0
    out, ranking = capsys.readouterr().out, found.ranking()
    assert out.startswith(f"{ranking.sentence}\n")
    assert all("\t".join(map(cell_text, row)) in out for table in ranking.tables for row in table.rows)
    assert str(ranking).split() == " ".join([ranking.sentence, *map(str, ranking.tables)]).split()
    assert set(ranking.frame()["subject"]) == {one.subject for board in ranking.boards for one in board.standings}
    assert list(found.frame()["verdict"]) == [row.verdict for one in found for row in one.measures]
    random = f"baseline/random ({sm.runs(store=three_subjects)[0].id})"  # one of its two results
    assert {(one.first, one.second) for one in found if one.instrument == "sesi"} == {
        (random, "baseline/oracle"),
        (random, "baseline/first"),
    }


def test_every_result_is_chosen_and_a_ranking_names_what_nothing_can_be_compared_with(three_subjects):
    chosen = sm.choose("sesi", store=three_subjects)
    assert [(run.subject, run.manifest.config.seed) for run in chosen.runs] == [
        ("baseline/random", 12), ("baseline/oracle", 12), ("baseline/first", 12), ("baseline/random", 4),
    ]  # fmt: skip
    assert not chosen.left_out
    (board,) = sm.compare("sesi", store=three_subjects).ranking().boards
    assert board.left_out == (f"baseline/random ({chosen.runs[3].id}): nothing else was asked the same",)
    assert len(board.standings) == 3


def test_what_several_calls_played_of_one_subject_is_one_result(store):
    parts = [sm.run("sesi", "baseline/oracle", limit=limit, store=store) for limit in (5, 9)]
    result = sm.get_run("baseline/oracle", store=store)
    assert result.id == f"{parts[0].id}+{parts[1].id}"
    assert len(list(result.episodes())) == 9, "each item counts once"
    assert sm.get_run(parts[0].id, store=store).id == parts[0].id
    assert [run.id for run in sm.choose("all", store=store)] == [result.id]


def test_runs_and_words_can_be_mixed_and_all_stands_alone(three_subjects):
    first, second, *_ = sm.choose("sesi", store=three_subjects).runs
    assert [run.id for run in sm.choose(first, second.id, store=three_subjects).runs] == [first.id, second.id]
    with pytest.raises(UsageError, match=f"'all' means every result; leave out '{first.id}'"):
        sm.compare(first, "all", store=three_subjects)
    with pytest.raises(UsageError, match="unknown instrument 'sesy'; did you mean 'sesi'"):
        sm.compare("sesy", store=three_subjects)
    with pytest.raises(UsageError, match="the store has no run"):
        sm.compare("all", store=three_subjects.with_name("none.db"))
    assert not three_subjects.with_name("none.db").exists()


def test_a_model_has_one_name_and_a_name_belongs_to_one_model(store):
    run = sm.run("sesi", model="baseline/random", limit=2, store=store, name="nightly 1")
    assert run.subject == "nightly 1"
    assert sm.get_run("nightly 1", store=store).id == sm.get_run("baseline/random", store=store).id == run.id
    assert sm.run("sesi", model="baseline/random", limit=2, store=store, name="nightly 1").id == run.id
    assert sm.run("seceu", model="baseline/random", limit=2, store=store).subject == "nightly 1"
    with pytest.raises(UsageError, match=r"this model is stored as 'nightly 1'; leave out .* or rename it:"):
        sm.run("sesi", model="baseline/random", limit=2, store=store, name="nightly 2")
    with pytest.raises(UsageError, match="the name 'nightly 1' is that of baseline/random; see it with"):
        sm.run("sesi", model="baseline/first", limit=2, store=store, name="nightly 1")
    with pytest.raises(UsageError, match="'last' has a meaning of its own"):
        sm.run("sesi", model="baseline/first", limit=3, store=store, name="last")
    with pytest.raises(UsageError, match="the name 'sesi' is the name of an instrument"):
        sm.run("sesi", model="baseline/first", limit=3, store=store, name="sesi")


def test_a_name_like_a_path_writes_no_file_outside_the_folder(store, tmp_path):
    run = sm.run("sesi", model="baseline/first", limit=2, store=store, name="../../etc")
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    sm.export(["../../etc"], folder, store=store)
    assert [file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*.sociometer")] == [
        f"a/b/{run.id}.sociometer"
    ]


def test_a_function_is_the_same_again_with_a_revision_or_where_the_user_says_so(store):
    def always_a(messages):
        return "A"

    given = {"model": always_a, "limit": 2, "store": store}
    assert len({sm.run("sesi", revision="1", name="new", **given).id for _ in range(2)}) == 1
    first = sm.run("sesi", name="other", **given)
    assert sm.run("seceu", name="other", **given).subject == "other", "another test needs no --same"
    with pytest.raises(UsageError, match=r"'other' was measured on sesi on .*; add same=True if its weights have not"):
        sm.run("sesi", name="other", **given)
    second = sm.run("sesi", name="other", same=True, **given)
    assert sm.get_run("other", "sesi", store=store).id == f"{first.id}+{second.id}"
    with pytest.raises(UsageError, match=r"the name 'new' is that of python/.*always_a; see it with"):
        sm.run("sesi", name="new", **given)
    unnamed = [sm.run("sesi", **given).subject for _ in range(2)]
    assert len(set(unnamed)) == 2 and all(re.search(r"always_a \(20\d\d-", name) for name in unnamed)


def test_a_function_whose_file_was_changed_under_one_revision_stays_one_subject(store, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "edited_agent.py"
    file.write_text("def answer(messages):\n    return 'A'\n")
    given = {"model": "python/edited_agent:answer#1", "store": store, "limit": 2}
    first = sm.run("sesi", name="new", **given)
    file.write_text(file.read_text() + "# unrelated\n")
    second = sm.run("sesi", **given)
    assert second.subject == "new"
    assert sm.get_run("new", store=store).id == f"{first.id}+{second.id}"


def test_functions_that_one_factory_made_keep_their_replies_apart(store, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    made = "def always(letter):\n    def answer(messages):\n        return letter\n    return answer\n\n\n"
    (tmp_path / "made_agents.py").write_text(made + "a, c = always('A'), always('C')\n")
    for name in ("a", "c"):
        run = sm.run("sesi", f"python/made_agents:{name}#1", limit=4, store=store)
        assert run.subject == f"python/made_agents:{name}#1"
        assert {"ABCD"[episode.outcome.picked] for episode in run.episodes()} == {name.upper()}


@pytest.mark.parametrize("at_once", [2, 500])
def test_a_run_of_stored_replies_counts_those_that_could_not_be_read(store, monkeypatch, at_once):
    """The larger run paid for the replies; the smaller one has none of its own."""
    monkeypatch.setattr("sociometer.store.stored_run._READ_AT_ONCE", at_once)

    def half(messages):
        return "A" if len(messages[-1]["content"]) % 2 else "I do not know."

    def silent(messages):
        return "I do not know."

    for answer, said in ((half, "unreadable repl"), (silent, "no reply could be read")):
        given = {"model": answer, "revision": "1", "store": store, "second_question": False}
        for limit in (9, 6):
            assert said in str(sm.run("sesi", limit=limit, **given)).splitlines()[0]


def test_no_address_and_no_folder_is_part_of_a_name(store, openai_server, tmp_path, capsys):
    script = tmp_path / "xq-my-folder" / "answers.txt"
    script.parent.mkdir()
    script.write_text("A\n" * 50, encoding="utf-8")
    address = f"vllm/m@{openai_server.url}/v1#step-4"
    a = sm.run("sesi", model=address, limit=2, store=store)
    b = sm.run("sesi", model=f"scripted/{script}", limit=2, store=store)
    assert (a.subject, b.subject) == ("vllm/m#step-4", "scripted/answers.txt")
    for words in (["runs"], ["show", a.id], ["compare", a.id, b.id], ["compare", "sesi"]):
        run_command([*words, "--store", str(store)])
    page = sm.report([a, b], tmp_path / "page.html").read_text(encoding="utf-8")
    said = capsys.readouterr()
    for text in (said.out.replace(str(store), ""), said.err, page):
        assert openai_server.url not in text
        assert "xq-my-folder" not in text


def test_the_folder_of_a_setting_is_not_shown(store, tmp_path, capsys):
    own = tmp_path / "xq-my-folder" / "own.json"
    own.parent.mkdir()
    norm = build_norm(simulated_people(1, people=12), SCENARIOS, name="x", sample="").norm
    own.write_bytes(msgspec.json.encode(norm))
    run = sm.run("seceu", model="baseline/random", settings={"norm": str(own)}, limit=2, store=store)
    assert run.settings["norm"] == "own.json"
    run_command(["runs", "--store", str(store)])
    out = capsys.readouterr().out
    assert "own.json" in out
    assert "xq-my-folder" not in out.replace(str(store), "")
    assert sm.resume(run, store=store).status == "finished"


def test_a_cap_stops_a_run_that_can_be_resumed(store, openai_server):
    options = {"limit": 4, "store": store, "base_url": f"{openai_server.url}/v1", "revision": "1", "in_flight": 1}
    run = sm.run("sesi", model="vllm/m", max_requests=2, **options)
    assert run.status == "stopped"
    assert sm.resume(run, max_requests=10, store=store).status == "finished"
    assert len(openai_server.received) == 4


class Agent:
    """An object as a model."""

    def __call__(self, messages):
        return "A"


def functions_of_a_script():
    """A function as a script has it, a lambda, a function inside another, and an object."""

    def inside(messages):
        return "A"

    def agent(messages):
        return "A"

    agent.__qualname__, agent.__module__ = "agent", "__main__"
    return agent, lambda messages: "A", inside, Agent()


@pytest.mark.parametrize("revision", ["", "1"])
@pytest.mark.parametrize("nth", range(4))
def test_the_printed_call_continues_a_run_of_a_function_that_no_command_can_name(store, capsys, nth, revision):
    model = functions_of_a_script()[nth]
    run = sm.run("sesi", model, limit=4, max_requests=2, name="mine", revision=revision, store=store)
    spec, at = run.manifest.config.subject, ("--store", str(store))
    call = f"sm.resume('{run.id}', code=[FUNCTION], max_requests=MORE, store='{store}')  # in the script or notebook"
    assert run_command(["runs", *at]) == 0
    assert f"To continue it: {call} that has '{spec}'" in capsys.readouterr().out
    for given in ((), ("--code", spec)):
        assert run_command(["resume", "mine", *given, "--max-requests", "9", *at]) == 2
        assert call.replace(" max_requests=MORE,", "") in capsys.readouterr().err
    with pytest.raises(UsageError, match=rf"name it again: sm\.resume\('{run.id}', code=\["):
        sm.resume("mine", store=store)
    with pytest.raises(UsageError, match=f"not 'python/{__name__}:answers_b'"):
        sm.resume("mine", code=[answers_b], store=store)
    done = eval(call, {"sm": sm, "FUNCTION": model, "MORE": 9})  # the call as it is printed
    assert (done.id, done.status, done.failures()) == (run.id, "finished", {})


MODULE = """
class Agent:
    calls = 0

    def answer(self, messages):
        self.calls += 1
        return "A"

    __call__ = answer

first, second = Agent(), Agent()
"""


@pytest.mark.parametrize("name", ["first", "second", "second.answer"])
@pytest.mark.parametrize("by", ["command", "name", "object"])
def test_a_run_of_an_object_is_continued_by_the_object_and_not_by_its_class(store, tmp_path, monkeypatch, name, by):
    (tmp_path / "two_agents.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "two_agents", raising=False)
    agents = import_module("two_agents")
    agent = attrgetter(name)(agents)
    run = sm.run("sesi", agent, limit=4, max_requests=2, name="mine", store=store)
    if by == "command":
        words = shlex.split(run.manifest.config.resume_command("mine"))[1:]
        assert run_command([*words, "--max-requests", "9", "--quiet", "--store", str(store)]) == 0
    else:
        again = agent if by == "object" else f"python/two_agents:{name}"
        sm.resume("mine", code=[again], max_requests=9, store=store)
    done = sm.get_run("mine", store=store)
    assert (done.status, done.failures()) == ("finished", {})
    calls = {"first": agents.first.calls, "second": agents.second.calls}
    assert calls == {"first": 0, "second": 0, name.partition(".")[0]: 4}
    plain = sm.run("sesi", "baseline/random", limit=4, store=store)
    with pytest.raises(UsageError, match="runs no code of yours, so leave out 'python/two_agents:"):
        sm.resume(plain, code=[agent], store=store)
    with pytest.raises(UsageError, match="'python/two_agents:Agent' is a class; name an object of it"):
        sm.run("sesi", "python/two_agents:Agent", limit=4, store=store)


def test_two_functions_of_one_run_need_two_names(store):
    with pytest.raises(UsageError, match=r"two functions are both called 'python/.*<lambda>'; give each a name"):
        sm.run("sage", lambda _: "A", roles={"simulator": lambda _: "B", "judge": answers_b}, limit=1, store=store)


def test_the_name_of_a_function_of_a_script_is_not_looked_for_in_the_command(store, capsys, monkeypatch):
    for name in ("__main__:agent", f"{__name__}:<lambda>"):
        assert run_command(["run", "sesi", "--model", f"python/{name}", "--store", str(store)]) == 2
        said = capsys.readouterr().err
        assert f"'python/{name}' is not a function that can be imported; write sm.run(INSTRUMENT, FUNCTION) or" in said
        assert "sm.resume(RUN, code=[FUNCTION]) in the script or notebook that has it." in said
    monkeypatch.setattr(sys.modules["__main__"], "agent", lambda messages: "A", raising=False)
    run = sm.run("sesi", "python/__main__:agent", limit=4, max_requests=2, store=store)
    assert sm.resume(run, code=["python/__main__:agent"], max_requests=9, store=store).status == "finished"


def test_whatever_takes_a_run_takes_its_name_its_subject_or_a_list(old_and_new, tmp_path):
    old, new = (sm.get_run(name, store=old_and_new) for name in ("old", "new"))
    assert len(sm.frame("old", store=old_and_new)) == 30
    assert set(sm.frame(["baseline/oracle", old], store=old_and_new)["subject"]) == {old.subject, new.subject}
    assert sm.figures("new", store=old_and_new).keys() == sm.figures(new).keys()
    assert sm.compare(["old", new], store=old_and_new).sentence == sm.compare(old, new).sentence
    assert sm.gate([old, "new"], store=old_and_new) and not sm.gate(new, old)
    assert sm.export([old, "new"], tmp_path / "x.csv", store=old_and_new).read_text().count("\n") == 61
    assert sm.report("old", tmp_path / "page.html", store=old_and_new).exists()
    pack = sm.paper(["old", new], tmp_path / "p", store=old_and_new)
    assert (
        pack.instrument == "sesi" and "other benchmarks: models=FILE with" in str(pack) and "--models" not in str(pack)
    )
    assert "then sm.paper(INSTRUMENT, FOLDER)." in str(pack)
    with pytest.raises(UsageError, match=r"no stored run has the .*sm.run\(.sesi., official=True, model=MODEL, store="):
        sm.paper("sesi", tmp_path / "p", store=old_and_new)
    assert sm.get_run(old) is old


def test_a_run_that_a_paper_needs_is_a_call_of_python(store, tmp_path):
    run = sm.run("seceu", "baseline/random", limit=2, store=store)
    told = str(sm.paper(run, tmp_path / "p", store=store))
    assert "sm.run('seceu', official=True, settings={\"prompting\": 'all'}, model=MODEL)" in told
    assert "sociometer run" not in told


def test_a_subject_with_results_of_two_instruments_is_told_the_call_that_picks_one(store):
    for instrument in ("sesi", "seceu"):
        sm.run(instrument, "baseline/random", limit=2, store=store)
    with pytest.raises(UsageError, match=r"'baseline/random' has several results: sesi-.*sesi.*seceu") as raised:
        sm.get_run("baseline/random", store=store)
    named = re.search(r"such as sm\.get_run\('(.*)', store='(.*)'\)\.$", str(raised.value))
    assert sm.get_run(named[1], store=named[2]).subject == "baseline/random"
    assert sm.get_run("baseline/random", "sesi", store=store).instrument == "sesi"


def test_an_unknown_measure_or_task_is_told_the_known_ones(old_and_new):
    summary = sm.get_run("new", store=old_and_new).summary()
    with pytest.raises(NotFound, match="unknown measure 'acuracy'; did you mean 'accuracy'"):
        summary.measure("acuracy")
    with pytest.raises(NotFound, match=r"'accuracy \(ability=empaty\)'; did you mean 'accuracy \(ability=empathy\)'"):
        summary.measure("accuracy", ability="empaty")
    found = sm.compare("old", "new", store=old_and_new)
    with pytest.raises(NotFound, match=r'choose one of the comparisons \["sesi/questions"\], not .question'):
        found["question"]
    with pytest.raises(NotFound, match="did you mean 'accuracy'"):
        found["questions"].measure("acuracy")
    with pytest.raises(NotFound, match="unknown name 'ability'; did you mean 'abilities'"):
        sm.figures("new", store=old_and_new)["ability"]
    with pytest.raises(NotFound, match="unknown name 'sesy'; did you mean 'sesi'"):
        sm.list_instruments()["sesy"]


def test_the_difference_of_a_task_is_one_step_away(old_and_new):
    found = sm.compare("old", "new", store=old_and_new)
    (task,) = found
    row = task.primary_rows[0]
    assert found["questions"] is found["sesi/questions"] is found[0] is task
    assert (task.value, task.verdict) == (row.paired.difference, "better")
    assert (task.low, task.high) == (row.paired.interval.low, row.paired.interval.high)
    assert task.interval is row.paired.interval
    assert str(task.measure("accuracy")).endswith("30 items: better")
    assert task.measure("accuracy", ability="empathy").group == {"ability": "empathy"}


def test_a_refused_comparison_has_no_difference_and_says_why(store):
    first, second = (
        sm.run("sesi", "baseline/random", items=[item], store=store) for item in ("sesi-emp-137", "sesi-emp-140")
    )
    with pytest.raises(UsageError, match="cannot be compared"):
        sm.compare(first, second)
    third = sm.run("sesi", "baseline/random", items=["sesi-emp-104"], store=store)
    task, _ = sm.compare(first, second, third)  # three may have a ranking
    assert task.verdict == "refused"
    with pytest.raises(UsageError, match="cannot be compared"):
        _ = task.value


def test_of_several_runs_a_task_and_a_subject_name_a_comparison(three_subjects):
    found = sm.compare("sesi", store=three_subjects)
    with pytest.raises(NotFound, match=r'choose one of the comparisons \["sesi/questions", "baseline/oracle"\], \["'):
        found["questions"]
    assert found["questions", "baseline/first"].second == "baseline/first"


@pytest.mark.parametrize("call", [sm.compare, sm.reliability])
def test_what_the_page_of_python_says_that_a_task_has_is_there(old_and_new, call):
    (said,) = re.findall(r"Each task.*? has (.*?)\.\s", call.__doc__, re.DOTALL)
    task = call("old", "new", store=old_and_new)["questions"]
    assert len([attrgetter(name)(task) for name in re.findall(r"`([\w.]+)`", said)]) == 3


def test_results_print_as_text(old_and_new, tmp_path):
    run = sm.get_run("new", store=old_and_new)
    shown = [
        sm.choose("sesi", store=old_and_new), sm.compare("old", "new", store=old_and_new), run.summary(),
        sm.gate("old", "new", store=old_and_new), sm.paper("old", tmp_path, store=old_and_new), sm.check("seceu"),
        sm.compare("sesi", store=old_and_new).ranking(), sm.reliability("sesi", store=old_and_new),
        sm.list_models(), sm.list_instruments(), sm.figures(run), [*run.episodes()],
        run.transcript(next(run.episodes()).item.id), run.summary().measure("accuracy"),
        sm.study("spring", store=old_and_new), sm.study("spring", store=old_and_new).people,
    ]  # fmt: skip
    for one in shown:
        assert not re.search(r"\b[A-Z]\w+\((\w+=|<)", f"{one} {one!r}"), one
    assert str(shown[3]).startswith("Gate passed: ")
    assert "[subject: baseline/oracle]\n" in str(shown[12])
    assert str(shown[12]).startswith("[user to subject]\nBelow, a situation")


def test_a_transcript_is_read_by_an_episode_an_item_or_its_id(old_and_new):
    run = sm.get_run("new", store=old_and_new)
    episode = list(run.episodes())[3]
    event, *notes = run.transcript(episode)
    assert run.transcript(episode.item) == run.transcript(episode.item.id) == (event, *notes)
    assert event.reply.text in str(run.transcript(episode.item)) and event.role == "subject"


def test_an_unknown_item_of_a_transcript_names_some(old_and_new):
    run = sm.get_run("new", store=old_and_new)
    first = min(episode.item.id for episode in run.episodes())
    with pytest.raises(NotFound, match=rf"unknown sesi item 'x'; known: {first}, .* run\.episodes\(\)\] lists them\.$"):
        run.transcript("x")
    with pytest.raises(UsageError, match=f"item '{first}' has no repeat 7 in run {run.id}; "):
        run.transcript(first, repeat=7)
    people = sm.get_run("spring", store=old_and_new)
    assert people.transcript(next(people.episodes())) != people.transcript(list(people.episodes())[-1])
    with pytest.raises(UsageError, match="has no repeat 99"):
        people.transcript(next(people.episodes()).item, repeat=99)


def test_the_file_of_a_run_is_checked_from_python(old_and_new, tmp_path):
    file = sm.export("old", tmp_path / "old.sociometer", store=old_and_new)
    ((what, good, state),) = sm.check(file).rows
    assert what == f"run {sm.get_run('old', store=old_and_new).id}" and good is True
    assert state == "30 of 30 episodes recomputed from their replies, all numbers agree; consistent."
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(SociometerError, match=r"old\.sociometer"):
        sm.check(str(file))
    with pytest.raises(UsageError, match=r"there is no file 'none\.sociometer'"):
        sm.check("none.sociometer")


def test_completion_offers_what_users_need(old_and_new):
    offered = [name for name in dir(sm.get_run("new", store=old_and_new)) if not name.startswith("_")]
    assert len(offered) <= 20 and {"summary", "episodes", "transcript", "subject"} <= set(offered)


def test_a_traceback_has_few_lines_of_ours_and_the_error_keeps_its_facts(store, tmp_path):
    (tmp_path / "models.csv").write_text("model\nx\nx\n", encoding="utf-8")
    sm.run("sesi", "baseline/random", limit=2, store=store)
    with pytest.raises(DataError, match="the model 'x' is empty or appears twice") as raised:
        sm.paper("last", tmp_path / "paper", models=tmp_path / "models.csv", store=store)
    assert (raised.value.line, raised.value.path) == (3, str(tmp_path / "models.csv"))
    assert len(raised.traceback) <= 4
    with pytest.raises(NotFound) as raised:
        sm.gate("old", "new", store=store)
    assert len(raised.traceback) <= 4
    file = sm.export("last", tmp_path / "run.sociometer", store=store)
    file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()).replace(b'"correct":0', b'"correct":1')))
    with pytest.raises(Difference, match=r"run\.sociometer: "):
        sm.check(file)


def test_one_task_or_item_needs_no_list_and_a_number_is_a_number(store):
    run = sm.run("sesi", "baseline/random", tasks="questions", limit=2, store=store)
    item = next(run.episodes()).item.id
    assert [one.item.id for one in sm.run("sesi", "baseline/random", items=item, store=store).episodes()] == [item]
    with pytest.raises(UsageError, match="limit must be a whole number, not '3'"):
        sm.run("sesi", "baseline/random", limit="3", store=store)
    with pytest.raises(NotFound, match="unknown sesi item '3'"):
        run.transcript(3)


def test_a_page_is_written_to_a_file_of_its_kind_only(store, tmp_path):
    run = sm.run("sesi", "baseline/random", limit=2, store=store)
    with pytest.raises(UsageError, match=r"a page cannot be written to .*page\.pdf.*add figure=NAME"):
        sm.report(run, tmp_path / "page.pdf", store=store)
    assert not list(tmp_path.glob("page*"))


def test_a_notebook_shows_an_error_without_our_own_lines(store):
    with pytest.raises(UsageError) as raised:
        sm.run("sesy", "baseline/random", store=store)
    assert raised.value._render_traceback_() == [f"NotFound: {raised.value}"]


def test_a_command_in_an_error_stays_a_command(store):
    with pytest.raises(NotFound, match=r"'sociometer study create INSTRUMENT --name NAME --store .*'"):
        sm.study("spring", store=store)
    assert not store.exists()


def test_a_report_takes_names_and_runs(store, tmp_path):
    one = sm.run("sesi", model="baseline/random", limit=3, store=store, name="one")
    sm.run("sesi", model="baseline/first", limit=3, store=store, name="two")
    page = sm.report(["two", one], tmp_path / "page.html", store=store).read_text(encoding="utf-8")
    assert "<title>Sociometer: two and one on SESI</title>" in page
    with pytest.raises(sm.SociometerError, match="unknown run 'twoo'; did you mean 'two'"):
        sm.report(["twoo"], tmp_path / "page.html", store=store)


def test_a_frame_has_a_row_for_each_episode(store):
    run = sm.run("sesi", model="baseline/random", limit=5, store=store)
    pandas = sm.frame(run)
    assert len(pandas) == 5
    assert pandas["score.correct"].mean() == run.summary().measure("accuracy").value


def test_runs_comparisons_and_reproductions_are_there(store, tmp_path):
    assert sm.runs(store=store) == []
    first = sm.run("sesi", model="baseline/random", limit=20, store=store)
    second = sm.run("sesi", model="baseline/oracle", limit=20, store=store)
    assert [run.id for run in sm.runs(store=store)] == [first.id, second.id]
    found = sm.compare(first, second.id, store=store)
    assert "baseline/oracle is better than baseline/random" in found.sentence
    assert "<td>" in found._repr_html_()
    with pytest.raises(UsageError, match="needs two different runs"):
        sm.compare(first)
    assert sm.report([first, second], tmp_path / "page.html").exists()
    again = sm.reproduce("seceu")
    assert again.good and repr(again) == str(again) and len(str(again).splitlines()) > 5
    assert "do not hold" in str(again).splitlines()[0] and "PublishedFigure" not in str(again)
    assert again.frame()["count"].sum() > len(again.frame())
    assert sm.figures(first)["abilities"].chart


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"instrument": "sesy"}, "did you mean 'sesi'"),
        ({"limits": 3}, "unknown option 'limits'; did you mean 'limit'"),
        ({"model": "", "modl": "baseline/random"}, "unknown option 'modl'; did you mean 'model'"),
        ({"model": ""}, "no model for the role 'subject'"),
        ({"limit": 0}, "limit must be at least 1, not 0"),
        ({"settings": {"order": 3}}, "did you mean 'orders'"),
        ({"temperature": 0.5, "server_sampling": True}, "server_sampling=True cannot be combined"),
        ({"model": "opneai/gpt-4o"}, "did you mean 'openai'"),
    ],
)
def test_errors_are_of_our_own_tree_and_say_what_to_type(store, words, message):
    asked = {"instrument": "sesi", "model": "baseline/random", "store": store, **words}
    with pytest.raises(SociometerError, match=message):
        sm.run(**asked)
    assert not store.exists()


def test_hostile_text_is_shown_as_text_in_a_notebook(store):
    run = sm.run("seceu", model="baseline/random", limit=2, store=store, name="<script>alert(1)</script>")
    assert "<script>" not in run._repr_html_()
    assert "<script>" not in sm.figures(run)["results-1"]._repr_mimebundle_()["text/html"]


def test_a_setting_given_as_an_option_is_told_where_it_goes(store):
    with pytest.raises(UsageError, match=r"'prompting' is a setting of seceu: give settings=\{'prompting': …\}"):
        sm.run("seceu", model="baseline/random", prompting="direct", store=store)


def test_results_can_be_printed(store, tmp_path):
    one, two = (sm.run("sesi", model=f"baseline/{name}", limit=20, store=store) for name in ("oracle", "random"))
    assert str(one.summary()).splitlines()[1].split()[:4] == ["accuracy", "all", "1.00", "0.77"]
    assert str(sm.compare(one, two)).startswith("baseline/random is worse than baseline/oracle: ")
    drawn = sm.report([one, two], tmp_path / "profile.svg", figure="profile")
    assert drawn.read_text(encoding="utf-8").startswith("<svg")


def test_a_list_is_no_model(store):
    with pytest.raises(UsageError, match="a model is a name, such as openai/gpt-4o-mini, or a function"):
        sm.run("sesi", [answers_b, "baseline/random"], store=store)


def test_a_callback_hears_of_every_item_of_every_look_and_of_the_end(tmp_path):
    heard = []
    store = tmp_path / "s.db"
    sm.run("sesi", "baseline/oracle", name="old", store=store)
    run = sm.run("sesi", "baseline/random", against="old", store=store, callback=heard.append)
    items, looks = ([one for one in heard if one.kind == kind] for kind in ("item", "look"))
    assert {(one.episode.item.id, one.episode.repeat) for one in items} == run.finished("questions")
    assert [one.stopping for one in looks][-1] == run.stopping("questions")
    assert (heard[-1].kind, heard[-1].status, heard[-1].run) == ("end", "finished", run.id)


def test_the_example_of_a_tracker_gets_every_item_and_the_summary(tmp_path, monkeypatch):
    page = (Path(__file__).parents[1] / "docs/reference/python.md").read_text(encoding="utf-8")
    (example,) = [block for block in re.findall(r"```py\n(.*?)```", page, re.DOTALL) if "import wandb" in block]
    logged, summary = [], {}
    tracker = SimpleNamespace(log=logged.append, summary=summary)
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=lambda **named: nullcontext(tracker)))
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "s.db"))
    given = {"sm": sm, "answer": lambda messages: "A"}
    exec(example, given)
    assert len(logged) == 40
    assert summary["accuracy"] == given["run"].summary().measure("accuracy").value


def test_a_callback_that_fails_stops_neither_the_run_nor_is_it_called_again(tmp_path):
    heard = []

    def broken(event):
        heard.append(event)
        raise RuntimeError("mine")

    run = sm.run("sesi", "baseline/random", limit=5, store=tmp_path / "s.db", callback=broken)
    assert (run.status, len(heard)) == ("finished", 1)


def test_what_is_no_model_and_no_whole_number_is_refused_in_words(tmp_path):
    with pytest.raises(sm.SociometerError, match=r"a model is a name, such as openai/gpt.*not 3"):
        sm.run("sesi", 3, limit=2, store=tmp_path / "s.db")
    with pytest.raises(sm.SociometerError, match=r"limit must be a whole number, not 2\.5"):
        sm.run("sesi", "baseline/random", limit=2.5, store=tmp_path / "s.db")


def test_a_report_says_which_result_is_too_short_for_the_ranking_whether_or_not_it_was_named(tmp_path):
    store, page = tmp_path / "s.db", tmp_path / "r.html"
    runs = [sm.run("sesi", model=f"baseline/{name}", limit=limit, store=store) for name, limit in
            (("random", 40), ("first", 40), ("longest", 4))]  # fmt: skip
    for words in ("all", ["sesi"], runs):
        assert "has 4 of the 40 items that most runs have" in sm.report(words, page, store=store).read_text()


def test_a_name_that_several_subjects_fit_is_not_chosen_from(openai_server, tmp_path):
    store, models = tmp_path / "s.db", [f"vllm/good@{openai_server.url}/v1#{revision}" for revision in "bz"]
    sm.run("sesi", model="baseline/random", limit=12, store=store)
    for model, limit in zip(models, (12, 10), strict=True):
        sm.run("sesi", model=model, limit=limit, store=store)
    for call in (sm.compare, sm.gate):
        with pytest.raises(UsageError, match="'vllm/good' fits 2 subjects: 'vllm/good#b', 'vllm/good#z'; give"):
            call("baseline/random", "vllm/good", store=store)
    assert sm.compare("baseline/random", "vllm/good#z", store=store).chosen.runs[1].subject == "vllm/good#z"
