"""The content of a report, collected from stored runs and their instruments; the page only arranges it."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date

from msgspec import Struct, structs

from sociometer.core.card import Card
from sociometer.core.config import model_label
from sociometer.core.conversation import SUBJECT, Exchange, Sampling
from sociometer.core.errors import UsageError, hint
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Figure
from sociometer.core.task import AnyRun
from sociometer.core.words import grouped, listed
from sociometer.models.registry import describe
from sociometer.reporting.evidence import KINDS, EpisodeShown, evidence_of, room_for
from sociometer.reporting.figures import evidence_figure, measures_figure, profile_figure
from sociometer.reporting.people import Crowd, crowds_of
from sociometer.reporting.rankings import Ranking, rankings
from sociometer.results.candidates import item_sets, require_computable, run_labels, who
from sociometer.results.comparison import compare
from sociometer.results.groups import PeopleRun
from sociometer.results.profile import ProfileLine, profile_lines
from sociometer.results.runs import compared_run
from sociometer.results.summaries import notes_beside, rule_sentences
from sociometer.results.verdicts import Comparison, Terms
from sociometer.statistics.chart_theme import with_subjects
from sociometer.statistics.formatting import other_stand_ins
from sociometer.store.stored_run import StoredRun
from sociometer.store.studies import PERSON

CONTAMINATION = "Contamination: "
"""How a note with the verdict of a check begins."""
_KEPT_EPISODES = 50_000
"""How many episodes are kept in memory for rankings and comparisons; those of further runs are read again."""


class EpisodeCounts(Struct, frozen=True):
    """How many episodes a task of a run has, how many of them failed, by kind, and its unreadable replies."""

    played: int
    failed: dict[str, int]
    unreadable: int


class Chapter(Struct, frozen=True):
    """The part of the report on one instrument: its card, results and figures."""

    card: Card
    results: tuple[AnyRun, ...]
    figures: tuple[Figure, ...]
    notes: tuple[str, ...]
    caveat: str = ""
    """A warning from the instrument that is shown next to its numbers."""
    sample: bool = False
    """Whether it has only samples and rehearsals; these chapters come last and give no finding."""
    verdicts: Mapping[str, str] = {}
    """What its trainings, or its only run, came to against a stored run, by the figures of this, which come first."""


class ReportContent(Struct, frozen=True):
    """Everything a report shows."""

    subjects: tuple[str, ...]
    """The labels of the subjects on the page, each with what tells apart its runs if it has several."""
    names: dict[str, str]
    """The name of each subject alone, by its label."""
    chapters: tuple[Chapter, ...]
    counts: dict[tuple[str, str], EpisodeCounts]
    """By run and task."""
    profile: tuple[ProfileLine, ...]
    comparisons: tuple[Comparison, ...]
    """Two subjects, task by task; more on a task with the people of one study, or if the user gave a margin."""
    rankings: tuple[Ranking, ...]
    """Three subjects or more, task by task."""
    evidence: tuple[EpisodeShown, ...]
    asked: dict[str, str] = {}
    """The revision and the sampling of each run's model in words; none of a baseline, a person or an import."""
    about: dict[str, str] = {}
    """What a subject is that is no model, or a recording of one, by its label."""
    models: dict[str, str] = {}
    """The model of each subject whose name does not say it, by its label."""
    crowds: tuple[Crowd, ...] = ()
    """The people of studies, on each task."""

    @property
    def when(self) -> str:
        """The days of the runs; nobody knows when imported scores were measured."""
        results = (result for chapter in self.chapters for result in chapter.results)
        return days_in_words(result.created for result in results if result.whose_items != "imported")

    @property
    def baselines(self) -> frozenset[str]:
        """The labels of the subjects that guess or know the key."""
        return frozenset(one.subject for chapter in self.chapters for one in chapter.results if one.baseline)

    @property
    def main(self) -> "ReportContent":
        """The content without samples and rehearsals."""
        return self.part([chapter for chapter in self.chapters if not chapter.sample])

    def part(self, chapters: Sequence[Chapter]) -> "ReportContent":
        """The content of some of its chapters, or of some of their results."""
        instruments = frozenset(chapter.card.name for chapter in chapters)
        subjects = {result.subject for chapter in chapters for result in chapter.results}
        shown = {(result.run, result.task) for chapter in chapters for result in chapter.results}
        pairs = [one for one in self.comparisons if {one.first_run, one.second_run} <= {run for run, _ in shown}]
        return structs.replace(
            self,
            subjects=tuple(one for one in self.subjects if one in subjects),
            chapters=tuple(chapters),
            profile=tuple(one for one in self.profile if (one.run, one.task) in shown),
            comparisons=tuple(one for one in pairs if one.instrument in instruments),
            rankings=tuple(one for one in self.rankings if one.instrument in instruments),
            crowds=tuple(one for one in self.crowds if one.instrument in instruments),
        )

    @property
    def whose_people(self) -> str:
        """Whose values the lines of people are: a norm's, or those of other items than the ones played here."""
        played = {(result.run, result.task): result for chapter in self.chapters for result in chapter.results}
        lines = [(line.on_norm, played[line.run, line.task]) for line in self.profile if line.human is not None]
        told = ["on the items of the paper" for on, one in lines if not on and not one.official]
        told += [f"of the norm {one.norm['name']}, n = {one.norm['people']}" for on, one in lines if on and one.norm]
        return listed([*dict.fromkeys(told)])

    def figures(self) -> dict[str, Figure]:
        """Every figure by its name for `sociometer report --figure`: `profile`, `sesi/abilities`, …"""
        found = {}
        if self.profile:
            profile = profile_figure(self.profile)
            found["profile"] = structs.replace(profile, chart=with_subjects(profile.chart or {}, self.subjects))
        for chapter in self.chapters:
            for figure in chapter.figures:
                found[f"{chapter.card.name}/{figure.name}"] = figure
        return found


def gather(
    runs: Sequence[StoredRun], *, terms: Terms | None = None, evidence: int | None = None, samples: Collection[str] = ()
) -> ReportContent:
    """Collect the content of a report; `evidence` is the number of transcripts of each kind for each run and task.

    Without it there are four, and fewer if there are more than fifty of them. `samples` are runs that show how a test
    works and measure nothing. Subjects and instruments keep the given order.
    """
    if not runs:
        raise UsageError(f"a report needs at least one run; '{hint('runs')}' lists the stored runs.")
    require_computable(runs)
    results: list[AnyRun] = []
    compared: list[AnyRun] = []
    shown: list[EpisodeShown] = []
    counts: dict[tuple[str, str], EpisodeCounts] = {}
    studies = {run.id: run for run in runs if isinstance(run, PeopleRun) and run.people}
    names = run_labels(runs) | {name: f"people ({name}, n\u00a0=\u00a0{run.people})" for name, run in studies.items()}
    played = sum(len(run.tasks) for run in runs)
    each, kinds = room_for(played) if evidence is None else (evidence, KINDS)
    room = _KEPT_EPISODES
    for run in runs:
        for task in run.tasks:
            view = structs.replace(run.summarised(task), subject=names[run.id])
            view = structs.replace(view, name=view.subject) if run.id in studies else view
            episodes = list(view.episodes())
            kept = structs.replace(view, walk=episodes.__iter__)
            unread = sum(one.score.unreadable for one in episodes if one.score)
            counts[run.id, task] = EpisodeCounts(len(episodes), kept.failures(), unread)
            left_out = f"The value of {run.subject}"
            notes = tuple(note for note in notes_beside(run, task, view.summary) if not note.startswith(left_out))
            results.append(structs.replace(view, summary=structs.replace(view.summary, notes=notes)))
            room -= len(episodes)
            headline = run.definition.task(task).headline(kept if room >= 0 else view)
            compared.append(compared_run(run, headline))
            some = 0 if evidence is None and run.id in studies else each  # what people wrote is shown only if asked for
            shown += evidence_of(run, task, view.subject, episodes, each=some, shown_kinds=kinds)
    subjects = tuple(dict.fromkeys(result.subject for result in results))
    known = {one.spec: one.help for one in describe() if one.spec.startswith(("baseline/", "recorded/"))}
    instruments = {run.instrument: run.definition for run in runs}
    chapters = tuple(
        _chapter(instruments[name], [result for result in results if result.card.name == name], subjects, runs)
        for name in dict.fromkeys(result.card.name for result in results)
    )
    below = [all(one.run in samples or other_stand_ins(one.stand_ins) for one in each.results) for each in chapters]
    if not all(below):
        marked = (structs.replace(one, sample=sample) for one, sample in zip(chapters, below, strict=True))
        chapters = tuple(sorted(marked, key=lambda chapter: chapter.sample))
    studied = Counter((one.card.name, one.task) for one in compared if one.people)
    people = [one for one in compared if one.people and studied[one.card.name, one.task] == 1]  # they have no rank
    others = [one for one in compared if not one.people or studied[one.card.name, one.task] > 1]
    whole = len(subjects) == 2 or (terms and terms.margin)
    paired = [one for one in (*people, *others) if whole or studied[one.card.name, one.task] == 1]
    return ReportContent(
        subjects,
        {names[run.id]: names[run.id] if run.id in studies else who(run) for run in runs},
        chapters,
        counts,
        profile_lines(results),
        _comparisons(paired, terms),
        rankings(others) if len(subjects) > 2 else (),
        tuple(shown),
        {run.id: said for run in runs if (said := how_asked(run))},
        _about(runs, names, known),
        _models(runs, names),
        tuple(crowd for one in compared if one.run in studies for crowd in crowds_of(studies[one.run], one)),
    )


def _about(runs: Sequence[StoredRun], names: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """What each subject is if it is a baseline."""
    told = [(names[run.id], known.get(run.manifest.config.subject, "")) for run in runs]
    return {name: ", ".join(dict.fromkeys(filter(None, parts))) for name, parts in grouped(told).items()}


def _models(runs: Sequence[StoredRun], names: Mapping[str, str]) -> dict[str, str]:
    """The model of each subject whose name does not say it."""
    found = {names[run.id]: model_label(run.manifest.config.subject) for run in runs}
    told = {name: model for name, model in found.items() if name != model and not name.startswith(f"{model} (")}
    said_otherwise = ("", PERSON)
    return {
        name: model
        for name, model in told.items()
        if model not in said_otherwise and not model.startswith("recorded/")  # `about` says whose replies these are
    }


def how_asked(run: StoredRun) -> str:
    """The revision of the model of a run, and its sampling as sent; empty if no model was asked."""
    played = SUBJECT in run.manifest.roles and not run.manifest.config.subject.startswith("baseline/")
    if run.people or not played or run.manifest.imported:
        return ""
    sent = "; ".join(dict.fromkeys(filter(None, (_sampling_sent(run, task) for task in run.tasks))))
    return f"Model revision: {run.revision or 'not given'}. Sampling as sent: {sent or 'unknown'}."


def _sampling_sent(run: StoredRun, task: str) -> str:
    """The sampling that was sent for the first reply of the subject on a task; empty if it is unknown."""
    place = min(run.finished(task), default=None)
    events = run.transcript(place[0], task, place[1]) if place else ()
    replies = (one.reply for one in events if isinstance(one, Exchange) and one.role == SUBJECT)
    sampling = next((reply.sampling for reply in replies if reply.sampling), Sampling())
    # A temperature of 0 was chosen, though it is equal to False.
    given = ((name, value) for name, value in structs.asdict(sampling).items() if value is not False)
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in given if value is not None and value != ())


def days_in_words(moments: Iterable[str]) -> str:
    """The range of timestamps that begin with a date (2026-01-02 03:04): “on …” or “between … and …”."""
    days = [date.fromisoformat(day) for day in sorted({moment[:10] for moment in moments if moment})]
    ends = [f"{day.day} {day:%B %Y}" for day in (days[:1] + days[-1:])]
    return "" if not days else f"on {ends[0]}" if len(days) == 1 else f"between {ends[0]} and {ends[1]}"


def _chapter(
    instrument: Instrument, runs: Sequence[AnyRun], subjects: Sequence[str], stored: Sequence[StoredRun]
) -> Chapter:
    by_set = grouped((run.item_set.partition(":")[0], run) for run in runs)
    named, several = any(item_sets(runs).values()), len({run.whose_items for run in runs}) > 1
    figures = tuple(
        structs.replace(
            figure,
            title=figure.title + f", {items}" * named,
            name=figure.name + f"-{members[0].whose_items}" * (several and items != "bundled items"),
        )
        for items, members in by_set.items()
        for figure in _figures(instrument, members)
    )
    here = [run for run in stored if run.instrument == instrument.card.name]
    evidence = [figure for run in runs for figure in evidence_figure(run)]
    said = rule_sentences(here[0]) if len(here) == 1 else []
    verdicts = {figure.name: verdict for figure, verdict in zip(evidence, said, strict=False)}
    figures = (*evidence, *figures)
    shown = tuple(
        figure if figure.chart is None else structs.replace(figure, chart=with_subjects(figure.chart, subjects))
        for figure in figures
        if figure.filled
    )
    told = grouped((text, run.subject) for run in runs if (text := instrument.caveat(run)))
    caveats = [text if len(told) == 1 else f"{listed([*dict.fromkeys(who)], 2)}: {text}" for text, who in told.items()]
    played = [run.subject for run in runs if other_stand_ins(run.stand_ins)]
    if 0 < len(played) < len(runs):
        who = f"{instrument.card.short_title}: {listed([*dict.fromkeys(played)], 3)}"
        caveats.append(f"no measurement, because a stand-in played a part on {who}")
    notes = (note for note in chapter_notes(runs) if not any(one.startswith(note[:-1]) for one in verdicts.values()))
    return Chapter(instrument.card, tuple(runs), shown, tuple(notes), "; ".join(caveats), verdicts=verdicts)


def _figures(instrument: Instrument, runs: Sequence[AnyRun]) -> Sequence[Figure]:
    """The figures of an instrument about runs on one item set; one of each task if it draws none."""
    if instrument.figures is not None and (figures := instrument.figures(runs)):
        return figures
    tasks = [task for task in dict.fromkeys(run.task for run in runs) if instrument.card.measures_of(task)]
    return [measures_figure(instrument.card, task, runs) for task in tasks]


def chapter_notes(results: Sequence[AnyRun]) -> Iterator[str]:
    """Each caveat once, with subjects' names if it is not of all; contamination first, baselines alone last."""
    found = grouped((note, result) for result in results for note in result.summary.notes)

    def place(entry: tuple[str, list[AnyRun]]) -> tuple[bool, bool]:
        return all(result.baseline for result in entry[1]), not entry[0].startswith(CONTAMINATION)

    for note, of in sorted(found.items(), key=place):
        tasks = {result.task for result in of}
        everyone = {result.subject for result in results if result.task in tasks}
        subjects = list(dict.fromkeys(result.subject for result in of))
        yield note if everyone == set(subjects) else f"{', '.join(subjects)}: {note}"


def _comparisons(candidates: Sequence[AnyRun], terms: Terms | None) -> tuple[Comparison, ...]:
    """The comparisons of tasks that several took; in the order of subjects, so that all have the same reference."""
    names = {id(candidate): candidate.name or candidate.subject for candidate in candidates}
    order = list(dict.fromkeys(names.values()))
    tasks = [(candidate.card.name, candidate.task) for candidate in candidates]
    first_first = sorted(candidates, key=lambda candidate: order.index(names[id(candidate)]))
    found = compare(first_first, terms) if len(set(tasks)) < len(tasks) else ()
    sets = item_sets(candidates)
    named = {(one.card.name, one.task, one.subject): sets[one.run, one.task] for one in candidates}
    pairs = [dict.fromkeys(named[one.instrument, one.task, who] for who in (one.first, one.second)) for one in found]
    return tuple(
        structs.replace(one, task_title=f"{one.task_title}, {' and '.join(pair)}".removesuffix(", "))
        for one, pair in zip(found, pairs, strict=True)
    )
