"""The witness of people: turns of talks that people had, which a simulator judges in the person's place."""

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, Literal

import msgspec
from msgspec import Struct

from sociometer.core.command import Run
from sociometer.core.conversation import Exchange, Message, Sampling, Schema, system, user
from sociometer.core.errors import UnreadableRole, UsageError, hint
from sociometer.core.language import ENGLISH, texts_in
from sociometer.core.session import Session
from sociometer.core.task import Item, RunView, Score
from sociometer.core.words import grouped
from sociometer.instruments.sage.passport.floor import PersonState
from sociometer.instruments.sage.passport.talks import INTENSITY, SCALES, PersonTalk, Report
from sociometer.instruments.sage.person.emotion import WORDS
from sociometer.instruments.sage.person.rehearsal import refuse_rehearsal
from sociometer.instruments.sage.person.talk import SIMULATOR
from sociometer.reading import object_schema
from sociometer.reading.json_reply import ask_json, texts
from sociometer.reading.quotation import Talk, mark_of, transcript

Asks = Literal["report", "other", "intensity", "words"]
"""A report on the reply, one on another reply in its place, the intensity at the end, or the next words."""
TASK = "people"
SAMPLING = Sampling(max_tokens=2000)
_WORDS_SCHEMA = object_schema(texts("words"))


class PersonProbe(Item, frozen=True, kw_only=True):
    """A turn of a person's talk, or its end, that a simulator judges once."""

    asks: Asks
    report: Report
    study: str
    of_talk: str
    """The run and the number of the talk; by the run a withdrawal finds what was made from it."""
    other_of: str = ""
    """The run and the number of the talk that the other reply is from."""
    language: str = ENGLISH
    matter: str
    profile: tuple[tuple[str, str], ...] = ()
    start: int | None = None
    """What the person had reported before the talk, on the same scale."""
    intensity_before: int | None = None
    intensity_after: int | None = None
    failed: bool = False
    talk: Talk
    turn: int
    """The number of the reply, from 1."""
    earlier: tuple[int, ...] = ()
    """The person's earlier reports in this talk; a simulator does not see them."""
    reported: int = 0
    written: str = ""
    """What the person wrote next, where the simulator is asked for that."""
    subject: str = ""
    """Who gave the reply."""
    kind: str = ""
    preferred: bool | None = None
    """Whether the person preferred the reply to the other one of this turn."""

    @property
    def reply(self) -> str:
        """The reply that is judged."""
        return self.talk[-1][1]

    @property
    def scale(self) -> tuple[int, int]:
        """The ends of the scale on which the simulator answers."""
        return INTENSITY if self.asks == "intensity" else SCALES[self.report]

    @property
    def state(self) -> PersonState:
        """What can be known of the turn without reading the reply."""
        earlier = self.earlier if self.start is None else (self.start, *self.earlier)
        return PersonState(earlier, self.turn, len(self.reply))

    @property
    def turn_id(self) -> str:
        """The turn, whichever of its replies is judged."""
        return f"{self.of_talk}/{self.turn}"


class PersonAnswer(Struct, frozen=True, omit_defaults=True):
    """The simulator's report, or the next words; neither if no answer could be read."""

    report: int | None = None
    words: str = ""
    unreadable: int = 0
    tokens: int = 0


class _Report(Struct, frozen=True, forbid_unknown_fields=True):
    report: int


class _Words(Struct, frozen=True, forbid_unknown_fields=True):
    words: str


class TalkOf(Struct, frozen=True):
    """A person's talk, and where it is stored."""

    person: str
    place: str
    subject: str
    talk: PersonTalk

    @property
    def digest(self) -> str:
        """The same in every store, so that draws are: neither the run nor the id of the person is part of it."""
        body = msgspec.json.encode((self.subject, self.talk))
        return hashlib.blake2b(body, digest_size=8).hexdigest()


def talks_of(people: Mapping[str, str], views: Iterable[RunView[Any, PersonTalk]]) -> list[TalkOf]:
    """The talks of a study; `people` are the ids of the people, by run."""
    person_talks: list[TalkOf] = []
    for view in views:
        for number, (_, talk, _) in enumerate(view.scored()):
            person_talks.append(TalkOf(people[view.run], f"{view.run}/{number}", view.name, talk))
    return person_talks


def drawn(talks: Sequence[TalkOf], turns: int, seed: int) -> list[TalkOf]:
    """Whole talks with so many reports or a few more: a talk of each person in turn, drawn by the seed."""
    rng = Random(f"sage/people/{seed}")
    in_order = sorted(talks, key=lambda person_talk: person_talk.digest)
    by_person = grouped((person_talk.person, person_talk) for person_talk in in_order)
    people = list(by_person)
    rng.shuffle(people)
    for person in people:
        rng.shuffle(by_person[person])
    chosen: list[TalkOf] = []
    reports = 0
    for round_of_talks in range(max(map(len, by_person.values()), default=0)):
        for person in people:
            if reports >= turns:
                return chosen
            if round_of_talks < len(by_person[person]):
                person_talk = by_person[person][round_of_talks]
                chosen.append(person_talk)
                reports += len(person_talk.talk.reports)
    return chosen


def people_probes(study: str, talks: Sequence[TalkOf], turns: int, words: int, seed: int) -> list[PersonProbe]:
    """What a simulator is asked about the talks that are drawn, at most `words` times for the next words."""
    others = _Others(talks, seed)
    probes: list[PersonProbe] = []
    for person_talk in drawn(talks, turns, seed):
        probes += _probes_of(person_talk, study, others)
    spoken = [probe for probe in probes if probe.asks == "words"]
    rng = Random(f"sage/people/words/{seed}")
    asked = {probe.id for probe in rng.sample(spoken, min(words, len(spoken)))}
    return [probe for probe in probes if probe.asks != "words" or probe.id in asked]


def _probes_of(person_talk: TalkOf, study: str, others: "_Others") -> Iterator[PersonProbe]:
    talk = person_talk.talk
    earlier: list[int] = []
    for place, turn in enumerate(talk.turns):
        talk_so_far = (*talk.said(place), ("subject", turn.reply))
        preferred = turn.preferred == "reply" if turn.preferred else None
        probe = PersonProbe(
            id=f"people/{person_talk.place}/{place + 1}",
            cluster=person_talk.person,
            asks="report",
            report=talk.report,
            study=study,
            of_talk=person_talk.place,
            language=talk.language,
            matter=talk.matter,
            profile=talk.profile,
            start=talk.start,
            intensity_before=talk.intensity_before,
            intensity_after=talk.intensity_after,
            failed=talk.failed,
            talk=talk_so_far,
            turn=place + 1,
            earlier=tuple(earlier),
            reported=0 if turn.reported is None else turn.reported,
            subject=person_talk.subject,
            kind=talk.kind,
            preferred=preferred,
        )
        if turn.reported is not None:
            yield probe
            yield from _with_another_reply(probe, person_talk.digest, turn.other, others)
            earlier.append(turn.reported)
        if turn.words:
            yield msgspec.structs.replace(probe, id=f"{probe.id}/words", asks="words", written=turn.words)
        if place + 1 == len(talk.turns) and talk.relief is not None:
            ended = talk_so_far + ((("person", turn.words),) if turn.words else ())
            yield msgspec.structs.replace(probe, id=f"people/{person_talk.place}/end", asks="intensity", talk=ended)


def _with_another_reply(probe: PersonProbe, digest: str, seen: str, others: "_Others") -> Iterator[PersonProbe]:
    """The probe with the second reply that the person saw, or else with one that another person got."""
    reply, other_of = (seen, probe.of_talk) if seen else others.reply_for(probe, digest)
    if reply:
        yield msgspec.structs.replace(
            probe, id=f"{probe.id}/other", asks="other", other_of=other_of, talk=(*probe.talk[:-1], ("subject", reply))
        )


class _Others:
    """Replies that other people got to the same task, or else to any, at the same or the nearest turn."""

    def __init__(self, talks: Sequence[TalkOf], seed: int) -> None:
        self._talks = sorted(talks, key=lambda person_talk: person_talk.digest)
        self._by_kind = grouped((person_talk.talk.kind, person_talk) for person_talk in self._talks)
        self._seed = seed

    def reply_for(self, probe: PersonProbe, digest: str) -> tuple[str, str]:
        """A reply and where it is from; empty if nobody else has talked."""
        for talks in (self._by_kind.get(probe.kind, []), self._talks):
            nearest = math.inf
            candidates: list[tuple[str, str]] = []
            for person_talk in talks:
                if person_talk.person == probe.cluster or not person_talk.talk.turns:
                    continue
                number = min(probe.turn, len(person_talk.talk.turns))
                distance = probe.turn - number
                reply = person_talk.talk.turns[number - 1].reply
                if distance > nearest or reply == probe.reply:
                    continue
                if distance < nearest:
                    nearest = distance
                    candidates = []
                candidates.append((reply, person_talk.place))
            if candidates:
                rng = Random(f"sage/people/other/{self._seed}/{digest}/{probe.turn}")
                return rng.choice(candidates)
        return "", ""


async def ask_person(item: PersonProbe, session: Session) -> PersonAnswer:
    """The simulator's report in the person's place, or their next words; what stays unreadable is counted."""
    refuse_rehearsal(session, "a passport")
    report: int | None = None
    words = ""
    unreadable = 0
    try:
        if item.asks == "words":
            words = await _ask_words(item, session)
        else:
            report = await _ask_report(item, session)
    except UnreadableRole:
        unreadable = 1
    usage = [event.reply.usage for event in session.events if isinstance(event, Exchange)]
    tokens = sum((each.input_tokens or 0) + (each.output_tokens or 0) for each in usage)
    return PersonAnswer(report, words, unreadable, tokens)


async def _ask_report(item: PersonProbe, session: Session) -> int:
    low, high = item.scale
    schema = object_schema({}, report={"type": "integer", "minimum": low, "maximum": high})
    prompt = "intensity" if item.asks == "intensity" else "report"
    read, _ = await ask_json(
        session, SIMULATOR, _messages(prompt, item, session), Schema(schema, "report"), _Report,
        item.language, sampling=SAMPLING, view=item, hop=item.asks,
    )  # fmt: skip
    return read.report


async def _ask_words(item: PersonProbe, session: Session) -> str:
    read, _ = await ask_json(
        session, SIMULATOR, _messages("next", item, session), Schema(_WORDS_SCHEMA, "words"), _Words,
        item.language, sampling=SAMPLING, view=item, problem=_lacks_words, hop=item.asks,
    )  # fmt: skip
    return read.words.strip()


def _lacks_words(value: _Words) -> str:
    return "" if value.words.strip() else "no words"


def _messages(prompt: str, item: PersonProbe, session: Session) -> list[Message]:
    words = texts_in(WORDS, item.language)["report"]
    about = [f"- {name}: {person_talk}" for name, person_talk in item.profile]
    if item.start is not None:
        about.append(f"- {words['before'][item.report]}: {item.start}")
    if item.intensity_before is not None:
        about.append(f"- {words['before']['intensity']}: {item.intensity_before}")
    who = session.prompts.render("as-person", item.language, matter=item.matter, about="\n".join(about) or "-")
    # Neither the mark nor the request depends on what the person reported.
    mark = mark_of(item.of_talk, item.matter, *(words_of_turn for _, words_of_turn in item.talk))
    talked = transcript(
        item.talk,
        mark,
        own=session.prompts.render("own", item.language),
        other=session.prompts.render("other", item.language),
    )
    facts = {"mark": mark, "talk": talked}
    if item.asks != "words":
        facts["question"] = words["intensity" if item.asks == "intensity" else item.report]
    return [system(who), user(session.prompts.render(prompt, item.language, **facts))]


def score(item: PersonProbe, outcome: PersonAnswer) -> Score:
    """The report, and whether nothing could be read."""
    values = {} if outcome.report is None else {"report": float(outcome.report)}
    return Score(values=values, facets={"asks": item.asks}, unreadable=outcome.unreadable)


def answers(run: RunView[PersonProbe, PersonAnswer]) -> list[tuple[PersonProbe, PersonAnswer]]:
    """What was asked, with the answers."""
    return [(item, outcome) for item, outcome, _ in run.scored()]


def answers_by_simulator(runs: Iterable[Run]) -> dict[str, list[tuple[PersonProbe, PersonAnswer]]]:
    """The answers of several runs of `passport --people`, by simulator; what was asked in two runs counts once."""
    once: dict[str, dict[str, tuple[PersonProbe, PersonAnswer]]] = {}
    for run in runs:
        if TASK not in run.tasks:
            made = hint("sage passport --people STUDY")
            raise UsageError(f"run {run.reference} has no answers about people; give runs that '{made}' printed.")
        view = run.view(TASK)
        by_id = once.setdefault(view.roles["simulator"], {})
        by_id.update({probe.id: (probe, answer) for probe, answer in answers(view)})
    return {simulator: list(by_id.values()) for simulator, by_id in once.items()}
