"""Conversion of third-person items to the first person: a model rewrites an item, rules decide whether it is sound.

An item is one line of a JSON-lines file, in English or Chinese:

    {"id": "kite-1", "story": "Arno lost his kite.", "question": "What does Arno feel?", "options": ["Joy", "Grief"],
     "answer": 1}

`answer` is the place of the right option, from 0; `cluster` (optional) names what items share, such as a story. Other
fields are ignored. Sound conversions are stored as edits (`tombench/first_person.py` describes a line).
"""

import re
from collections import Counter
from difflib import SequenceMatcher
from functools import cache
from itertools import accumulate
from operator import contains
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from sociometer.core.command import CommandContext
from sociometer.core.conversation import SUBJECT, Sampling, Schema, user
from sociometer.core.errors import DataError, UsageError, hint
from sociometer.core.instrument import Result
from sociometer.core.language import written_in
from sociometer.core.measure import Summary, Table
from sociometer.core.session import Session
from sociometer.core.settings import Settings
from sociometer.core.sheets import write_sheet
from sociometer.core.task import Item, RunView, Score
from sociometer.instruments.egosocial.tombench.first_person import Edit, FirstPerson, applied, digest, texts_of
from sociometer.instruments.egosocial.tombench.release import Wording
from sociometer.reading import read_json, read_lines, read_rules
from sociometer.statistics.measures import grouped_measures

_RULES = Path(__file__).parent / "rules"
_EGO = "\x02"
_ENDING = re.compile(r"(?<=..)(?:e?(?<![su])s|e)$")  # of the third person: goes, sees, likes
_PRONOUN = re.compile(r"\b(?:s?he|him|her|his|hers|(?:him|her)self|the(?:y|m|irs?|mselves))\b|[他她]", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z0-9]+|\s+|.", re.DOTALL)


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
    third, language = Wording(item.story, item.question, item.options), written_in(item.story + item.question)
    options = "\n".join(f"{number}. {option}" for number, option in enumerate(item.options, 1))
    told = {"story": item.story, "question": item.question, "options": options, "count": len(item.options)}
    messages = [user(session.prompts.render("convert", language, **told))]
    schema = Schema(msgspec.json.schema(_Reply)["$defs"]["_Reply"], name="conversion")
    reply = await session.ask(SUBJECT, messages, schema, sampling=Sampling(temperature=0, max_tokens=4000))
    reading = read_json(reply.text, _Reply)
    if (said := reading.value) is None:
        return Conversion(None, (f"the reply could not be read: {reading.rule}",), unreadable=True)
    if not (person := said.person.strip()):
        return Conversion(None, (f"the model: {said.reason.strip() or 'nobody can be you'}",))
    first = Wording(said.story.strip(), said.question.strip(), tuple(option.strip() for option in said.options))
    if found := problems(third, first, person):
        return Conversion(None, tuple(found))
    kept = sum(len(_PRONOUN.findall(text)) for text in texts_of(first))
    edits = edits_between(third, first)
    return Conversion(FirstPerson(item.id, language, person, said.order, kept, digest(third), edits))


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
    if person.lower() in _words()[0] or not any(naming.search(old) for old, _ in pairs):
        return [f"nobody in the item is called '{person}'"]
    found = ["the person is still named"] if any(naming.search(new) for _, new in pairs) else []
    became, kept = set[str](), set[str]()
    for place, (old, new) in enumerate(pairs):
        name, wanted = ("story", "you") if place == 0 else ("question", "you") if place == 1 else ("option", "me")
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
    if wanted == "me" and not one:  # "Does not know": "I do not know"
        return two in ([], ["me"])
    allowed = [(wanted,) if was == "ego" else (was,) if was in ("you", "me") else (was, wanted) for was in one]
    return len(one) == len(two) and all(map(contains, allowed, two))


def _naming(person: str) -> re.Pattern[str]:
    """What finds a person by name, with or without the space in "Xiao Ming"."""
    name = person.replace(" ", "")
    start = f"[{name[0]}{name[0].upper()}]" if name[0].islower() else re.escape(name[0])
    return re.compile(rf"(?<![A-Za-z]){start}(?i:{''.join(f' ?{re.escape(one)}' for one in name[1:])})(?![A-Za-z])")


@cache
def _words() -> tuple[dict[str, str], frozenset[str], re.Pattern[str]]:
    """Who each pronoun means, the words of grammar, and what finds the words of a text."""
    rules, kinds = read_rules("conversion", "zh", _RULES), ("he", "she", "they", "you", "me", "self")
    people = {word: kind for kind in kinds for words in rules.lists(kind) for word in words}
    grammar = frozenset(word for words in rules.lists("grammar") for word in words)
    chinese = "|".join(word for word in (*people, *grammar) if len(word) > 1 and not word.isascii())
    piece = rf"{_EGO}|{chinese}|[\u4e00-\u9fff]|[^\W\d_\u4e00-\u9fff]+|\d+|[%$€£¥]"
    return {**people, _EGO: "ego"}, grammar, re.compile(piece)


def _row(text: str, naming: re.Pattern[str]) -> tuple[list[str], list[list[str]]]:
    """The stems of a text's words without grammar, and the mentions of people before each of them and at the end."""
    plain = naming.sub(f" {_EGO} ", text.replace("’", "'")).lower()
    plain = re.sub(r"(?<=[a-z])n't\b", " not", re.sub(r"\bcan't\b|\bcannot\b", "can not", plain))
    mentions, grammar, piece = _words()
    words, people = list[str](), [list[str]()]
    for word in piece.findall(plain):
        if word in mentions:
            people[-1].append(mentions[word])
        elif word not in grammar:
            words.append("hav" if word == "has" else re.sub(r"(?<=..)y$", "i", _ENDING.sub("", word)))
            people.append([])
    return words, people


def score(item: ThirdPerson, outcome: Conversion) -> Score:
    """Whether the conversion is sound."""
    return Score(values={"sound": float(outcome.edits is not None)}, unreadable=int(outcome.unreadable))


def summarise(run: RunView[ThirdPerson, Conversion]) -> Summary:
    """The share of sound conversions."""
    return Summary(grouped_measures(run, "sound"))


def convert(context: CommandContext, options: Settings) -> Result:
    """Converts a file of items with a model; writes the edits, the rejected items and a sheet for reviewers."""
    if len(context.subjects) != 1:
        raise UsageError("convert needs one model: give --model MODEL.")
    items, out = read_third_person(Path(options.text("file"))), Path(options.text("to"))
    done = [(item, outcome) for item, outcome, _ in context.play("convert", items=items).view("convert").scored()]
    sound = [(item, outcome.edits) for item, outcome in done if outcome.edits is not None]
    left_out = [(item.id, "; ".join(outcome.rejected)) for item, outcome in done if outcome.rejected]
    rows = []
    for item, edits in sound:
        first = applied(edits, Wording(item.story, item.question, item.options))
        told = [item.story, first.story, item.question, first.question, *map("\n".join, (item.options, first.options))]
        rows.append([item.id, edits.ego, *told, item.options[item.answer], ""])
    (card,) = (one for one in context.instrument.card.sheet if one.name == "conversions")
    wrote = [
        context.write(
            out / "conversions.jsonl", "".join(f"{msgspec.json.encode(one).decode()}\n" for _, one in sound), out
        ),
        context.write(out / "left-out.csv", write_sheet(("id", "reason"), left_out, guard_formulas=True), out),
    ]
    sheet, text, notes = out / "sheet.csv", write_sheet(card.columns, rows, guard_formulas=True), []
    if sheet.exists() and sheet.read_text(encoding="utf-8") != text:
        notes.append(f"{sheet} differs and was not overwritten; move it away and repeat the command.")
    elif sound:
        wrote.append(context.write(sheet, text))
        notes.append(f"For reviewers: {hint('sheet read', sheet)}")
    reasons = Counter(reason for _, outcome in done for reason in outcome.rejected).most_common()
    return Result(
        (Table("rejected", "Why items were rejected", ("reason", "items"), tuple(reasons)),),
        tuple(notes),
        wrote=tuple(wrote),
        finding=f"{len(sound)} of {len(done)} conversions are sound.",
    )
