"""A norm of simulated people: the sample is described, and the norm drawn."""

import json

from simulated_people import SCENARIOS, people_csv, simulated_people
from sociometer.cli.main import run_command
from sociometer.instruments.seceu.norming import Person, build_norm


def test_the_sample_is_described_by_sex_and_age_bands_only():
    people = [
        Person(one.name, one.answers, {**one.about, "PROLIFIC_PID": f"x{at}"})
        for at, one in enumerate(simulated_people(2, people=60))
    ]
    sample = build_norm(people, SCENARIOS, name="plain", sample="").norm.sample
    assert sample.startswith("60 people; sex female (") and "age 30 to 49 (" in sample
    assert "x1" not in sample and "zh" not in sample


def test_a_description_of_ones_own_stays():
    made = build_norm(simulated_people(1, people=40), SCENARIOS, name="x", sample="students in Lima")
    assert made.norm.sample == "students in Lima"


def test_the_command_draws_the_norm(tmp_path, capsys):
    path = tmp_path / "people.csv"
    path.write_text(people_csv(SCENARIOS, simulated_people(4)), encoding="utf-8")
    words = ["seceu", "norms", "build", "--responses", str(path), "--to", str(tmp_path / "norm.json")]
    assert run_command([*words, "--order", "shuffled"]) == 0
    show = ["seceu", "norms", "show", "--file", str(tmp_path / "norm.json")]
    assert run_command([*show, "--to", str(tmp_path / "figures")]) == 0
    capsys.readouterr()
    drawn = {file.stem: file.read_text(encoding="utf-8") for file in (tmp_path / "figures").glob("*.svg")}
    assert set(drawn) == {"norm-scores", "item-spreads"}
    assert "the distribution of the 300 people of the norm" in drawn["norm-scores"]
    norm = json.loads((tmp_path / "norm.json").read_text(encoding="utf-8"))
    assert norm["order"] == "shuffled"
