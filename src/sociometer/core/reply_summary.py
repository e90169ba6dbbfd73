"""Adds replies without an answer to a summary: their kinds, and the effect of the second question."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import structs

from sociometer.core.measure import Summary, Table
from sociometer.core.reply_kind import AGAIN, THEN, ReplyKind
from sociometer.core.task import TASK, AnyRun, Episode, Score, Task
from sociometer.core.words import counted, lowered

AFTER_ASKING = "after asking what was meant"
_SHORT = 500
"""Up to so many episodes of a run are kept while its summary is made: most summaries walk through them often."""
_KINDS = tuple(kind.value for kind in ReplyKind if kind is not ReplyKind.ANSWERED)


def summarised(task: Task[Any, Any], view: AnyRun) -> Summary:
    """The task's summary with the counts of replies without an answer, and the numbers without the second question."""
    passes: list[Counter[str]] = []
    short: list[Episode[Any, Any]] = []

    def walk() -> Iterator[Episode[Any, Any]]:
        if short:
            yield from short
            return
        counts: Counter[str] = Counter()
        read: list[Episode[Any, Any]] = []
        for episode in scored_replies(task, view).walk():
            if episode.score is not None:
                counts.update(episode.score.replies)
            if len(read) <= _SHORT:
                read.append(episode)
            yield episode
        passes.append(counts)
        if len(read) <= _SHORT:
            short[:] = read

    # Replies are counted while the summary walks through the run: another pass over a long run would take time.
    summary = task.summarise(structs.replace(view, walk=walk))
    if not passes:
        for _ in walk():
            pass
    return _with_counts(summary, task, view, passes[0])


def _with_counts(summary: Summary, task: Task[Any, Any], view: AnyRun, counts: Counter[str]) -> Summary:
    if not counts:
        return summary
    rows = sorted(counts.items(), key=lambda entry: (entry[0] in (AGAIN, THEN), -entry[1]))
    table = Table("replies", "Replies without an answer", ("kind", "replies"), tuple(rows))
    kinds = [f"{count} {kind}" for kind, count in rows if kind.startswith(_KINDS)]
    end = "." if task.name == TASK else "; all of them count in the score."
    notes = [f"First replies without an answer: {', '.join(kinds)}{end}"] if kinds else []
    if counts[AGAIN]:
        summary, effect = _effect(summary, task, view)
        asked = counted(counts[AGAIN], "question was", "questions were")
        why = "asked a second time, because the first reply had no answer"
        notes.append(f"{asked} {why}; {counts[THEN] or 'none'} of the second replies had one. {effect}")
    return structs.replace(summary, tables=(*summary.tables, table), notes=(*summary.notes, *notes))


def scored_as(task: Task[Any, Any], item: Any, outcome: Any, *, first: bool) -> tuple[Any, Score]:
    """The outcome and its score, with `first` without what second questions brought; the counts of replies stay."""
    score = task.score(item, outcome)
    if not (first and task.first_replies and score.replies.get(THEN)):
        return outcome, score
    before = task.first_replies(outcome)
    return before, structs.replace(task.score(item, before), replies=score.replies)


def scored_replies(task: Task[Any, Any], view: AnyRun) -> AnyRun:
    """The run with the outcomes that its scores are of: in an official run those of the first replies."""
    return _replies_view(task, view, first=True) if view.as_in_paper else view


def _replies_view(task: Task[Any, Any], view: AnyRun, *, first: bool) -> AnyRun:
    """The run scored with or without what second questions brought."""

    def walk() -> Iterator[Episode[Any, Any]]:
        for episode in view.walk():
            if episode.outcome is None or episode.score is None or not episode.score.replies.get(THEN):
                yield episode
            else:
                outcome, score = scored_as(task, episode.item, episode.outcome, first=first)
                yield structs.replace(episode, outcome=outcome, score=score)

    return structs.replace(view, walk=walk)


def _effect(summary: Summary, task: Task[Any, Any], view: AnyRun) -> tuple[Summary, str]:
    """The summary with the other score beside the paper's, and what the second question changes."""
    if task.first_replies is None:
        return summary, "What was played next depends on the answers, so there is no score without them."
    other = task.summarise(_replies_view(task, view, first=not view.as_in_paper)).measures
    values = {measure.name: measure.value for measure in other if not measure.group}
    cards = {card.name: card for card in view.card.measures_of(task.name)}
    shares = {name for name, card in cards.items() if card.unit == "share"}
    changed = {
        measure.name: [_number(value, measure.name in shares) for value in (measure.value, values[measure.name])]
        for measure in summary.measures
        if not measure.group and measure.name in cards and values.get(measure.name, measure.value) != measure.value
    }
    if not changed:
        return summary, "The overall numbers are the same without the second replies."
    if not view.as_in_paper:
        told = [f"{lowered(cards[name].title)} {now} instead of {value}" for name, (value, now) in changed.items()]
        return summary, f"Without the second question: {', '.join(told[:3])}."
    notes = {name: f"{one} as in the paper; {two} {AFTER_ASKING}" for name, (one, two) in changed.items()}
    measures = tuple(
        structs.replace(one, note="; ".join(filter(None, (one.note, notes.get(one.name))))) if not one.group else one
        for one in summary.measures
    )
    return structs.replace(summary, measures=measures), "The scores are those of the first replies, as in the paper."


def _number(value: float | None, share: bool) -> str:
    return "none" if value is None else f"{100 * value:.3g} %" if share else f"{value:.3g}"
