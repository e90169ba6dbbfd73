"""Conversion of third-person items to the first person: a model rewrites an item, rules decide whether it is sound.

An item is one line of a JSON-lines file, in English or Chinese:

    {"id": "kite-1", "story": "Arno lost his kite.", "question": "What does Arno feel?", "options": ["Joy", "Grief"],
     "answer": 1}

`answer` is the place of the right option, from 0; `cluster` (optional) names what items share, such as a story. Other
fields are ignored. Sound conversions are stored as edits (`tombench/first_person.py` describes a line).
"""

import re
from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import accumulate
from operator import contains
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from sociometer.core.command import CommandContext
from sociometer.core.conversation import SUBJECT, Sampling, Schema, user
from sociometer.core.errors import DataError, UsageError
from sociometer.core.instrument import Result
from sociometer.core.language import written_in
from sociometer.core.measure import Cell, Summary, Table
from sociometer.core.session import Session
from sociometer.core.settings import Settings
from sociometer.core.sheets import write_sheet
from sociometer.core.task import Item, RunView, Score
from sociometer.instruments.egosocial.tombench.first_person import Edit, FirstPerson, applied, digest, texts_of
from sociometer.instruments.egosocial.tombench.release import Wording
from sociometer.reading import read_json, read_lines
from sociometer.statistics.measures import grouped_measures

_EGO = "\x02"
_MENTIONS = {
    word: kind
    for kind, words in {
        "he": "he him his himself 他",
        "she": "she her hers herself 她",
        "they": "they them their theirs themselves 他们 她们",
        "you": "you your yours yourself yourselves 你 您 你们",
        "I": "i me my mine myself we us our ours ourselves 我 我们 咱们",
        "self": "自己",
        "ego": _EGO,
    }.items()
    for word in words.split()
}
_GRAMMAR = {
    "be", "am", "is", "are", "was", "were", "been", "being", "do", "does", "did", "s", "re", "m", "a", "an", "the",
    "two", "both", "all", "of", "and", "named", "called", "think", "thinks", "believe", "believes", "guess", "guesses",
    "的", "了", "是", "则", "和", "与", "跟", "身", "为", "觉得", "认为",
}  # fmt: skip
"""Words that a change of person may add, change or take away; a negation is not among them."""
_PIECE = re.compile(rf"{_EGO}|他们|她们|你们|我们|咱们|自己|觉得|认为|[\u4e00-\u9fff]|[^\W\d_\u4e00-\u9fff]+|\d+|[%$€£¥]")
_ENDING = re.compile(r"(?<=..)(?:e?(?<![su])s|e)$")  # of the third person: goes, sees, likes; tries has one more rule
_PRONOUN = re.compile(r"\b(?:s?he|him|her|his|hers|(?:him|her)self|the(?:y|m|irs?|mselves))\b|[他她]", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z0-9]+|\s+|.", re.DOTALL)
_MOST_ADDED = 500  # characters; comparing much longer texts takes quadratic time
SHEET = (
    "id", "you", "story", "first-person story", "question", "first-person question", "options", "first-person options",
    "right option", "verdict",
)  # fmt: skip


class ThirdPerson(Item, frozen=True, kw_only=True):
    """An item to convert."""

    story: str
    question: str
    options: tuple[str, ...]
    answer: int

    def __post_init__(self) -> None:
        if not all(text.strip() for text in (self.id, self.story, self.question, *self.options)):
            raise ValueError("id, story, question and options must not be empty")
        if len(set(self.options)) < max(2, len(self.options)):
            raise ValueError("an item needs at least two options, all different")
        if not 0 <= self.answer < len(self.options):
            raise ValueError(f"answer {self.answer} is not the place of an option, 0 to {len(self.options) - 1}")

    @property
    def wording(self) -> Wording:
        return Wording(self.story, self.question, self.options)


class Conversion(Struct, frozen=True):
    """What became of an item: the edits of a sound conversion, or why there is none."""

    edits: FirstPerson | None
    rejected: tuple[str, ...] = ()
    unreadable: bool = False


class _Reply(Struct, frozen=True):
    person: str
    order: Literal[1, 2] = 1
    story: str = ""
    question: str = ""
    options: tuple[str, ...] = ()
    reason: str = ""


def read_third_person(path: Path) -> list[ThirdPerson]:
    """The items of a file; a bad line raises an error with file and line."""
    found: dict[str, ThirdPerson] = {}
    for line, item in read_lines(path, ThirdPerson, "an item with id, story, question, options and answer"):
        if item.id in found:
            raise DataError(f"the id '{item.id}' appears twice", path, line)
        found[item.id] = item
    if not found:
        raise DataError("the file has no item", path)
    return list(found.values())


async def ask(item: ThirdPerson, session: Session) -> Conversion:
    """Asks the model for the item in the first person, and checks what it gives."""
    third, language = item.wording, written_in(item.story + item.question)
    options = "\n".join(f"{number}. {option}" for number, option in enumerate(item.options, 1))
    prompt = session.prompts.render(
        "convert", language, story=item.story, question=item.question, options=options, count=len(item.options)
    )
    schema = Schema(msgspec.json.schema(_Reply)["$defs"]["_Reply"], name="conversion")
    sampling = Sampling(temperature=0, max_tokens=4000)
    reading = read_json((await session.ask(SUBJECT, [user(prompt)], schema, sampling=sampling)).text, _Reply)
    if (said := reading.value) is None:
        return Conversion(None, (f"the reply could not be read: {reading.rule}",), unreadable=True)
    if not (person := said.person.strip()):
        return Conversion(None, (f"the model: {said.reason.strip() or 'nobody can be you'}",))
    first = Wording(said.story.strip(), said.question.strip(), tuple(option.strip() for option in said.options))
    if found := problems(third, first, person):
        return Conversion(None, tuple(found))
    kept = sum(len(_PRONOUN.findall(text)) for text in texts_of(first))
    return Conversion(
        FirstPerson(item.id, language, person, said.order, kept, digest(third), edits_between(third, first))
    )


def edits_between(third: Wording, first: Wording) -> tuple[Edit, ...]:
    """The edits that turn an item into its conversion, word by word."""
    found = []
    for text, (old, new) in enumerate(zip(texts_of(third), texts_of(first), strict=True)):
        before, after = _TOKEN.findall(old), _TOKEN.findall(new)
        places = [0, *accumulate(map(len, before))]
        for what, start, end, low, high in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if what != "equal":
                found.append(Edit(text, places[start], places[end] - places[start], "".join(after[low:high])))
    return tuple(found)


def problems(third: Wording, first: Wording, person: str) -> list[str]:
    """Why a conversion in which `person` became "you" (in options "I") is not sound; empty if it is."""
    naming, pairs = _naming(person), list(zip(texts_of(third), texts_of(first), strict=False))
    if len(first.options) != len(third.options):
        return [f"{len(first.options)} options instead of {len(third.options)}"]
    if any(len(new) > _MOST_ADDED + 3 * len(old) for old, new in pairs):
        return ["a text is much longer than before"]
    if person.lower() in _MENTIONS or not any(naming.search(old) for old, _ in pairs):
        return [f"nobody in the item is called '{person}'"]
    found = ["the person is still named"] if any(naming.search(new) for _, new in pairs) else []
    became, kept = set[str](), set[str]()
    for place, (old, new) in enumerate(pairs):
        name, wanted = ("story", "you") if place == 0 else ("question", "you") if place == 1 else ("option", "I")
        (words, people), (later, changed) = _row(old, naming), _row(new, naming)
        if words != later:
            found.append(f"{name}: words were added, dropped or changed")
        elif not all(_same_people(one, two, wanted) for one, two in zip(people, changed, strict=True)):
            found.append(f"{name}: somebody else became 'you', or the person did not")
        elif place == 1 and people == changed:
            found.append("the question does not ask 'you'")
        else:
            pronouns = [pair for each in zip(people, changed, strict=True) for pair in zip(*each, strict=False)]
            became |= {was for was, now in pronouns if was != now}
            kept |= {was for was, now in pronouns if was == now}
    if {"he", "she"} <= became:
        found.append("'he' and 'she' both became 'you'")
    if became & kept & {"he", "she"}:
        found.append("a pronoun became 'you' in one place and stayed in another")
    return list(dict.fromkeys(found))


def _same_people(one: list[str], two: list[str], wanted: str) -> bool:
    """Whether the mentions between two words are the same people: the name became "you", a pronoun may have."""
    if "ego" in one and "you" in two and [was for was in one if was != "ego"] == two:  # "Ada, you": "you"
        return True
    if wanted == "I" and not one:  # "Does not know": "I do not know"
        return two in ([], ["I"])
    allowed = [(wanted,) if was == "ego" else (was,) if was in ("you", "I") else (was, wanted) for was in one]
    return len(one) == len(two) and all(map(contains, allowed, two))


def _naming(person: str) -> re.Pattern[str]:
    """What finds a person by name, with or without the space in "Xiao Ming"."""
    first, *letters = person.replace(" ", "")
    start = f"[{first}{first.upper()}]" if first.islower() else re.escape(first)
    return re.compile(rf"(?<![A-Za-z]){start}(?i:{''.join(f' ?{re.escape(one)}' for one in letters)})(?![A-Za-z])")


def _row(text: str, naming: re.Pattern[str]) -> tuple[list[str], list[list[str]]]:
    """The stems of a text's words without grammar, and the mentions of people before each of them and at the end."""
    plain = naming.sub(f" {_EGO} ", text.replace("’", "'")).lower()
    plain = re.sub(r"(?<=[a-z])n't\b", " not", re.sub(r"\bcan't\b|\bcannot\b", "can not", plain))
    words: list[str] = []
    people: list[list[str]] = [[]]
    for piece in _PIECE.findall(plain):
        if piece in _MENTIONS:
            people[-1].append(_MENTIONS[piece])
        elif piece not in _GRAMMAR:
            words.append("hav" if piece == "has" else re.sub(r"(?<=..)y$", "i", _ENDING.sub("", piece)))
            people.append([])
    return words, people


def score(item: ThirdPerson, outcome: Conversion) -> Score:
    """Whether the conversion is sound."""
    return Score(values={"sound": float(outcome.edits is not None)}, unreadable=int(outcome.unreadable))


def summarise(run: RunView[ThirdPerson, Conversion]) -> Summary:
    """The share of sound conversions, and why the others were rejected."""
    return Summary(grouped_measures(run, "sound"), (_reasons(outcome for _, outcome, _ in run.scored()),))


def _reasons(outcomes: Iterable[Conversion]) -> Table:
    counts = Counter(reason for outcome in outcomes for reason in outcome.rejected)
    return Table("rejected", "Why items were rejected", ("reason", "items"), tuple(counts.most_common()))


def convert(context: CommandContext, options: Settings) -> Result:
    """Converts a file of items with a model; writes the edits, the rejected items and a sheet for reviewers."""
    if len(context.subjects) != 1:
        raise UsageError("convert needs one model: give --model MODEL.")
    items = read_third_person(Path(options.text("file")))
    view, out = context.play("convert", items=items).view("convert"), Path(options.text("to"))
    done = [(item, outcome) for item, outcome, _ in view.scored()]
    sound = [(item, outcome.edits) for item, outcome in done if outcome.edits is not None]
    left_out = [(item.id, "; ".join(outcome.rejected)) for item, outcome in done if outcome.rejected]
    files = {
        "conversions.jsonl": "".join(f"{msgspec.json.encode(edits).decode()}\n" for _, edits in sound),
        "left-out.csv": write_sheet(("id", "reason"), left_out, guard_formulas=True),
        "sheet.csv": write_sheet(SHEET, [_sheet_row(item, edits) for item, edits in sound], guard_formulas=True),
    }
    sheet = out / "sheet.csv"
    notes = [f"For reviewers: sociometer annotate create NAME --sheet {sheet}"] if sound else []
    if sheet.exists() and sheet.read_bytes() != files["sheet.csv"].encode():
        notes.append(f"{sheet} differs and was not overwritten; move it away and repeat the command.")
        del files["sheet.csv"]
    return Result(
        (_reasons(outcome for _, outcome in done),),
        tuple(notes),
        wrote=tuple(context.write(out / name, text) for name, text in files.items()),
        finding=f"{len(sound)} of {len(done)} conversions are sound.",
    )


def _sheet_row(item: ThirdPerson, edits: FirstPerson) -> tuple[Cell, ...]:
    first = applied(edits, item.wording)
    told = (item.story, first.story, item.question, first.question, "\n".join(item.options), "\n".join(first.options))
    return item.id, edits.ego, *told, item.options[item.answer], ""
