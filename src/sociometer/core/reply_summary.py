"""Adds replies without an answer to a summary: their kinds, and the effect of the second question."""

from collections import Counter
from collections.abc import Container, Iterator
from typing import Any

from msgspec import structs

from sociometer.core.measure import Summary, Table
from sociometer.core.reply_kind import AGAIN, THEN, ReplyKind
from sociometer.core.task import AnyRun, Episode, Task

_KINDS = tuple(kind.value for kind in ReplyKind if kind is not ReplyKind.ANSWERED)


def summarised(task: Task[Any, Any], view: AnyRun) -> Summary:
    """The task's summary with the counts of replies without an answer, and the numbers without the second question."""
    passes: list[Counter[str]] = []

    def walk() -> Iterator[Episode[Any, Any]]:
        counts: Counter[str] = Counter()
        for episode in view.walk():
            if episode.score is not None:
                counts.update(episode.score.replies)
            yield episode
        passes.append(counts)

    # Replies are counted while the summary walks through the run: another pass over a long run would take time.
    summary = task.summarise(structs.replace(view, walk=walk))
    if not passes:
        for _ in walk():
            pass
    shares = {card.name for card in view.card.measures_of(task.name) if card.unit == "share"}
    return _with_counts(summary, task, view, passes[0], shares)


def _with_counts(
    summary: Summary, task: Task[Any, Any], view: AnyRun, counts: Counter[str], shares: Container[str]
) -> Summary:
    if not counts:
        return summary
    rows = sorted(counts.items(), key=lambda entry: (entry[0] in (AGAIN, THEN), -entry[1]))
    table = Table("replies", "Replies without an answer", ("kind", "replies"), tuple(rows))
    kinds = [f"{count} {kind}" for kind, count in rows if kind.startswith(_KINDS)]
    notes = [f"First replies without an answer: {', '.join(kinds)}; all of them count in the score."] if kinds else []
    if counts[AGAIN]:
        effect = _without_second(summary, task, view, shares)
        notes.append(f"{counts[AGAIN]} asked again, {counts[THEN]} then answered. {effect}")
    return structs.replace(summary, tables=(*summary.tables, table), notes=(*summary.notes, *notes))


def first_replies_view(task: Task[Any, Any], view: AnyRun) -> AnyRun | None:
    """The run scored on its first replies only; None if later turns depend on the second question."""
    first = task.first_replies
    if first is None:
        return None

    def walk() -> Iterator[Episode[Any, Any]]:
        for episode in view.walk():
            if episode.outcome is None or episode.score is None or not episode.score.replies.get(THEN):
                yield episode
            else:
                outcome = first(episode.outcome)
                yield structs.replace(episode, outcome=outcome, score=task.score(episode.item, outcome))

    return structs.replace(view, walk=walk)


def _without_second(summary: Summary, task: Task[Any, Any], view: AnyRun, shares: Container[str]) -> str:
    before = first_replies_view(task, view)
    if before is None:
        return "What was played next depends on the answers, so there is no score without them."
    values = {measure.name: measure.value for measure in task.summarise(before).measures if not measure.group}
    changed = [
        f"{measure.name} {_number(values[measure.name], measure.name in shares)}"
        f" instead of {_number(measure.value, measure.name in shares)}"
        for measure in summary.measures
        if not measure.group and measure.name in values and values[measure.name] != measure.value
    ]
    return (
        f"Without the second question: {', '.join(changed[:3])}." if changed else "The overall numbers do not change."
    )


def _number(value: float | None, share: bool) -> str:
    return "none" if value is None else f"{100 * value:.3g} %" if share else f"{value:.3g}"
