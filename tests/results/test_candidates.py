"""How runs are called where they are compared."""

import sociometer as sm
from sociometer.results.candidates import run_labels


def test_runs_of_one_subject_that_differ_in_nothing_are_told_apart_by_their_names(tmp_path):
    path = tmp_path / "s.db"
    runs = [sm.run("sesi", "baseline/random", limit=2, name=name, fresh=True, store=path) for name in ("old", "new")]
    assert [*run_labels(runs).values()] == ["baseline/random (old)", "baseline/random (new)"]
    runs.append(sm.run("sesi", "baseline/random", limit=2, fresh=True, store=path))
    assert run_labels(runs)[runs[2].id] == f"baseline/random ({runs[2].id})"


def test_a_comparison_calls_runs_by_the_names_or_labels_that_they_were_given(tmp_path):
    path = tmp_path / "s.db"
    sm.run("sesi", "baseline/oracle", limit=12, name="main", store=path)
    sm.run("sesi", "baseline/random", limit=12, name="change", label="Changed", store=path)
    (found,) = sm.compare("main", "change", store=path)
    assert (found.first, found.second) == ("main", "Changed")
    ranked = sm.compare("all", store=path).ranking().boards[0].standings
    assert {one.subject for one in ranked} == {"main", "Changed"}, "a ranking has the same words"


def test_a_subject_of_one_test_is_called_by_the_name_of_its_run_also_beside_other_tests(tmp_path):
    path = tmp_path / "s.db"
    given = (("sesi", "oracle", "one"), ("seceu", "oracle", "two"), ("seceu", "even", "model"))
    runs = [sm.run(test, f"baseline/{who}", limit=2, name=name, store=path) for test, who, name in given]
    assert [*run_labels(runs, by_name=True).values()] == ["baseline/oracle", "baseline/oracle", "model"]
