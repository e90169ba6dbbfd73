"""The ledger of a paper as a file: its counts are those of the sentence."""

import csv
import re
from collections import Counter

import pytest

from sociometer.cli.main import run_command
from sociometer.instruments import cards


@pytest.mark.parametrize("instrument", [name for name, card in cards().items() if card.paper.title])
def test_the_counts_of_a_ledger_file_add_up_to_the_sentence(instrument, tmp_path, capsys):
    path = tmp_path / "ledger.csv"
    assert run_command(["paper", "reproduce", instrument, "--to", str(path)]) == 0
    said = capsys.readouterr().out.splitlines()[0]
    sums = Counter()
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            sums[row["kind"], row["result"]] += int(row["count"])
    results = ("holds", "does not hold", "cannot be checked")
    for kind in ("numbers", "claims"):
        total, *each = map(
            int, re.search(rf"(\d+) {kind} .*?(\d+) holds?, (\d+) (?:do|does) not hold, (\d+)", said).groups()
        )
        assert [sums[kind, result] for result in results] == each and sum(each) == total
    assert f"Our own findings about the data: {sums['findings', 'our finding']}." in said


@pytest.mark.parametrize(("what", "printed"), [("scenarios", "7"), ("GPT-4-Turbo expects 50 in the first round", "50")])
def test_a_line_about_a_printed_number_has_the_number(what, printed, tmp_path):
    path = tmp_path / "ledger.csv"
    assert run_command(["paper", "reproduce", "egosocial", "--to", str(path)]) == 0
    with path.open(encoding="utf-8", newline="") as file:
        assert [row["printed"] for row in csv.DictReader(file) if row["what"] == what] == [printed]
