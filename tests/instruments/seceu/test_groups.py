"""A norm of 300 simulated people: groups are compared, and the sample is described."""

import json

import pytest

from simulated_people import SCENARIOS, people_csv, simulated_people
from sociometer.cli.main import run_command
from sociometer.core.errors import UsageError
from sociometer.instruments.seceu.norming import Person, build_norm


@pytest.fixture(scope="module")
def plain():
    return build_norm(simulated_people(5), SCENARIOS, name="plain", sample="")


def by_column(made):
    return {one.column: one for one in made.groups}


def test_groups_have_means_and_a_test(plain):
    language = by_column(plain)["language"]
    assert {(mean.group, mean.people) for mean in language.groups} == {("en", 100), ("es", 100), ("zh", 100)}
    assert language.test.startswith("F(2, 297) =")
    age = by_column(plain)["age"]
    assert {mean.group.split()[0] for mean in age.groups} == {"up", "over"}
    assert age.test.startswith("t(298) =")


def test_the_sample_is_described(plain):
    assert plain.norm.sample.startswith("300 people; sex ")
    assert "language 100 en, 100 zh, 100 es" in plain.norm.sample
    assert "age 18 to 59, mean" in plain.norm.sample


def test_a_description_of_ones_own_stays():
    made = build_norm(simulated_people(1, people=40), SCENARIOS, name="x", sample="students in Lima")
    assert made.norm.sample == "students in Lima"


def test_names_are_not_compared():
    people = [
        Person(one.name, one.answers, {**one.about, "id": f"x{at}"})
        for at, one in enumerate(simulated_people(2, people=60))
    ]
    found = by_column(build_norm(people, SCENARIOS, name="x", sample=""))
    assert found["id"].groups == ()
    assert "'id' has 60 different values: not compared." in found["id"].note


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(
        UsageError, match="unknown column 'country' for --group; columns about people: sex, age, language"
    ):
        build_norm(simulated_people(3, people=40), SCENARIOS, name="x", sample="", columns=("country",))


def test_the_command_compares_groups_and_draws_the_norm(tmp_path, capsys):
    path = tmp_path / "people.csv"
    path.write_text(people_csv(SCENARIOS, simulated_people(4)), encoding="utf-8")
    words = ["seceu", "norms", "build", "--responses", str(path), "--to", str(tmp_path / "norm.json")]
    assert run_command([*words, "--order", "shuffled"]) == 0
    said = capsys.readouterr().out
    assert "Scores by group" in said
    show = ["seceu", "norms", "show", "--file", str(tmp_path / "norm.json")]
    assert run_command([*show, "--to", str(tmp_path / "figures")]) == 0
    capsys.readouterr()
    drawn = {file.stem: file.read_text(encoding="utf-8") for file in (tmp_path / "figures").glob("*.svg")}
    assert set(drawn) == {"norm-scores", "item-spreads"}
    assert "the distribution of the 300 people of the norm" in drawn["norm-scores"]
    norm = json.loads((tmp_path / "norm.json").read_text(encoding="utf-8"))
    assert norm["order"] == "shuffled"
    assert run_command([*words, "--group", "language", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["data"]["norming"]
    assert [one["column"] for one in found["groups"]] == ["language"]
