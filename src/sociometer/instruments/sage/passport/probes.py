"""The witness of our own: good to cruel replies, adversaries and repeats; and how a simulator is asked about a turn."""

import asyncio
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from msgspec import Struct

from sociometer.core.conversation import Exchange
from sociometer.core.errors import UnreadableRole
from sociometer.core.language import ENGLISH, languages_in, read_texts
from sociometer.core.session import Session
from sociometer.core.task import Item, RunView, Score
from sociometer.instruments.sage.items import BUNDLED, Scenario, bundled
from sociometer.instruments.sage.person import asked
from sociometer.instruments.sage.person.rehearsal import refuse_rehearsal
from sociometer.instruments.sage.play import protocol_of
from sociometer.reading.quotation import Talk

DATA = Path(__file__).parents[1] / "data" / "passport.toml"
ARMS = ("good", "stock", "cold", "cruel")
SETS = ("known", "held")
_TIMES = 5
_START = 40
Kind = Literal["published", "repeat", "order", "adversary", "spoken"]
FIRST = "good"
"""The replies that are asked about first, one in each of our turns: if no answer can be read, nothing else is asked."""


class Probe(Item, frozen=True, kw_only=True):
    """One reply in its context that the simulator judges once or several times."""

    kind: Kind
    scenario: Scenario
    talk: Talk
    before: int = _START
    times: int = 1
    arm: str = ""
    """The quality of a reply, or the set and kind of an adversary."""
    change: int = 0
    """The released change."""
    expected: float | None = None
    """The change that the state of the talk predicts, fitted on other scenarios."""
    released_by: str = ""
    """The simulator whose judgement of the turn was released."""
    subject: str = ""
    of_talk: str = ""
    preferred: bool | None = None
    """Unused, as `of_talk`; stored probes have both, and a passport that was stopped goes on with the same items."""

    @property
    def state(self) -> tuple[int, int, int]:
        """The turn that is judged (counted from 1), the feeling before it, and the characters of the reply."""
        return sum(who == "subject" for who, _ in self.talk), self.before, len(self.talk[-1][1])


class Felt(Struct, frozen=True, omit_defaults=True):
    """The change in each judgement that could be read, and the person's next words if they were asked for."""

    changes: tuple[int, ...]
    words: str = ""
    unreadable: int = 0
    tokens: int = 0


def own_probes() -> list[Probe]:
    """The turns of our own: good to cruel replies, adversaries, repeats, and two that the person answers."""
    scenarios = {each.id: each for language in languages_in(BUNDLED) for each in bundled(language)}
    found = []
    for name, replies in _facts()["turns"].items():
        scenario = scenarios[name]
        rows: list[tuple[Kind, str, str, int]] = [("order", arm, replies[arm], 1) for arm in ARMS]
        rows += [("repeat", "stock", replies["stock"], _TIMES)]
        rows += [("spoken", arm, replies[arm], 1) for arm in ("good", "cruel")]
        for which in SETS:
            rows += [("adversary", f"{which} {kind}", text, 1) for kind, text in adversaries(scenario, which).items()]
        for kind, arm, reply, times in rows:
            talk = (("person", scenario.first_words), ("subject", reply))
            where = f"{kind}/{name}/{arm}".replace(" ", "-")
            found.append(Probe(id=where, cluster=name, kind=kind, scenario=scenario, talk=talk, times=times, arm=arm))
    return found


def adversaries(scenario: Scenario, which: str) -> dict[str, str]:
    """The adversaries of a set for a scenario, by kind; they use its first two details.

    In a language without adversaries of its own they are in English.
    """
    said = {"a": scenario.details[0], "b": scenario.details[1], "words": scenario.first_words}
    known = _facts()["adversaries"][which]
    found = dict(known.get(scenario.language, known[ENGLISH]))
    for noun, word in said.items():
        found = {kind: text.replace(f"{{{noun}}}", word) for kind, text in found.items()}
    return found


@cache
def _facts() -> dict[str, Any]:
    return read_texts(DATA)


async def ask_probe(item: Probe, session: Session) -> Felt:
    """The simulator's judgements of one turn; an answer that stays unreadable is counted, other failures are raised."""
    refuse_rehearsal(session, "a passport")
    protocol = protocol_of(session.settings)

    async def once(branch: Session) -> tuple[int | None, str]:
        try:
            judged, _ = await asked.feel(item.scenario, item.talk, item.before, branch, protocol)
            change = protocol.clamp(judged.change)
            if item.kind != "spoken":
                return change, ""
            return change, (await asked.answer(item.scenario, item.talk, judged, branch, refusals=True))[1]
        except UnreadableRole:
            return None, ""

    found = await asyncio.gather(*(once(session.branch(f"time-{number}")) for number in range(item.times)))
    usage = [event.reply.usage for event in session.events if isinstance(event, Exchange)]
    tokens = sum((each.input_tokens or 0) + (each.output_tokens or 0) for each in usage)
    changes = tuple(change for change, _ in found if change is not None)
    return Felt(changes, found[0][1], len(found) - len(changes), tokens)


def score(item: Probe, outcome: Felt) -> Score:
    """The mean change."""
    return Score(values={"change": fmean(outcome.changes)} if outcome.changes else {}, facets={"kind": item.kind})


def answers(run: RunView[Probe, Felt]) -> list[tuple[Probe, Felt]]:
    """What was asked, with the judgements."""
    return [(item, outcome) for item, outcome, _ in run.scored()]
