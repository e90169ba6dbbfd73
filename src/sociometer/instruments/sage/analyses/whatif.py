"""What if: a stored dialogue forked at a turn, continued with a replaced reply."""

from statistics import fmean

from msgspec import Struct

from sociometer.core.conversation import system
from sociometer.core.errors import UsageError
from sociometer.core.language import texts_in
from sociometer.core.lazy import lazy
from sociometer.core.measure import Interval, Measure, Summary
from sociometer.core.session import Session
from sociometer.core.task import Item, RunView, Score
from sociometer.instruments.sage.dialogue import SHORT, Dialogue, StoredDialogue, Turn
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.judges.strategies import STRATEGIES
from sociometer.instruments.sage.person import asked
from sociometer.instruments.sage.person.emotion import WORDS
from sociometer.instruments.sage.person.rehearsal import refuse_rehearsal
from sociometer.instruments.sage.play import REPLY_SAMPLING, protocol_of, subject_messages, talk_on
from sociometer.statistics.measures import grouped_measures
from sociometer.statistics.paired import paired_difference

STORED, WRITER = "stored", "writer"


stats = lazy("scipy.stats")


class Fork(Item, frozen=True, kw_only=True):
    """A dialogue up to a turn, and the replacement for the reply there.

    `arm` is `stored` (the reply as it was), `writer` (another model's reply) or the code of a strategy.
    """

    scenario: Scenario
    turns: tuple[Turn, ...]
    reply: str
    turn: int
    arm: str


class Branch(Struct, frozen=True):
    """The dialogue after the fork."""

    dialogue: Dialogue
    reply: str


class Effect(Struct, frozen=True):
    """The effect of replacing the reply: arm minus stored, with an interval over replays or scenarios."""

    arm: str
    measure: str
    difference: float
    interval: Interval
    forks: int
    replays: int


def fork(stored: StoredDialogue, turn: int, arm: str) -> Fork:
    """The fork of a dialogue at a turn (counted from 1)."""
    judged = [number for number, each in enumerate(stored.dialogue.turns, 1) if each.judgement is not None]
    if turn not in judged:
        raise UsageError(f"dialogue '{stored.id}' has no judged turn {turn}; allowed: {judged[0]} to {judged[-1]}.")
    if arm not in (STORED, WRITER) and arm not in STRATEGIES:
        raise UsageError(f"unknown strategy '{arm}'; allowed: {', '.join(STRATEGIES)}.")
    return Fork(
        id=f"{stored.id}@{turn}/{arm}", cluster=stored.cluster, scenario=stored.scenario, turn=turn, arm=arm,
        turns=stored.dialogue.turns[: turn - 1], reply=stored.dialogue.turns[turn - 1].reply,
    )  # fmt: skip


async def play_on(item: Fork, session: Session) -> Branch:
    """Replaces the reply and plays the dialogue to its end with the subject."""
    refuse_rehearsal(session, "a what-if")
    reply = item.reply if item.arm == STORED else await _written(item, session)
    dialogue = await talk_on(item.scenario, session, protocol_of(session.settings), item.turns, Turn(reply))
    return Branch(dialogue, reply)


async def _written(item: Fork, session: Session) -> str:
    messages = subject_messages(item.scenario, item.turns, session)
    if item.arm != WRITER:
        language = item.scenario.language
        length = texts_in(WORDS, language)["writer_length"]
        brief = session.prompts.render("writer", language, strategy=STRATEGIES[item.arm], length=length)
        messages = [system(brief), *messages[1:]]
    reply = await session.ask("writer", messages, sampling=REPLY_SAMPLING)
    return reply.text.strip()


def score(item: Fork, outcome: Branch) -> Score:
    """The final emotion, and the change right after the fork."""
    values = {"emotion": float(outcome.dialogue.final)}
    judgement = outcome.dialogue.turns[item.turn - 1].judgement
    if judgement is not None:
        values["change"] = float(judgement.moved)
    return Score(values=values, facets={"arm": item.arm, "intention": item.scenario.intention})


def summarise(run: RunView[Fork, Branch]) -> Summary:
    """The final emotion of each arm, and the effect of each replacement compared with the original reply."""
    measures = [
        measure for value in ("emotion", "change") for measure in grouped_measures(run, value, by=["arm"], binary=False)
    ]
    for effect in effects(run):
        over = "scenarios" if effect.forks > 1 else "replays of one fork"
        note = f"{effect.forks} forks with at least {effect.replays} replays each; interval over {over}"
        group, name = {"arm": effect.arm}, f"effect-{effect.measure}"
        measures.append(Measure(name, effect.difference, group, effect.interval, items=effect.forks, note=note))
    return Summary(tuple(measures), series={"simulators": [run.roles.get("simulator", "")]})


def effects(run: RunView[Fork, Branch]) -> list[Effect]:
    """The effect of each arm on the change at the fork and on the final emotion."""
    values: dict[tuple[str, str, str], list[float]] = {}
    clusters: dict[str, str] = {}
    for item, _, score_ in run.scored():
        place = item.id.rsplit("/", 1)[0]
        clusters[place] = item.cluster or place
        for measure, value in score_.values.items():
            values.setdefault((measure, item.arm, place), []).append(value)
    arms = sorted({arm for _, arm, _ in values if arm != STORED})
    found = (_effect(values, clusters, measure, arm) for measure in ("change", "emotion") for arm in arms)
    return [effect for effect in found if effect is not None]


def _effect(
    values: dict[tuple[str, str, str], list[float]], clusters: dict[str, str], measure: str, arm: str
) -> Effect | None:
    places = [place for place in clusters if (measure, arm, place) in values and (measure, STORED, place) in values]
    if not places:
        return None
    pairs = [(values[measure, STORED, place], values[measure, arm, place]) for place in places]
    replays = min(min(len(one), len(two)) for one, two in pairs)
    if len(places) == 1:
        one, two = pairs[0]
        return Effect(arm, measure, fmean(two) - fmean(one), welch(one, two), 1, replays)
    paired = paired_difference(
        [fmean(one) for one, _ in pairs], [fmean(two) for _, two in pairs], [clusters[place] for place in places]
    )
    return Effect(arm, measure, paired.difference, paired.interval, len(places), replays)


def welch(one: list[float], two: list[float]) -> Interval:
    """Welch's interval for the difference of two means of independent replays; it needs two replays per arm."""
    fewest = min(len(one), len(two))
    if fewest < 2:
        return Interval(None, None, 0.95, "Welch", fewest)
    if len(set(one)) == len(set(two)) == 1:
        return Interval(None, None, 0.95, "replays do not vary", fewest)
    found = stats.ttest_ind(two, one, equal_var=False).confidence_interval(0.95)
    return Interval(float(found.low), float(found.high), 0.95, "Welch", fewest)


async def rejudge(item: StoredDialogue, session: Session) -> Dialogue:
    """The dialogue with the new simulator's emotions, which continue from turn to turn; the words stay.

    The dialogue is not shortened where the new simulator would have ended it, because the old one determined its
    length.
    """
    refuse_rehearsal(session, "judging dialogues again")
    protocol = protocol_of(session.settings)
    emotion, turns = protocol.start, []
    for number, turn in enumerate(item.dialogue.turns):
        if turn.judgement is None:
            turns.append(turn)
            continue
        talk = (*item.dialogue.said(number), ("subject", turn.reply))
        judgement, rereads = await asked.feel(item.scenario, talk, emotion, session, protocol)
        emotion = judgement.after
        session.note("emotion", turn=number + 1, before=judgement.before, change=judgement.change, after=emotion)
        turns.append(Turn(turn.reply, judgement, turn.plan, turn.words, turn.leak, turn.tokens, rereads))
    simulator = session.identity_of("simulator") + (SHORT if item.dialogue.short else "")
    return Dialogue(item.dialogue.opening, protocol.start, tuple(turns), item.dialogue.ending, simulator)
