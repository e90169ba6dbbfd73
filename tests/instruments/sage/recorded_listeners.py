"""Honest listeners: recorded dialogues with the rule-based person, replayed by a player; see listeners/README.md."""

import json
from pathlib import Path

from sociometer.core.conversation import Request

from .people import Chair, spoken

FOLDER = Path(__file__).parent / "listeners"
LISTENERS = tuple(sorted(path.stem for path in FOLDER.glob("*.jsonl")))
REPLIES = 8
"""How many replies are recorded and judged, unless the person ends the dialogue earlier."""


def recordings(path: Path) -> dict[str, list[str]]:
    """What was said in each dialogue of a listener's file: the person's words and the listener's in turn."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {line["scenario"]: line["said"] for line in map(json.loads, lines)}


class Recorded(Chair):
    """Replies to a person's first words what a listener replied when it was recorded, and then nothing more."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.said = recordings(FOLDER / f"{name}.jsonl")

    def say(self, request: Request) -> str:
        turn, _ = spoken(request)
        opening = request.messages[1].content
        replies = next(said[1::2] for said in self.said.values() if said[0] == opening)
        return replies[turn] if turn < len(replies) else ""
