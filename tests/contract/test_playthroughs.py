"""Whole episodes as text: any change of a rule or a prompt shows as a readable difference.

`SOCIOMETER_WRITE_PLAYTHROUGHS=1 pytest tests/contract/test_playthroughs.py` writes them anew.
"""

import asyncio
import os
from pathlib import Path

import pytest

from rehearsal import Rehearsal
from scripted_simulator import ScriptedSimulator
from sociometer.core.card import read_card
from sociometer.core.conversation import transcript_lines
from sociometer.instruments import FOLDER, load
from sociometer.models.registry import resolve

RECORDED = Path(__file__).parent.parent / "playthroughs"
TASKS = [
    (path.parent.name, task.name)
    for path in sorted(FOLDER.glob("*/card.toml"))
    for task in read_card(path).task
    if task.default
]


def playthrough(folder: str, task: str) -> str:
    instrument = load(folder)
    players = {
        role.name: ScriptedSimulator()
        if role.name == "simulator"
        else instrument.players[role.default]()
        if role.default in instrument.players
        else resolve("baseline/first" if role.name == "subject" else "baseline/random")
        for role in instrument.card.roles_of(task)
    }
    rehearsal = Rehearsal(instrument, players)
    item = next(iter(instrument.task(task).items(rehearsal.source())))
    played = asyncio.run(rehearsal.play(task, item))
    lines = [f"{folder} {instrument.card.version} · {task} · {item.id}", *transcript_lines(played.events), ""]
    lines.append(f"score: {dict(sorted(played.episode.score.values.items()))}")
    return "\n".join(line.rstrip() for line in "\n".join(lines).split("\n")) + "\n"


@pytest.mark.parametrize(("folder", "task"), TASKS)
def test_the_transcript_equals_its_playthrough(folder, task):
    path = RECORDED / f"{folder}-{task}.txt"
    told = playthrough(folder, task)
    if os.environ.get("SOCIOMETER_WRITE_PLAYTHROUGHS"):
        RECORDED.mkdir(exist_ok=True)
        path.write_text(told, encoding="utf-8")
    assert path.exists(), f"no playthrough yet; write it with SOCIOMETER_WRITE_PLAYTHROUGHS=1 ({path.name})"
    assert told == path.read_text(encoding="utf-8")
