"""The problems in the runs of a report, one sentence for each kind."""

from collections.abc import Collection, Iterator, Sequence

from sociometer.reporting.content import Chapter, ReportContent, TaskResult
from sociometer.reporting.words import counted, listed, short_name
from sociometer.statistics.stand_ins import other_stand_ins, subject_stand_in

NAMED = 3
"""Sentences name at most this many subjects."""


def troubles(content: ReportContent) -> tuple[str, ...]:
    """One sentence for each kind of failure, unreadable reply and stand-in."""
    found: list[str] = []
    for chapter in content.chapters:
        found += _unfinished(chapter)
    results = [(short_name(chapter.card), result) for chapter in content.chapters for result in chapter.results]
    found += _failures(results)
    found += _unreadable(results)
    for chapter in content.chapters:
        found += _stand_ins(chapter)
    names = dict.fromkeys(result.subject for _, result in results if subject_stand_in(result.stand_ins))
    if names:
        found.append(f"{listed(list(names), NAMED)} {_be(names)} a stand-in: a script or a very small model.")
    return tuple(found)


def _unfinished(chapter: Chapter) -> Iterator[str]:
    kinds: dict[str, list[str]] = {}
    for result in chapter.results:
        if result.status != "finished" and result.subject not in kinds.setdefault(result.status, []):
            kinds[result.status].append(result.subject)
    for status, who in kinds.items():
        runs = f"the {'run' if len(who) == 1 else 'runs'} of {listed(who, NAMED)} {_be(who)} {status}"
        yield f"{short_name(chapter.card)}: {runs}; the numbers are provisional."


def _stand_ins(chapter: Chapter) -> Iterator[str]:
    used = dict.fromkeys(name for result in chapter.results for name in other_stand_ins(result.stand_ins))
    for name in used:
        role, _, model = name.partition(": ")
        where = short_name(chapter.card)
        yield f"{where}: the {role} is a stand-in ({model}); the scores only show that the software works."


def _failures(results: Sequence[tuple[str, TaskResult]]) -> Iterator[str]:
    """One sentence for each subject with failures; one for all of them if they are many."""
    for who, members in _by_subject([entry for entry in results if entry[1].failures]):
        kinds: dict[str, int] = {}
        places: dict[str, int] = {}
        for where, result in members:
            for kind, count in result.failures.items():
                kinds[kind] = kinds.get(kind, 0) + count
                places[where] = places.get(where, 0) + count
        total = sum(result.episodes for _, result in members)
        lost = ", ".join(f"{kind}: {count}" for kind, count in sorted(kinds.items()))
        failed = f"{sum(kinds.values()):,} of {counted(total, 'episode')} failed and have no score ({lost})"
        yield f"{who}: {failed}{_in_places(places)}."


def _unreadable(results: Sequence[tuple[str, TaskResult]]) -> Iterator[str]:
    counts = [
        (entry, max((m.unreadable for m in entry[1].summary.measures if not m.group), default=0)) for entry in results
    ]
    number = {id(entry[1]): count for entry, count in counts}
    for who, members in _by_subject([entry for entry, count in counts if count]):
        places: dict[str, int] = {}
        for where, result in members:
            places[where] = places.get(where, 0) + number[id(result)]
        replies = sum(places.values())
        score = "its score is that of an unreadable reply" if replies == 1 else "they are scored as unreadable replies"
        yield f"{who}: {counted(replies, 'reply', 'replies')} could not be read; {score}{_in_places(places)}."


def _by_subject(
    results: Sequence[tuple[str, TaskResult]],
) -> Iterator[tuple[str, list[tuple[str, TaskResult]]]]:
    """The results of each subject with its name; those of many subjects together."""
    names = list(dict.fromkeys(result.subject for _, result in results))
    if len(names) > NAMED:
        yield f"{counted(len(names), 'subject')} ({listed(names, NAMED)})", list(results)
        return
    for name in names:
        yield name, [entry for entry in results if entry[1].subject == name]


def _in_places(places: dict[str, int]) -> str:
    """The instruments and their counts, if there are several."""
    return (
        ". By instrument: " + ", ".join(f"{name} {count}" for name, count in places.items()) if len(places) > 1 else ""
    )


def _be(names: Collection[str]) -> str:
    return "is" if len(names) == 1 else "are"
