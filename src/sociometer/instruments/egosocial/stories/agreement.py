"""The official ToMi key compared with the oracle: agreement by kind of question, and each disagreement's cause."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from sociometer.core.measure import Table
from sociometer.instruments.egosocial.stories.minds import Oracle
from sociometer.instruments.egosocial.stories.tomi import TomiQuestion

CAUSES = {
    "unaware-thinker": "the thinker left before the move and never came back, yet in the key they know the new place",
    "unaware-other": "the thinker saw the other leave before the move; the other never came back, "
    "yet in the key they know the new place",
    "unseen-return": "the other came back and saw the new place, but only after the thinker had gone: "
    "the thinker cannot know",
    "unsettled": "the thinker came back to find the thing moved and the other gone: whether the other saw the move "
    "is not told (the key assumes it)",
    "other": "none of the known causes",
}


class Verdict(msgspec.Struct, frozen=True):
    """The oracle's verdict on one official answer; `cause` is empty if it agrees."""

    corrected: str
    cause: str = ""


def check(asked: TomiQuestion) -> Verdict:
    """The corrected answer to an official question, and why it differs from the key where it does."""
    oracle = Oracle(asked.story)
    witnessed = oracle.answer(asked.question, presume=False)
    presumed = oracle.answer(asked.question, presume=True)
    if asked.answer == witnessed == presumed:
        return Verdict(asked.answer)
    if witnessed != presumed or presumed is None:
        return Verdict(asked.answer, "unsettled")
    return Verdict(presumed, _cause(asked, oracle))


def _cause(asked: TomiQuestion, oracle: Oracle) -> str:
    if asked.question.order != 2:
        return "other"
    thinker, other = asked.question.chain
    thing = asked.question.thing
    real = oracle.belief((), thing)
    if asked.answer != real:
        return "other"
    if oracle.belief((thinker,), thing) != real:
        return "unaware-thinker"
    return "unaware-other" if oracle.belief((other,), thing) != real else "unseen-return"


def agreement_table(questions: Iterable[TomiQuestion]) -> Table:
    """Agreement of oracle and key by kind of question, then the disagreements by cause and story type."""
    asked: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    causes: Counter[tuple[str, str]] = Counter()
    for question in questions:
        kind = question.question.kind if question.question.order == 0 else f"order {question.question.order}"
        verdict = check(question)
        asked[kind] += 1
        agreed[kind] += not verdict.cause
        if verdict.cause:
            causes[verdict.cause, question.story_type] += 1
    rows: list[tuple[str, str, int, str]] = [
        (kind, "agrees", agreed[kind], f"of {total} questions") for kind, total in sorted(asked.items())
    ]
    rows += [(cause, story_type, n, CAUSES[cause]) for (cause, story_type), n in sorted(causes.items())]
    return Table(
        "agreement", "Oracle and official ToMi key", ("kind or cause", "story type", "questions", "what"), tuple(rows)
    )


def disagreements(questions: Iterable[TomiQuestion]) -> Table:
    """Every question on which oracle and key differ, or which the story does not settle, one row each."""
    rows = []
    for asked in questions:
        verdict = check(asked)
        if verdict.cause:
            chain = " > ".join(asked.question.chain)
            rows.append((asked.number, asked.story_type, chain, asked.answer, verdict.corrected, verdict.cause))
    columns = ("question", "story type", "who thinks of whom", "official key", "corrected key", "cause")
    return Table("disagreements", "Every disagreement with the official ToMi key", columns, tuple(rows))
