"""The rehearsal: a person who follows a few rules, so that the software runs without a model. It gives no score."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from sociometer.core.conversation import Identity, Reply, Request, Usage
from sociometer.core.errors import UsageError
from sociometer.core.language import ENGLISH, read_texts, texts_in
from sociometer.core.player import RulePlayer
from sociometer.core.session import Session
from sociometer.instruments.sage.dialogue import is_rehearsed
from sociometer.instruments.sage.judges.strategies import tokens
from sociometer.instruments.sage.person.emotion import WORDS, band, direction
from sociometer.instruments.sage.person.talk import PersonView

_FACTS = Path(__file__).parents[1] / "data" / "rehearsal.toml"
_SHORTEST = 4
_COMMON = frozenset(("about", "have", "that", "this", "they", "them", "what", "when", "were", "with", "would", "your"))


def refuse_rehearsal(session: Session, what: str) -> None:
    """Raise a UsageError if the rehearsal would take part in something that needs a judgement."""
    if is_rehearsed(session.identity_of("simulator")):
        raise UsageError(
            f"the rehearsal follows rules and judges nothing, so it cannot be used for {what}; name a simulator: --role"
            " simulator=MODEL."
        )


class Rehearsal(RulePlayer):
    """`simulator=rehearsal`: tells a few facts of the scenario; its feelings move by simple rules."""

    def __init__(self) -> None:
        super().__init__(Identity("rule", "rehearsal", revision="1", stand_in=True))

    async def answer(self, request: Request) -> Reply:
        """The emotion hop or the reply hop of a turn, as the same JSON a model would write."""
        view = request.view
        if not isinstance(view, PersonView):
            raise UsageError("'rehearsal' only plays the simulator of sage; bind this role to a model.")
        if view.hop == "emotion":
            change, why = felt_by_rule(view.reply, view.earlier, view.words)
            feeling = texts_in(WORDS, view.scenario.language)["rehearsal"]["feelings"][direction(change)]
            said = {"said": view.reply[:200], "serves": why, "activity": why, "feeling": feeling}
            facts: Mapping[str, object] = {**said, "change": change}
        else:
            facts = dict.fromkeys(("attitude", "aim", "tone", "content"), "rule") | {"words": _words(view)}
        return Reply(msgspec.json.encode(facts).decode(), usage=Usage(0, 0))


def felt_by_rule(reply: str, earlier: Sequence[str], words: str) -> tuple[int, str]:
    """The change after a reply, and the rule that gave it; `words` are the person's last, `earlier` other replies."""
    reply = reply.strip()
    if not tokens(reply):
        return -3, "says nothing"
    if reply in earlier or reply in words:
        return -3, "repeats words"
    if _topics(reply) & _topics(words):
        return 2, "takes up a word"
    return (1, "asks something") if "?" in reply or "？" in reply else (-1, "takes up nothing")


def _words(view: PersonView) -> str:
    """The next fact that was not told yet: the one closest to a question, else the first."""
    words: dict[str, Any] = texts_in(WORDS, view.scenario.language)["rehearsal"]
    if leaves := words["leaves"].get(band(view.emotion)):
        return str(leaves)
    told = (*view.told, view.words)
    known = _known_facts()
    facts = known.get(view.scenario.id) or words.get("anybody") or known.get(view.scenario.language, known[ENGLISH])
    left = [fact for fact in facts if fact not in told]
    if not left:
        return str(words["spent"][len(told) % len(words["spent"])])
    asked = _topics(view.reply)
    return str(max(left, key=lambda fact: len(asked & _topics(fact))))


def _topics(text: str) -> frozenset[str]:
    """Longer words, and pairs of Chinese characters."""
    words = tokens(text)
    long = {word for word in words if len(word) >= _SHORTEST and word not in _COMMON}
    return frozenset(
        long | {one + two for one, two in pairwise(words) if len(one) == len(two) == 1 and not one.isascii()}
    )


@cache
def _known_facts() -> dict[str, list[str]]:
    return read_texts(_FACTS)
