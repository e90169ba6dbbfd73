"""Reliability over models: how families are found, and what a user types to name them."""

import pytest

from fake_runs import fake_run
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
    assert len(how) == (families == 1) and all("--model MODEL --label FAMILY-NAME" in note for note in how)
