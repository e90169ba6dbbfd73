"""A scripted simulator for the contract of instruments: it is soothed by whoever states the hidden hope."""

import json
from zlib import crc32

from sociometer.core.conversation import Identity, Reply, Request, Usage
from sociometer.core.player import RulePlayer


class ScriptedSimulator(RulePlayer):
    """Feels better by ten if a reply states the hidden hope, worse by three if it says nothing, else by its digest."""

    identity = Identity("test", "scripted simulator")

    def __init__(self) -> None:
        """A simulator with no state: the same request has the same answer."""

    async def answer(self, request: Request) -> Reply:
        view = request.view
        if view.hop == "emotion":
            change = 10 if view.scenario.hidden in view.reply else crc32(view.reply.encode()) % 5 - 2
            facts = {"said": "s", "serves": "partly", "activity": "a", "feeling": "f"}
            facts["change"] = change if view.reply.strip() else -3
        else:
            facts = dict.fromkeys(("attitude", "aim", "tone", "content"), "x") | {
                "words": f"And {len(view.told)} more."
            }
        return Reply(json.dumps(facts), usage=Usage(10, 20))
