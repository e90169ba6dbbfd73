"""The human checks: sheets for annotators, read back and compared with the simulator or the judge."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import multimode
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
from sociometer.instruments.sage.dialogue import StoredDialogue, as_text
from sociometer.instruments.sage.items import OURS
from sociometer.instruments.sage.judges.strategies import STRATEGIES
from sociometer.instruments.sage.person.emotion import direction
from sociometer.statistics.agreement import Scale, alpha_of, settled
from sociometer.statistics.formatting import estimate
from sociometer.statistics.measures import Observation, mean_measure

DIRECTIONS = ("down", "same", "up")
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
Kind = Literal["feelings", "candour", "strategies"]
_SHEET = ("context", "persona", "background", "goal", "hidden intention", "talk", "last reply", "direction")
_REASONING = ("context", "last reply", "inner activity", "feeling", "change", "reasonable")
_WORDING = "question about the reply"
_CANDOUR = ("reply", "question id", "who and what", "talk", "last reply", _WORDING, "answer")
_STRATEGIES = ("reply", "words before", "last reply", *FAMILIES)

Place = tuple[str, ...]
"""What one answer is about: the context or the reply, then the column, or the id of the question."""


class Answers(Struct, frozen=True):
    """One annotator's answers on a sheet."""

    annotator: str
    answers: dict[Place, str]
    kind: Kind = "feelings"
    asked: dict[Place, str] = {}
    """The wording of each question of candour, as the sheet has it."""


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


def options_of(column: str) -> tuple[str, ...]:
    """The answers that a column of the sheet of strategies allows."""
    letter = FAMILIES[column]
    return (NONE, *(f"{code} {title}" for code, title in STRATEGIES.items() if code[0] == letter))


def context_key(context: Context) -> str:
    """The name of a context in a sheet: run and place."""
    return f"{context.run}:{context.id}"


def write_sheet(contexts: Sequence[Context]) -> str:
    """The sheet of directions: everything the simulator knew, and an empty column for the annotator."""
    rows = []
    for context in contexts:
        scenario = context.scenario
        talk = as_text(context.talk[:-1])
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


def reply_key(stored: StoredDialogue, turn: int) -> str:
    """The name of a reply in a sheet: run, dialogue and turn (counted from 1)."""
    return f"{stored.run}:{stored.id}@{turn}"


def write_candour(talks: Iterable[JudgedTalk]) -> str:
    """A row for each reply and question: what was said so far, the reply, and the question."""
    rows = []
    for talk in talks:
        for number, turn in enumerate(talk.dialogue.turns, 1):
            said = talk.dialogue.as_text(number - 1)
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


def read_sheet(path: Path) -> Answers:
    """A filled-in sheet of any kind; the annotator is named after the file, and a row may be left empty."""
    columns = set(sheets.read_sheet(path, guarded=True).columns)
    kind: Kind = "feelings"
    keys: tuple[str, ...] = ("context",)
    allowed = {"direction": DIRECTIONS, "reasonable": ("yes", "no")}
    required, optional = keys, tuple(allowed)
    if columns.issuperset(("reply", "question id", "answer")):
        kind, keys, allowed = "candour", ("reply", "question id"), {"answer": ("yes", "no")}
        required, optional = (*keys, _WORDING, "answer"), ()
    elif columns.issuperset(("reply", *FAMILIES)):
        kind, keys, allowed = "strategies", ("reply",), {column: options_of(column) for column in FAMILIES}
        required, optional = (*keys, *FAMILIES), ()
    found = Answers(path.stem.removesuffix("-reasoning"), {}, kind, {})
    for line, row in sheets.read_rows(path, required, optional, guarded=True):
        key = tuple(row[name].strip() for name in keys)
        for column, values in allowed.items():
            said = row.get(column, "").strip()
            if kind == "feelings":
                said = said.lower()
            if said and said not in values:
                raise DataError(f"{column} '{said}'; allowed: {', '.join(values)}, or empty", path, line)
            if said and key[0]:
                place = key if kind == "candour" else (*key, column)
                found.answers[place] = said
                if kind == "candour":
                    found.asked[place] = row[_WORDING]
    if not found.answers:
        raise DataError("contains no answer", path)
    return found


def by_annotator(read: Iterable[Answers]) -> dict[str, dict[Place, str]]:
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


def check(read: Iterable[Answers], contexts: Mapping[str, Context]) -> HumanCheck:
    """The simulator compared with people: each annotator, their majority, their agreement, and the reasonableness."""
    everybody = by_annotator(read)
    _refuse_unknown({place[0]: name for name, given in everybody.items() for place in given}, contexts, "context")
    model = {key: direction(context.judgement.change) for key, context in contexts.items()}
    directions, reasons = (
        {
            name: answers
            for name, given in everybody.items()
            if (answers := {place[0]: said for place, said in given.items() if place[1] == column})
        }
        for column in ("direction", "reasonable")
    )
    by_context: dict[str, list[str]] = {}
    for key, value in _every(directions):
        by_context.setdefault(key, []).append(value)
    modes = {key: multimode(labels) for key, labels in by_context.items()}
    decided = {key: found[0] for key, found in modes.items() if len(found) == 1}
    return HumanCheck(
        contexts=len(by_context),
        annotators=len(everybody),
        consistency=_share((key, model[key] == value) for key, value in _every(directions)),
        majority_consistency=_share((key, model[key] == chosen) for key, chosen in decided.items()),
        agreement=_share(_agreements(directions)),
        alpha=_alpha(directions, DIRECTIONS, "ordinal")[0],
        reasonableness=_share((key, value == "yes") for key, value in _every(reasons)),
        reasonableness_agreement=_share(_agreements(reasons)),
        ties=len(by_context) - len(decided),
    )


def _every(people: Mapping[str, Mapping[str, str]]) -> Iterable[tuple[str, str]]:
    return (pair for given in people.values() for pair in given.items())


def _agreements(people: Mapping[str, Mapping[str, str]]) -> Iterable[tuple[str, bool]]:
    """For every two annotators and every context of both: whether they agree."""
    pairs = combinations(people.values(), 2)
    return ((key, one[key] == two[key]) for one, two in pairs for key in one if key in two)


def _share(answers: Iterable[tuple[str, bool]]) -> Measure:
    """The share of answers that are true; the answers on one context are one cluster."""
    rows = [Observation(f"{place}", key, float(true), {}) for place, (key, true) in enumerate(answers)]
    return mean_measure("share", rows, binary=True)


def _alpha(
    ratings: Mapping[str, Mapping[str, str]], values: Sequence[str] = (), scale: Scale = "nominal"
) -> tuple[float | None, float | None, float | None]:
    """Krippendorff's alpha with its interval; None if no two people rated the same, or all labels are the same."""
    try:
        found = alpha_of({name: given for name, given in ratings.items() if given}, values, scale)
    except ValueError:
        return None, None, None
    interval = found.interval
    value = None if found.value != found.value else found.value
    return value, interval.low if interval else None, interval.high if interval else None


def _refuse_unknown(named: Mapping[str, str], known: Collection[str], what: str) -> None:
    for name, annotator in named.items():
        if name not in known:
            raise DataError(f"{what} '{name}' in the sheet of '{annotator}' is in none of the runs given")


def check_wording(read: Iterable[Answers], talks: Iterable[JudgedTalk]) -> None:
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


def evaluate(context: CommandContext, read: Sequence[Answers], names: Sequence[str]) -> Result:
    """The results of people's answers about replies, their agreement, and the comparison with a judge."""
    runs = [context.run(name) for name in names]
    return _candour(read, runs) if read[0].kind == "candour" else _strategies(read, runs)


def _candour(read: Sequence[Answers], runs: Sequence[Run]) -> Result:
    people = by_annotator(read)
    talks: dict[str, JudgedTalk] = {}
    judge: dict[Place, str] = {}
    for run in runs:
        if "candour" in run.tasks:
            for talk, outcome, _ in run.view("candour").scored():
                if isinstance(talk, JudgedTalk) and isinstance(outcome, Candour):
                    talks[f"{talk.run}:{talk.id}"] = talk
                    for number, given in enumerate(outcome.replies, 1):
                        judge |= {(reply_key(talk, number), name): answer for name, answer in given.items()}
        else:
            drawn = samples.stored_dialogues(run, samples.talk_task(run))
            talks |= {f"{talk.run}:{talk.id}": talk for talk in samples.judged_talks(run, list(drawn))}
    begun = _known_dialogues(people, talks)
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


def _strategies(read: Sequence[Answers], runs: Sequence[Run]) -> Result:
    people = by_annotator(read)
    judged: dict[str, tuple[str, ...]] = {}
    known: set[str] = set()
    for run in runs:
        if "strategies" in run.tasks:
            for item, outcome, _ in run.view("strategies").scored():
                if isinstance(item, StoredDialogue) and isinstance(outcome, LabelledDialogue):
                    known.add(f"{item.run}:{item.id}")
                    judged |= {reply_key(item, turn): codes for turn, codes in enumerate(outcome.replies, 1)}
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
    _refuse_unknown(named, known, "dialogue")
    return set(named)


def _agreement(
    columns: Mapping[str, Mapping[str, Mapping[Place, str]]], agrees: Callable[[str, Place], bool | None]
) -> Table:
    """For each column: how far people agree, and the share of their settled answers with which the judge agrees."""
    rows: list[tuple[Cell, ...]] = []
    for column, people in columns.items():
        ratings = {name: {" ".join(place): said for place, said in given.items()} for name, given in people.items()}
        settled = agreed(people)
        judged = [found for place, said in settled.items() if (found := agrees(said, place)) is not None]
        share = sum(judged) / len(judged) if judged else None
        rows.append((column, len(ratings), len(settled), *_alpha(ratings), len(judged), share))
    names = ("question", "annotators", "settled", "alpha", "from", "to", "judged too", "judge agrees")
    note = "Alpha is Krippendorff's. To compare a judge, give its run with --runs as well."
    return Table("agreement", "Agreement", names, tuple(rows), note=note, units={"judge agrees": "share"})
