"""A store of version 0.3 opens with every command: what cannot be computed any more is shown as it was stored.

Nothing here knows which tasks, options and settings are gone: the store has a run of every kind, and what this version
can still compute must give the same numbers.
"""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "web"))

from serving import Client, Served

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.errors import ExitCode, UsageError
from sociometer.instruments import cards, load
from sociometer.store.store import Store
from sociometer.web.browsing import ViewedStore
from sociometer.web.guard import OWNER, OWNERS
from sociometer.web.view import view_application
from version_0_3 import EXPECTED, FOLDER, unpack

PEOPLE = [name for name in EXPECTED if "." in name]
NAMES = {one["run"]: name for name, one in EXPECTED.items()}
"""The names that version 0.3 gave to runs, by id."""
STOPPED = [name for name, one in EXPECTED.items() if one["status"] == "stopped"]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return unpack(tmp_path_factory.mktemp("version-0-3"))


@pytest.fixture
def store(kept, tmp_path):
    """A copy that a test may change."""
    for file in kept.parent.glob("store.db*"):
        if file.is_file():
            shutil.copy(file, tmp_path / file.name)
    return tmp_path / "store.db"


@pytest.fixture
def command(capsys):
    def run(store, *words):
        code = run_command([*map(str, words), "--store", str(store)])
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err + shown.out and code != ExitCode.INTERNAL, (words, shown.err)
        return code, shown.out, shown.err

    return run


def measures_a_model(run):
    """Not a person of a study, and no analysis of stored runs."""
    return bool(run.subject) and NAMES[run.id] not in PEOPLE and not run.manifest.given_items


def past_of(store):
    """The runs of which this version can show numbers only, by name, with the reason for each task."""
    return {NAMES[run.id]: run.past for run in sm.runs(store=store) if run.past}


def measured(shown, task, name):
    found = (one for one in shown["summaries"][task]["measures"] if one["name"] == name and not one["group"])
    return next(found, {"value": None, "interval": None})


def test_every_run_is_listed_with_its_status_and_its_number(kept, command):
    code, out, _ = command(kept, "runs", "--json")
    assert code == 0
    listed = {one["run"]: one for one in json.loads(out)}
    assert listed.keys() == {one["run"] for one in EXPECTED.values()}
    for expected in EXPECTED.values():
        found = listed[expected["run"]]
        assert found["status"] == expected["status"]
        values = [task["value"] for task in expected["tasks"].values()]
        # Of a task that is gone, nobody knows which measure was the primary one: the first is shown with its name.
        assert found["value"] in values or found["score"][0].isalpha()


@pytest.mark.parametrize("name", EXPECTED)
def test_every_run_shows_the_numbers_that_version_0_3_showed(name, kept, command):
    code, out, err = command(kept, "show", EXPECTED[name]["run"], "--json")
    assert code == 0, err
    shown = json.loads(out)
    for task, expected in EXPECTED[name]["tasks"].items():
        measure = measured(shown, task, expected["measure"])
        interval = measure["interval"] or {"low": None, "high": None}
        assert measure["value"] == expected["value"]
        if expected["value"] is not None:
            assert (interval["low"], interval["high"]) == (expected["low"], expected["high"])


@pytest.mark.parametrize("name", EXPECTED)
def test_every_run_is_shown_in_words_with_its_items_and_a_transcript(name, kept, command):
    run = EXPECTED[name]["run"]
    stored = sm.get_run(run, store=kept)
    code, out, err = command(kept, "show", run)
    assert code == 0, err
    for why in stored.past.values():
        assert " ".join(why.split())[5:] in " ".join(out.split())
    code, _, err = command(kept, "show", run, "--items")
    assert code == 0, err
    episode = next(stored.episodes(), None)
    if episode is not None:
        code, _, err = command(kept, "show", run, episode.item.id)
        assert code == 0, err


def test_a_run_differs_from_one_of_this_version_in_no_setting_that_is_gone(store, command):
    sm.run("sesi", "baseline/last", limit=24, name="now", fresh=True, store=store)
    code, said, err = command(store, "compare", "sesi-random", "now")
    assert code == 0, err
    assert "settings differ" not in said
    assert "Add --" not in command(store, "show", "sesi-random")[1], (
        "advice of version 0.3 may name an option that is gone"
    )


def test_all_are_compared_and_reported_without_those_that_are_only_shown(kept, command, tmp_path):
    past = [name for name in past_of(kept) if name not in PEOPLE]
    for words in (["compare", "all"], ["report", "all", "--to", tmp_path / "page.html"]):
        code, _, err = command(kept, *words)
        assert code == 0, err
        if past:
            assert "only shown, not compared or reported" in " ".join(err.split())
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for name in past:
        if not sm.get_run(name, store=kept).tasks:
            assert EXPECTED[name]["run"] not in page


def test_a_run_that_is_only_shown_is_refused_by_name_in_a_sentence(kept, command, tmp_path):
    for name, past in past_of(kept).items():
        if name in PEOPLE or sm.get_run(name, store=kept).tasks:
            continue
        why = next(iter(past.values()))
        for words in (["compare", name, "sesi-oracle"], ["report", name, "--to", tmp_path / "page.html"]):
            code, _, err = command(kept, *words)
            assert code == 2 and why in " ".join(err.split()), (words, err)


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_every_run_is_exported_with_all_its_episodes(ending, kept, command, tmp_path):
    for name, one in EXPECTED.items():
        stored = sm.get_run(one["run"], store=kept)
        if not stored.stored_episodes():
            continue
        path = tmp_path / f"rows.{ending}"
        code, _, err = command(kept, "export", one["run"], "--to", path)
        assert code == 0, (name, err)
        rows = path.read_text(encoding="utf-8").count("\n")
        assert rows >= stored.stored_episodes(), name


def test_a_file_to_check_is_written_or_refused_in_a_sentence(kept, command, tmp_path):
    for name, one in EXPECTED.items():
        code, _, err = command(kept, "export", one["run"], "--to", tmp_path / f"{name}.sociometer")
        assert code in (0, 2), (name, err)
        for why in sm.get_run(one["run"], store=kept).past.values():
            assert code == 2 and why in " ".join(err.split())


@pytest.mark.parametrize("file", ["ordinary", "stopped-early"])
def test_a_file_of_version_0_3_is_consistent(file, capsys):
    code = run_command(["check", str(FOLDER / f"{file}.sociometer")])
    shown = capsys.readouterr()
    assert code == 0, shown.err
    assert "consistent" in shown.out


@pytest.mark.parametrize("name", ["sesi-random", "socialeval-random", "seceu-random"])
def test_an_ordinary_run_is_exported_and_checked(name, store, command, tmp_path):
    file = tmp_path / "run.sociometer"
    assert command(store, "export", name, "--to", file)[0] == 0
    code, out, err = command(store, "check", file)
    assert code == 0 and "consistent" in out, err


@pytest.mark.parametrize(
    ("name", "choices"), [("sesi-oracle", ["--limit", 60]), ("socialeval-random", ["--limit", 4, "--repeats", 2])]
)
def test_a_new_run_is_compared_with_one_of_version_0_3_until_that_is_decided(name, choices, store, command):
    instrument = EXPECTED[name]["instrument"]
    code, _, err = command(
        store, "run", instrument, "--model", "baseline/first", "--against", name, *choices, "-o", "in-flight=1"
    )
    assert code == 0, err


@pytest.mark.parametrize("name", STOPPED)
def test_a_stopped_run_is_resumed_or_refused_in_a_sentence(name, store, command):
    """No server listens, so the cap allows nothing more than was sent."""
    run = EXPECTED[name]["run"]
    past = sm.get_run(run, store=store).past
    code, _, err = command(store, "resume", run, "--max-requests", 1, "--quiet")
    said = " ".join(err.split())
    if past:
        assert code == 2 and "cannot be resumed: it was made by version 0.3.0" in said
        assert "Start a new run" in said or "start a new run" in said
    else:
        assert code in (0, 3, 4) or "is installed; a run cannot change version" in said, said


def test_a_run_that_a_rule_ended_is_repeated_without_anything_to_play(store, command):
    assert command(store, "resume", "until-decided", "--quiet")[0] == 0


def test_the_list_of_runs_offers_to_continue_only_what_can_be_continued(store, command):
    said = " ".join("".join(command(store, "runs")[1:]).split())
    for name in ("deeds-stopped", "probability-stopped"):
        assert f"{EXPECTED[name]['run']} ended early" in said
    assert "sociometer resume" not in said
    for name in {*STOPPED} - {"sesi-stopped"}:
        command(store, "store", "delete", name, "--yes")
    said = " ".join("".join(command(store, "runs")[1:]).split())
    run = EXPECTED["sesi-stopped"]["run"]
    assert f"{run} ended early" in said and f"sociometer resume {run}" in said


def test_a_run_of_a_command_that_is_gone_is_not_said_to_continue_by_it(store, command):
    code, _, err = command(store, "resume", EXPECTED["candour"]["run"])
    said = " ".join(err.split())
    assert code == 2 and "cannot be resumed: it was made by version 0.3.0" in said and "repeat the command" not in said


def test_rescoring_keeps_the_numbers_or_is_refused_in_a_sentence(store, command):
    for name, one in EXPECTED.items():
        stored = sm.get_run(one["run"], store=store)
        before = {task: stored.kept_summary(task) for task in stored.past}
        code, _, err = command(store, "store", "rescore", one["run"])
        if stored.tasks:
            assert code == 0, (name, err)
        else:
            assert code == 2 and next(iter(stored.past.values())) in " ".join(err.split())
        after = sm.get_run(one["run"], store=store)
        assert {task: after.kept_summary(task) for task in after.past} == before


def test_the_store_is_copied_whole(kept, tmp_path, command, capsys):
    for target in ("file.db", "merged.db"):
        if target == "merged.db":
            sm.run("sesi", "baseline/first", limit=1, fresh=True, name="another", store=tmp_path / target)
        assert run_command(["store", "copy", str(kept), str(tmp_path / target), "--trust"]) == 0
        capsys.readouterr()
        for name in ("until-width", "probability", "deeds"):
            run = EXPECTED[name]["run"]
            here, there = (json.loads(command(one, "show", run, "--json")[1]) for one in (kept, tmp_path / target))
            assert here["summaries"] == there["summaries"] and here["subject"] == there["subject"]


def test_a_renamed_run_is_still_only_shown(store, command):
    before = past_of(store)
    measured = [name for name in before if measures_a_model(sm.get_run(name, store=store))]
    for name in measured:
        assert command(store, "store", "rename", name, f"{name}-new")[0] == 0
    assert past_of(store) == before
    assert {run.subject for run in sm.runs(store=store)} >= {f"{name}-new" for name in measured}


def test_the_store_is_upgraded_once_and_a_copy_is_kept_beside_it(store, command):
    assert command(store, "runs")[0] == 0
    copy = store.with_name(f"{store.name}.version-0.3")
    assert copy.exists()
    kept = copy.read_bytes()
    assert command(store, "compare", "all")[0] == 0
    assert copy.read_bytes() == kept


def test_every_model_of_an_older_store_has_one_name_and_no_name_means_two(store):
    with Store(store) as opened:
        entries = opened.names.every()
        subjects = {run.subject for run in sm.runs(store=store) if measures_a_model(run)}
    assert len({entry.name for entry in entries}) == len(entries) == len({entry.key for entry in entries})
    assert {entry.name for entry in entries if entry.kind == "subject"} == subjects


def test_the_store_is_sound_and_says_what_was_not_computed_again(kept, command):
    code, out, _ = command(kept, "check", "store")
    assert code == 0 and f"{len(EXPECTED)} runs checked: no findings." in out
    for name, past in past_of(kept).items():
        for why in past.values():
            shown = sm.get_run(EXPECTED[name]["run"], store=kept).reference
            assert f"{shown} was {why}" in " ".join(out.split())


def test_every_page_of_view_opens(kept):
    app = view_application(ViewedStore(kept, load, cards()))
    with Served(app) as served:
        client = Client(served.url, f"{served.address.cookie}={app[OWNERS].open(OWNER, 'x')}")
        listed = client.get("/")
        assert listed.status == 200
        for name, one in EXPECTED.items():
            stored = sm.get_run(one["run"], store=kept)
            for task in stored.all_tasks:
                page = client.get(f"/run/{one['run']}/?task={task}")
                assert page.status == 200 and '<p class="failure">Traceback' not in page.text, name
                if task in stored.past:
                    assert "its numbers are shown as they were stored" in page.text
            for ending in ("csv", "jsonl", "sociometer"):
                file = client.get(f"/run/{one['run']}/download.{ending}")
                assert file.status == (200 if f"download.{ending}" in page.text else 400), (name, ending)
            assert not stored.past or "sociometer resume" not in page.text
            for query in ("shown=lowest", "q=the"):
                assert client.get(f"/run/{one['run']}/?{query}").status == 200, name
            episode = next(stored.episodes(stored.all_tasks[0]), None)
            if episode is not None:
                item = client.get(f"/run/{one['run']}/item?task={stored.all_tasks[0]}&item={episode.item.id}&repeat=0")
                assert item.status == 200, (name, item.text[-2000:])


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("sheet write deeds --to rows.csv", "the task 'deeds' of run deeds has no primary measure; name a measure"),
        ("sesi analyse blind --role judge=baseline/random", "run blind contains only numbers of an earlier version;"),
        ("egosocial grade told", "run told played only tasks of an earlier version, but not blackjack"),
        ("sage passport --role simulator=baseline/random --people talks", "study talks has no imported talks"),
    ],
)
def test_a_command_that_needs_more_than_stored_numbers_says_so(words, why, store, command):
    code, _, err = command(store, *words.split())
    said = " ".join(err.split())
    for run, name in NAMES.items():
        said = said.replace(run, name)
    assert code == 2 and why in said


def test_view_shows_the_people_of_every_study(kept):
    app = view_application(ViewedStore(kept, load, cards()))
    with Served(app) as served:
        client = Client(served.url, f"{served.address.cookie}={app[OWNERS].open(OWNER, 'x')}")
        for name in PEOPLE:
            study, _, participant = name.partition(".")
            page = client.get(f"/study/{study}/")
            assert page.status == 200 and participant in page.text, page.text


def test_what_people_said_to_a_model_is_exported(kept, command, tmp_path):
    assert command(kept, "study", "export", "talks", "--to", tmp_path / "talks")[0] == 0
    _, first, second = (tmp_path / "talks" / "people.csv").read_text(encoding="utf-8").splitlines()
    assert "65.0" in first and "65.0" in second
    assert "My neighbour's dog barks all night" in (tmp_path / "talks" / "sage_talk.csv").read_text(encoding="utf-8")


def test_python_says_why_a_number_is_only_shown(kept):
    for name in past_of(kept):
        stored = sm.get_run(name, store=kept)
        for task, why in stored.past.items():
            assert stored.summary(task).notes[0].startswith("Made by version 0.3.0")
            with pytest.raises(UsageError, match=re.escape(why)):
                stored.rescore(task)


@pytest.mark.parametrize("study", sorted({name.partition(".")[0] for name in PEOPLE}))
def test_studies_open(study, kept, command, tmp_path):
    code, out, err = command(kept, "study", "show", study)
    assert code == 0 and "finished" in out, err
    assert all(name.partition(".")[2] in out for name in PEOPLE if name.startswith(f"{study}.")), out
    code, _, err = command(kept, "study", "export", study, "--to", tmp_path / study)
    assert code == 0, err
    code, out, err = command(kept, "show", study)
    assert code == 0, err
    group = sm.get_run(study, store=kept)
    assert group.tasks or "there is no score of all" in " ".join(out.split())
