"""Numbers of earlier versions are shown as they were stored where the installed version cannot compute them."""

from copy import copy

import msgspec
import pytest
from msgspec import Struct, structs

import sociometer as sm
from sociometer.core.errors import StoreError, UsageError
from sociometer.core.task import Item
from sociometer.instruments import load
from sociometer.store import past
from sociometer.store.records import Manifest, read_manifest
from sociometer.store.stored_run import StoredRun

TASK = "questions"


@pytest.fixture
def run(tmp_path):
    return sm.run("sesi", model="baseline/random", limit=12, store=tmp_path / "s.db")


def with_instrument(run, **changes):
    """The run as a version with another instrument reads it."""
    instrument = copy(load("sesi"))
    for name, value in changes.items():
        setattr(instrument, name, value)
    return StoredRun(run._store, run.record, instrument)


def with_manifest(run, **changes):
    record = structs.replace(run.record, manifest=structs.replace(run.manifest, **changes))
    return StoredRun(run._store, record, load("sesi"))


def why(run):
    return run.past.get(TASK, "").removeprefix(f"made by version {run.manifest.sociometer_version}")


def test_a_run_of_this_version_is_computed(run):
    assert run.past == {} and run.tasks == run.all_tasks == (TASK,)


def test_the_stored_summary_of_a_task_that_is_gone_is_all_that_is_shown(run):
    read = with_instrument(run, tasks={})
    assert why(read) == f"; this version has no task '{TASK}'"
    assert read.tasks == () and read.all_tasks == (TASK,)
    assert read.kept_summary() == run.kept_summary()
    assert read.summary().notes[0].endswith("its numbers are shown as they were stored.")
    assert len(list(read.episodes())) == 12
    for attempt in (read.rescore, read.view, read.task):
        with pytest.raises(UsageError, match="can only be shown: made by version"):
            attempt()


def test_its_items_keep_all_their_fields(run):
    (stored, *_), (typed, *_) = with_instrument(run, tasks={}).episodes(), run.episodes()
    assert msgspec.json.decode(msgspec.json.encode(stored.item)) == msgspec.json.decode(msgspec.json.encode(typed.item))
    assert msgspec.convert(stored.outcome, load("sesi").tasks[TASK].outcome_type) == typed.outcome
    assert stored.score == typed.score


def test_an_option_that_is_gone_leaves_a_number_that_is_only_shown(run):
    read = with_manifest(run, removed=("-o answer=probability",))
    assert why(read) == " with -o answer=probability, which this version does not have"


def test_a_role_that_is_gone_leaves_a_number_that_is_only_shown(run):
    config = structs.replace(run.manifest.config, roles={"critic": "baseline/random"})
    assert why(with_manifest(run, config=config)) == " with the role 'critic', which this version does not have"


@pytest.mark.parametrize(("style", "reason"), [("never", ""), ("midway", " with --change midway, which this version")])
def test_a_match_is_only_shown_if_the_opponent_could_change_its_style(style, reason, tmp_path):
    run = sm.run("egosocial", "baseline/random", tasks=["holdem"], settings={"matches": 1}, store=tmp_path / "s.db")
    config = structs.replace(run.manifest.config, settings={**run.manifest.config.settings, "change": style})
    record = structs.replace(run.record, manifest=structs.replace(run.manifest, config=config))
    found = past.past_tasks(run._store, record, load("egosocial"))
    assert reason in found.get("holdem", "") and bool(found) == bool(reason)


def test_a_value_of_a_choice_that_is_gone_leaves_a_number_that_is_only_shown(run):
    settings = {**run.manifest.config.settings, "language": "la"}
    config = structs.replace(run.manifest.config, settings=settings)
    assert why(with_manifest(run, config=config)) == " with --language la, which this version does not have"


def test_a_setting_that_is_gone_counts_if_it_was_not_the_default(run, monkeypatch):
    monkeypatch.setattr(past, "_ORDINARY_SETTINGS", {("sesi/questions", "silent"): False})
    for value, said in ((False, ""), (True, " with --silent, which this version does not have")):
        settings = {**run.manifest.config.settings, "silent": value, "of-a-task-that-is-gone": 7}
        config = structs.replace(run.manifest.config, settings=settings)
        assert why(with_manifest(run, config=config)) == said


class OtherItem(Item, frozen=True, kw_only=True):
    pages: tuple[int, ...]


class OtherOutcome(Struct, frozen=True):
    moves: tuple[int, ...]


@pytest.mark.parametrize("form", [{"item_type": OtherItem}, {"outcome_type": OtherOutcome}])
def test_records_of_another_form_leave_a_number_that_is_only_shown(run, form, monkeypatch):
    monkeypatch.setattr(past, "__version__", "9.9.9")
    monkeypatch.setattr(past, "_readable", {})
    assert why(run) == ""
    past._readable.clear()
    read = with_instrument(run, tasks={TASK: structs.replace(load("sesi").tasks[TASK], **form)})
    assert why(read) == f"; this version cannot read its records of '{TASK}'"
    assert read.kept_summary() == run.kept_summary()


def test_damage_is_no_other_form(run, monkeypatch):
    monkeypatch.setattr(past, "__version__", "9.9.9")
    monkeypatch.setattr(past, "_readable", {})
    run._store.database.connect().execute("UPDATE episode SET outcome = zeroblob(40)").connection.commit()
    assert StoredRun(run._store, run.record, load("sesi")).past == {}
    with pytest.raises(StoreError, match="checksum"):
        list(run.episodes())


def test_options_that_a_stored_manifest_has_and_this_version_lacks_are_named(run):
    body = msgspec.json.decode(msgspec.json.encode(run.manifest))
    until = {"goal": "±3", "measure": "accuracy", "checkpoint": {"step": 1}}
    body["config"] |= {"voice": "low", "loud": True, "until": until}
    read = read_manifest(msgspec.json.encode(body))
    assert {*read.removed} == {"--voice low", "--loud", "--until ±3", "--measure accuracy", "--watch"}
    # They are kept where the manifest is stored anew.
    assert read_manifest(msgspec.json.encode(read)).removed == read.removed
    assert msgspec.json.decode(msgspec.json.encode(run.manifest), type=Manifest) == read_manifest(
        msgspec.json.encode(run.manifest)
    )


def test_options_on_which_no_number_depends_are_not_named(run):
    body = msgspec.json.decode(msgspec.json.encode(run.manifest))
    body["config"] |= {"answer": "reply", "batch": True, "of_old": "", "until": {"goal": "decided", "against": "x"}}
    assert read_manifest(msgspec.json.encode(body)).removed == ()
