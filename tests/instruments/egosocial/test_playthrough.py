"""One scene of each static scenario played by the first-option baseline, as text: a changed prompt is a readable diff.

Written anew by `python tests/instruments/egosocial/test_playthrough.py`.
"""

import asyncio
from pathlib import Path

import pytest

from sociometer.core.transcript import Asked
from sociometer.engine.rehearsal import Rehearsal
from sociometer.instruments import folder_of, load_folder
from sociometer.models.registry import ModelOptions, resolve

GOLDEN = Path(__file__).parent / "golden"
TASKS = ("generated", "counterfactual", "newworld")


def transcript(task):
    instrument = load_folder("egosocial")
    show = Rehearsal(instrument, folder_of("egosocial"), {"subject": resolve("baseline/first", ModelOptions())})
    item = list(instrument.task(task).items(show.source()))[3]
    played = asyncio.run(show.play(task, item))
    lines = [f"# {item.id}"]
    for event in played.events:
        if isinstance(event, Asked):
            lines += [f"[{message.role}] {message.content}" for message in event.messages]
            lines.append(f"[subject] {event.reply.text}")
        else:
            lines.append(f"· {event.kind} {event.facts}")
    return "\n".join([*lines, f"= {played.episode.score.values}", ""])


@pytest.mark.parametrize("task", TASKS)
def test_the_transcript_equals_its_playthrough(task):
    assert transcript(task) == (GOLDEN / f"{task}.txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    for name in TASKS:
        (GOLDEN / f"{name}.txt").write_text(transcript(name), encoding="utf-8")
