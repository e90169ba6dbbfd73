"""First-person ToMBench by a builder model: the checks of its conversions, people's review sheet, and the result.

The checks are strict and simple: apart from who is "you", a conversion has the same words in the same order. What
they reject goes to people, who may accept it in the review sheet.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from pathlib import Path

from msgspec import Struct, structs

from sociometer.core.conversation import Sampling, Schema, user
from sociometer.core.errors import DataError
from sociometer.core.measure import Summary, Table
from sociometer.core.session import Session
from sociometer.core.sheets import read_rows, write_sheet
from sociometer.core.source import Source
from sociometer.core.task import RunView, Score
from sociometer.instruments.egosocial.play import Picks
from sociometer.instruments.egosocial.scene import Scene, Telling
from sociometer.instruments.egosocial.tombench.release import Order, Wording, naming, orders, read_folder
from sociometer.reading import read_items, read_json
from sociometer.statistics.measures import grouped_measures

_EGO = "\ue000"
"""Stands for the name of the person who becomes "you"."""
_MENTIONS = {
    **dict.fromkeys(("he", "him", "his", "himself", "他"), "masculine"),
    **dict.fromkeys(("she", "her", "hers", "herself", "她"), "feminine"),
    **dict.fromkeys(("it", "its", "itself"), "neuter"),
    **dict.fromkeys(("they", "them", "their", "theirs", "themselves", "他们", "她们"), "plural"),
    **dict.fromkeys(("you", "your", "yours", "yourself", "yourselves", "你", "您", "你们"), "you"),
    **dict.fromkeys(("i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"), "I"),
    **dict.fromkeys(("我", "我们", "咱们"), "I"),
    "自己": "self",
}
_GRAMMAR = frozenset(
    (
        "be", "am", "is", "are", "was", "were", "been", "being", "do", "does", "did", "s", "re", "m", "a", "an", "the",
        "two", "both", "all", "of", "and", "named", "called", "think", "thinks", "believe", "believes", "guess",
        "的", "了", "是", "则", "和", "与", "跟", "身", "为", "觉得", "认为",
    )
)  # fmt: skip
"""Words that a change of person may add, change or take away; a negation is not among them."""
_PIECE = re.compile(rf"{_EGO}|他们|她们|你们|我们|咱们|自己|觉得|认为|[a-z]+|\d+|[\u4e00-\u9fff]")
_NO_VERBS = ("across", "afterwards", "always", "besides", "perhaps", "plus", "sometimes", "this", "thus", "towards")
_BROKEN = re.compile(
    r"\b(?:(?:[Yy]ou|I)'s|[Yy]ou (?:is|was|has|does)|I (?:is|has|does)|(?:[Ii]s|[Ww]as|[Hh]as|[Dd]oes) you)\b"
)
_YOU = {"en": re.compile(r"\byou(?:r|rs|rself|rselves)?\b", re.IGNORECASE), "zh": re.compile("你")}
_I = {"en": re.compile(r"\b(?:I|me|my|mine|myself|we|us|our|ours|ourselves)\b", re.IGNORECASE), "zh": re.compile("我")}


class Row(Struct, frozen=True):
    """A text as its words, and the mentions of people before each of them and at the end."""

    words: tuple[str, ...]
    mentions: tuple[tuple[str, ...], ...]


def failures(item: Order, first: Wording) -> Iterator[str]:
    """The names of the automatic checks that a conversion fails."""
    third = item.third
    if len(first.options) != len(third.options):
        yield "number of options"
        return
    texts = [("story", third.story, first.story), ("question", third.question, first.question)]
    texts += [("option", old, new) for old, new in zip(third.options, first.options, strict=True)]
    if any(len(new) > 500 + 3 * len(old) for _, old, new in texts):  # some checks take quadratic time
        yield "story shortened or padded"
        return
    if any(naming(item.ego, item.language).search(new) for _, _, new in texts):
        yield "name still there"
    if not _YOU[item.language].search(first.story + first.question):
        yield "nobody is you"
    if len(set(first.options)) != len(first.options):
        yield "options alike"
    if not _same_order(third.options, first.options):
        yield "options moved"
    if not all(_says_i(old, new, item) for old, new in zip(third.options, first.options, strict=True)):
        yield "option does not say I"
    yield from dict.fromkeys(_changes(texts, item))


def _changes(texts: list[tuple[str, str, str]], item: Order) -> Iterator[str]:
    """What differs apart from who is "you": words, people, verbs, and pronouns that became "you" in part."""
    became, kept = set[str](), set[str]()
    for name, old, new in texts:
        if _BROKEN.search(new) and not _BROKEN.search(old):
            yield "verb left in the third person"
        before, after = _row(old, item), _row(new, item)
        if tuple(map(_canonical, before.words)) != tuple(map(_canonical, after.words)):
            yield f"{name}: words changed"
            continue
        for place, (one, two) in enumerate(zip(before.mentions, after.mentions, strict=True)):
            if name == "option" and place == 0 and not one and two == ("I",):  # "Does not know": "I do not know"
                continue
            if len(one) != len(two) or not all(map(_fits, one, two)):
                yield f"{name}: people changed"
                continue
            became |= {was for was, now in zip(one, two, strict=True) if was not in (now, "ego")}
            kept |= set(one) & set(two)
            verb = "".join(before.words[place : place + 1])
            if one[-1:] == ("ego",) and _third_person(verb) and re.search(rf"\b(?:you|i) {verb}\b", new.lower()):
                yield "verb left in the third person"
    singular = {"masculine", "feminine"}
    if singular <= became:
        yield "two people became you"
    if singular & became & kept:
        yield "pronoun left in the third person"


def _row(text: str, item: Order) -> Row:
    plain = naming(item.ego, item.language).sub(f" {_EGO} ", text.replace("’", "'")).lower()
    plain = re.sub(r"(?<=[a-z])n't\b", " not", re.sub(r"\bcan't\b|\bcannot\b", "can not", plain))
    words: list[str] = []
    mentions: list[list[str]] = [[]]
    for piece in _PIECE.findall(plain):
        if piece == _EGO or piece in _MENTIONS:
            mentions[-1].append("ego" if piece == _EGO else _MENTIONS[piece])
        elif piece not in _GRAMMAR:
            words.append(piece)
            mentions.append([])
    return Row(tuple(words), tuple(map(tuple, mentions)))


def _fits(one: str, two: str) -> bool:
    """Whether a mention is the same person: the name has become "you" or "I", a pronoun may have."""
    return two in ("you", "I") if one == "ego" else two == one or (one not in ("you", "I") and two in ("you", "I"))


def _third_person(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us")) and word not in _NO_VERBS


def _canonical(word: str) -> str:
    """A word without the ending of the third person, and without what else differs with it."""
    if word in ("has", "have"):
        return "have"
    bare = word[:-1] if word.endswith("s") and not word.endswith(("ss", "us")) and len(word) > 2 else word
    bare = bare.removesuffix("e") if len(bare) > 2 else bare
    return f"{bare[:-1]}i" if bare.endswith("y") and len(bare) > 2 else bare


def _says_i(old: str, new: str, item: Order) -> bool:
    """Whether an option that named the person now says "I", and addresses nobody whom it did not address before."""
    if not naming(item.ego, item.language).search(old):
        return True
    you = _YOU[item.language]
    return bool(_I[item.language].search(new)) and len(you.findall(new)) <= len(you.findall(old))


def _same_order(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """Whether each option is still most similar to the original in its position: then the answer is kept too."""
    for place, option in enumerate(new):
        likeness = [SequenceMatcher(None, option, other, autojunk=False).ratio() for other in old]
        if likeness[place] < max(likeness):
            return False
    return True


class Conversion(Struct, frozen=True):
    """The builder's reply, and the names of the checks it failed; without `first` the reply was unreadable."""

    first: Wording | None
    failed: tuple[str, ...]


class Converted(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a file of conversions, as `build` writes it and the task `tombench` reads it."""

    id: str
    language: str
    ego: str
    measures: str
    story: str
    question: str
    options: tuple[str, ...]


async def convert(item: Order, session: Session) -> Conversion:
    """Asks the builder for the first-person wording and checks what it gives."""
    prompt = session.prompts.render(
        "convert",
        item.language,
        person=item.ego,
        story=item.third.story,
        question=item.third.question,
        options="\n".join(f"{number}. {option}" for number, option in enumerate(item.third.options, 1)),
        count=len(item.third.options),
    )
    schema = Schema(_schema(len(item.third.options)), name="conversion")
    reply = await session.ask("builder", [user(prompt)], schema, sampling=Sampling(temperature=0, max_tokens=2000))
    first = read_json(reply.text, Wording).value
    return Conversion(first, ("unreadable",) if first is None else tuple(failures(item, first)))


def _schema(options: int) -> dict[str, object]:
    text = {"type": "string", "minLength": 1}
    listed = {"type": "array", "items": text, "minItems": options, "maxItems": options}
    return {
        "type": "object",
        "properties": {"story": text, "question": text, "options": listed},
        "required": ["story", "question", "options"],
        "additionalProperties": False,
    }


def read_conversions(path: Path) -> dict[tuple[str, str], Converted]:
    """A file of conversions by id and language; a bad line raises an error with file and line."""
    return {(converted.id, converted.language): converted for converted in read_items(path, Converted)}


COLUMNS = (
    "id", "ego", "measures", "checks failed", "verdict", "story", "first-person story", "question",
    "first-person question", "options", "first-person options", "right option",
)  # fmt: skip
"""`verdict` is for people: yes or no. They may also correct the three first-person columns."""
ANSWER_CHANGED = "the solver's answer changed"
_NEXT_STEP = "Fill in the sheet that 'sociometer egosocial build' wrote."


class Draft(Struct, frozen=True):
    """A conversion with the order it answers."""

    order: Order
    conversion: Conversion


def orders_of(source: Source) -> Iterator[Order]:
    """The conversions to make from the official ToMBench files, in the language of the settings."""
    return orders(read_folder(source.path("tombench")), source.settings.text("language"))


def score(item: Order, outcome: Conversion) -> Score:
    """Whether a conversion passes every automatic check."""
    return Score(
        values={"passed": float(not outcome.failed)},
        facets={"measures": item.measures},
        unreadable=int(outcome.first is None),
    )


def summarise(run: RunView[Order, Conversion]) -> Summary:
    """The share that passes, and what the others failed."""
    failed = Counter(name for _, outcome, _ in run.scored() for name in outcome.failed)
    table = Table("failed", "Checks failed", ("check", "conversions"), tuple(failed.most_common()))
    return Summary(grouped_measures(run, "passed", by=["measures"]), (table,))


def drafts_of(run: RunView[Order, Conversion]) -> list[Draft]:
    """The conversions of a run, in order."""
    return [Draft(order, conversion) for order, conversion, _ in run.scored()]


def review_sheet(drafts: Iterable[Draft]) -> str:
    """The review sheet: what people need to see, with a column for their verdict."""
    rows = []
    for draft in drafts:
        order, first = draft.order, draft.conversion.first or Wording("", "", ())
        rows.append(
            (
                order.id,
                order.ego,
                order.measures,
                "; ".join(draft.conversion.failed),
                "",
                order.third.story,
                first.story,
                order.third.question,
                first.question,
                "\n".join(order.third.options),
                "\n".join(first.options),
                order.answer + 1,
            )
        )
    return write_sheet(COLUMNS, rows, guard_formulas=True)


def both_tellings(drafts: Iterable[Draft]) -> Iterator[Scene]:
    """Both versions of each conversion that passed every check, for a solver to answer."""
    for draft in drafts:
        order, first = draft.order, draft.conversion.first
        if first is not None and not draft.conversion.failed:
            third = order.third
            tellings = (
                Telling("third", third.story, third.question, third.options, order.answer),
                Telling("first", first.story, first.question, first.options, order.answer),
            )
            facets = {"measures": order.measures}
            yield Scene(
                id=order.id,
                cluster=order.cluster,
                tellings=tellings,
                facets=facets,
                language=order.language,
                ego=order.ego,
            )


def changed_answer(outcome: Picks) -> bool:
    """Whether the solver gave the two versions different answers; an unreadable reply decides nothing."""
    third, first = outcome.of("third"), outcome.of("first")
    if third is None or first is None or third.picked is None or first.picked is None:
        return False
    return third.picked != first.picked


def score_solved(item: Scene, outcome: Picks) -> Score:
    """Whether the solver's answer is the same for both versions; an unreadable reply is not the same answer."""
    unread = sum(pick.picked is None for pick in outcome.picks)
    same = not unread and not changed_answer(outcome)
    return Score(values={"same_answer": float(same)}, facets=item.facets, unreadable=unread)


def summarise_solved(run: RunView[Scene, Picks]) -> Summary:
    """The share of conversions that keep the solver's answer."""
    return Summary(grouped_measures(run, "same_answer", by=["measures"]))


def with_findings(drafts: Iterable[Draft], solved: RunView[Scene, Picks]) -> list[Draft]:
    """The drafts, with a finding on each whose conversion changed the solver's answer."""
    changed = {item.id for item, outcome, _ in solved.scored() if changed_answer(outcome)}
    return [
        Draft(draft.order, structs.replace(draft.conversion, failed=(*draft.conversion.failed, ANSWER_CHANGED)))
        if draft.order.id in changed
        else draft
        for draft in drafts
    ]


class Verdict(Struct, frozen=True):
    """A person's verdict on one conversion: accepted or not, with the wording in the sheet at that time."""

    accepted: bool
    first: Wording


def read_sheet(path: Path) -> dict[str, Verdict]:
    """The verdicts of a filled-in review sheet; rows without a verdict are left out."""
    verdicts: dict[str, Verdict] = {}
    for number, row in read_rows(path, COLUMNS, next_step=_NEXT_STEP, guarded=True):
        said = row["verdict"].strip().lower()
        if not said:
            continue
        if said not in ("yes", "no"):
            raise DataError(f"verdict {said!r}; allowed: yes, no, or empty", path, number)
        options = tuple(option for option in row["first-person options"].splitlines() if option.strip())
        # line ends as a model reads them, whatever the spreadsheet saved
        story, question = ("\n".join(row[f"first-person {part}"].splitlines()) for part in ("story", "question"))
        wording = Wording(story.strip(), question.strip(), options)
        verdicts[row["id"]] = Verdict(said == "yes", wording)
    return verdicts


def accepted(drafts: Iterable[Draft], verdicts: dict[str, Verdict]) -> Iterator[Converted]:
    """The usable conversions: those that people accepted, otherwise those that passed every check.

    A person may overrule a check, but the conversion must be playable: the number of options must stay the same.
    """
    for draft in drafts:
        order = draft.order
        verdict = verdicts.get(order.id)
        first = verdict.first if verdict is not None else draft.conversion.first
        usable = verdict.accepted if verdict is not None else not draft.conversion.failed
        if not usable or first is None or "number of options" in failures(order, first):
            continue
        yield Converted(order.id, order.language, order.ego, order.measures, first.story, first.question, first.options)
