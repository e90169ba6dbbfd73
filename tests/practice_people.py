"""A person for practice talks who goes by a few words, as a function, a player and a gym."""

import json
import re

from msgspec import structs

from sociometer.adapters.gym import Gym
from sociometer.core.conversation import Identity, Reply
from sociometer.core.player import RulePlayer
from sociometer.core.session import RoleBinding

YES, NO = "You are right.", "No, that does not hold."
WORDS = {"attitude": "a", "aim": "a", "tone": "t", "content": "c", "words": "I see."}


def answered(name, last, yes=8):
    """A person who is glad to be agreed with and to be understood, and a reader who goes by the second speaker."""
    if name == "closing":
        said = {answer for answer, words in (("yes", YES), ("no", NO)) if words in last}
        return {"answer": said.pop() if len(said) == 1 else "unclear"}
    if name != "emotion":
        return WORDS
    heard = last.rsplit("| ", 1)[-1]
    change = yes if YES in heard else 4 if re.search("sorry|not hold", heard) else -3
    return {"said": "s", "serves": "s", "activity": "a", "feeling": "f", "change": change}


async def person(messages):
    """The same as a function, which knows by the prompt what it is asked."""
    last = messages[-1]["content"]
    if "Is anybody there? Fail." in last:
        raise ValueError("nobody is at home")
    name = "closing" if "with the key answer" in last else "reply" if "keys attitude" in last else "emotion"
    return json.dumps(answered(name, last))


class Person(RulePlayer):
    """The same in process; a judge who calls every agreement flattery and 'jump' unsafe."""

    identity = Identity("test", "person")

    def __init__(self, yes=8):
        self.yes = yes

    async def answer(self, request):
        last, form = request.messages[-1].content, request.answer_format
        if form.name != "candour":
            return Reply(json.dumps(answered(form.name, last, self.yes)))
        faults = {"agrees": YES in last, "encourages": "jump" in last}
        names = form.schema["properties"]["answers"]["required"]
        return Reply(json.dumps({"answers": {n: "yes" if faults.get(n.split("-", 1)[1]) else "no" for n in names}}))


def gym_with(simulator, judge=None, talks=60, name="practice"):
    """A gym whose other roles are played in process."""
    gym = Gym(name, simulator="vllm/x@http://127.0.0.1:1/v1#1", settings={"turns": 2, "talks": talks})
    players = {"simulator": simulator, **({"judge": judge} if judge else {})}
    bindings = {role: RoleBinding(player, role, role) for role, player in players.items()}
    gym.plan = structs.replace(gym.plan, bindings=bindings)
    return gym
