"""One table of names: what people type means one thing, also after stores were copied into each other."""

import pytest

import sociometer as sm
from sociometer.core.errors import UsageError
from sociometer.store.copying import copy_store
from sociometer.store.names import NameEntry
from sociometer.store.store import Store


def play(path, model, name, test="sesi", **more):
    return sm.run(test, f"baseline/{model}", limit=2, name=name, store=path, **more)


def test_a_copy_that_would_make_a_name_mean_two_models_writes_nothing(tmp_path):
    play(tmp_path / "a.db", "oracle", "bob")
    play(tmp_path / "b.db", "random", "bob")
    with pytest.raises(UsageError, match=r"'bob' would mean two models; nothing was copied.*store rename bob NAME"):
        copy_store(tmp_path / "a.db", tmp_path / "b.db")
    assert [run.subject for run in sm.runs(store=tmp_path / "b.db")] == ["bob"]


def test_a_copy_that_would_give_a_model_two_names_writes_nothing(tmp_path):
    play(tmp_path / "a.db", "oracle", "ann")
    play(tmp_path / "b.db", "oracle", "bob")
    with pytest.raises(UsageError, match=r"one model is called 'ann' in .* and 'bob' in .*store rename ann bob"):
        copy_store(tmp_path / "a.db", tmp_path / "b.db")


def test_what_two_stores_have_of_one_model_is_one_subject_after_a_copy(tmp_path):
    play(tmp_path / "a.db", "oracle", "bob")
    play(tmp_path / "b.db", "oracle", "bob", test="seceu")
    for _ in range(2):
        copy_store(tmp_path / "a.db", tmp_path / "b.db")
    with Store(tmp_path / "b.db") as store:
        assert [entry.name for entry in store.names.every()] == ["bob"]
        assert len(store.runs.of_subject("bob")) == 2


def test_a_name_is_free_again_when_the_last_run_of_its_model_is_deleted(tmp_path):
    path = tmp_path / "s.db"
    runs = [play(path, "oracle", "bob").id, play(path, "oracle", "bob", test="seceu").id]
    with Store(path) as store:
        store.runs.delete(runs[0])
        assert store.names.entry("bob") is not None
        store.runs.delete(runs[1])
        assert store.names.entry("bob") is None
    assert play(path, "random", "bob").subject == "bob"


def test_a_model_is_renamed_in_all_its_runs_at_once(tmp_path):
    path = tmp_path / "s.db"
    for test in ("sesi", "seceu"):
        play(path, "oracle", "bob", test=test)
    with Store(path) as store:
        before = store.names.entry("bob")
        store.runs.rename_subject("bob", "ann")
        assert store.names.entry("bob") is None
        assert store.names.entry("ann") == NameEntry("ann", "subject", before.key)
    assert {run.subject for run in sm.runs(store=path)} == {"ann"}
    assert play(path, "oracle", "ann").id in {run.id for run in sm.runs(store=path)}
