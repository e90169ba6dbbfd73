"""All that a report shows, gathered once from stored runs and their instruments; pages only arrange it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date

from msgspec import Struct

from sociometer.analysis.candidates import PROTAGONIST, Candidate, candidate_of
from sociometer.analysis.compare import Comparison, Terms, compare
from sociometer.analysis.profile import ProfileLine, profile_lines
from sociometer.core.card import Card
from sociometer.core.errors import UsageError
from sociometer.core.measure import Figure, Summary
from sociometer.core.settings import SettingValue
from sociometer.core.task import Instrument, SummarisedRun
from sociometer.report.evidence import EpisodeShown, evidence_of
from sociometer.report.overview import measures_figure, profile_figure
from sociometer.store.stored_run import StoredRun

LONGEST_REMARK = 48
"""Settings in more words than this name a run less well than its id."""


class GivenRun(Struct, frozen=True):
    """A stored run with what only the store knows of it."""

    run: StoredRun
    created: str = ""
    version: str = ""
    status: str = "finished"
    official: bool = False
    """Whether the items were the paper's own."""


class Sitting(Struct, frozen=True):
    """One task of one run, as the pages show it."""

    run: str
    instrument: str
    task: str
    task_title: str
    subject: str
    """What the subject is called on the page: with the run or its settings where one subject stands twice."""
    who: str
    created: str
    version: str
    status: str
    official: bool
    roles: dict[str, str]
    settings: dict[str, str]
    stand_ins: tuple[str, ...]
    episodes: int
    failures: dict[str, int]
    summary: Summary


class Chapter(Struct, frozen=True):
    """One instrument: its card, its sittings, its figures."""

    card: Card
    sittings: tuple[Sitting, ...]
    figures: tuple[Figure, ...]
    notes: tuple[str, ...]


class Material(Struct, frozen=True):
    """Everything a report shows."""

    subjects: tuple[str, ...]
    chapters: tuple[Chapter, ...]
    profile: tuple[ProfileLine, ...]
    comparisons: tuple[Comparison, ...]
    evidence: tuple[EpisodeShown, ...]

    @property
    def measured(self) -> tuple[str, ...]:
        """Who was measured, each once, whatever the number of runs."""
        return tuple(dict.fromkeys(sitting.who for chapter in self.chapters for sitting in chapter.sittings))

    @property
    def when(self) -> str:
        """The days of the runs in words; empty where none is known."""
        return days_in_words(sitting.created for chapter in self.chapters for sitting in chapter.sittings)

    @property
    def people_elsewhere(self) -> bool:
        """Whether a reference of people is shown that comes from other items than those played here."""
        played = {sitting.run for chapter in self.chapters for sitting in chapter.sittings if not sitting.official}
        return any(line.human is not None and line.run in played for line in self.profile)

    def figures(self) -> dict[str, Figure]:
        """Every figure by the name that `sociometer plot` takes: `profile`, `sesi/abilities`, …"""
        found = {"profile": profile_figure(self.profile)} if self.profile else {}
        for chapter in self.chapters:
            for figure in chapter.figures:
                found[f"{chapter.card.name}/{figure.name}"] = figure
        return found


def gather(
    given: Sequence[GivenRun],
    instruments: Mapping[str, Instrument],
    *,
    terms: Terms | None = None,
    evidence: int = 4,
) -> Material:
    """Collect runs into a report; `evidence` is how many transcripts of each kind are kept a run and task.

    Subjects keep the order in which they were given; so do instruments.
    """
    if not given:
        raise UsageError("a report needs at least one run; `sociometer runs` lists the stored ones.")
    summarised: list[tuple[str, SummarisedRun]] = []
    sittings: list[Sitting] = []
    candidates: list[Candidate] = []
    shown: list[EpisodeShown] = []
    names = _labels(given)
    for entry in given:
        instrument = instruments[entry.run.instrument]
        for task in entry.run.tasks:
            view = entry.run.view(task)
            label = names[entry.run.id]
            sitting = _sitting(entry, instrument.card, task, label)
            sittings.append(sitting)
            record = SummarisedRun(
                entry.run.id, task, label, dict(view.settings), sitting.summary, tuple(view.stand_ins), entry.created
            )
            summarised.append((instrument.card.name, record))
            candidates.append(candidate_of(label, instrument, task, view, entry.version))
            shown += evidence_of(entry.run, instrument, task, label, each=evidence)
    chapters = tuple(
        _chapter(
            instruments[name], [s for s in sittings if s.instrument == name], [r for n, r in summarised if n == name]
        )
        for name in dict.fromkeys(sitting.instrument for sitting in sittings)
    )
    cards = {entry.run.id: instruments[entry.run.instrument].card for entry in given}
    return Material(
        tuple(dict.fromkeys(sitting.subject for sitting in sittings)),
        chapters,
        profile_lines([record for _, record in summarised], cards, {entry.run.id for entry in given if entry.official}),
        _comparisons(_first_subject_first(candidates), terms),
        tuple(shown),
    )


def days_in_words(moments: Iterable[str]) -> str:
    """The first and the last day of moments that begin with a date (2026-01-02 03:04): “on …” or “between … and …”."""
    days = sorted({date.fromisoformat(moment[:10]) for moment in moments if moment})
    if not days:
        return ""
    first, last = days[0], days[-1]
    if first == last:
        return f"on {first.day} {first:%B %Y}"
    start = f"{first.day}"
    if (first.month, first.year) != (last.month, last.year):
        start += f" {first:%B}" if first.year == last.year else f" {first:%B %Y}"
    return f"between {start} and {last.day} {last:%B %Y}"


def _labels(given: Sequence[GivenRun]) -> dict[str, str]:
    """What each run is called: its subject, with what sets the run apart where a subject took a task twice."""
    names = {}
    for entry in given:
        same = [other for other in given if _same_subject(entry, other)]
        again = [one for one in same if any(one is not other and _shares_task(one, other) for other in same)]
        remarks = {one.run.id: _what_differs(one, again) for one in again}
        remark = remarks.get(entry.run.id, "")
        if entry.run.id in remarks and (len(remark) > LONGEST_REMARK or list(remarks.values()).count(remark) > 1):
            remark = entry.run.id
        names[entry.run.id] = _printable(entry.run.subject) + (f" ({remark})" if remark else "")
    return names


def _same_subject(one: GivenRun, two: GivenRun) -> bool:
    return (one.run.instrument, one.run.subject) == (two.run.instrument, two.run.subject)


def _shares_task(one: GivenRun, two: GivenRun) -> bool:
    return bool(set(one.run.tasks) & set(two.run.tasks))


def _what_differs(entry: GivenRun, others: Sequence[GivenRun]) -> str:
    """In what a run differs from others of its subject, in words: “condition anxiety, simulator gpt-4o”."""
    mine = _facts(entry)
    names = [name for name in mine if any(_facts(other).get(name) != mine[name] for other in others)]
    words = (name if mine[name] is True else f"{name} {_words(mine[name])}" for name in names if mine[name])
    return _printable(", ".join(words))


def _facts(entry: GivenRun) -> dict[str, SettingValue]:
    """What one run may have that another has not: settings, players of the other roles, whose items."""
    view = entry.run.view(entry.run.tasks[0])
    others = {role: name for role, name in view.roles.items() if role != PROTAGONIST}
    return {**view.settings, **others, "official items": entry.official}


def _printable(name: str) -> str:
    """A name as one line of text: characters that cannot be printed (line separators, controls) become spaces."""
    return "".join(character if character.isprintable() else " " for character in name)


def _sitting(entry: GivenRun, card: Card, task: str, label: str) -> Sitting:
    view = entry.run.view(task)
    return Sitting(
        run=entry.run.id,
        instrument=card.name,
        task=task,
        task_title=_task_title(card, task),
        subject=label,
        who=_printable(entry.run.subject),
        created=entry.created,
        version=entry.version or card.version,
        status=entry.status,
        official=entry.official,
        roles={role: name for role, name in view.roles.items() if role != PROTAGONIST},
        settings={name: _words(value) for name, value in view.settings.items() if value not in (None, "", ())},
        stand_ins=tuple(view.stand_ins),
        episodes=sum(1 for _ in view.episodes()),
        failures=view.failures(),
        summary=entry.run.summary(task),
    )


def _words(value: SettingValue) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _task_title(card: Card, task: str) -> str:
    return next((known.title for known in card.task if known.name == task), task)


def _chapter(instrument: Instrument, sittings: Sequence[Sitting], runs: Sequence[SummarisedRun]) -> Chapter:
    figures = tuple(instrument.figures(runs)) if instrument.figures is not None else ()
    if not figures:
        tasks = [task for task in dict.fromkeys(run.task for run in runs) if instrument.card.measures_of(task)]
        figures = tuple(measures_figure(instrument.card, task, runs) for task in tasks)
    return Chapter(instrument.card, tuple(sittings), figures, tuple(_notes(sittings)))


def _notes(sittings: Sequence[Sitting]) -> Iterator[str]:
    """Each caveat once; with the subject's name where it does not hold for all who took the same tasks."""
    holders: dict[str, list[Sitting]] = {}
    for sitting in sittings:
        for note in sitting.summary.notes:
            holders.setdefault(note, []).append(sitting)
    for note, of in holders.items():
        tasks = {sitting.task for sitting in of}
        everyone = {sitting.subject for sitting in sittings if sitting.task in tasks}
        subjects = list(dict.fromkeys(sitting.subject for sitting in of))
        yield note if everyone == set(subjects) else f"{', '.join(subjects)}: {note}"


def _first_subject_first(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Every task's runs in the order in which the subjects were first given: one reference all over the page."""
    order = list(dict.fromkeys(candidate.view.subject or candidate.label for candidate in candidates))
    return sorted(candidates, key=lambda candidate: order.index(candidate.view.subject or candidate.label))


def _comparisons(candidates: Sequence[Candidate], terms: Terms | None) -> tuple[Comparison, ...]:
    tasks = [(candidate.card.name, candidate.task) for candidate in candidates]
    return compare(candidates, terms) if len(set(tasks)) < len(tasks) else ()
