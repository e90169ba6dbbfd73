"""Reliability over models: how families are found, and what a user types to name them."""

import pytest

import sociometer as sm
from fake_runs import fake_run
from sociometer.cli.main import run_command
from sociometer.core.errors import UsageError
from sociometer.results.reliability import reliability_sentence, task_reliability


@pytest.mark.parametrize(("named", "families"), [("python/mine:f{}", 1), ("vllm/{}-7b", 12)])
def test_models_of_few_families_have_no_interval_and_a_note_says_how_to_name_them(named, families):
    words = "abcdefghijkl" if families > 1 else range(12)
    runs = [
        fake_run(named.format(word), [float(item % (n + 2) == 0) for item in range(24)]) for n, word in enumerate(words)
    ]
    found = task_reliability(runs)
    assert ("the models are of 1 family, 10 are needed" in reliability_sentence(found)) is (families == 1)
    how = [note for note in found.notes if note.startswith("a family is the letters at the start of a subject's name")]
    assert len(how) == (families == 1) and all("--model MODEL --name FAMILY-NAME" in note for note in how)


def test_a_task_without_a_score_has_a_note_and_the_others_are_told(tmp_path, capsys):
    """As after a rehearsal of SAGE, whose talks have no score."""
    at = ["--limit", "4", "--model", "baseline/random", "--store", path := str(tmp_path / "runs.db")]
    assert run_command(["run", "sage", *at]) == 0
    with pytest.raises(UsageError, match="no run can be used for reliability: baseline/random: no scored item"):
        sm.reliability(store=path)
    assert run_command(["run", "sesi", *at]) == 0
    capsys.readouterr()
    for words in ((), ("all",)):
        assert run_command(["compare", *words, "--reliability", "--store", path]) == 0
        said = capsys.readouterr().out
        assert "sesi/questions, accuracy: reliability cannot be computed: too few distinct subjects: 1" in said
        assert "sage/dialogue, sentient: reliability cannot be computed: no run can be used for reliability: " in said
    found = sm.reliability(store=path)
    assert len(found["questions"].items) == 4 and "no scored item" in found["dialogue"].alpha.note
    assert "has no measure 'accuracy'" in sm.reliability(measure="accuracy", store=path)["dialogue"].alpha.note
    with pytest.raises(UsageError, match="sage/dialogue has no measure 'nothing'"):
        sm.reliability(measure="nothing", store=path)
