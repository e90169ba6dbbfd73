"""Stability of the simulator: each context is judged many times; the share of judgements in the same direction."""

import asyncio
from collections import Counter

from msgspec import Struct

from sociometer.core.conversation import Sampling
from sociometer.core.measure import Summary
from sociometer.core.session import Session
from sociometer.core.task import Item, RunView, Score
from sociometer.instruments.sage.dialogue import Judgement, StoredDialogue
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.person import asked
from sociometer.instruments.sage.person.emotion import direction
from sociometer.instruments.sage.person.rehearsal import refuse_rehearsal
from sociometer.instruments.sage.play import protocol_of
from sociometer.reading.quotation import Talk
from sociometer.statistics.measures import grouped_measures

JUDGEMENTS = 10
_SAMPLING = Sampling(temperature=0.5, max_tokens=2000)


class Context(Item, frozen=True, kw_only=True):
    """One judged reply of a stored dialogue, with all that was said before it."""

    run: str
    subject: str
    scenario: Scenario
    turn: int
    talk: Talk
    judgement: Judgement
    latter: bool
    """Whether it is in the second half of its dialogue."""

    @property
    def facets(self) -> dict[str, str]:
        """The half of its dialogue that it is in, and the intention of its person."""
        return {"half": "latter" if self.latter else "former", "intention": self.scenario.intention}


class Stability(Struct, frozen=True):
    """The change of feeling in each judgement of one context."""

    changes: tuple[int, ...]


def contexts(stored: StoredDialogue) -> list[Context]:
    """The judged replies of a dialogue."""
    judged = [(turn, each.judgement) for turn, each in enumerate(stored.dialogue.turns) if each.judgement is not None]
    return [
        Context(
            id=f"{stored.id}@{turn + 1}",
            cluster=stored.cluster,
            run=stored.run,
            subject=stored.subject,
            scenario=stored.scenario,
            turn=turn + 1,
            judgement=judgement,
            latter=2 * (turn + 1) > len(judged),
            talk=(*stored.dialogue.said(turn), ("subject", stored.dialogue.turns[turn].reply)),
        )
        for turn, judgement in judged
    ]


async def judge_again(item: Context, session: Session) -> Stability:
    """Ten judgements of one context at temperature 0.5."""
    refuse_rehearsal(session, "the stability test")
    branches = [session.branch(f"judgement-{number}") for number in range(JUDGEMENTS)]
    protocol = protocol_of(session.settings)
    judged = await asyncio.gather(
        *(
            asked.feel(item.scenario, item.talk, item.judgement.before, branch, protocol, sampling=_SAMPLING)
            for branch in branches
        )
    )
    return Stability(tuple(each.change for each, _ in judged))


def score(item: Context, outcome: Stability) -> Score:
    """The share of judgements in the most common direction, and the share that agree with the stored one."""
    ways = Counter(direction(change) for change in outcome.changes)
    stored = direction(item.judgement.change)
    count = len(outcome.changes)
    mean = sum(outcome.changes) / count
    return Score(
        values={
            "stability": max(ways.values()) / count,
            "agrees": ways[stored] / count,
            "spread": (sum((change - mean) ** 2 for change in outcome.changes) / count) ** 0.5,
        },
        facets=item.facets,
    )


def summarise(run: RunView[Context, Stability]) -> Summary:
    """Stability with its interval, also by half of the dialogue."""
    return Summary(
        (
            *grouped_measures(run, "stability", by=["half"]),
            *grouped_measures(run, "agrees"),
            *grouped_measures(run, "spread", binary=False),
        ),
        series={"simulators": [run.roles.get("simulator", "")]},
    )
