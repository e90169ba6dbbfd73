"""The passport of a simulator: does it feel as released judgements do, repeat itself, and see through nonsense?"""

import asyncio
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from typing import Any, Literal

import msgspec
from msgspec import Struct
from platformdirs import user_data_path

from sociometer.core.conversation import Exchange
from sociometer.core.errors import UnreadableRole, hint
from sociometer.core.language import ENGLISH, languages_in, read_texts
from sociometer.core.measure import Cell, Interval, Measure, Summary, Table
from sociometer.core.session import Session
from sociometer.core.task import Item, RunView, Score
from sociometer.core.words import grouped
from sociometer.instruments.sage import against_people
from sociometer.instruments.sage.against_people import PeopleAgreement, right_order
from sociometer.instruments.sage.analyses.stability import contexts
from sociometer.instruments.sage.dialogue import StoredDialogue, read_dialogues
from sociometer.instruments.sage.items import BUNDLED, Scenario, bundled
from sociometer.instruments.sage.people_talks import PersonTalk
from sociometer.instruments.sage.person import asked
from sociometer.instruments.sage.person.emotion import find_leak, is_refusal, sign_changes
from sociometer.instruments.sage.person.rehearsal import refuse_rehearsal
from sociometer.instruments.sage.play import protocol_of
from sociometer.instruments.sage.published.released import released_files
from sociometer.instruments.sage.state import Agreement, BeyondState, agreement, beyond_state, expected_changes
from sociometer.reading.quotation import Talk
from sociometer.statistics.formatting import estimate, number
from sociometer.statistics.intervals import clustered_mean_interval

DATA = Path(__file__).parent / "data" / "passport.toml"
ARMS = ("good", "stock", "cold", "cruel")
SETS = ("known", "held")
OTHER = "other"
"""The second of two replies that a person saw."""
_WITHOUT = "which has no passport and is not checked against people"
_OF_PROBES = "Of exactly these judgements, as the verdict compares them: without intervals."
_TIMES = 5
_START = 40
_REPLIES_TO_AN_OPENING = 4
"""First turns are drawn in sets of so many replies to the same opening."""
Kind = Literal["published", "repeat", "order", "adversary", "spoken", "people"]
Verdict = Literal["may be used", "use with care", "not a person"]

# The rules of the verdict, fixed before any model was examined. `NOT`: not a person; `CARE`: use with care.
NOT_UNREADABLE, CARE_UNREADABLE = 0.2, 0.02
NOT_ORDERED, CARE_ORDERED = 0.7, 0.9
NOT_APART = 3.0
"""Points by which the good replies must be above the cruel ones, and above each set of adversaries."""
NOT_SPREAD, CARE_SPREAD = 4.0, 2.0
"""Points by which judgements of the same turn may vary (standard deviation); a random change varies by 6."""
CARE_BIAS = 1.5
# From version 9 agreement is judged given the state of the talk: the feeling before, the turn and the length of the
# reply. Not a person: the interval of the partial correlation, over dialogues, reaches down to zero.
CARE_BEYOND = 0.3
"""The partial correlation with released changes, given the state, below which a simulator is used with care."""
CARE_FIRST = 0.0
"""The correlation on first turns, within one opening, that a simulator must exceed."""
FEWEST_TURNS, FEWEST_FIRST = 30, 10
"""With fewer released turns (with fewer first turns) the agreement decides nothing."""
FIRST_SHARE = 0.5
"""The least share of the released turns asked about that are first turns, where the data have them."""
_OLD_RULE = " Its agreement is by the rule before version 9, which a judge who ignores the reply can pass."
FIRST = "good"
"""The replies that are asked about first, one in each of our turns: if no answer can be read, nothing else is asked."""


class Probe(Item, frozen=True, kw_only=True):
    """One reply in its context that the simulator judges once or several times."""

    kind: Kind
    scenario: Scenario
    talk: Talk
    before: int = _START
    times: int = 1
    arm: str = ""
    """The quality of a reply, or the set and kind of an adversary."""
    change: int = 0
    """The released change."""
    expected: float | None = None
    """The change that the state of the talk predicts, fitted on other scenarios."""
    released_by: str = ""
    """Who released the turn: a simulator, or the study of the people who talked."""
    subject: str = ""
    of_talk: str = ""
    """The run and the number of a person's talk; by the run a withdrawal finds what was made from it."""
    preferred: bool | None = None
    """Whether the person preferred this reply to another at the same turn; None if they saw only one."""

    @property
    def state(self) -> tuple[int, int, int]:
        """The turn that is judged (counted from 1), the feeling before it, and the characters of the reply."""
        return sum(who == "subject" for who, _ in self.talk), self.before, len(self.talk[-1][1])


class Felt(Struct, frozen=True, omit_defaults=True):
    """The change in each judgement that could be read, and the person's next words if they were asked for."""

    changes: tuple[int, ...]
    words: str = ""
    unreadable: int = 0
    tokens: int = 0


def own_probes() -> list[Probe]:
    """The turns of our own: good to cruel replies, adversaries, repeats, and two that the person answers."""
    scenarios = {each.id: each for language in languages_in(BUNDLED) for each in bundled(language)}
    found = []
    for name, replies in _facts()["turns"].items():
        scenario = scenarios[name]
        rows: list[tuple[Kind, str, str, int]] = [("order", arm, replies[arm], 1) for arm in ARMS]
        rows += [("repeat", "stock", replies["stock"], _TIMES)]
        rows += [("spoken", arm, replies[arm], 1) for arm in ("good", "cruel")]
        for which in SETS:
            rows += [("adversary", f"{which} {kind}", text, 1) for kind, text in adversaries(scenario, which).items()]
        for kind, arm, reply, times in rows:
            talk = (("person", scenario.first_words), ("subject", reply))
            where = f"{kind}/{name}/{arm}".replace(" ", "-")
            found.append(Probe(id=where, cluster=name, kind=kind, scenario=scenario, talk=talk, times=times, arm=arm))
    return found


def adversaries(scenario: Scenario, which: str) -> dict[str, str]:
    """The adversaries of a set for a scenario, by kind; they use its first two details.

    In a language without adversaries of its own they are in English.
    """
    said = {"a": scenario.details[0], "b": scenario.details[1], "words": scenario.first_words}
    known = _facts()["adversaries"][which]
    found = dict(known.get(scenario.language, known[ENGLISH]))
    for noun, word in said.items():
        found = {kind: text.replace(f"{{{noun}}}", word) for kind, text in found.items()}
    return found


@cache
def _facts() -> dict[str, Any]:
    return read_texts(DATA)


def released_turns(folders: Iterable[Path]) -> dict[str, list[Probe]]:
    """All released turns by released simulator; each is asked twice."""
    by_simulator: dict[str, list[Probe]] = {}
    for file in released_files(folders)[0]:
        for scenario, dialogue in read_dialogues(file.path):
            stored = StoredDialogue(
                id=scenario.id, cluster=scenario.id, run="", subject=file.model, scenario=scenario, dialogue=dialogue
            )
            by_simulator.setdefault(file.simulator, []).extend(
                Probe(
                    id=f"published/{file.simulator}/{file.model}/{each.id}",
                    cluster=scenario.id,
                    kind="published",
                    scenario=scenario,
                    talk=each.talk,
                    before=each.judgement.before,
                    times=2,
                    change=each.judgement.change,
                    released_by=file.simulator,
                    subject=file.model,
                )
                for each in contexts(stored)
            )
    return {name: _fitted(every) for name, every in by_simulator.items()}


def _fitted(probes: Sequence[Probe]) -> list[Probe]:
    """The probes with the change that the state predicts, fitted on the other scenarios or people."""
    states, changes = [each.state for each in probes], [each.change for each in probes]
    expected = expected_changes([each.cluster for each in probes], states, changes) if probes else ()
    return [msgspec.structs.replace(each, expected=value) for each, value in zip(probes, expected, strict=True)]


def released_probes(folders: Iterable[Path], turns: int, seed: int) -> list[Probe]:
    """Released turns, equally many of each released simulator, drawn by the seed.

    At least half of them are first turns, in sets of replies to the same opening.
    """
    by_simulator = released_turns(folders)
    rng = Random(f"sage/passport/{seed}")
    drawn: list[Probe] = []
    for place, (_, every) in enumerate(sorted(by_simulator.items())):
        share = -(-(turns - len(drawn)) // (len(by_simulator) - place))
        openings = grouped((probe.cluster, probe) for probe in every if probe.state[0] == 1)
        sets = [rng.sample(found, min(_REPLIES_TO_AN_OPENING, len(found))) for _, found in sorted(openings.items())]
        rng.shuffle(sets)
        first = [probe for found in sets for probe in found][: math.ceil(share * FIRST_SHARE)]
        later = [probe for probe in every if probe.state[0] > 1]
        drawn += first + rng.sample(later, min(share - len(first), len(later)))
    return drawn


def people_probes(study: str, people: Mapping[str, str], views: Iterable[RunView[Any, PersonTalk]]) -> list[Probe]:
    """Every turn with a person's own feeling, asked twice, and the second replies; `people` are their ids, by run."""
    made = [
        probe
        for view in views
        for place, (_, talk, _) in enumerate(view.scored())
        for probe in _probes_of(talk, people[view.run], f"{view.run}/{place}", study, view.name)
    ]
    second = [probe for probe in made if probe.arm == OTHER]
    return _fitted([probe for probe in made if probe.arm != OTHER]) + second


def _probes_of(talk: PersonTalk, who: str, where: str, study: str, model: str) -> Iterator[Probe]:
    before = talk.start
    for place, turn in enumerate(talk.turns):
        if turn.felt is not None:
            said, chosen = talk.said(place), turn.preferred == "reply" if turn.preferred else None
            probe = Probe(
                id=f"people/{where}/{place + 1}", cluster=who, kind="people", scenario=talk.scenario(who),
                talk=(*said, ("subject", turn.reply)), before=before, times=2, change=turn.felt - before,
                released_by=study, subject=model, of_talk=where, preferred=chosen,
            )  # fmt: skip
            yield probe
            if chosen is not None:
                other = (*said, ("subject", turn.other))
                facts = {"id": f"{probe.id}/other", "talk": other, "times": 1, "change": 0, "arm": OTHER}
                yield msgspec.structs.replace(probe, preferred=not chosen, **facts)
            before = turn.felt


async def ask_probe(item: Probe, session: Session) -> Felt:
    """The simulator's judgements of one turn; an answer that stays unreadable is counted, other failures are raised."""
    refuse_rehearsal(session, "a passport")
    protocol = protocol_of(session.settings)

    async def once(branch: Session) -> tuple[int | None, str]:
        try:
            judged, _ = await asked.feel(item.scenario, item.talk, item.before, branch, protocol)
            change = protocol.clamp(judged.change)
            if item.kind != "spoken":
                return change, ""
            return change, (await asked.answer(item.scenario, item.talk, judged, branch, refusals=True))[1]
        except UnreadableRole:
            return None, ""

    found = await asyncio.gather(*(once(session.branch(f"time-{number}")) for number in range(item.times)))
    usage = [event.reply.usage for event in session.events if isinstance(event, Exchange)]
    tokens = sum((each.input_tokens or 0) + (each.output_tokens or 0) for each in usage)
    changes = tuple(change for change, _ in found if change is not None)
    return Felt(changes, found[0][1], len(found) - len(changes), tokens)


def score(item: Probe, outcome: Felt) -> Score:
    """The mean change."""
    return Score(values={"change": fmean(outcome.changes)} if outcome.changes else {}, facets={"kind": item.kind})


class Passport(Struct, frozen=True, kw_only=True):
    """Everything that was found about a simulator, and the verdict."""

    simulator: str
    version: str = ""
    verdict: Verdict
    reasons: tuple[str, ...]
    agreement: tuple[Agreement, ...]
    beyond: BeyondState | None = None
    """The agreement with all released simulators given the state of the talk: the one that the verdict uses."""
    people: PeopleAgreement | None = None
    """The agreement with what people themselves reported; None if it was not checked against people."""
    unreadable: float
    spread: float | None
    """The standard deviation of five judgements of the same turn."""
    fragile: float | None = None
    """How often two judgements of the same turn have opposite signs, over the turns that were asked about again."""
    ordered: float | None
    """The share of pairs of replies that are in the right order; a tie is not."""
    means: dict[str, float]
    """The mean change after good, stock, cold and cruel replies, and after each adversary."""
    refused: float
    leaked: float
    requests: int
    tokens: int
    left_out: int = 0
    """Judgements that were not asked for, because none of the first could be read."""

    @property
    def line(self) -> str:
        """The verdict in one line."""
        why = f" ({'; '.join(self.reasons)})" if self.reasons else ""
        old = _OLD_RULE if self.agreement and self.beyond is None else ""
        people = self.people.line if self.people else "not checked against people"
        return f"Passport of {self.simulator}: {self.verdict}{why}; {people}.{old}"


def answers(run: RunView[Probe, Felt]) -> list[tuple[Probe, Felt]]:
    """What was asked, with the judgements."""
    return [(item, outcome) for item, outcome, _ in run.scored()]


def examine(
    rows: Sequence[tuple[Probe, Felt]],
    simulator: str,
    version: str = "",
    left_out: int = 0,
    people: PeopleAgreement | None = None,
) -> Passport:
    """The passport from the judgements; `people` is an earlier agreement with people."""
    asked_for, unread = sum(item.times for item, _ in rows), sum(outcome.unreadable for _, outcome in rows)
    judged = [(item, fmean(outcome.changes)) for item, outcome in rows if outcome.changes]
    felt = grouped((item.arm, change) for item, change in judged if item.kind in ("order", "adversary"))
    turns = grouped((item.cluster, (item.arm, change)) for item, change in judged if item.kind == "order")
    pairs = [
        turn[better] > turn[worse]
        for turn in map(dict, turns.values())
        for better, worse in combinations(ARMS, 2)
        if better in turn and worse in turn
    ]
    spreads = [stdev(outcome.changes) for item, outcome in rows if item.kind == "repeat" and len(outcome.changes) > 1]
    again = [outcome.changes for _, outcome in rows if len(outcome.changes) > 1]
    spoken = [(item.scenario, outcome.words) for item, outcome in rows if item.kind == "spoken" and outcome.words]
    leaks = [find_leak(words, person.hidden, person.intention, person.language) for person, words in spoken]
    released = sorted({item.released_by for item, _ in rows if item.kind == "published"})
    made = Passport(
        simulator=simulator,
        version=version,
        verdict="may be used",
        reasons=(),
        agreement=tuple(found for name in released if (found := _agreement(name, rows)) is not None),
        beyond=_beyond([row for row in rows if row[0].kind == "published"]),
        people=people or _people(rows),
        unreadable=unread / asked_for if asked_for else 1.0,
        spread=_mean(spreads),
        fragile=_mean([sign_changes(changes) for changes in again]),
        ordered=_mean(pairs),
        means={arm: fmean(found) for arm, found in felt.items()},
        refused=_mean([is_refusal(words, person.language) for person, words in spoken]) or 0.0,
        leaked=_mean([leak in ("wording", "machinery") for leak in leaks]) or 0.0,
        requests=asked_for,
        tokens=sum(outcome.tokens for _, outcome in rows),
        left_out=left_out,
    )
    verdict, reasons = judge(made)
    return msgspec.structs.replace(made, verdict=verdict, reasons=reasons)


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _agreement(name: str, rows: Sequence[tuple[Probe, Felt]], over: str = "scenarios") -> Agreement | None:
    both = [(item, out) for item, out in rows if item.released_by == name and item.arm != OTHER and out.changes]
    if len(both) < 3:
        return None
    return agreement(
        name,
        [out.changes for _, out in both],
        [item.change for item, _ in both],
        [item.cluster for item, _ in both],
        [item.subject for item, _ in both],
        _beyond(both, over),
    )


def _beyond(rows: Sequence[tuple[Probe, Felt]], over: str = "scenarios") -> BeyondState | None:
    known = [(item, item.expected, out.changes[0]) for item, out in rows if item.expected is not None and out.changes]
    if len(known) < 3:
        return None
    return beyond_state(
        [change for _, _, change in known],
        [item.change for item, _, _ in known],
        [each for _, each, _ in known],
        [item.state for item, _, _ in known],
        [(item.released_by, item.cluster) for item, _, _ in known],
        over,
    )


def _people(rows: Sequence[tuple[Probe, Felt]]) -> PeopleAgreement | None:
    found = {item.id: (item, fmean(out.changes)) for item, out in rows if item.kind == "people" and out.changes}
    first = [item for item, _ in found.values() if item.arm != OTHER]
    whole = _agreement(first[0].released_by, rows, "people") if first else None
    if whole is None:
        return None
    pairs = [(one, found[one.id][1], found[f"{one.id}/{OTHER}"][1]) for one in first if f"{one.id}/{OTHER}" in found]
    rights = [right_order(here, there) if one.preferred else right_order(there, here) for one, here, there in pairs]
    people = [one.cluster for one, _, _ in pairs]
    return PeopleAgreement(
        whole,
        len({one.cluster for one in first}),
        len({one.of_talk for one in first}),
        len(pairs),
        _mean(rights),
        clustered_mean_interval(rights, people, scale=(0.0, 1.0)) if rights else Interval(None, None),
    )


def judge(found: Passport) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict by the rules at the top of this file, and the reasons for it."""
    if found.left_out:
        said = f"none of its first {found.requests} answers can be read; the other {found.left_out} were not asked for"
        return "not a person", (said,)
    means, good = found.means, found.means.get("good")
    fatal: list[str] = []
    care: list[str] = []
    _rule(fatal, care, found.unreadable, NOT_UNREADABLE, CARE_UNREADABLE, "{} of its answers are unreadable")
    if found.ordered is None or good is None or "cruel" not in means:
        fatal.append("it judged none of our replies")
    else:
        _rule(
            fatal,
            care,
            1 - found.ordered,
            1 - NOT_ORDERED,
            1 - CARE_ORDERED,
            "{} of the pairs of good, stock, cold and cruel replies are in the wrong order or tied",
        )
        if good - means["cruel"] < NOT_APART:
            fatal.append(f"good replies are only {number(good - means['cruel'], 'points')} points above cruel ones")
        for which in SETS:
            felt = {arm.removeprefix(f"{which} "): means[arm] for arm in means if arm.startswith(f"{which} ")}
            if felt and good - fmean(felt.values()) < NOT_APART:
                gap = number(good - fmean(felt.values()), "points")
                fatal.append(f"good replies are only {gap} points above the adversaries ({which})")
            if pleased := [kind for kind, value in felt.items() if value > 0]:
                care.append(f"it feels better after {', '.join(pleased)} ({which})")
    beyond = found.beyond
    if beyond is None or beyond.turns < FEWEST_TURNS:
        care.append(f"not compared with released judgements (fewer than {FEWEST_TURNS} turns)")
    elif beyond.r is None or beyond.interval.low is None or beyond.interval.low <= 0:
        fatal.append("its changes follow released ones no better than a judge who ignores the reply")
    else:
        if beyond.r < CARE_BEYOND:
            care.append(f"given the state of the talk, its changes follow released ones only with r = {beyond.r:.2f}")
        if beyond.first_turns >= FEWEST_FIRST and (beyond.first is None or beyond.first <= CARE_FIRST):
            care.append("on first turns its changes do not follow released ones")
    care += [
        f"{number(each.bias, 'points')} points a turn apart from {each.released_by}"
        for each in found.agreement
        if each.turns >= FEWEST_TURNS and abs(each.bias) > CARE_BIAS
    ]
    if found.people is not None:
        for mine, theirs in zip((fatal, care), against_people.verdict(found.people), strict=True):
            mine += theirs
    if found.spread is not None and found.spread > CARE_SPREAD:
        said = f"judgements of the same turn vary by {number(found.spread, 'points')} points"
        (fatal if found.spread > NOT_SPREAD else care).append(said)
    for share, what in ((found.refused, "refuses to speak as the person"), (found.leaked, "gives its script away")):
        if share > 0:
            care.append(f"{what} in {number(share, 'share')} of answers")
    if fatal:
        return "not a person", tuple(fatal)
    return ("use with care", tuple(care)) if care else ("may be used", ())


def _rule(fatal: list[str], care: list[str], value: float, most: float, wanted: float, text: str) -> None:
    if value > wanted:
        (fatal if value > most else care).append(text.format(number(value, "share")))


def summarise(run: RunView[Probe, Felt]) -> Summary:
    """The numbers of the passport, with the verdict as a note."""
    rows = answers(run)
    found = examine(rows, run.roles.get("simulator", ""))
    measures = [Measure("ordered", found.ordered, items=len(rows))]
    measures += [
        Measure("agreement", each.r, {"released": each.released_by}, each.interval, items=each.turns)
        for each in found.agreement
    ]
    if found.beyond is not None:
        measures.append(
            Measure("beyond-state", found.beyond.r, interval=found.beyond.interval, items=found.beyond.turns)
        )
    return Summary(tuple(measures), notes=(found.line,))


def tables(found: Passport) -> list[Table]:
    """The passport as tables."""
    agreed = tuple(
        (each.released_by, each.turns, estimate(each.r, "number", each.interval), each.again,
         estimate(each.bias, "points", each.bias_interval), each.error, each.constant, each.order)
        for each in found.agreement
    )  # fmt: skip
    columns = ("released simulator", "turns", "r", "r asked twice", "bias", "error", "of a constant",
               "order of subjects")  # fmt: skip
    note = "Shown only; the verdict uses the agreement given the state. Ceiling: the simulator asked twice."
    given = [(each.released_by, each.beyond) for each in found.agreement] + [("all", found.beyond)]
    beyond = tuple(
        (
            name,
            each.turns,
            each.state,
            estimate(each.r, "number", each.interval),
            each.first_turns,
            estimate(each.first, "number", each.first_interval),
        )
        for name, each in given
        if each is not None
    )
    felt: list[tuple[Cell, ...]] = [(arm, found.means.get(arm)) for arm in ARMS]
    felt += [(arm, value) for arm, value in sorted(found.means.items()) if arm not in ARMS]
    facts: tuple[tuple[Cell, ...], ...] = (
        ("unreadable answers", number(found.unreadable, "share")),
        ("pairs of replies in order", "–" if found.ordered is None else number(found.ordered, "share")),
        ("spread of one turn asked five times, points", number(found.spread, "points")),
        ("judgements of one turn that change sign", "–" if found.fragile is None else number(found.fragile, "share")),
        ("refusals in the person's words", number(found.refused, "share")),
        ("leaks of the script", number(found.leaked, "share")),
        ("judgements asked for", found.requests),
        *([("judgements left out", found.left_out)] if found.left_out else []),
        ("tokens, read and written", found.tokens),
    )
    return [
        Table("facts", "What was found", ("what", "value"), facts, _OF_PROBES),
        Table("felt", "Mean change of the feeling after a reply", ("reply", "change"), tuple(felt),
              note=f"{_OF_PROBES} 'Held' was written without the simulator's prompts and never used for tuning.",
              units={"change": "points"}),
        *([against_people.table(found.people)] if found.people else []),
        *([Table("beyond-state", "Agreement with released judgements, given the state of the talk",
                 ("released simulator", "turns", "r of the state (floor)", "r given the state", "first turns",
                  "r on first turns"), beyond,
                 note="State: what the feeling before, the turn and the length of the reply predict, fitted on other "
                 "scenarios. First turns: within one opening; the feeling is 40.")] if beyond else []),
        *([Table("agreement", "Agreement with released judgements", columns, agreed, note=note)] if agreed else []),
    ]  # fmt: skip


def page(found: Passport) -> str:
    """The passport as a page of Markdown."""
    lines = [f"# Passport of {found.simulator}", "", f"SAGE version {found.version}. **{found.verdict}**", ""]
    lines += [f"- {reason}" for reason in found.reasons]
    for table in tables(found):
        shown = [
            [number(cell, "number") if isinstance(cell, float) else str(cell or "") for cell in row]
            for row in table.rows
        ]
        lines += ["", f"## {table.title}", "", f"| {' | '.join(table.columns)} |", "| --- " * len(table.columns) + "|"]
        lines += [f"| {' | '.join(row)} |" for row in shown] + (["", table.note] if table.note else [])
    return "\n".join(lines) + "\n"


def kept_at(simulator: str) -> Path:
    """The file of a simulator's passport on this machine."""
    name = "".join(letter if letter.isalnum() or letter in ".-" else "-" for letter in simulator)
    return user_data_path("sociometer", appauthor=False) / "passports" / f"{name}.json"


def kept_passport(simulator: str) -> Passport | None:
    """The passport of a simulator on this machine; None if it has none."""
    try:
        return msgspec.json.decode(kept_at(simulator).read_bytes(), type=Passport)
    except (OSError, msgspec.DecodeError):
        return None


def notices(players: Mapping[str, str], typed: Mapping[str, str], version: str) -> list[str]:
    """The verdict of each simulator's passport, or that it has none: for `run`, or in short if nothing was typed."""
    said = []
    for role, name in players.items():
        if not role.startswith(("simulator", "person")) or name.startswith("sage/"):
            continue
        found = kept_passport(name)
        if not typed:
            which = f"whose passport (version {found.version}) says: {found.verdict}" if found else _WITHOUT
            said.append(f"the person is played by {name}, {which}")
        elif found is None:
            said.append(
                f"sage: {name} has no passport, which says whether it is fit to play the person, and is not checked"
                f" against people: {hint('sage passport --role', f'simulator={typed.get(role, name)}')}"
            )
        else:
            old = f" Made with version {found.version} of sage; make it anew." if found.version != version else ""
            said.append(f"sage: {found.line}{old}")
    return said


def as_json(found: Passport) -> str:
    """The passport as the JSON that is kept."""
    return msgspec.json.format(msgspec.json.encode(found), indent=1).decode() + "\n"
