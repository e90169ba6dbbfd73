"""The people of a study: who counts, and all of them as one subject that can be compared with models."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from typing import Any

from msgspec import structs

from sociometer.core.command import StudyPerson
from sociometer.core.conversation import Transcript
from sociometer.core.errors import StoreError, UsageError, hint
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Summary
from sociometer.core.task import AnyRun, Episode
from sociometer.core.words import counted, grouped
from sociometer.results.leaderboard import mean_interval
from sociometer.statistics.item_values import read_items
from sociometer.store import studies
from sociometer.store.records import RunRecord, RunStatus
from sociometer.store.runs import RunSearch
from sociometer.store.store import Store
from sociometer.store.stored_run import Played, StoredRun, status_of


class Taking:
    """What is known about the participants of a study, read once: of the whole sitting, or of one instrument."""

    def __init__(self, study: studies.Study, book: studies.StudyBook, store: Store, place: int | None = None) -> None:
        self.study, self.store, self._place = study, store, place
        self.participants = book.participants(study.name)
        self.timings: dict[str, list[studies.Timing]] = grouped(
            (one.participant, one) for one in book.timings(study.name)
        )
        self._passed = book.passed_checks(study.name)

    def decision(
        self, one: studies.Participant, *, count_missing: bool = True
    ) -> tuple[studies.Facts, studies.Decision]:
        """What is known about a participant, and whether they count."""
        facts = self._facts(one)
        return facts, studies.decide(self.study, facts, one.excluded, count_missing=count_missing)

    def _facts(self, one: studies.Participant) -> studies.Facts:
        every = self.records(one)
        done = {record.id: self.store.episodes.counts(record.id)[0] for record in every}
        total = self.study.items or sum(record.manifest.episodes for record in every)
        over = len(every) == len(one.takes(self.study)) and every[-1].status is RunStatus.FINISHED
        # At the end, checks that were skipped count as failed too.
        checks = self.checks(one, total)
        wrong = sum(not passed for after, passed in checks if over or after < sum(done.values()))
        records = [record for record in every if self._place is None or record.id == self.run_of(one)]
        planned = total if records and self._place is None else sum(record.manifest.episodes for record in records)
        status = "run deleted" if self.run_of(one) else studies.NOT_BEGUN
        if records:
            status = str(status_of(self.store, records[-1]))
        if one.screened_out or (status == "finished" and self._place is None and not over):
            status = "screened out" if one.screened_out else "stopped"
        timings = self.timings.get(one.id, [])
        patterns = grouped((each.task, each.pattern) for each in timings)
        answered = sum(done[record.id] for record in records)
        return studies.Facts(answered, planned, wrong, patterns, tuple(each.spent for each in timings), status)

    def run_of(self, one: studies.Participant) -> str:
        """A participant's run of this instrument; empty if it has not begun."""
        return one.run_of(self.study, self._place or 0)

    def record(self, one: studies.Participant) -> RunRecord | None:
        """The same run, if it is stored."""
        return self._record(run) if (run := self.run_of(one)) else None

    def records(self, one: studies.Participant) -> list[RunRecord]:
        """Their stored runs, in their order."""
        return list(filter(None, map(self._record, one.runs)))

    def _record(self, run: str) -> RunRecord | None:
        return next(self.store.runs.found(RunSearch(ids=(run,))), None)

    def checks(self, one: studies.Participant, planned: int) -> list[tuple[int, bool | None]]:
        """For each attention check of a participant, the number of items before it, and whether it was passed."""
        passed = self._passed.get(one.id, {})
        places = studies.check_places(self.study, studies.check_lots(self.study, one.id), planned) if planned else []
        return [(after, passed.get(number)) for number, after in enumerate(places)]


def takings(store: Store, study: str = "") -> dict[str, Taking]:
    """The participants of each instrument of a study, or of every study that can be read, by the name of the part."""
    found: dict[str, Taking] = {}
    for book in studies.study_books(store.path):
        for name in book.names():
            with nullcontext() if study else suppress(StoreError):
                if study in ("", name) or study.startswith(f"{name}."):
                    known = book.study(name)
                    parts = enumerate(known.parts) if known.further else [(None, name)]
                    found |= {part: Taking(known, book, store, at) for at, part in parts if study in ("", name, part)}
    return found


def people_of_study(store: Store, study: str) -> dict[str, StudyPerson]:
    """The participants of a study who have begun, by run; none if there is no such study.

    Unanswered items exclude nobody here: the caller decides how many may be missing.
    """
    return {
        run: StudyPerson(
            one.id, "; ".join(map(str, taking.decision(one, count_missing=False)[1].excluded)), taking.study.readers
        )
        for taking in takings(store, study).values()
        for one in taking.participants
        if (run := taking.run_of(one))
    }


def runs_of_people(store: Store) -> frozenset[str]:
    """The runs of all participants of all studies."""
    return frozenset(run for book in studies.study_books(store.path) for run in book.runs())


class PeopleRun(StoredRun):
    """The participants of a study who count, as one run: each of them is a repeat of every item they took.

    Where they talked with a model, the model is the subject, and each person is an item.
    """

    def __init__(
        self, taking: Taking, name: str, members: list[RunRecord], flags: list[bool], why: Counter[str], of: Instrument
    ) -> None:
        store, self._study, self.excluded = taking.store, taking.study, why.total()
        self.flags, self.flagged = flags, sum(flags)
        self.why, self.why_excluded = why, ", ".join(f"{count} {kind}" for kind, count in why.most_common())
        self._talks = taking.study.talks
        self.taking = taking
        self._members = [StoredRun(store, record, of) for record in members]
        first, counts = members[0], {"flagged": self.flagged, "excluded": self.excluded}
        more = (f", {count} {what}" for what, count in counts.items() if count)
        said = f"people ({name}, n = {len(members)}{''.join(more)})"
        if self._talks:
            said = f"{first.subject} with {said}"
        config = structs.replace(first.manifest.config, revision="", name=name)
        manifest = structs.replace(
            first.manifest, config=config, subject=said, episodes=sum(one.manifest.episodes for one in members)
        )
        record = structs.replace(
            first, id=name, name=name, subject=said, manifest=manifest, status=RunStatus.FINISHED, totals=None
        )
        super().__init__(store, record, of)

    @property
    def people(self) -> int:
        return 0 if self._talks else len(self._members)

    def person_of(self, episode: Episode[Any, Any]) -> str:
        """The participant whose episode this is."""
        return str(episode.item.id) if self._talks else self._person(self._members[episode.repeat])

    def _person(self, member: StoredRun) -> str:
        """The participant of a run; none has a dot."""
        return member.record.name.rpartition(".")[2]

    @property
    def members(self) -> tuple[str, ...]:
        """The runs of the participants, in the order of the repeats."""
        return tuple(one.id for one in self._members)

    def scores(self, task: str, measure: str) -> list[float]:
        """The value of each participant who has one."""
        found = (one.summary(task).find(measure) for one in self._members)
        return [one.value for one in found if one and one.value is not None]

    def of_same_subject(self, task: str) -> list[StoredRun]:
        """Nothing: a study is the only run of its people."""
        return []

    def _view(self, task: str, *, scored: bool = True) -> AnyRun:
        """All participants' episodes of a task."""
        named = {"subject": self.subject, "name": self.subject, "run": self.id, "people": self.people}
        return structs.replace(self._members[0].view(task), walk=lambda: self.episodes(task, scored=scored), **named)

    def episodes(self, task: str = "", item: str | None = None, *, scored: bool = True) -> Iterator[Episode[Any, Any]]:
        """The episodes of all participants; the number of the participant is the repeat."""
        for place, member in enumerate(self._members):
            if self._talks and item in (None, who := self._person(member)):
                for episode in member.episodes(task, scored=scored):
                    yield structs.replace(episode, item=structs.replace(episode.item, id=who, cluster=who))
            elif not self._talks:
                for episode in member.episodes(task, item, scored=scored):
                    yield structs.replace(episode, repeat=place)

    def part_of_paper(self, task: str) -> str:
        """The part that the people answered together; not told of talks, where each person is an item."""
        return "" if self._talks else super().part_of_paper(task)

    def transcript(self, item: Played, task: str = "", repeat: int = 0) -> Transcript:
        """What one participant was asked and answered."""
        task, episode = self.find_episode(item, task, repeat)
        if not self._talks:
            return self._members[episode.repeat].transcript(episode.item.id, task)
        member = next(one for one in self._members if self._person(one) == episode.item.id)
        found = next(one for one in member.episodes(task) if one.repeat == episode.repeat)
        return member.transcript(found, task)

    def finished(self, task: str) -> set[tuple[str, int]]:
        """The items that at least one participant answered."""
        if self._talks:
            return {(self._person(one), repeat) for one in self._members for _, repeat in one.finished(task)}
        return {(item, 0) for member in self._members for item, _ in member.finished(task)}

    def failures(self) -> dict[str, int]:
        """The number of failed episodes, by kind of failure."""
        return dict(sum((Counter(member.failures()) for member in self._members), Counter[str]()))

    def summary(self, task: str = "") -> Summary:
        """The summary of all participants; means over items have intervals over people and items."""
        if not self.tasks:
            why = next(iter(self.past.values()))
            each = hint("study show", self._study.name)
            return Summary((), notes=(f"Their answers were {why}: there is no score of all. Each person's: {each}",))
        name = self.task(task).name
        made = self.made_summary(name)
        if self._talks:
            return structs.replace(made, notes=(*made.notes, "Intervals are over people."))
        view = self.definition.task(name).headline(self.view(name))
        known = {card.name: card for card in view.card.measures_of(name) if card.value and not card.of_items}
        tables = read_items(view, [card.value for card in known.values()]).tables
        measures = tuple(
            structs.replace(one, interval=mean_interval(tables[known[one.name].value], known[one.name], view))
            if one.name in known and not one.group and one.value is not None
            else one
            for one in made.measures
        )
        differ = "items, and not of people's scores ('study show'), because people answered different items"
        same = len({frozenset(one.finished(name)) for one in self._members}) == 1
        note = (
            f"The value of {self.subject} is the mean over {'them' if same else differ}. Overall intervals are over"
            " people and items; those of groups of items are over items only."
        )
        flagged = self.flagged_note(self.flagged, self.people)
        notes = (*made.notes, note, *filter(None, [self.items_note(name), flagged]))
        return structs.replace(made, measures=measures, notes=notes)

    def flagged_note(self, flagged: int, people: int) -> str:
        """How many of these people are flagged, why, and what to type; empty if nobody is."""
        rules = "; ".join(map(str, studies.flag_rules(self._study)))
        leave_out = hint("study change", self._study.name, "--exclude-flagged")
        said = f"{flagged} of {counted(people, 'person')} may not have read the questions ({rules})."
        return f"{said} Leave them out with: {leave_out}" if flagged else ""


def study_run(store: Store, name: str, load: Callable[[str], Instrument], of: Sequence[str] = ()) -> PeopleRun | None:
    """The people of a study who count, as one run, of the part `name` or of an instrument in `of`; None if unknown."""
    if not (known := takings(store, name)):
        return None
    chosen = [part for part, one in known.items() if part == name or one.study.parts[part].instrument in of]
    if name not in known and len(chosen) != 1:
        several = "models" if next(iter(known.values())).study.talks else "instruments"
        raise UsageError(f"study {name} has several {several}; name the people of one: {', '.join(known)}.")
    name = chosen[0]
    taking = known[name]
    members, flags, why = list[RunRecord](), list[bool](), Counter[str]()
    for one in taking.participants:
        record, (_, decision) = taking.record(one), taking.decision(one)
        why.update(filter(None, [decision.kind]))
        if decision.counts and record is not None:
            members.append(record)
            flags.append(bool(decision.flags))
    if not members:
        kinds = ", ".join(f"{count} {kind}" for kind, count in why.most_common())
        out = f": {counted(why.total(), 'person', 'people')} took part and were excluded ({kinds})" if why else " yet"
        show, let_in = hint("study show", taking.study.name), hint("study open", taking.study.name)
        then = f"'{show}' lists everyone" if taking.participants else f"let people in with '{let_in}'"
        raise UsageError(f"nobody in study {name} counts{out}; {then}.")
    return PeopleRun(taking, name, members, flags, why, load(members[0].instrument))


def groups_of(store: Store, load: Callable[[str], Instrument]) -> dict[str, PeopleRun]:
    """Every study in which somebody counts, as one run."""
    found: dict[str, PeopleRun] = {}
    for name in takings(store):
        with suppress(UsageError):
            if (made := study_run(store, name, load)) is not None:
                found[name] = made
    return found
