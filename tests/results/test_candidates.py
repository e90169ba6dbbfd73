"""How results are called where they are compared."""

import sociometer as sm
from sociometer.results.candidates import run_labels


def test_two_measurements_of_one_model_are_two_subjects(tmp_path):
    path = tmp_path / "s.db"
    runs = [sm.run("sesi", "baseline/random", limit=2, name=name, fresh=True, store=path) for name in ("old", "new")]
    assert [*run_labels(runs).values()] == ["old", "new"]
    dated = sm.run("sesi", "baseline/random", limit=2, fresh=True, store=path)
    assert run_labels([dated])[dated.id].startswith("baseline/random (20")


def test_a_comparison_calls_subjects_by_their_names(tmp_path):
    path = tmp_path / "s.db"
    sm.run("sesi", "baseline/oracle", limit=12, name="main", store=path)
    sm.run("sesi", "baseline/random", limit=12, name="Changed", store=path)
    (found,) = sm.compare("main", "Changed", store=path)
    assert (found.first, found.second) == ("main", "Changed")
    ranked = sm.compare("all", store=path).ranking().boards[0].standings
    assert {one.subject for one in ranked} == {"main", "Changed"}, "a ranking has the same words"


def test_one_subject_under_two_conditions_is_told_apart_by_what_differs(tmp_path):
    path = tmp_path / "s.db"
    for prompting in ("direct", "zero-shot"):
        sm.run("seceu", "baseline/even", limit=12, settings={"prompting": prompting}, store=path)
    (found,) = sm.compare("baseline/even", store=path)
    assert (found.first, found.second) == ("baseline/even (prompting direct)", "baseline/even (prompting zero-shot)")
