"""Dialogue -> score -> summary; pure."""

from statistics import fmean
from typing import Any

import msgspec

from sociometer.core.measure import Measure, Summary
from sociometer.core.task import RunView, Score
from sociometer.core.words import grouped
from sociometer.instruments.sage.dialogue import REHEARSAL, Dialogue, StoredDialogue, count_tokens
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.person.emotion import sign_changes
from sociometer.statistics.intervals import clustered_mean_interval
from sociometer.statistics.measures import grouped_measures, observations

_EFFICIENCY = "emotion points gained per 1,000 tokens that the subject wrote"


def score(item: Scenario, outcome: Dialogue) -> Score:
    """The final emotion, success or failure, and the length; an empty reply is counted. A rehearsal has no score."""
    facets, silent = {"intention": item.intention, "language": item.language}, sum(not x.reply for x in outcome.turns)
    if outcome.rehearsed:
        return Score(values={}, facets=facets, unreadable=silent)
    values = {
        "emotion": float(outcome.final),
        "success": float(outcome.final >= 100),
        "failure": float(outcome.final < 10),
        "replies": float(len(outcome.turns)),
        "characters": float(outcome.characters),
        "leaks": float(sum(turn.leak in ("wording", "machinery") for turn in outcome.turns)),
        "pleas": float(sum(turn.leak == "plea" for turn in outcome.turns)),
        "rereads": float(sum(turn.rereads for turn in outcome.turns)),
    }
    if outcome.tokens:
        values["tokens"] = float(outcome.tokens)
        values["efficiency"] = 1000 * (outcome.final - outcome.start) / outcome.tokens
    return Score(values=values, facets=facets, unreadable=silent)


def summarise(run: RunView[Any, Dialogue]) -> Summary:
    """The sentient score with success and failure, by hidden intention, and properties of the dialogues."""
    if any(outcome.rehearsed for _, outcome, _ in run.scored()):
        errors = sum(run.failures().values())
        return Summary((Measure("sentient", None, errors=errors, note=REHEARSAL),), notes=(f"{REHEARSAL}.",))
    measures = [*grouped_measures(run, "emotion", "sentient", by=["intention", "language"], binary=False)]
    if any(outcome.short for _, outcome, _ in run.scored()):
        measures = [msgspec.structs.replace(each, note="short form") for each in measures]
    else:
        measures += [each for rate in ("success", "failure") for each in grouped_measures(run, rate, by=["intention"])]
    measures += _fragile(run)
    for value in ("replies", "tokens", "efficiency", "characters", "leaks", "pleas", "rereads"):
        if observations(run, value):
            found = grouped_measures(run, value, binary=False)
            note = {"note": _EFFICIENCY} if value == "efficiency" else {}
            measures += [msgspec.structs.replace(each, **note) for each in found]
    return Summary(tuple(measures), notes=tuple(_notes(run)), series={"dialogues": _series(run)})


def _fragile(run: RunView[Any, Dialogue]) -> list[Measure]:
    """How often two talks of one scenario end on different sides of the feeling at the start; needs repeats."""
    moved = grouped((item.cluster or item.id, outcome.final - outcome.start) for item, outcome, _ in run.scored())
    found = [sign_changes(changes) for changes in moved.values() if len(changes) > 1]
    around = clustered_mean_interval(found, binary=False) if found else None
    return [Measure("fragile", fmean(found), interval=around, items=len(found))] if found else []


def _notes(run: RunView[Any, Dialogue]) -> list[str]:
    notes = []
    silent = [score_.unreadable for _, _, score_ in run.scored() if score_.unreadable]
    if silent:
        notes.append(
            f"'Unreadable' counts turns: {sum(silent)} of the subject's replies, in {len(silent)} dialogues, were "
            "empty. A dialogue whose simulator stays unreadable is an error."
        )
    if any(outcome.short for _, outcome, _ in run.scored()):
        notes.append(
            "Short form: three judged turns. Its score is on another scale than that of full talks and is not compared"
            " with it; success and failure need full talks."
        )
    elif "judge-last" not in run.settings or not run.settings.flag("judge-last"):
        notes.append(
            "As in the authors' protocol, the last reply of a full-length dialogue is not judged; use "
            "--judge-last to judge it."
        )
    return notes


def _series(run: RunView[Any, Dialogue]) -> list[dict[str, Any]]:
    return [
        {
            "item": item.id,
            "scenario": item.scenario.id if isinstance(item, StoredDialogue) else item.id,
            "intention": score_.facets.get("intention", ""),
            "trajectory": list(outcome.trajectory),
            "ending": outcome.ending,
            "tokens": outcome.tokens,
            "written": sum(count_tokens(turn.reply) for turn in outcome.turns),
            "simulator": outcome.simulator,
        }
        for item, outcome, score_ in run.scored()
    ]
