"""What a summary says about replies without an answer: their kinds, and what the second question changed."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import structs

from sociometer.core.measure import Summary, Table
from sociometer.core.reply_kind import AGAIN, THEN
from sociometer.core.task import Episode, RunView, Task


def with_reply_counts(summary: Summary, task: Task[Any, Any], view: RunView[Any, Any]) -> Summary:
    """The summary with the counts of replies without an answer, and the numbers without the second question."""
    counts: Counter[str] = Counter()
    for _, _, score in view.scored():
        counts.update(score.replies)
    if not counts:
        return summary
    rows = sorted(counts.items(), key=_rank)
    table = Table("replies", "Replies without an answer", ("kind", "replies"), tuple(rows))
    kinds = [f"{count} {kind}" for kind, count in rows if kind not in (AGAIN, THEN)]
    notes = [f"First replies without an answer: {', '.join(kinds)}; none leaves the score."] if kinds else []
    if counts[AGAIN]:
        effect = _without_second(summary, task, view)
        notes.append(f"{counts[AGAIN]} asked again, {counts[THEN]} answered then. {effect}")
    return structs.replace(summary, tables=(*summary.tables, table), notes=(*summary.notes, *notes))


def first_replies_view(task: Task[Any, Any], view: RunView[Any, Any]) -> RunView[Any, Any] | None:
    """The run as its first replies alone give it; None where what was played depends on the second question."""
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


def _without_second(summary: Summary, task: Task[Any, Any], view: RunView[Any, Any]) -> str:
    before = first_replies_view(task, view)
    if before is None:
        return "What was played next depends on the answers, so there is no score without them."
    values = {measure.name: measure.value for measure in task.summarise(before).measures if not measure.group}
    changed = [
        f"{measure.name} {_number(values[measure.name])} instead of {_number(measure.value)}"
        for measure in summary.measures
        if not measure.group and measure.name in values and values[measure.name] != measure.value
    ]
    return f"Without the second question: {', '.join(changed[:3])}." if changed else "No overall number changes."


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.3g}"


def _rank(entry: tuple[str, int]) -> tuple[bool, int]:
    return entry[0] in (AGAIN, THEN), -entry[1]
