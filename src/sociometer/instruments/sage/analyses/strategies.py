"""Support strategies: every reply of a dialogue labelled by a judge; repetition and effectiveness."""

import asyncio
from collections.abc import Sequence

from msgspec import Struct

from sociometer.core.measure import Measure, Summary
from sociometer.core.session import Session
from sociometer.core.task import RunView, Score
from sociometer.instruments.sage.dialogue import StoredDialogue
from sociometer.instruments.sage.judges.asking import ask_judge, rendered, simulators_met
from sociometer.instruments.sage.judges.strategies import (
    CAPABILITIES,
    REPETITION_LINE,
    STRATEGIES,
    LabelledReply,
    occurrences,
    repetition,
)
from sociometer.instruments.sage.person.talk import quote_mark
from sociometer.reading import object_schema
from sociometer.statistics.intervals import clustered_mean_interval
from sociometer.statistics.measures import Observation, grouped_measures, mean_measure

_CODE = {"type": "string", "enum": list(STRATEGIES)}
SCHEMA = object_schema(strategies={"type": "array", "items": _CODE, "maxItems": len(STRATEGIES)})


class Labels(Struct, frozen=True, forbid_unknown_fields=True):
    """The codes of one reply, in order."""

    strategies: tuple[str, ...]


class LabelledDialogue(Struct, frozen=True):
    """The codes of every reply of a dialogue."""

    replies: tuple[tuple[str, ...], ...]


async def label(item: StoredDialogue, session: Session) -> LabelledDialogue:
    """Asks the judge to label every reply separately and concurrently."""
    count = len(item.dialogue.turns)
    labels = await asyncio.gather(*(_label(item, turn, session.branch(f"turn-{turn}")) for turn in range(count)))
    return LabelledDialogue(tuple(each.strategies for each in labels))


async def _label(item: StoredDialogue, turn: int, session: Session) -> Labels:
    language, reply = item.scenario.language, item.dialogue.turns[turn].reply
    talk = (*item.dialogue.said(turn)[-1:], ("subject", reply))
    mark = quote_mark(item.scenario, talk)
    prompt = session.prompts.render("strategies", language, mark=mark, talk=rendered(talk, mark, session, language))
    return await ask_judge(session, prompt, SCHEMA, Labels, "strategies", language, partial=True)


def labelled_replies(item: StoredDialogue, outcome: LabelledDialogue) -> list[LabelledReply]:
    """The replies with their codes, the change after each, and the intention of the dialogue."""
    return [
        LabelledReply(
            codes,
            turn.judgement.moved if turn.judgement else None,
            item.scenario.intention,
            item.id,
            item.cluster or item.id,
        )
        for turn, codes in zip(item.dialogue.turns, outcome.replies, strict=True)
    ]


def score(item: StoredDialogue, outcome: LabelledDialogue) -> Score:
    """The dialogue's repetition, and the share of its replies that use each strategy."""
    rate = repetition(outcome.replies)
    count = max(1, len(outcome.replies))
    values = {code: sum(code in codes for codes in outcome.replies) / count for code in STRATEGIES}
    values["emotion"] = float(item.dialogue.final)
    if rate is not None:
        values["repetition"] = rate
    return Score(values=values, facets={"intention": item.scenario.intention})


def summarise(run: RunView[StoredDialogue, LabelledDialogue]) -> Summary:
    """The repetition rate with the paper's threshold, the share of replies with each strategy, and effectiveness."""
    measures = list(grouped_measures(run, "repetition"))
    replies = [reply for item, outcome, _ in run.scored() for reply in labelled_replies(item, outcome)]
    measures.extend(_share(replies, code) for code in STRATEGIES)
    for capability in CAPABILITIES:
        for scope, intention in (("overall", ""), ("task", capability.intention)):
            group = {"capability": capability.key, "scope": scope}
            measures.append(_effectiveness(occurrences(replies, capability.strategies, intention), group))
    measures.extend(_effectiveness(occurrences(replies, (code,)), {"strategy": code}) for code in STRATEGIES)
    rate = measures[0].value
    notes: tuple[str, ...] = ()
    if rate is not None:
        side = "below" if rate < REPETITION_LINE else "not below"
        notes = (f"The repetition rate is {side} the paper's threshold of {REPETITION_LINE}.",)
    return Summary(tuple(measures), notes=notes, series={"simulators": simulators_met(run)})


def _share(replies: Sequence[LabelledReply], code: str) -> Measure:
    members = [
        Observation(f"{reply.dialogue}/{place}", reply.scenario, float(code in reply.strategies), {})
        for place, reply in enumerate(replies)
    ]
    return mean_measure("share", members, {"strategy": code})


def _effectiveness(found: Sequence[LabelledReply], group: dict[str, str]) -> Measure:
    """The mean change of feeling after a strategy, each occurrence counted, clustered by scenario."""
    if not found:
        return Measure("effectiveness", None, group, note="the strategy did not occur")
    values = [float(reply.change or 0) for reply in found]
    clusters = [reply.scenario for reply in found]
    return Measure(
        "effectiveness",
        sum(values) / len(values),
        group,
        clustered_mean_interval(values, clusters, binary=False),
        items=len({reply.dialogue for reply in found}),
        clusters=len(set(clusters)),
        note=f"{len(found)} occurrences",
    )
