"""The reader of beliefs on statements that its author did not write: by real models, and by an adversary.

The labels come from readers who had not seen the reader. Half of each set, chosen by the digest of its ids, was used
while the reader was written; the other half was kept and measured once, when it was finished: 55 of 64 by real models
(2 of 8 wrong ones accepted) and 55 of 67 written ones (6 of 35). Its errors were fixed afterwards, so for new words
expect those figures, not the ones below. The words of real models are in the release and not here:
`labelled-real.jsonl` holds digests and labels only.
"""

import hashlib
import json
import re
from pathlib import Path

import pytest

from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.blackjack.grading import grade
from sociometer.instruments.egosocial.games.blackjack.hand import read_statement

HERE = Path(__file__).parent
_DEAL = re.compile(r"current card is \{(.*?)\}.*cards are \{(.*?)\}")


def rows(name):
    with (HERE / f"labelled-{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def part_of(name):
    """Tuned or kept: the half of a set that a statement belongs to."""
    return "tuned" if int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2 == 0 else "kept"


def held(text):
    suit, rank = text.split()
    return cards.RANKS.index("T" if rank == "10" else rank[0].upper()) * 4 + cards.SUITS.index(suit[0])


def accepted(row):
    own = row["belief_about"] == "own hand"
    player = [held(name) for name in row["your_cards"].split(", ")]
    words = (row["sentence"], "") if own else ("", row["sentence"])
    found = grade(player, held(row["dealer_shows"]), *words, None)
    return found.self_right if own else found.external_right


@pytest.fixture
def statements(official):
    """Every statement of the released games by its digest."""
    path = official / "egosocialarena" / "sample_game_process.json"
    found = {}
    for game in json.loads(path.read_text(encoding="utf-8"))["games"]:
        for turn in game["dialogue"]:
            shown, player = _DEAL.search(turn["user"]).groups()
            said = read_statement(turn["assistant"])
            for about, side, words in (
                ("own hand", "self", said.self_belief),
                ("dealer", "external", said.external_belief),
            ):
                digest = hashlib.sha256(f"{side}\n{player}\n{shown}\n{words}".encode()).hexdigest()[:12]
                found[digest] = {
                    "your_cards": player.replace(",", ", "),
                    "dealer_shows": shown,
                    "belief_about": about,
                    "sentence": words,
                }
    return found


def measured(found):
    """The share on which reader and label agree, and the wrong ones that the reader accepts."""
    agreed = sum(right == (label == "right") for label, right in found) / len(found)
    return agreed, sum(label == "wrong" and right for label, right in found), len(found)


def test_the_sets_are_large_enough_and_the_words_of_real_models_are_not_copied():
    assert len(rows("written")) >= 100
    assert len(rows("real")) >= 100
    assert all(set(row) == {"id", "label"} for row in rows("real"))


@pytest.mark.parametrize("part", ["tuned", "kept"])
def test_statements_written_to_mislead(part):
    found = [(row["label"], accepted(row)) for row in rows("written") if part_of(row["id"]) == part]
    agreed, wrong, count = measured(found)
    assert count > 60
    assert agreed >= WRITTEN[part][0]
    assert wrong <= WRITTEN[part][1]


@pytest.mark.parametrize("part", ["tuned", "kept"])
def test_statements_by_real_models(part, statements):
    found = [(row["label"], accepted(statements[row["id"]])) for row in rows("real") if part_of(row["id"]) == part]
    agreed, wrong, count = measured(found)
    assert count > 50
    assert agreed >= REAL[part][0]
    assert wrong <= REAL[part][1]


# The least agreement, and the most wrong beliefs accepted.
WRITTEN = {"tuned": (0.98, 0), "kept": (0.95, 0)}
REAL = {"tuned": (0.98, 0), "kept": (0.95, 0)}
