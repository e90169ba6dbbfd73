"""The part of `sheet` and `annotations` that is about single replies."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from sociometer.core.command import CommandContext, Run
from sociometer.core.errors import DataError
from sociometer.core.instrument import Result
from sociometer.core.measure import Cell, Table
from sociometer.core.settings import Settings
from sociometer.instruments.sage import reply_sheets, samples
from sociometer.instruments.sage.analyses.candour import Candour, JudgedTalk
from sociometer.instruments.sage.analyses.strategies import LabelledDialogue
from sociometer.instruments.sage.dialogue import StoredDialogue
from sociometer.instruments.sage.hard_talks import OURS
from sociometer.instruments.sage.reply_sheets import FAMILIES, Place
from sociometer.statistics.agreement import alpha_of
from sociometer.statistics.formatting import estimate
from sociometer.statistics.measures import Observation, mean_measure

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
    text = reply_sheets.write_candour(talks) if what == "candour" else reply_sheets.write_strategies(dialogues)
    out = Path(options.text("out"))
    wrote = context.write(out, text)
    columns = "the column 'answer' with yes or no" if what == "candour" else f"the columns {', '.join(FAMILIES)}"
    note = (
        f"{len(dialogues)} dialogues. Give each annotator a copy of {out.name}, named after the annotator, to fill in "
        f"{columns}, or let them label it in the browser: sociometer annotate create NAME --sheet {out}"
    )
    return Result(wrote=(wrote,), notes=(note,))


def evaluate(context: CommandContext, paths: Sequence[Path], kind: reply_sheets.Kind, runs: Sequence[str]) -> Result:
    """The results of people's answers, their agreement, and the comparison with a judge of the same dialogues."""
    read = [reply_sheets.read_answers(path, kind) for path in paths]
    stored = [context.run(name) for name in runs]
    if kind == "candour":
        return _candour(read, stored)
    return _strategies(reply_sheets.by_annotator(read), stored)


def _candour(read: Sequence[reply_sheets.ReplyAnswers], runs: Sequence[Run]) -> Result:
    people = reply_sheets.by_annotator(read)
    talks: dict[str, JudgedTalk] = {}
    judge: dict[Place, str] = {}
    for run in runs:
        if "candour" in run.tasks:
            for talk, outcome, _ in run.view("candour").scored():
                if isinstance(talk, JudgedTalk) and isinstance(outcome, Candour):
                    talks[f"{talk.run}:{talk.id}"] = talk
                    for number, given in enumerate(outcome.replies, 1):
                        key = reply_sheets.reply_key(talk, number)
                        judge |= {(key, name): answer for name, answer in given.items()}
        else:
            drawn = samples.stored_dialogues(run, samples.talk_task(run))
            talks |= {f"{talk.run}:{talk.id}": talk for talk in samples.judged_talks(run, list(drawn))}
    begun = _known_dialogues(people, set(talks))
    reply_sheets.check_wording(read, talks.values())
    agreed = reply_sheets.agreed(people)
    by_subject: dict[str, list[tuple[JudgedTalk, dict[str, float] | None]]] = {}
    for name, talk in talks.items():
        if name in begun:
            score = reply_sheets.score_by_people(talk, agreed)
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
                        judged[reply_sheets.reply_key(item, turn)] = codes
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
        return reply_sheets.strategy_agrees(said, place[1], judged[place[0]]) if place[0] in judged else None

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
        settled = reply_sheets.agreed(people)
        alpha, low, high = _alpha({name: labels for name, labels in ratings.items() if labels})
        judged = [found for place, said in settled.items() if (found := agrees(said, place)) is not None]
        share = sum(judged) / len(judged) if judged else None
        rows.append((column, len(ratings), len(settled), alpha, low, high, len(judged), share))
    names = ("question", "annotators", "settled", "alpha", "from", "to", "judged too", "judge agrees")
    note = "Alpha is Krippendorff's. To compare a judge, give its run with --runs as well."
    return Table("agreement", "Agreement", names, tuple(rows), note=note, units={"judge agrees": "share"})


def _alpha(ratings: Mapping[str, Mapping[str, str]]) -> tuple[float | None, float | None, float | None]:
    try:
        found = alpha_of(ratings)
    except ValueError:
        return None, None, None
    # All labels the same: there is no expected disagreement, and no coefficient.
    value = None if found.value != found.value else found.value
    interval = found.interval
    return value, interval.low if interval else None, interval.high if interval else None
