"""Records a listener's dialogue with the rule-based person; see listeners/README.md.

Run from the repository: PYTHONPATH=tests python -m instruments.sage.record_listener LISTENER SCENARIO
It shows the person's words and reads one reply per line.
"""

import json
import sys
from pathlib import Path

from rehearsal import Rehearsal
from sociometer.core.conversation import Request
from sociometer.instruments import load
from sociometer.instruments.sage.items import bundled

from .people import Chair, spoken
from .recorded_listeners import FOLDER, REPLIES, recordings


class Typing(Chair):
    """Somebody at the keyboard."""

    def say(self, request: Request) -> str:
        print(spoken(request)[1])
        return input("> ")


def talk(scenario_id: str) -> list[str]:
    """What was said in a dialogue that somebody types: the person's words and the listener's in turn."""
    scenario = next(each for each in bundled(scenario_id[:2]) if each.id == scenario_id)
    sage = load("sage")
    players = {"subject": Typing("typing"), "simulator": sage.players["appraisal"]()}
    run = Rehearsal(sage, players, {"turns": REPLIES, "judge-last": True}).play_all("dialogue", [scenario])
    (dialogue,) = (episode.outcome for episode in run.episodes())
    said = [dialogue.opening, *(words for turn in dialogue.turns for words in (turn.reply, turn.words))]
    return said if said[-1] else said[:-1]


def main(path: Path, scenario: str) -> None:
    """Records one dialogue in a listener's file, in place of an earlier one about this scenario."""
    known = recordings(path) if path.exists() else {}
    lines = [{"scenario": name, "said": said} for name, said in {**known, scenario: talk(scenario)}.items()]
    path.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main(FOLDER / f"{sys.argv[1]}.jsonl", sys.argv[2])
