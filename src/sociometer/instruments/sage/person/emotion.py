"""The emotion protocol: hidden intentions, how a feeling changes, when a dialogue ends, and leaks."""

import re
from typing import Literal, get_args

from msgspec import Struct

from sociometer.core.errors import DataError

FAREWELLS = ("再见", "拜拜")
_SENTENCE = re.compile(r"[^.!?。！？…~～\n]+")
_FAREWELL = re.compile(
    r"(?:^|[,;:—–]|\b(?:and|so|then|well|ok|okay|now))\s*(?:good[- ]?bye|bye(?:[- ]bye)?|farewell)\b"
    rf"|(?<![说道声句过“])(?:{'|'.join(FAREWELLS)})",
    re.IGNORECASE,
)
"""A word of farewell that begins a clause; one that somebody says ("to say goodbye", "没说再见") is a report."""
_CLOSING_SENTENCES = 2
_LONGEST_CLOSING = 4_000


def says_farewell(words: str) -> bool:
    """Whether the person says goodbye in the closing sentences.

    Of longer sentences the last 4,000 characters are searched.
    """
    sentences = [sentence.strip(' "“') for sentence in _SENTENCE.findall(words[-_LONGEST_CLOSING:])]
    return any(_FAREWELL.search(sentence) for sentence in [each for each in sentences if each][-_CLOSING_SENTENCES:])


Band = Literal["S", "A", "B", "C", "F"]
Ending = Literal["soothed", "lost", "farewell", "turns"]
Direction = Literal["up", "same", "down"]

_BANDS: tuple[tuple[int, Band], ...] = ((100, "S"), (70, "A"), (40, "B"), (10, "C"))


class Protocol(Struct, frozen=True):
    """The constants of a dialogue; the defaults are the authors'."""

    start: int = 40
    largest_change: int = 10
    cap: int = 100
    lost_below: int = 10
    turns: int = 10
    judge_last: bool = False
    """Whether the last reply is judged too; in the authors' protocol it never is."""
    any_farewell: bool = False
    """Whether a word of farewell ends the dialogue wherever it is, as in the authors' code."""

    def update(self, before: int, change: int) -> int:
        """The emotion after a change: the change clamped, the emotion kept between 0 and the cap."""
        return max(0, min(self.cap, before + self.clamp(change)))

    def clamp(self, change: int) -> int:
        """The change that counts."""
        return max(-self.largest_change, min(self.largest_change, change))

    def judges(self, turn: int) -> bool:
        """Whether the reply of this turn (counted from 1) is judged."""
        return turn < self.turns or self.judge_last

    def ending(self, emotion: int, turn: int, words: str = "") -> Ending | None:
        """The ending of the dialogue after this turn, or None if it continues."""
        if emotion >= self.cap:
            return "soothed"
        if emotion < self.lost_below:
            return "lost"
        if any(word in words for word in FAREWELLS) if self.any_farewell else says_farewell(words):
            return "farewell"
        return "turns" if turn >= self.turns else None


def band(emotion: int) -> Band:
    """The band of an emotion: S from 100, A from 70, B from 40, C from 10, F below."""
    return next((name for least, name in _BANDS if emotion >= least), "F")


def direction(change: int) -> Direction:
    """The direction of an emotion change."""
    return "up" if change > 0 else "down" if change < 0 else "same"


_REFUSAL = re.compile(
    r"^\W*(?:I['’]m (?:really |very |so )?sorry|I apologi[sz]e|Sorry)\b[^.!?]{0,20}\bI\s*"
    r"(?:can['’]?t|cannot|won['’]t|(?:am|['’]m) unable to)\s+(?:be able to )?"
    r"(?:assist|help (?:you )?with (?:this|that)|comply|fulfil|continue with|engage|role-?play|generate|provide)"
    r"|^\W*(?:很?抱歉|对不起)[，,。 ]*我?(?:无法|不能)(?:协助|满足|提供|回答|继续|扮演|处理|完成)",
    re.IGNORECASE,
)


def is_refusal(words: str) -> bool:
    """Whether a model refuses to answer in place of the person's words."""
    return bool(_REFUSAL.search(words))


_MACHINERY = re.compile(
    r"hidden (?:intention|goal|theme|motive|agenda)|emotion (?:score|points?|value|level)s?\b"
    r"|(?<![A-Za-z])NPC(?![A-Za-z])"
    r"|\b(?:my|the|this) (?:persona|character sheet|scenario|script says)\b|\bsimulat(?:ed|ion|or)\b|\brole-?play"
    r'|"change"\s*:|Emotion-[SABCF]\b'
    r"|隐藏(?:主题|意图|目的|目标)|情绪(?:值|分数|得分)|角色设定|人物设定|我是(?:被)?(?:模拟|扮演)",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"\b(?:I(?:'d| would| just| only)* (?:want|need|wish|like|hope)|(?:can|could|would|will) you|tell me|help me)\b"
    r"|我(?:只|就|更|还)*(?:是)?(?:想|需要|希望|盼)|你?能不能|你?可不可以|帮我",
    re.IGNORECASE,
)
_NAMED = {
    "balance": r"both sides|all sides|pros and cons|weigh (?:it|this|things)|辩证|两方面|正反|客观(?:地)?分析",
    "advice": r"advice|what (?:to|should I) do|steps|a (?:real )?solution|办法|建议|解决|怎么做",
    "motives": r"why (?:he|she|they|would|did)|reasons? (?:behind|for)|(?:his|her) motives?|原因|为什么|为啥|动机",
    "growth": r"my (?:own )?part|learn about myself|grow\b|反思|成长|我自己的问题",
    "praise": r"praise|tell me I did|proud of me|well done|夸|表扬|肯定我|认可我",
    "listening": r"just listen|hear me out|let it (?:all )?out|vent\b|听我说|倾听|倒(?:倒)?苦水|发泄|倾诉",
    "empathy": r"(?:feel|understand) (?:what|how) (?:I|it)|feel with me|共情|(?:理解|懂|体会)我的?(?:感受|心情)",
    "blameless": r"not (?:my fault|to blame)|did nothing wrong|没(?:有)?(?:做)?错|不怪我|不是我的错",
}
_PLEAS = {intention: re.compile(pattern, re.IGNORECASE) for intention, pattern in _NAMED.items()}
_LEAK_CLAUSE = re.compile(r"[^.!?。！？\n]+")
_LEAK_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_WORDS_IN_A_ROW = 5
_CHARACTERS_IN_A_ROW = 8
_LONGEST_UTTERANCE = 10_000


def find_leak(words: str, hidden: str, intention: str) -> str:
    """The most serious leak in an utterance, or an empty string.

    `machinery`: the person speaks of their own script. `wording`: they quote the hidden intention. `plea`: they ask
    outright for what they should keep to themselves; real people do that too, and it makes the subject's task
    easier.
    Of a longer utterance the first 10,000 characters are searched.
    """
    words = words[:_LONGEST_UTTERANCE]
    if _MACHINERY.search(words):
        return "machinery"
    if _quotes(words, hidden):
        return "wording"
    named = _PLEAS.get(intention)
    if named and any(_WISH.search(part) and named.search(part) for part in _LEAK_CLAUSE.findall(words)):
        return "plea"
    return ""


def _quotes(words: str, hidden: str) -> bool:
    if _HAN.search(hidden):
        return _shares_run(_HAN.findall(words), _HAN.findall(hidden), _CHARACTERS_IN_A_ROW)
    return _shares_run(_lower_words(words), _lower_words(hidden), _WORDS_IN_A_ROW)


def _lower_words(text: str) -> list[str]:
    return [word.lower() for word in _LEAK_WORD.findall(text)]


def _shares_run(said: list[str], kept: list[str], length: int) -> bool:
    runs = {tuple(kept[start : start + length]) for start in range(len(kept) - length + 1)}
    return any(tuple(said[start : start + length]) in runs for start in range(len(said) - length + 1))


Intention = Literal["balance", "advice", "motives", "growth", "praise", "listening", "empathy", "blameless"]
INTENTIONS: tuple[Intention, ...] = get_args(Intention)


class IntentionCard(Struct, frozen=True):
    """An intention's short name, its meaning in our words, and the mark by which an official task is known."""

    key: Intention
    title: str
    english: str
    chinese: str
    mark: str

    def sentence(self, language: str) -> str:
        """The intention as the person's wish, in a language and in the third person, like the rest of a profile."""
        return self.chinese if language == "zh" else self.english


CARDS: dict[Intention, IntentionCard] = {
    card.key: card
    for card in (
        IntentionCard(
            "balance", "Both sides weighed", "They would like the matter weighed fairly from all sides.",
            "盼着有人把事情的几面都摆出来，公道地掂量。", "辩证",
        ),
        IntentionCard(
            "advice", "Workable advice", "They are after advice that would work in their own situation.",
            "想要放到自己身上真能用的办法。", "建议",
        ),
        IntentionCard(
            "motives", "Why they did it", "They want to find out what moved the others to act that way.",
            "想弄明白别人当时究竟为什么那样做。", "其他人",
        ),
        IntentionCard(
            "growth", "Self-reflection", "They want to be led to look at their own part, and to grow by it.",
            "愿意被人引着回头看看自己，从中长进一点。", "反思",
        ),
        IntentionCard(
            "praise", "Sincere praise", "They long for honest praise of particular things that they did.",
            "盼着自己做过的一件件事被看见，被真心称赞。", "夸",
        ),
        IntentionCard(
            "listening", "Being listened to", "They want to let it all out to someone whose mind is wholly on them.",
            "想把心里的话倒个干净，对方只管用心听。", "倾听",
        ),
        IntentionCard(
            "empathy", "Empathy", "They want somebody to feel from inside what they feel; soothing is not it.",
            "要的是有人真正体会到自己的滋味，几句宽心话不够。", "共情",
        ),
        IntentionCard(
            "blameless", "Not to blame", "They hold themselves free of blame and want the other to say so too.",
            "觉得这事一点都不怪自己，也想听对方这样说。", "没有错",
        ),
    )
}  # fmt: skip


def intention_of_task(task: str) -> Intention:
    """The intention that an official `task` sentence states, known by its one telling word."""
    found = [card.key for card in CARDS.values() if card.mark in task]
    if len(found) != 1:
        marks = ", ".join(card.mark for card in CARDS.values())
        raise DataError(f"task '{task}' states {len(found)} of the eight hidden intentions; told apart by: {marks}")
    return found[0]
