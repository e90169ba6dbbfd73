"""A judge grades the sentences of blackjack beliefs from 0 to 10, and people's grades set the threshold for "right"."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from sociometer.core.conversation import Schema, user
from sociometer.core.measure import Summary
from sociometer.core.session import Session
from sociometer.core.task import Item, RunView, Score
from sociometer.instruments.egosocial.games.asking import Faults, Read, ask_move
from sociometer.instruments.egosocial.games.blackjack.facts import Facts, facts_of
from sociometer.instruments.egosocial.games.blackjack.hand import Decision, Hand, HandOutcome, spoken
from sociometer.instruments.egosocial.games.cards import Card
from sociometer.reading import read_json
from sociometer.statistics.measures import grouped_measures

BELIEFS = ("self", "external")
HIGHEST = 10
UNCALIBRATED = 5.5
"""The threshold without grades by people: a grade above it counts as right."""
SCHEMA = {
    "type": "object",
    "properties": {"grade": {"type": "integer", "minimum": 0, "maximum": HIGHEST}},
    "required": ["grade"],
    "additionalProperties": False,
}


class Belief(Item, frozen=True, kw_only=True):
    """One belief to be graded: whose hand it is about, the deal as the player saw it, and the sentences."""

    about: str
    player: tuple[Card, ...]
    open_card: Card
    words: str


class Judged(Struct, frozen=True):
    """The judge's grade (None: unreadable)."""

    grade: float | None
    faults: Faults


class _Answer(Struct, frozen=True):
    grade: float


def place_of(item: str, repeat: int | str, decision: int | str, about: str) -> str:
    """Return the id of a belief in a run."""
    return f"{item}.{repeat}.{decision}.{about}"


def beliefs_of(run: RunView[Hand, HandOutcome]) -> Iterator[Belief]:
    """Return every belief of a run that has words."""
    for episode in run.episodes():
        decisions: Sequence[Decision] = episode.outcome.decisions if episode.outcome else ()
        for number, decision in enumerate(decisions, 1):
            said = {"self": decision.statement.self_belief, "external": decision.statement.external_belief}
            for about in BELIEFS:
                if said[about].strip():
                    yield Belief(
                        id=place_of(episode.item.id, episode.repeat, number, about),
                        cluster=episode.item.id,
                        about=about,
                        player=decision.player,
                        open_card=decision.open_card,
                        words=said[about],
                    )


async def judge_belief(item: Belief, session: Session) -> Judged:
    """Ask the judge for a grade, with the exact facts at hand."""
    facts = facts_of(item.player, item.open_card)
    own = item.about == "self"
    text = session.prompts.render(
        "games/blackjack-judge",
        cards=", ".join(spoken(card) for card in item.player),
        open=spoken(item.open_card),
        facts=_own_facts(facts) if own else _dealer_facts(facts),
        about="its own hand" if own else "the dealer",
        words=item.words,
        least="it must state the total, and with an ace how the ace counts."
        if own
        else "the open card, what the dealer may hold or must do now, or the dealer's chance to bust.",
    )
    grade, faults, _ = await ask_move(
        session,
        "judge",
        [user(text)],
        Schema(SCHEMA, "grade", {"grade": HIGHEST}),
        lambda reply: read_grade(reply.text),
        legal=f"a grade from 0 to {HIGHEST}",
        default=None,
    )
    return Judged(grade, faults)


def _own_facts(facts: Facts) -> str:
    return f"the total is a {facts.kind} {facts.total.points}; one more card busts with {facts.exact.bust_risk:.0%}."


def _dealer_facts(facts: Facts) -> str:
    worth = "1 or 11" if facts.shown == 1 else facts.shown
    return (
        f"the open card is worth {worth}; with the hidden card the dealer has {min(facts.pairs)} to "
        f"{max(facts.pairs)}, most likely {facts.likeliest_pair}; the dealer must draw with "
        f"{facts.exact.dealer_must_draw:.0%} and busts with {facts.exact.dealer_busts:.0%}; the dealer draws below 17 "
        "and stands on every 17."
    )


def read_grade(text: str) -> Read[float]:
    """Return the grade in a reply; one outside 0 to 10 is illegal."""
    reading = read_json(text, _Answer)
    if reading.value is None:
        return Read(None, "unreadable")
    return Read(reading.value.grade) if 0 <= reading.value.grade <= HIGHEST else Read(None, "illegal")


def score(item: Belief, outcome: Judged) -> Score:
    """The judge's grade; none if it could not be read."""
    values = {} if outcome.grade is None else {"grade": outcome.grade}
    return Score(values=values, facets={"belief": item.about}, unreadable=int(outcome.grade is None))


def summarise(run: RunView[Belief, Judged]) -> Summary:
    """The mean grade, overall and by belief."""
    return Summary(grouped_measures(run, "grade", by=["belief"], binary=False))


def threshold(grades: Sequence[tuple[float, bool]]) -> float:
    """Return the threshold above which the judge's grades agree best with people's; the middle one of several.

    Candidates lie between two neighbouring grades, and at both ends.
    """
    if not grades:
        return UNCALIBRATED
    levels = sorted({grade for grade, _ in grades})
    between = [(low + high) / 2 for low, high in pairwise(levels)]
    candidates = [levels[0] - 0.5, *between, levels[-1] + 0.5]
    agreed = [sum((grade > cut) == right for grade, right in grades) for cut in candidates]
    best = [cut for cut, count in zip(candidates, agreed, strict=True) if count == max(agreed)]
    return best[len(best) // 2]


def calibrated(grades: Sequence[tuple[float, bool]]) -> list[bool]:
    """Return the judge's verdict on each belief, by the threshold that all other beliefs set."""
    return [grade > threshold([*grades[:place], *grades[place + 1 :]]) for place, (grade, _) in enumerate(grades)]
