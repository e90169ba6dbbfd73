"""The study book: names and codes; whom the rules flag."""

import random

import pytest

from sociometer.core.config import RunConfig
from sociometer.core.errors import UsageError
from sociometer.store.studies import FASTEST_SECONDS, Facts, Study, StudyBook, flags, plain_code, shown_code


def test_a_code_is_read_as_people_write_it():
    assert shown_code("abcd2345wxyz") == "abcd-2345-wxyz"
    assert plain_code(" ABCD 2345-wxyz ") == "abcd2345wxyz"


def test_a_study_has_a_name_of_its_own(tmp_path):
    book, study = StudyBook(tmp_path / "s.db.studies"), Study("spring", RunConfig(instrument="sesi", subject="human"))
    book.create(study)
    with pytest.raises(UsageError, match="already"):
        book.create(study)
    book.close()


def taken(lots, kind):
    """A person with forty questions of four options and four checks: a known law for each kind."""
    middle = {"fast": 0.9, "same": 6.0, "random": 4.0}.get(kind, lots.lognormvariate(2.7, 0.4))
    letters = ["B" if kind == "same" else lots.choice("ABCD") for _ in range(40)]
    right = 0.25 if kind else 0.98
    failed = sum(lots.random() > right for _ in range(4))
    seconds = tuple(middle * lots.lognormvariate(0, 0.5) for _ in range(40))
    return Facts(40, 40, failed, {"questions": list(letters)}, seconds)


def test_the_default_rules_flag_the_careless_and_few_others():
    config = RunConfig(instrument="sesi", subject="human")
    study = Study("spring", config, attention=4, fastest_seconds=FASTEST_SECONDS)
    for seed in range(100):
        lots = random.Random(seed)
        careless = [taken(lots, kind) for kind in ("fast", "same", "random", "fast", "same", "random") * 2][:10]
        others = [taken(lots, "") for _ in range(50)]
        assert sum(bool(flags(study, one)) for one in careless) >= 8
        assert sum(bool(flags(study, one)) for one in others) <= 3
    every = [taken(random.Random(seed), "") for seed in range(2_000)]
    assert sum(bool(flags(study, one)) for one in every) / 2_000 < 0.01


@pytest.mark.parametrize(
    ("checks", "chosen", "allowed"),
    [(1, None, 0), (2, None, 1), (12, None, 1), (13, None, 2), (20, None, 2), (4, 0, 0)],
)
def test_one_failed_check_of_several_is_a_slip_unless_the_owner_says_otherwise(checks, chosen, allowed):
    study = Study("spring", RunConfig(instrument="sesi", subject="human"), attention=checks, most_failed=chosen)
    assert not flags(study, Facts(9, 9, failed_checks=allowed))
    assert flags(study, Facts(9, 9, failed_checks=allowed + 1))["checks"]
