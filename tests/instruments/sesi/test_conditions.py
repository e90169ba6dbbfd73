"""The probes have the paper's conditions, each with a prompt file that a researcher can replace."""

from pathlib import Path

import pytest

from sociometer.core.errors import UsageError
from sociometer.core.prompts import Prompts
from sociometer.instruments import FOLDER
from sociometer.instruments.sesi import conditions


def test_every_factor_has_the_levels_of_the_paper():
    by_factor = {}
    for entry in conditions.conditions().values():
        by_factor.setdefault(entry.factor, []).append(entry.name)
    assert len(by_factor["personality"]) == 10
    assert len(by_factor["emotion"]) == 3
    assert len(by_factor["gender"]) == 3
    assert len(by_factor["role"]) == 63
    assert len(by_factor["person"]) == 1
    assert len(by_factor["intelligence"]) == 2
    assert len(conditions.roles()) == 21


def test_gender_brings_the_roles_that_imply_it():
    names = {entry.name for entry in conditions.of_factors(["gender"])}
    assert {"gender-male", "role-mother", "role-husband", "role-partner"} <= names
    assert "role-teacher" not in names


def test_no_factor_means_all_and_a_wrong_one_is_refused():
    assert len(conditions.of_factors([])) == sum(
        entry.factor not in ("", conditions.NOISE) for entry in conditions.conditions().values()
    )
    with pytest.raises(UsageError, match="did you mean 'emotion'"):
        conditions.of_factors(["emotions"])


def test_every_contrast_names_conditions_that_exist():
    for contrast in conditions.contrasts():
        assert set(contrast.first) | set(contrast.second) <= set(conditions.conditions())


def test_a_researchers_wording_takes_the_place_of_ours(tmp_path: Path):
    (tmp_path / "en" / "factor" / "gender").mkdir(parents=True)
    (tmp_path / "en" / "factor" / "gender" / "male.md").write_text("Another wording.", encoding="utf-8")
    prompts = Prompts(FOLDER / "sesi" / "prompts", tmp_path)
    assert prompts.render("factor/gender/male") == "Another wording."
    assert prompts.render("factor/gender/female") != "Another wording."
