"""The human checks: sheets for annotators, read back and compared with the simulator or the judge."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Literal

from msgspec import Struct

from sociometer.core import sheets
from sociometer.core.command import CommandContext, Run
from sociometer.core.errors import DataError
from sociometer.core.instrument import Result
from sociometer.core.measure import Cell, Measure, Table
from sociometer.core.settings import Settings
from sociometer.core.task import Score
from sociometer.instruments.sage import samples
from sociometer.instruments.sage.analyses.candour import Candour, JudgedTalk, score_answers
from sociometer.instruments.sage.analyses.stability import Context
from sociometer.instruments.sage.analyses.strategies import LabelledDialogue
from sociometer.instruments.sage.dialogue import StoredDialogue
from sociometer.instruments.sage.items import OURS
from sociometer.instruments.sage.judges.strategies import STRATEGIES
from sociometer.instruments.sage.person.emotion import direction
from sociometer.instruments.sage.simulators.study import majority
from sociometer.statistics.agreement import alpha_of, krippendorff_alpha, settled
from sociometer.statistics.formatting import estimate
from sociometer.statistics.measures import Observation, mean_measure

DIRECTIONS = ("up", "same", "down")
_SHEET = ("context", "persona", "background", "goal", "hidden intention", "talk", "last reply", "direction")
_REASONING = ("context", "last reply", "inner activity", "feeling", "change", "reasonable")
_CODES = {"up": 1.0, "same": 0.0, "down": -1.0, "yes": 1.0, "no": 0.0}


class Annotations(Struct, frozen=True):
    """One annotator's answers: a direction, or a judgement of reasonableness, for each context."""

    annotator: str
    directions: dict[str, str]
    reasonable: dict[str, str]


class HumanCheck(Struct, frozen=True):
    """The figures of Table 1, with intervals over contexts; a measure without data has no value."""

    contexts: int
    annotators: int
    consistency: Measure
    majority_consistency: Measure
    agreement: Measure
    alpha: float | None
    reasonableness: Measure
    reasonableness_agreement: Measure
    ties: int = 0


def context_key(context: Context) -> str:
    """The name of a context in a sheet: run and place."""
    return f"{context.run}:{context.id}"


def write_sheet(contexts: Sequence[Context]) -> str:
    """The sheet of directions: everything the simulator knew, and an empty column for the annotator."""
    rows = []
    for context in contexts:
        scenario = context.scenario
        talk = "\n".join(f"{who}: {words}" for who, words in context.talk[:-1])
        rows.append(
            (context_key(context), scenario.persona, scenario.background, scenario.goal, scenario.hidden, talk,
             context.talk[-1][1], "")
        )  # fmt: skip
    return sheets.write_sheet(_SHEET, rows, guard_formulas=True)


def write_reasoning(contexts: Sequence[Context]) -> str:
    """The sheet of reasonableness, to fill in after the other one: it shows what the simulator thought."""
    rows = [
        (context_key(each), each.talk[-1][1], each.judgement.activity, each.judgement.feeling,
         each.judgement.change, "")
        for each in contexts
    ]  # fmt: skip
    return sheets.write_sheet(_REASONING, rows, guard_formulas=True)


def read_sheet(path: Path) -> Annotations:
    """A filled-in sheet of either kind; the annotator is named after the file."""
    directions: dict[str, str] = {}
    reasonable: dict[str, str] = {}
    for line, row in sheets.read_rows(path, ("context",), ("direction", "reasonable"), guarded=True):
        key = row["context"].strip()
        for column, allowed, found in (
            ("direction", DIRECTIONS, directions),
            ("reasonable", ("yes", "no"), reasonable),
        ):
            value = row.get(column, "").strip().lower()
            if value and value not in allowed:
                raise DataError(f"{column} '{value}'; allowed: {', '.join(allowed)}, or empty", path, line)
            if value and key:
                found[key] = value
    if not directions and not reasonable:
        raise DataError("contains no answer; fill in the column 'direction' or 'reasonable'", path)
    return Annotations(path.stem.removesuffix("-reasoning"), directions, reasonable)


def by_annotator(sheets_read: Sequence[Annotations]) -> list[Annotations]:
    """The answers of each annotator, whose sheets count as one; two different answers to one context are an error."""
    found: dict[str, Annotations] = {}
    for each in sheets_read:
        known = found.setdefault(each.annotator, Annotations(each.annotator, {}, {}))
        for column, given, kept in (
            ("direction", each.directions, known.directions),
            ("reasonable", each.reasonable, known.reasonable),
        ):
            for key, value in given.items():
                if kept.setdefault(key, value) != value:
                    raise DataError(
                        f"the sheets of '{each.annotator}' give two answers for {column} of context '{key}': "
                        f"{kept[key]} and {value}; sheets with the same name count as one person's; if two people "
                        "filled them in, rename one"
                    )
    return list(found.values())


def check(sheets_read: Sequence[Annotations], contexts: Mapping[str, Context]) -> HumanCheck:
    """The simulator compared with people: each annotator, their majority, their agreement, and the reasonableness."""
    annotations = by_annotator(sheets_read)
    for each in annotations:
        for key in (*each.directions, *each.reasonable):
            if key not in contexts:
                raise DataError(f"context '{key}' in the sheet of '{each.annotator}' is in none of the runs given")
    model = {key: direction(context.judgement.change) for key, context in contexts.items()}
    people = [each.directions for each in annotations if each.directions]
    by_context: dict[str, list[str]] = {}
    for given in people:
        for key, value in given.items():
            by_context.setdefault(key, []).append(value)
    decided = {key: chosen for key, labels in by_context.items() if (chosen := majority(labels)) is not None}
    reasons = [each.reasonable for each in annotations if each.reasonable]
    return HumanCheck(
        contexts=len(by_context),
        annotators=len(annotations),
        consistency=_share((key, model[key] == value) for given in people for key, value in given.items()),
        majority_consistency=_share((key, model[key] == chosen) for key, chosen in decided.items()),
        agreement=_share(_agreements(people)),
        alpha=_alpha(people),
        reasonableness=_share((key, value == "yes") for given in reasons for key, value in given.items()),
        reasonableness_agreement=_share(_agreements(reasons)),
        ties=len(by_context) - len(decided),
    )


def _agreements(people: Sequence[Mapping[str, str]]) -> Iterable[tuple[str, bool]]:
    """For every two annotators and every context of both: whether they agree."""
    return ((key, one[key] == two[key]) for one, two in combinations(people, 2) for key in one if key in two)


def _alpha(people: Sequence[Mapping[str, str]]) -> float | None:
    keys = sorted({key for given in people for key in given})
    table = [[_CODES[given[key]] if key in given else float("nan") for key in keys] for given in people]
    try:
        value = krippendorff_alpha(table, "ordinal").value if len(people) > 1 else float("nan")
    except ValueError:
        return None
    return None if value != value else value


def _share(answers: Iterable[tuple[str, bool]]) -> Measure:
    """The share of answers that are true; the answers on one context are one cluster."""
    rows = [Observation(f"{place}", key, float(true), {}) for place, (key, true) in enumerate(answers)]
    return mean_measure("share", rows, binary=True)


Kind = Literal["candour", "strategies"]
FAMILIES = {
    "questions": "A",
    "empathy": "B",
    "self-disclosure": "C",
    "comfort": "D",
    "affirmation": "E",
    "suggestions": "F",
    "information": "G",
    "apology": "H",
}
"""The columns of the sheet of strategies, and the letter that its codes begin with."""
NONE = "none"
_CANDOUR = ("reply", "question id", "who and what", "talk", "last reply", "question about the reply", "answer")
_STRATEGIES = ("reply", "words before", "last reply", *FAMILIES)
_ALLOWED = {"answer": ("yes", "no")}

Place = tuple[str, ...]
"""What one answer is about: the reply, then the id of the question or the family of strategies."""


class ReplyAnswers(Struct, frozen=True):
    """One annotator's answers about replies."""

    annotator: str
    answers: dict[Place, str]
    asked: dict[Place, str] = {}
    """The wording of each question of candour, as the sheet has it."""


def options_of(column: str) -> tuple[str, ...]:
    """The answers that a column of the sheet of strategies allows."""
    letter = FAMILIES[column]
    return (NONE, *(f"{code} {title}" for code, title in STRATEGIES.items() if code[0] == letter))


def reply_key(stored: StoredDialogue, turn: int) -> str:
    """The name of a reply in a sheet: run, dialogue and turn (counted from 1)."""
    return f"{stored.run}:{stored.id}@{turn}"


def write_candour(talks: Iterable[JudgedTalk]) -> str:
    """A row for each reply and question: what was said so far, the reply, and the question."""
    rows = []
    for talk in talks:
        for number, turn in enumerate(talk.dialogue.turns, 1):
            said = _said(talk, number - 1)
            known = talk.known if talk.kind else ""
            rows += [
                (reply_key(talk, number), question.id, known, said, turn.reply, question.text, "")
                for question in talk.questions
            ]
    return sheets.write_sheet(_CANDOUR, rows, guard_formulas=True)


def write_strategies(dialogues: Iterable[StoredDialogue]) -> str:
    """A row for each reply: the words before it, the reply, and a column for each family of strategies."""
    rows = []
    for stored in dialogues:
        for number, turn in enumerate(stored.dialogue.turns, 1):
            before = stored.dialogue.said(number - 1)[-1][1]
            rows.append((reply_key(stored, number), before, turn.reply, *("" for _ in FAMILIES)))
    return sheets.write_sheet(_STRATEGIES, rows, guard_formulas=True)


def kind_of(path: Path) -> Kind | None:
    """The kind of a sheet about replies; None for another sheet."""
    columns = set(sheets.read_sheet(path, guarded=True).columns)
    if columns.issuperset(("reply", "question id", "answer")):
        return "candour"
    return "strategies" if columns.issuperset(("reply", *FAMILIES)) else None


def read_answers(path: Path, kind: Kind) -> ReplyAnswers:
    """A filled-in sheet; the annotator is named after the file, and a row may be left empty."""
    keys = ("reply", "question id") if kind == "candour" else ("reply",)
    allowed = _ALLOWED if kind == "candour" else {column: options_of(column) for column in FAMILIES}
    answers: dict[Place, str] = {}
    asked: dict[Place, str] = {}
    wording = ("question about the reply",) if kind == "candour" else ()
    for line, row in sheets.read_rows(path, (*keys, *wording, *allowed), guarded=True):
        key = tuple(row[name].strip() for name in keys)
        for column, values in allowed.items():
            said = row[column].strip()
            if said and said not in values:
                raise DataError(f"{column} '{said}'; allowed: {', '.join(values)}, or empty", path, line)
            if said:
                answers[key if kind == "candour" else (*key, column)] = said
                if wording:
                    asked[key] = row[wording[0]]
    if not answers:
        raise DataError("contains no answer", path)
    return ReplyAnswers(path.stem, answers, asked)


def check_wording(read: Iterable[ReplyAnswers], talks: Iterable[JudgedTalk]) -> None:
    """Raises an error for an answer to a question that has another wording in the run."""
    wordings: dict[Place, str] = {
        (reply_key(talk, turn), question.id): question.text
        for talk in talks
        for turn in range(1, len(talk.dialogue.turns) + 1)
        for question in talk.questions
    }
    for each in read:
        for place, text in each.asked.items():
            if wordings.get(place, text).split() != text.split():
                raise DataError(
                    f"the sheet of '{each.annotator}' asks '{text}' about {place[0]}, the run '{wordings[place]}': "
                    "answers to another wording are not used; write the sheet again with 'sociometer sage sheet'"
                )


def replies_by_annotator(read: Sequence[ReplyAnswers]) -> dict[str, dict[Place, str]]:
    """The answers of each annotator, whose sheets count as one; two different answers to one question are an error."""
    found: dict[str, dict[Place, str]] = {}
    for each in read:
        known = found.setdefault(each.annotator, {})
        for place, said in each.answers.items():
            if known.setdefault(place, said) != said:
                raise DataError(
                    f"the sheets of '{each.annotator}' give two answers for {', '.join(place)}: {known[place]} and "
                    f"{said}; sheets with the same name count as one person's; if two people filled them in, rename one"
                )
    return found


def agreed(people: Mapping[str, Mapping[Place, str]]) -> dict[Place, str]:
    """What more than half of the annotators say."""
    said: dict[Place, list[str]] = {}
    for answers in people.values():
        for place, answer in answers.items():
            said.setdefault(place, []).append(answer)
    return {place: found for place, answers in said.items() if (found := settled(answers)) is not None}


def score_by_people(talk: JudgedTalk, answers: Mapping[Place, str]) -> Score | None:
    """Sycophancy and safety of a dialogue from people's answers; None unless every question has an answer."""
    replies = []
    for number in range(1, len(talk.dialogue.turns) + 1):
        key = reply_key(talk, number)
        given = {question.id: answers.get((key, question.id), "") for question in talk.questions}
        if not all(given.values()):
            return None
        replies.append(given)
    return score_answers(talk, replies)


def strategy_agrees(said: str, column: str, codes: Iterable[str]) -> bool:
    """Whether a person's choice in a family is among the judge's codes; `none` agrees with no code of the family."""
    of_family = {code for code in codes if code[0] == FAMILIES[column]}
    return not of_family if said == NONE else said.split(" ", 1)[0] in of_family


def _said(stored: StoredDialogue, turns: int) -> str:
    names = {"person": "A", "subject": "B"}
    return "\n\n".join(f"{names[who]}: {words}" for who, words in stored.dialogue.said(turns))


_MEASURES = {"emotion": "points", "sycophancy": "share", "safety": "share", "harshness": "share"}


def write(context: CommandContext, options: Settings) -> Result:
    """Writes the sheet of questions or of strategies for whole dialogues that the seed draws."""
    what, count = options.text("what"), options.whole("dialogues")
    runs = [context.run(name) for name in options.texts("runs")]
    talks: list[JudgedTalk] = []
    dialogues: list[StoredDialogue] = []
    for run in runs:
        drawn = samples.some_dialogues(run, count, context.seed, samples.talk_task(run))
        dialogues += drawn
        talks += samples.judged_talks(run, drawn) if what == "candour" else []
    text = write_candour(talks) if what == "candour" else write_strategies(dialogues)
    out = Path(options.text("to"))
    wrote = context.write(out, text)
    columns = "the column 'answer' with yes or no" if what == "candour" else f"the columns {', '.join(FAMILIES)}"
    note = (
        f"{len(dialogues)} dialogues. Give each annotator a copy of {out.name}, named after the annotator, to fill in "
        f"{columns}, or let them label it in the browser: sociometer annotate create NAME --sheet {out}"
    )
    return Result(wrote=(wrote,), notes=(note,))


def evaluate(context: CommandContext, paths: Sequence[Path], kind: Kind, runs: Sequence[str]) -> Result:
    """The results of people's answers, their agreement, and the comparison with a judge of the same dialogues."""
    read = [read_answers(path, kind) for path in paths]
    stored = [context.run(name) for name in runs]
    if kind == "candour":
        return _candour(read, stored)
    return _strategies(replies_by_annotator(read), stored)


def _candour(read: Sequence[ReplyAnswers], runs: Sequence[Run]) -> Result:
    people = replies_by_annotator(read)
    talks: dict[str, JudgedTalk] = {}
    judge: dict[Place, str] = {}
    for run in runs:
        if "candour" in run.tasks:
            for talk, outcome, _ in run.view("candour").scored():
                if isinstance(talk, JudgedTalk) and isinstance(outcome, Candour):
                    talks[f"{talk.run}:{talk.id}"] = talk
                    for number, given in enumerate(outcome.replies, 1):
                        key = reply_key(talk, number)
                        judge |= {(key, name): answer for name, answer in given.items()}
        else:
            drawn = samples.stored_dialogues(run, samples.talk_task(run))
            talks |= {f"{talk.run}:{talk.id}": talk for talk in samples.judged_talks(run, list(drawn))}
    begun = _known_dialogues(people, set(talks))
    check_wording(read, talks.values())
    shared = agreed(people)
    by_subject: dict[str, list[tuple[JudgedTalk, dict[str, float] | None]]] = {}
    for name, talk in talks.items():
        if name in begun:
            score = score_by_people(talk, shared)
            by_subject.setdefault(talk.subject, []).append((talk, score.values if score else None))
    rows: list[tuple[Cell, ...]] = []
    for subject, found in by_subject.items():
        whole = [(talk, values) for talk, values in found if values is not None]
        cells = []
        for name, unit in _MEASURES.items():
            values = [Observation(talk.id, talk.cluster or talk.id, of[name], {}) for talk, of in whole]
            measure = mean_measure(name, values, binary=False)
            cells.append(estimate(measure.value, unit, measure.interval))
        rows.append((subject, *cells, len(whole), len(found) - len(whole)))
    columns = ("subject", "final emotion", "sycophancy", "safety", "harshness", "dialogues", "not settled")
    note = "A dialogue counts if more than half of the people agree on every question about every reply."
    tables = (
        Table("candour", "Sycophancy, safety and harshness by people", columns, tuple(rows), note=note),
        _agreement({"answer": people}, lambda said, place: said == judge[place] if place in judge else None),
    )
    return Result(tables=tables, notes=(OURS,) if any(talk.kind for talk in talks.values()) else ())


def _strategies(people: Mapping[str, Mapping[Place, str]], runs: Sequence[Run]) -> Result:
    judged: dict[str, tuple[str, ...]] = {}
    known: set[str] = set()
    for run in runs:
        if "strategies" in run.tasks:
            for item, outcome, _ in run.view("strategies").scored():
                if isinstance(item, StoredDialogue) and isinstance(outcome, LabelledDialogue):
                    known.add(f"{item.run}:{item.id}")
                    for turn, codes in enumerate(outcome.replies, 1):
                        judged[reply_key(item, turn)] = codes
        else:
            known |= {f"{one.run}:{one.id}" for one in samples.stored_dialogues(run, samples.talk_task(run))}
    _known_dialogues(people, known)
    families = {
        column: {
            name: {place: said for place, said in answers.items() if place[1] == column}
            for name, answers in people.items()
        }
        for column in FAMILIES
    }

    def agrees(said: str, place: Place) -> bool | None:
        return strategy_agrees(said, place[1], judged[place[0]]) if place[0] in judged else None

    return Result(tables=(_agreement(families, agrees),))


def _known_dialogues(people: Mapping[str, Mapping[Place, str]], known: Collection[str]) -> set[str]:
    """The dialogues that the answers are about; an error for one that is in none of the runs."""
    named = {place[0].rsplit("@", 1)[0]: annotator for annotator, answers in people.items() for place in answers}
    for name, annotator in named.items():
        if name not in known:
            raise DataError(f"dialogue '{name}' in the sheet of '{annotator}' is in none of the runs given")
    return set(named)


def _agreement(
    columns: Mapping[str, Mapping[str, Mapping[Place, str]]], agrees: Callable[[str, Place], bool | None]
) -> Table:
    """For each column: how far people agree, and the share of their settled answers with which the judge agrees."""
    rows: list[tuple[Cell, ...]] = []
    for column, people in columns.items():
        ratings = {name: {" ".join(place): said for place, said in given.items()} for name, given in people.items()}
        settled = agreed(people)
        alpha, low, high = _reply_alpha({name: labels for name, labels in ratings.items() if labels})
        judged = [found for place, said in settled.items() if (found := agrees(said, place)) is not None]
        share = sum(judged) / len(judged) if judged else None
        rows.append((column, len(ratings), len(settled), alpha, low, high, len(judged), share))
    names = ("question", "annotators", "settled", "alpha", "from", "to", "judged too", "judge agrees")
    note = "Alpha is Krippendorff's. To compare a judge, give its run with --runs as well."
    return Table("agreement", "Agreement", names, tuple(rows), note=note, units={"judge agrees": "share"})


def _reply_alpha(ratings: Mapping[str, Mapping[str, str]]) -> tuple[float | None, float | None, float | None]:
    try:
        found = alpha_of(ratings)
    except ValueError:
        return None, None, None
    # All labels the same: there is no expected disagreement, and no coefficient.
    value = None if found.value != found.value else found.value
    interval = found.interval
    return value, interval.low if interval else None, interval.high if interval else None
