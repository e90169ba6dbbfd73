"""A run as one file: it is computed again without store or model, and every kind of tampering is named."""

import copy
import gzip
import hashlib
import json
import re
import sys

import msgspec
import pytest

import assistants
import sociometer as sm
from servers.faults import Fault
from sociometer.cli.main import run_command
from sociometer.engine.replay import check_file, export_bundle
from sociometer.instruments import load
from sociometer.store.bundle import BundleError, Difference, plan_digest, read_bundle
from sociometer.store.records import Manifest


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("bundle")


def bundle_of(folder, instrument, **options):
    run = sm.run(instrument, "baseline/random", store=folder / "store.db", **options)
    path = folder / f"{run.id}.sociometer"
    export_bundle(run, path)
    return run, path


@pytest.fixture(scope="module")
def sesi(folder):
    return bundle_of(folder, "sesi", limit=4, repeats=2)


@pytest.fixture(scope="module")
def sage(folder):
    return bundle_of(folder, "sage", limit=2, settings={"turns": 3})


def check(path, folder):
    return check_file(path, load)[1]


def rows_of(path):
    *lines, end = gzip.decompress(path.read_bytes()).splitlines()
    return [json.loads(line)["content"] for line in lines], json.loads(end)


def dumped(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def sealed(path, rows, end=None):
    """The file that somebody writes who computes all digests again."""
    bodies = list(map(dumped, rows))
    digests = [hashlib.sha256(body).hexdigest() for body in bodies]
    lines = [b'{"digest":"%s","content":%s}' % (one.encode(), body) for one, body in zip(digests, bodies, strict=True)]
    root = hashlib.sha256(dumped(digests)).hexdigest()
    last = end or {"rows": len(rows), "root": root}
    path.write_bytes(gzip.compress(b"\n".join([*lines, dumped(last)]) + b"\n"))
    return path


INSTRUMENTS = {
    "sesi": {"limit": 3},
    "seceu": {"limit": 3},
    "egosocial": {"limit": 2, "tasks": ["numbers", "counterfactual"], "settings": {"rounds": 2}},
    "socialeval": {"limit": 1},
    "sage": {"limit": 1, "settings": {"turns": 2}},
}


@pytest.mark.parametrize("items", ["bundled", "official"])
@pytest.mark.parametrize("instrument", INSTRUMENTS)
def test_every_number_of_an_instrument_is_computed_again(
    instrument, items, folder, official_data, tmp_path, monkeypatch
):
    options = dict(INSTRUMENTS[instrument])
    if items == "official":
        monkeypatch.setenv("SOCIOMETER_DATA", str(official_data))
        options = {**options, "official": True}
        if instrument == "egosocial":
            options |= {"tasks": ["tombench"], "settings": {}}
    _, path = bundle_of(folder, instrument, **options)
    done = check(path, tmp_path)
    assert (done.recomputed, done.why_not) == (done.episodes, "")


def episode(rows, number=0):
    return [row for row in rows if row["row"] == "episode"][number]


def change_reply(rows):
    reply = episode(rows)["replies"][0]["reply"]
    reply["text"] = "B" if reply["text"].strip().startswith("A") else "A"


def change_score(rows):
    score = episode(rows)["score"]["values"]
    score["correct"] = 1.0 - score["correct"]


def change_item(rows):
    episode(rows)["content"] = "0" * 64


def name_another_item(rows):
    episode(rows)["item"] = episode(rows, 2)["item"]


def swap(rows):
    rows[1], rows[3] = rows[3], rows[1]


def leave_out(rows):
    del rows[2]


def leave_out_the_last(rows):
    del rows[8]


def double(rows):
    rows.insert(2, rows[1])


def double_as_a_repeat(rows):
    rows.insert(3, {**rows[2], "repeat": 2})


def swap_texts(rows):
    one, other = episode(rows)["replies"][0], episode(rows, 2)["replies"][0]
    one["asked"], other["asked"] = other["asked"], one["asked"]


def change_subject_of_one_reply(rows):
    episode(rows)["replies"][0]["role"] = "judge"


def add_reply(rows):
    one = episode(rows)
    one["replies"].append({**one["replies"][0], "asked": "0" * 64})


def remove_reply(rows):
    episode(rows)["replies"].pop()


def call_it_failed(rows):
    one = episode(rows)
    one.pop("outcome")
    one.pop("score")
    one["failure"] = {"kind": "timeout", "message": "no answer"}


def call_it_failed_in_another_way(rows):
    one = episode(rows)
    one |= {"replies": [], "failure": {"kind": "timeout\x1b[2J\n=1+1", "message": ""}}
    one.pop("outcome")
    one.pop("score")


def hide_a_result(rows):
    episode(rows).pop("score")


def change_outcome(rows):
    episode(rows)["outcome"] = "0" * 64


def change_count(rows):
    rows[0]["manifest"]["episodes"] = 7


def change_seed(rows):
    rows[0]["manifest"]["config"]["seed"] = 5


def change_plan(rows):
    rows[0]["plan"] = "0" * 64


def change_norm(rows):
    rows[0]["manifest"]["norms"]["questions"] = {"mean": 1}


def call_it_official(rows):
    rows[0]["manifest"]["official_files"] = not rows[0]["manifest"].get("official_files", False)


def change_items_digest(rows):
    rows[0]["manifest"]["items_digests"]["questions"] = "0" * 32


def change_summary(rows):
    rows[-1]["summary"]["measures"][0]["value"] = 0.99


def change_interval(rows):
    rows[-1]["summary"]["measures"][0]["items"] = 400


def change_note(rows):
    rows[-1]["summary"]["notes"] = ["All is well."]


def remove_summary(rows):
    del rows[-1]


KINDS = [
    change_reply, change_score, change_item, name_another_item, swap, leave_out, leave_out_the_last, double,
    double_as_a_repeat, swap_texts, change_subject_of_one_reply, add_reply, remove_reply, call_it_failed,
    call_it_failed_in_another_way, hide_a_result,
    change_outcome, change_count, change_seed, change_plan, change_norm, call_it_official, change_items_digest,
    change_summary, change_interval, change_note, remove_summary,
]  # fmt: skip


@pytest.mark.parametrize("tamper", KINDS, ids=lambda one: one.__name__)
def test_tampering_is_caught_even_if_all_digests_are_computed_again(tamper, sesi, tmp_path):
    rows, _ = rows_of(sesi[1])
    changed = copy.deepcopy(rows)
    tamper(changed)
    if tamper not in (change_plan,):  # whoever can compute digests computes this one too
        changed[0]["plan"] = plan_of(changed[0]) if changed[0] != rows[0] else rows[0]["plan"]
    with pytest.raises(Difference) as caught:
        check(sealed(tmp_path / "t.sociometer", changed), tmp_path)
    row = next((one for one in rows if one["row"] == "episode" and one not in changed), None)
    if row is not None and len(rows) == len(changed):
        assert f"{row['task']}/{row['item']}" in str(caught.value)


def change_bound(rows):
    rows[-1]["summary"]["measures"][0]["interval"]["low"] = 0.9


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (change_summary, "questions/accuracy: value is 0.99 instead of 0."),
        (change_bound, "questions/accuracy: interval low is 0.9 instead of None."),
        (change_interval, "questions/accuracy: items is 400 instead of "),
    ],
)
def test_a_changed_number_of_a_summary_is_shown_with_the_computed_one(tamper, said, sesi, tmp_path):
    rows = copy.deepcopy(rows_of(sesi[1])[0])
    tamper(rows)
    with pytest.raises(Difference, match=re.escape(f"the summary differs: {said}")):
        check(sealed(tmp_path / "t.sociometer", rows), tmp_path)


def test_a_difference_in_a_file_of_another_release_says_which_one_made_it(sesi, tmp_path):
    rows = copy.deepcopy(rows_of(sesi[1])[0])
    rows[0]["manifest"]["sociometer_version"] = "0.1.9"
    rows[0]["plan"] = plan_of(rows[0])
    change_summary(rows)
    with pytest.raises(Difference, match=re.escape("It was made with Sociometer 0.1.9: check it with that version")):
        check(sealed(tmp_path / "t.sociometer", rows), tmp_path)


def plan_of(run):
    return plan_digest(msgspec.convert(run["manifest"], Manifest))


def test_a_wrong_plan_is_found_and_one_with_fields_of_another_version_is_not_vouched_for(sesi, tmp_path):
    rows = copy.deepcopy(rows_of(sesi[1])[0])
    rows[0]["plan"] = "0" * 64
    with pytest.raises(Difference, match="the digest of the plan does not match"):
        check(sealed(tmp_path / "wrong.sociometer", rows), tmp_path)
    rows[0]["manifest"]["of_another_version"] = 1
    done = check(sealed(tmp_path / "other.sociometer", rows), tmp_path)
    assert not done.plan_agrees and done.recomputed == done.episodes


@pytest.mark.parametrize("number", [0, 1, 5, -1])
def test_a_row_that_was_edited_without_its_digest_is_named(number, sesi, tmp_path):
    content = gzip.decompress(sesi[1].read_bytes()).splitlines()[:-1][number]
    row = json.loads(content)["content"]
    edited = content.replace(b'"row":', b'"extra":1,"row":', 1)
    path = tmp_path / "t.sociometer"
    path.write_bytes(gzip.compress(gzip.decompress(sesi[1].read_bytes()).replace(content, edited)))
    name = {"run": "manifest", "summary": "summary of questions"}.get(row["row"]) or f"questions/{row['item']}"
    with pytest.raises(Difference, match=name):
        read_bundle(path)


def test_a_changed_root_and_moved_rows_are_caught(sesi, tmp_path):
    rows, end = rows_of(sesi[1])
    path = tmp_path / "t.sociometer"
    for moved, last in ((rows, {**end, "root": "0" * 64}), ([rows[0], rows[2], rows[1], *rows[3:]], end)):
        with pytest.raises(Difference, match="root digest"):
            read_bundle(sealed(path, moved, last))
    for lost, said in (
        (end["rows"], f"moved .it has {len(rows) - 1}, and its last line says {len(rows)}."),
        (end["rows"] - 1, "moved:"),
    ):
        with pytest.raises(Difference, match=said):
            read_bundle(sealed(path, [*rows[:1], *rows[2:]], {**end, "rows": lost}))


def test_a_turn_of_a_dialogue_that_was_changed_is_named(sage, tmp_path):
    rows, _ = rows_of(sage[1])
    replies = episode(rows, 1)["replies"]
    next(one for one in replies if one["role"] == "subject")["reply"]["text"] += " Calm down."
    with pytest.raises(Difference, match=episode(rows, 1)["item"]):
        check(sealed(tmp_path / "t.sociometer", rows), tmp_path)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (lambda raw: raw[: len(raw) // 2], "its end is missing"),
        (lambda raw: b"PK\x03\x04 something else", "it is another file. Get it again"),
        (lambda raw: gzip.compress(b'{"a": 1}\n'), "another file"),
        (lambda raw: gzip.compress(b"[" * 200_000 + b"\n"), "another file"),
        (lambda raw: gzip.compress(b"0" * (65 << 20)), "larger than"),
        (lambda raw: gzip.compress(gzip.decompress(raw).rsplit(b"\n", 2)[0] + b"\n"), "its end is missing"),
    ],
)
def test_a_damaged_or_foreign_file_gets_one_sentence_and_its_own_exit_code(body, said, sesi, tmp_path, capsys):
    path = tmp_path / "t.sociometer"
    path.write_bytes(body(sesi[1].read_bytes()))
    assert run_command(["check", str(path)]) == 6
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": 99}, "layout 99"),
        ({"format": "other"}, "another file"),
        ({"id": "../../etc"}, "not the id of a run"),
        ({"manifest": {"instrument_version": "0"}}, "version 0"),
        ({"manifest": {"config": {"instrument": "os.path"}}}, "not a run of an instrument"),
        ({"id": "nothing-abcde", "manifest": {"config": {"instrument": "nothing"}}}, "unknown instrument"),
        ({"manifest": {"prompts_digest": "0"}}, "other prompts"),
        ({"manifest": {"config": {"settings": {"orders": 10**9}}}}, "at most 10,000 is checked"),
        ({"manifest": {"config": {"answer": "probability"}}}, "with -o answer=probability, which this version does"),
    ],
)
def test_a_file_of_another_version_or_of_nothing_known_is_not_checked(change, said, sesi, tmp_path):
    rows, _ = rows_of(sesi[1])

    def merged(into, new):
        for name, value in new.items():
            into[name] = merged(into[name], value) if isinstance(value, dict) else value
        return into

    merged(rows[0], change)
    rows[0]["plan"] = plan_of(rows[0])
    path = sealed(tmp_path / "t.sociometer", rows)
    try:
        assert said in check(path, tmp_path).why_not
    except BundleError as error:
        assert said in str(error)


def test_paths_and_code_in_the_file_are_never_opened(sage, tmp_path):
    rows, _ = rows_of(sage[1])
    config = rows[0]["manifest"]["config"]
    config["settings"]["scenarios"] = [str(tmp_path / "own.jsonl")]
    config |= {"prompts_folder": str(tmp_path), "data_folder": str(tmp_path), "subject": "python/os:system"}
    rows[0]["manifest"]["roles"]["subject"]["spec"] = "python/os:system"
    rows[0]["plan"] = plan_of(rows[0])
    assert check(sealed(tmp_path / "t.sociometer", rows), tmp_path).why_not == ""


def test_whoever_lacks_the_official_data_sees_what_was_not_checked(
    folder, official_data, tmp_path, monkeypatch, capsys
):
    run, path = bundle_of(folder, "sesi", limit=3, data=official_data)
    raw = gzip.decompress(path.read_bytes()).decode()
    assert not any(episode.item.situation[:60] in raw for episode in run.episodes())
    monkeypatch.setenv("SOCIOMETER_DATA", str(tmp_path / "none"))
    assert run_command(["check", str(path)]) == 6
    first = capsys.readouterr().out.splitlines()[0]
    assert "not checked: the official items of sesi are not on this machine; run 'sociometer get data sesi" in first
    assert "All digests match; none of 3 episodes recomputed." in first and "consistent" not in first


def test_the_digest_of_the_plan_is_known_before_the_run_and_is_in_its_file(folder, tmp_path, capsys):
    options = ("seceu", "--model", "baseline/random", "--limit", "2", "--store", str(tmp_path / "s.db"))
    assert run_command(["plan", *options, "--to", str(tmp_path / "plan.json")]) == 0
    planned = json.loads((tmp_path / "plan.json").read_text())[0]
    assert hashlib.sha256(planned["decided"].encode()).hexdigest() == planned["plan"]
    assert run_command(["run", *options]) == 0
    assert run_command(["export", "last", "--to", str(tmp_path / "r.sociometer"), *options[5:]]) == 0
    assert read_bundle(tmp_path / "r.sociometer").run.plan == planned["plan"]
    assert run_command(["plan", *options, "--seed", "4", "--to", str(tmp_path / "plan.json")]) == 0
    assert json.loads((tmp_path / "plan.json").read_text())[0]["plan"] != planned["plan"]


def test_the_plan_of_a_function_has_the_digest_of_its_file_and_everybody_sees_that_it_changed(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    (tmp_path / "planned_agent.py").write_text("def answer(messages):\n    return 'A'\n")
    agent, at = "python/planned_agent:answer", ["--store", str(tmp_path / "s.db")]
    words = ["sesi", "--model", agent, "--limit", "3", "--max-requests", "2", *at]

    def plan():
        assert run_command(["plan", *words, "--to", "plan.json"]) == 0
        return json.loads((tmp_path / "plan.json").read_text())[0]

    planned = plan()
    assert hashlib.sha256((tmp_path / "planned_agent.py").read_bytes()).hexdigest() in planned["decided"]
    assert run_command(["run", *words, "--name", "n"]) == 3
    (tmp_path / "planned_agent.py").write_text("def answer(messages):\n    return 'B'\n")
    assert plan()["plan"] != planned["plan"]
    capsys.readouterr()
    assert run_command(["resume", "n", "--code", agent, "--max-requests", "20", *at]) == 0
    assert f"the file of {agent} changed after this run was planned." in capsys.readouterr().err
    assert run_command(["export", "n", "--to", "n.sociometer", *at]) == 0
    for words in (["show", "n", *at], ["check", "n.sociometer"]):
        capsys.readouterr()
        assert run_command(words) == 0
        told = capsys.readouterr().out
        assert f"The file of {agent} was changed after the plan: items were played with other code." in told
    assert planned["plan"] in told, "the plan is the one that was published"
    assert run_command(["resume", "n", "--code", agent, *at]) == 0
    assert sm.get_run("n", store=tmp_path / "s.db").manifest.roles["subject"].later_code == (
        hashlib.sha256((tmp_path / "planned_agent.py").read_bytes()).hexdigest(),
    )


def test_a_failed_item_stays_failed_and_a_text_is_continued_again(openai_server, key, tmp_path):
    openai_server.faults.append(Fault(status=400))
    model, options = f"openai/m@{openai_server.url}", {"key_variable": "OPENAI_API_KEY", "in_flight": 1}
    failed = sm.run("sesi", model, limit=3, store=tmp_path / "s.db", **options)
    assert sum(failed.failures().values()) == 1
    continued = sm.run("sesi", model, limit=2, base=True, store=tmp_path / "s.db", **options)
    for run in (failed, continued):
        export_bundle(run, tmp_path / f"{run.id}.sociometer")
        assert check(tmp_path / f"{run.id}.sociometer", tmp_path).why_not == ""


def test_vectors_of_an_embedder_are_in_the_file(openai_server, key, official_data, tmp_path, monkeypatch):
    monkeypatch.setenv("SOCIOMETER_DATA", str(official_data))
    model, options = f"openai/m@{openai_server.url}", {"official": True, "tasks": ["utterances"], "limit": 2}
    options |= {"settings": {"language": "en"}, "roles": {"embedder": model}, "key_variable": "OPENAI_API_KEY"}
    _, path = bundle_of(tmp_path, "socialeval", **options)
    assert any(reply["role"] == "embedder" for reply in episode(rows_of(path)[0])["replies"])
    done = check(path, tmp_path)
    assert (done.recomputed, done.why_not) == (done.episodes, "")


def test_the_file_has_no_path_no_server_and_no_key(openai_server, key, tmp_path):
    model = f"openai/m@{openai_server.url}"
    run = sm.run("sesi", model, limit=2, store=tmp_path / "s.db", key_variable="OPENAI_API_KEY")
    export_bundle(run, tmp_path / "r.sociometer")
    raw = gzip.decompress((tmp_path / "r.sociometer").read_bytes()).decode()
    assert not any(word in raw for word in (openai_server.url, "OPENAI_API_KEY", key, str(tmp_path)))
    assert check(tmp_path / "r.sociometer", tmp_path).why_not == ""


def test_a_run_that_stopped_early_is_checked_and_may_lack_no_repeat_that_its_rule_saw(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    store = ["--store", str(tmp_path / "s.db")]
    words = ["run", "sesi", "--limit", "60", "--repeats", "2", "--quiet", *store]
    assert run_command([*words, "--model", "baseline/oracle", "--name", "old"]) == 0
    assert run_command([*words, "--model", "baseline/random", "--name", "early", "--against", "old"]) == 0
    assert run_command(["export", "early", "--to", "e.sociometer", *store]) == 0
    assert run_command(["check", "e.sociometer"]) == 0
    assert "these are taken from the file" in capsys.readouterr().out

    rows, _ = rows_of(tmp_path / "e.sociometer")
    sealed(tmp_path / "f.sociometer", [row for row in rows if row.get("repeat") != 1])
    assert run_command(["check", "f.sociometer"]) == 1
    assert "lack a repeat" in capsys.readouterr().err
    for row in rows:
        if row.get("summary"):
            row["summary"]["stopping"]["items"] = 0
    sealed(tmp_path / "g.sociometer", rows)
    assert run_command(["check", "g.sociometer"]) == 1
    assert "does not fit its plan" in capsys.readouterr().err


@pytest.mark.parametrize("tools", ["called", "told"])
def test_calls_and_their_results_are_computed_again_and_a_changed_call_is_found(tmp_path, openai_server, tools):
    assistants.Called(openai_server, assistants.discerning)
    model = f"vllm/m@{openai_server.url}#1" if tools == "called" else assistants.told(assistants.discerning)
    run = sm.run("helpdesk", model, settings={"talks": 2}, store=tmp_path / "s.db")
    path = tmp_path / "run.sociometer"
    export_bundle(run, path)
    assert check(path, tmp_path).recomputed == 2
    rows, _ = rows_of(path)
    assert run.manifest.config.tools == tools == rows[0]["manifest"]["config"]["tools"]
    sealed(path, json.loads(json.dumps(rows).replace("look_up", "look_down")))
    with pytest.raises(Difference):
        check(path, tmp_path)


def test_no_item_is_in_the_file(tmp_path):
    played = sm.run("seceu", "baseline/random", limit=12, store=tmp_path / "s.db")
    assert any("stories" in table.title for table in played.summary().tables)
    export_bundle(played, tmp_path / "x.sociometer")
    text = gzip.decompress((tmp_path / "x.sociometer").read_bytes()).decode()
    assert not [one.item.id for one in played.episodes() if one.item.story[:40] in text]
    assert run_command(["check", str(tmp_path / "x.sociometer")]) == 0


def test_neither_official_texts_nor_their_key_are_in_what_people_publish(official_data, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_DATA", str(official_data))
    played = sm.run("seceu", "baseline/random", official=True, limit=12, store=tmp_path / "s.db")
    bundle, plan, shown = (tmp_path / name for name in ("x.sociometer", "plan.json", "show.json"))
    export_bundle(played, bundle)
    options = ["--official", "--model", "baseline/random", "--limit", "12", "--store", str(tmp_path / "p.db")]
    assert run_command(["plan", "seceu", *options, "--to", str(plan)]) == 0
    assert run_command(["show", played.id, "--store", str(tmp_path / "s.db"), "--to", str(shown)]) == 0
    for text in (gzip.decompress(bundle.read_bytes()).decode(), plan.read_text(), shown.read_text()):
        assert not [one.item.id for one in played.episodes() if one.item.story[:40] in text]
        assert "Wang et al. (2023)" in text and "3.56" not in text, "the norm has a name, and no key"
    note = next(table.note for table in played.summary().tables if table.name == "items")
    assert "show RUN SCENARIO prints one" in note
    capsys.readouterr()
    assert run_command(["check", str(bundle)]) == 0 and "12 of 12 episodes recomputed" in capsys.readouterr().out
    assert read_bundle(bundle).run.plan in plan.read_text()
