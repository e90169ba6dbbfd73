"""ToMBench's released files -> typed questions in both languages, with every irregularity corrected."""

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.core.task import Item
from sociometer.instruments.egosocial.stories.pairs import measured_by

LETTERS = "ABCD"
ABILITIES = ("desire", "emotion", "intention", "belief", "knowledge", "non-literal communication")
_ABILITY = re.compile(r"([A-Z][A-Za-z-]*(?: [Cc]ommunication)?): (.+?)(?= [A-Z][a-z]+: |$)")
_LONGEST_ABILITY = 1_000
_PREFIX = re.compile(r"^([A-D])\s*[.:：．、)）]\s*")


class Wording(Struct, frozen=True):
    """A question in one language."""

    story: str
    question: str
    options: tuple[str, ...]


class TomBenchQuestion(Struct, frozen=True):
    """One released question."""

    id: str
    cluster: str
    test: str
    ability: str
    aspects: tuple[str, ...]
    english: Wording
    chinese: Wording
    answer: int

    def wording(self, language: str) -> Wording:
        """The question in English (`en`) or Chinese (`zh`)."""
        return self.chinese if language == "zh" else self.english


def read_folder(folder: Path) -> Iterator[TomBenchQuestion]:
    """All questions of the 20 released files, by file name and line."""
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise DataError("no *.jsonl file here; ToMBench has 20, one per test", folder)
    for path in files:
        yield from read_file(path)


def read_file(path: Path) -> Iterator[TomBenchQuestion]:
    """The questions of one file; a bad line raises an error with file and line."""
    slug = re.sub(r"[^a-z]+", "-", path.stem.lower()).strip("-")
    stories: dict[str, int] = {}
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _read_line(line, path, number, slug, stories)
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 text: {error.reason}", path) from None


def _read_line(line: str, path: Path, number: int, slug: str, stories: dict[str, int]) -> TomBenchQuestion:
    try:
        row: Any = json.loads(line, parse_constant=lambda constant: None)  # some lines have a bare NaN
    except (json.JSONDecodeError, RecursionError) as error:
        raise DataError(f"not JSON: {error}", path, number) from None
    if not isinstance(row, dict):
        raise DataError(f"expected an object, found {type(row).__name__}", path, number)
    ability, aspects = _abilities(_text(row, "能力\nABILITY", path, number), path, number)
    english = _wording(row, ("STORY", "QUESTION", "OPTION-"), path, number)
    chinese = _wording(row, ("故事", "问题", "选项"), path, number)
    letter = _text(row, "答案\nANSWER", path, number)
    answer = LETTERS.find(letter.rstrip(". ")) if len(letter.rstrip(". ")) == 1 else -1
    if not 0 <= answer < min(len(english.options), len(chinese.options)):
        raise DataError(f"answer {letter!r} is not among the options", path, number)
    story = stories.setdefault(english.story, len(stories))
    return TomBenchQuestion(
        id=f"tombench-{slug}-{number:03d}",
        cluster=f"tombench-{slug}-story-{story:03d}",
        test=path.stem,
        ability=ability,
        aspects=aspects,
        english=english,
        chinese=chinese,
        answer=answer,
    )


def _text(row: dict[str, Any], key: str, path: Path, number: int) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{key!r} is {value!r}; expected text", path, number)
    return value.strip()


def _abilities(text: str, path: Path, number: int) -> tuple[str, tuple[str, ...]]:
    found = _ABILITY.findall(text) if len(text) <= _LONGEST_ABILITY else []
    ability = found[0][0].lower() if found else ""
    if ability not in ABILITIES:
        raise DataError(f"unknown ability {text[:80]!r}; known: {', '.join(ABILITIES)}", path, number)
    return ability, tuple(aspect.strip().lower() for _, aspect in found)


def _wording(row: dict[str, Any], keys: tuple[str, str, str], path: Path, number: int) -> Wording:
    story, question, prefix = keys
    raw = [row.get(f"{prefix}{letter}") for letter in LETTERS]
    given = [str(option).strip() for option in raw if isinstance(option, str) and option.strip()]
    if len(given) not in (2, 4) or any(isinstance(option, str) for option in raw[len(given) :]):
        raise DataError(f"{len(given)} options under {prefix!r}; expected the first two or all four", path, number)
    matches = [_PREFIX.match(option) for option in given]
    if all(m is not None and m[1] == letter for m, letter in zip(matches, LETTERS, strict=False)):
        given = [_PREFIX.sub("", option) for option in given]
    return Wording(_text(row, story, path, number), _text(row, question, path, number), tuple(given))


_ENGLISH_NAME = re.compile(r"\b(?:(?:Mr|Mrs|Ms|Dr)\. )?[A-Z][a-z]+(?: [A-Z][a-z]+)*")
_DATA = Path(__file__).parents[1] / "data"
SURNAMES = (
    "李王张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石"
    "廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤小阿老"
)
_NO_NAME_ENDS = "和的对是在说把给与跟也都不很要会想去到看知向为让被从并"
_LATIN_NAME = re.compile(r"[A-Z][a-z]+")
_ASKED_OF = re.compile(
    r"^(?:当|请问|你觉得|你认为|为什么|在)?([\u4e00-\u9fff]{2,4}?)"
    r"(?=的(?:真实|行为|心情|感受|情绪|意图)|要|会|想|为什么|怎么|准备|认为|觉得|知道|接下来|应该|可能|最|说|感到|看起来|心情|本应|返回|打开|听见|真实|表面|将|对|期望)"
)
_MIND = re.compile(r"\b(?:think|believe|know|guess|expect|feel)s? (?:that |how |where |what |why |whether )?(?:the )?$")
_MIND_CHINESE = re.compile(r"(?:认为|觉得|以为|知道|相信|猜测?|预计)$")
_OPENING = re.compile(
    r"(?:After|Before|When|While|Once|As|If|Upon|Since|During|Following|Seeing|Hearing|Facing|At|In|On|With)\b"
    r"[^,?]*,\s*(?=(?:\w+ )?(?:what|where|when|who|whose|why|how|which|do|does|did|is|are|was|will|would|can|could)\b)",
    re.IGNORECASE,
)
_OPENING_CHINESE = re.compile(
    r"(?![^，,？?]*(?:为什么|为何|怎么|什么|谁|哪|多少|几))"
    r"(?:[^，,？?]*(?:后|前|时|时候|的话)|(?:请问)?(?:在|当|面对|看到|听到|得知|对于|如果)[^，,？?]*)[，,]\s*"
)


@cache
def _not_names(language: str) -> frozenset[str]:
    """Words that look like names but are none."""
    return frozenset((_DATA / f"not_names.{language}.txt").read_text(encoding="utf-8").split())


class Role(Struct, frozen=True):
    """Who becomes "you" (empty if the rule finds nobody), how many minds are nested, and what is measured."""

    ego: str
    order: int
    measures: str
    others: tuple[str, ...]


def names_in(text: str, language: str) -> tuple[str, ...]:
    """The names of people in a text, in order of appearance."""
    return _chinese_names(text) if language == "zh" else _english_names(text)


def _english_names(text: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for match in _ENGLISH_NAME.finditer(text):
        words = match[0].split()
        names = [place for place, word in enumerate(words) if word not in _not_names("en")]
        if names:
            found.setdefault(" ".join(words[names[0] : names[-1] + 1]))
    first_spelling: dict[str, str] = {}
    for name in found:
        first_spelling.setdefault(name.replace(" ", "").lower(), name)
    return tuple(first_spelling.values())


def _chinese_names(text: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    times = cache(text.count)
    for match in re.finditer(rf"[{SURNAMES}](?=([\u4e00-\u9fff]{{1,2}}))", text):
        short, long = match[0] + match[1][0], match[0] + match[1]
        # The third character is part of the name only if the first two always come with it.
        whole = len(long) == 3 and long[2] not in _NO_NAME_ENDS and times(long) == times(short) > 1
        name = long if whole else short
        if times(name) > 1 and not {name, short} & _not_names("zh"):
            found.setdefault(name)
    return tuple(found)


def role_of(question: TomBenchQuestion, language: str) -> Role:
    """The rule: "you" is the first person of the story whom the question names, in its main clause if that names one.

    So "After Xiaoming returns, where does Xiaogang look?" asks Xiaogang. The question is of a higher order if the
    release calls it a second-order belief, or if a verb of the mind runs from "you" straight to another person; then
    it measures theory of mind, otherwise socialization.
    """
    words = question.wording(language)
    main = main_clause(words.question, language)
    if language == "zh":
        known = names_in(words.story + words.question, language)
        people = (
            tuple(dict.fromkeys((*known, *_asked_of(main, words)))) if not known or main != words.question else known
        )
    else:
        people = names_in(words.story, language)
    for asked in (main, words.question):
        named = sorted((position, name) for name in people if (position := _position(asked, name, language)) >= 0)
        if named:
            ego = named[0][1]
            others = tuple(name for name in people if name != ego)
            order = 2 if "second-order beliefs" in question.aspects or _nested(asked, ego, others, language) else 1
            return Role(ego, order, measured_by(order), others)
    return Role("", 0, "", people)


def main_clause(question: str, language: str) -> str:
    """A question without the clause that only says when or on what condition it is asked."""
    opening = (_OPENING_CHINESE if language == "zh" else _OPENING).match(question)
    return question[opening.end() :] if opening else question


def _asked_of(asked: str, words: Wording) -> tuple[str, ...]:
    """Chinese names without a known surname: whom the question opens with, if the story tells of them too."""
    found = [match[1] for text in (asked, words.question) if (match := _ASKED_OF.match(text))]
    found += _LATIN_NAME.findall(words.question)
    return tuple(
        name for name in found if name in words.story and name not in _not_names("zh") and name[0] not in "他她它这那"
    )


def naming(name: str, language: str) -> re.Pattern[str]:
    """What finds a name in a text; an English one in either spelling, "Xiao Ming" or "Xiaoming", of the release."""
    if language == "zh":
        return re.compile(re.escape(name))
    short = re.fullmatch(r"(Xiao|Lao) ?([A-Za-z][a-z]*)", name)
    spelling = rf"{short[1]} ?[{short[2][0].upper()}{short[2][0].lower()}]{short[2][1:]}" if short else re.escape(name)
    return re.compile(rf"\b{spelling}\b")


def _position(text: str, name: str, language: str) -> int:
    match = naming(name, language).search(text)
    return match.start() if match else -1


def _nested(asked: str, ego: str, others: tuple[str, ...], language: str) -> bool:
    """Whether, after "you" are named, a verb of the mind runs straight into somebody else: "thinks that Li Lei …"."""
    verb = _MIND_CHINESE if language == "zh" else _MIND
    named = naming(ego, language).search(asked)
    after = asked[named.end() :] if named else asked
    places = ((name, _position(after, name, language)) for name in others)
    return any(position >= 0 and verb.search(after[:position]) for _, position in places)


class Order(Item, frozen=True, kw_only=True):
    """One conversion to make: the released question, and who becomes "you"."""

    language: str
    ego: str
    order: int
    measures: str
    others: tuple[str, ...]
    third: Wording
    answer: int


def orders(questions: Iterable[TomBenchQuestion], language: str) -> Iterator[Order]:
    """The conversions to make: every question that names somebody of its story."""
    for question in questions:
        role = role_of(question, language)
        if role.ego:
            yield Order(
                id=question.id,
                cluster=question.cluster,
                language=language,
                ego=role.ego,
                order=role.order,
                measures=role.measures,
                others=role.others,
                third=question.wording(language),
                answer=question.answer,
            )
