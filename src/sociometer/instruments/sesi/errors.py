"""Causes of errors: a sample of wrong answers, the causes that a judge names, and the same sample for people."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from random import Random
from typing import Literal, get_args

from msgspec import Struct

from sociometer.core.conversation import Sampling, Schema, user
from sociometer.core.errors import UnreadableRole
from sociometer.core.measure import Cell, Measure, Summary, Table
from sociometer.core.session import Session
from sociometer.core.task import Item, RunView, Score
from sociometer.core.words import in_one_line
from sociometer.instruments.sesi.items import TABLES, Question
from sociometer.reading import ChoiceAnswer, object_schema, read_json
from sociometer.statistics.agreement import cohen_kappa
from sociometer.statistics.formatting import estimate
from sociometer.statistics.intervals import clustered_mean_interval
from sociometer.statistics.measures import Observation, failed_observations, mean_measure, observations

Cause = Literal["superficially friendly", "sidestepping", "excessively general", "other"]
CAUSES: tuple[str, ...] = get_args(Cause)
_SCHEMA = object_schema(closed=False, reason={"type": "string"}, cause={"enum": list(CAUSES)})


class WrongAnswer(Item, frozen=True, kw_only=True):
    """One wrong answer of one subject."""

    subject: str
    situation: str
    question: str
    right: str
    picked: str
    item: str = ""
    """The id of the item; the answer's own id names neither it nor the subject, since raters see that one."""

    def for_raters(self) -> dict[str, str]:
        """The wrong answer and the right one, without the name of the subject."""
        return {"situation": self.situation, "question": self.question, "right": self.right, "B": self.picked}


class Verdict(Struct, frozen=True):
    """The judge's cause; None in runs of earlier versions whose reply was unreadable."""

    cause: Cause | None
    reason: str
    rule: str


class _Reply(Struct, frozen=True):
    cause: Cause
    reason: str = ""


def runs_by_name(runs: Mapping[str, RunView[Question, ChoiceAnswer]]) -> dict[str, str]:
    """The run of each subject; if a subject has several, its name is followed by the run's id."""
    played = Counter(view.subject for view in runs.values())
    return {view.subject if played[view.subject] == 1 else f"{view.subject} ({run})": run for run, view in runs.items()}


def sample_runs(runs: Mapping[str, RunView[Question, ChoiceAnswer]], count: int, seed: int) -> list[WrongAnswer]:
    """The samples of several runs, mixed."""
    named = runs_by_name(runs).items()
    found = [entry for name, run in named for entry in sample_wrong(runs[run], count, seed, name)]
    return sorted(found, key=lambda entry: entry.id)


def sample_wrong(view: RunView[Question, ChoiceAnswer], count: int, seed: int, name: str = "") -> list[WrongAnswer]:
    """At most `count` wrong answers of a run, drawn by seed; unreadable ones have no option to explain."""
    subject = name or view.subject
    wrong = [
        WrongAnswer(
            id=_hidden_id(subject, item.id),
            cluster=item.cluster,
            item=item.id,
            subject=subject,
            situation=item.situation,
            question=item.question,
            right=item.options[item.answer],
            picked=item.options[answer.picked],
        )
        for item, answer, _ in view.scored()
        if answer.picked is not None and answer.picked != item.answer
    ]
    distinct = list({entry.id: entry for entry in wrong}.values())
    return sorted(Random(f"{seed}/{view.subject}").sample(distinct, min(count, len(distinct))), key=lambda e: e.id)


def _hidden_id(subject: str, item: str) -> str:
    """An id that reveals nothing to a rater; sorting by it mixes the subjects."""
    return f"answer-{sha256(f'{subject}/{item}'.encode()).hexdigest()[:10]}"


async def ask_judge(item: WrongAnswer, session: Session) -> Verdict:
    """Asks the judge for the cause of one wrong answer."""
    prompt = session.prompts.render(
        "judge", situation=item.situation, question=item.question, right=item.right, picked=item.picked
    )
    reply = await session.ask(
        "judge", [user(prompt)], Schema(_SCHEMA, name="cause"), sampling=Sampling(temperature=0, max_tokens=300)
    )
    reading = read_json(reply.text, _Reply)
    if reading.value is None:
        said = in_one_line(reply.text)[:80]
        raise UnreadableRole(f"the judge names no cause that can be read: '{said}'", "judge")
    return Verdict(reading.value.cause, reading.value.reason, reading.rule)


def score(item: WrongAnswer, outcome: Verdict) -> Score:
    """One for the cause that was named, none for the others; a verdict that cannot be read is the judge's failure."""
    facets = {"subject": item.subject}
    if outcome.cause is None:
        return Score(values={}, facets=facets, missing=dict.fromkeys(CAUSES, "judge"))
    return Score(values={cause: float(cause == outcome.cause) for cause in CAUSES}, facets=facets)


def summarise(run: RunView[WrongAnswer, Verdict]) -> Summary:
    """The share of each cause, overall and by subject, with intervals (Extended Data Fig. 1)."""
    measures: list[Measure] = []
    subjects = sorted({episode.item.subject for episode in run.episodes()})
    unread = [
        Observation(item.id, item.cluster or item.id, math.nan, score.facets)
        for item, _, score in run.scored()
        if score.missing
    ]
    failed = [*failed_observations(run), *unread]
    for cause in CAUSES:
        rows = [*observations(run, cause), *failed]
        measures.append(mean_measure("share", rows, {"cause": cause}))
        measures += [
            mean_measure(
                "share",
                [row for row in rows if row.facets.get("subject") == subject],
                {"cause": cause, "subject": subject},
            )
            for subject in subjects
        ]
    notes = (f"{len(unread)} verdicts of the judge could not be read; they count as failed.",) if unread else ()
    return Summary(tuple(measures), notes=notes)


def agreement_table(labels: dict[str, str], verdicts: dict[str, str]) -> Table:
    """Cohen's kappa with its interval over the answers that both labelled, overall and for each cause."""
    shared = sorted(set(labels) & set(verdicts))
    lines: list[tuple[Cell, ...]] = []
    for cause in ("all causes", *CAUSES) if shared else ():
        people, judge = (
            [of[name] if cause == "all causes" else str(of[name] == cause) for name in shared]
            for of in (labels, verdicts)
        )
        found = cohen_kappa(people, judge)
        varies = len(set(people)) > 1 and len(set(judge)) > 1
        low, high = (found.interval.low, found.interval.high) if found.interval and varies else (None, None)
        lines.append((cause, found.value if varies else None, low, high, found.observed, found.units))
    return TABLES("agreement", lines)


def label_table(labels: dict[str, str]) -> Table:
    """People's proportions."""
    named = {cause: [label == cause for label in labels.values()] for cause in CAUSES}
    found = ((cause, one, clustered_mean_interval(one, binary=True)) for cause, one in named.items())
    return TABLES("people", ((cause, sum(one), estimate(sum(one) / len(one), "share", of)) for cause, one, of in found))


def cause_table(summary: Summary, subjects: Sequence[str]) -> Table:
    """The judge's proportions with intervals."""
    rows = []
    for subject in subjects:
        for cause in CAUSES:
            measure = summary.find("share", cause=cause, subject=subject)
            if measure is not None:
                low, high = (measure.interval.low, measure.interval.high) if measure.interval else (None, None)
                rows.append((subject, cause, measure.value, low, high, measure.items))
    return TABLES("causes", rows)
