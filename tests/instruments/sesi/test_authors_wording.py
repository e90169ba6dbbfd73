"""SESI in the authors' own words, and the replication of Table 1; the module here has their structure and our words."""

import csv
import json

import pytest

from servers.faults import Fault
from sociometer.cli.main import run_command

MODULE = """
import package_that_is_not_installed

class Other(Dataset):
    def __init__(self, sample_num=-1):
        self.prompt = 'Something else: {question}'

class SESI(Dataset):
    def __init__(self, data_path='x', sample_num=-1):
        super().__init__(data_path, sample_num)
        self.prompt = 'Pick one remark.\\n{situation}\\n{question}\\nA. {o1}\\nB. {o2}\\nC. {o3}\\nD. {o4}'
        self.score_name = 'em'
"""
HEADER = ("ID", "Type", "Situation", "Question", "Option_0", "Option_1", "Option_2", "Option_3", "Answer")
TYPES = ("Empathy", "Social-cognition", "Self-presentation", "Influence", "Concern")


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder with 100 questions and the authors' module."""
    folder = tmp_path / "data" / "sesi"
    folder.mkdir(parents=True)
    with (folder / "sesi.csv").open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream)
        rows.writerow(HEADER)
        for number in range(100):
            options = [f"remark {number} {letter}" for letter in "abcd"]
            rows.writerow((f"q{number}", TYPES[number % 5], f"Situation {number}.", "What now?", *options, number % 4))
    (folder / "dataset.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setenv("SOCIOMETER_DATA", str(folder.parent))
    return folder


def right_in(share):
    """A subject that is right on this share of the questions."""

    def say(body):
        number = int(body["messages"][-1]["content"].split("Situation ")[1].split(".")[0])
        right = number % 4
        return "ABCD"[right if number < round(share * 100) else (right + 1) % 4]

    return say


@pytest.fixture
def replicate(data, openai_server, key, tmp_path, capsys):
    def call(*options, row="gpt-4-0613"):
        model = f"{row}=openai/mine@{openai_server.url}"
        store = ["--store", str(tmp_path / "runs.db"), "--quiet"]
        code = run_command(["paper", "replicate", "sesi", "--model", model, *store, *options])
        return code, capsys.readouterr().out

    return call


def test_a_subject_as_good_as_the_printed_row_hits_it(replicate, openai_server):
    openai_server.say = right_in(0.54)
    code, out = replicate("--json")
    (found,) = json.loads(out)["figures"]
    assert (code, found["within"]) == (0, True)
    assert found["figure"]["value"] == pytest.approx(0.544)
    asked = openai_server.last.body
    assert asked["messages"][0]["content"].startswith("Pick one remark.\nSituation ")
    assert asked["messages"][0]["content"].splitlines()[3].startswith("A. remark ")
    assert (asked["temperature"], asked["seed"]) == (0, 42)
    assert len(openai_server.received) == 100


def test_a_worse_subject_misses_it(replicate, openai_server):
    openai_server.say = right_in(0.3)
    code, out = replicate()
    assert code == 1
    assert out.startswith("sesi: 0 of 1 printed figures lie within our 95 % intervals; outside: gpt-4-0613.")


def test_a_sample_of_the_items_is_said_to_be_one(replicate, openai_server):
    openai_server.say = right_in(0.54)
    _, out = replicate("--limit", "40")
    assert "Only 40 items were played (--limit); the printed figures are on all." in out


def test_requests_that_fail_make_the_exit_code_4(replicate, openai_server):
    openai_server.say = right_in(0.54)
    openai_server.fault_of = lambda nth: Fault(status=500) if nth > 80 else None
    code, _ = replicate("--json", "-o", "retries=0")
    assert code == 4


def test_a_missing_module_names_the_command_that_fetches_it(replicate, data, capsys):
    (data / "dataset.py").unlink()
    model = ["--model", "gpt-4-0613", "--dry-run", "--store", str(data / "runs.db")]
    assert run_command(["paper", "replicate", "sesi", *model]) == 2
    assert "official file 'sesi/dataset.py' not found" in (said := capsys.readouterr().err)
    assert "run 'sociometer get data sesi'" in said
