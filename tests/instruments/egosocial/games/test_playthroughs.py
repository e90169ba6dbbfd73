"""Golden playthroughs: whole games as text, so that any change of a rule or a prompt is a readable diff.

Set SOCIOMETER_WRITE_PLAYTHROUGHS=1 to write them anew, then read the diff.
"""

import asyncio
import os
from pathlib import Path

import pytest

from sociometer.core.conversation import Exchange

FOLDER = Path(__file__).with_name("playthroughs")
STEP_DOWN = '{"prediction": 45, "choice": 30}'


def blackjack_player(request):
    """Forgets the fields at first, gives an illegal move at the second decision, and stands when asked again."""
    hand = next(line for line in request.messages[1].content.splitlines() if line.startswith("Your cards"))
    first, again = hand.count(" of ") == 2, len(request.messages) > 2
    move = "hit" if first else "stand" if again else "double"
    fields = (
        '"own_total": 12, "own_kind": "hard", "own_bust_percent": "31%", "open_card_value": 10, '
        '"dealer_bust_percent": "23%", "dealer_final_total": 20, '
    )
    return (
        '{"self_belief": "My total is 12.", "external_belief": "The dealer must draw until 17.", '
        f'{"" if first and not again else fields}"action": "{move}"}}'
    )


def holdem_player(request):
    words = request.messages[-1].content
    if "style of play" in words:
        return "(A)"
    return '{"action": "check"}' if "check" in words.rpartition("What you may do:")[2] else '{"action": "call"}'


GAMES = {
    "blackjack-two-decisions": ("blackjack", blackjack_player, {"deals": 3}, 2),
    "numbers-level-3": ("numbers", lambda request: STEP_DOWN, {"opponents": ("level-3",), "rounds": 4}, 0),
    "numbers-cheat": ("numbers", lambda request: '{"prediction": 0, "choice": 0}', {"rounds": 2}, 0),
    "holdem-one-hand": ("holdem", holdem_player, {"matches": 2}, 1),
    "holdem-two-hands": ("holdem", holdem_player, {"matches": 2, "hands": 2}, 0),
}


def written(events):
    """A transcript as text: what was newly said to whom, what came back, and what was noted."""
    lines, told = [], set()
    for event in events:
        if isinstance(event, Exchange):
            new = [message for message in event.messages if (event.role, message) not in told]
            lines += [f"[{message.role} to {event.role}] {message.content}" for message in new]
            told |= {(event.role, message) for message in new}
            lines.append(f"[{event.role}] {event.reply.text}")
        else:
            facts = ", ".join(f"{key}: {value}" for key, value in event.facts.items())
            lines.append(f"({event.kind}) {facts}")
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("name", GAMES)
def test_a_playthrough_is_as_recorded(name, script, rehearsal):
    task, player, settings, place = GAMES[name]
    show = rehearsal(script(player), **settings)
    item = list(show.instrument.task(task).items(show.source()))[place]
    played = asyncio.run(show.play(task, item))
    text = written(played.events)
    path = FOLDER / f"{name}.txt"
    if os.environ.get("SOCIOMETER_WRITE_PLAYTHROUGHS"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text
