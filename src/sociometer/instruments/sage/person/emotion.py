"""The emotion protocol: hidden intentions, how a feeling changes, when a dialogue ends, and leaks."""

import re
from typing import Literal, get_args

from msgspec import Struct

from sociometer.core.errors import DataError

FAREWELLS = ("再见", "拜拜")
_WORD = re.compile(rf"\b(?:good[- ]?bye|bye(?:[- ]bye)?|farewell)\b|{'|'.join(FAREWELLS)}", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.!?。！？…~～\n]+[.!?。！？…~～\n]*")
_CLAUSE = re.compile(r"[,;:，；：、—–]")
_CLOSING_SENTENCES = 2
_LONGEST_CLOSING = 4_000

# A thing that was had or given: "a long goodbye", "my brother's farewell", "his farewell speech".
_A_THING = re.compile(
    r"(?:\b(?:an?|the|his|her|their|my|our|your|its|no|that|this|any|every|another|one|last|first|final)|['’]s)"
    r"(?:\s+(?:very|so|last|first|final|long|short|quick|brief|proper|real|sad|hard|quiet|silent|tearful|little|big))*"
    r"\s*$",
    re.IGNORECASE,
)
_OF_A_THING = re.compile(
    r"^\s+(?:evening|party|dinner|lunch|drinks|card|letter|note|speech|song|concert|cake|gift|present|hug|kiss|wave)\b",
    re.IGNORECASE,
)
_OPENING_QUOTES = ('"', "“", "‘", "「", "『")
# Something that was said or done, or is not: "he said goodbye", "never got to say goodbye", "没说再见".
_DEED = re.compile(
    r"\b(?:say|says|said|saying|wave[ds]?|waving|kiss(?:ed)?"
    r"|(?:bid|bidding|bade|wish|wished)\s+(?!you\b)\w+)\s*$|[说道](?:一?[声句]|过)?$",
    re.IGNORECASE,
)
# The same said by the speaker of the moment: "I'll say goodbye", "let me say goodbye", "那我先跟你说再见".
_NOW = re.compile(
    r"(?:\b(?:I|we)(?:\s+(?:really|just|only|also))*(?:['’]ll|\s+will|\s+shall|\s+should|\s+must|\s+can|\s+may|\s+might|['’]d\s+better|\s+had\s+better"
    r"|(?:['’]ll|\s+will)?\s+(?:have|need|want)\s+to|['’]ve\s+got\s+to|['’]d\s+like\s+to|\s+would\s+like\s+to"
    r"|(?:['’]m|\s+am|['’]re|\s+are)\s+going\s+to)?(?:\s+(?:just|now|then|only|also|simply|better))*\s+say"
    r"|\b(?:I['’]m|I\s+am)\s+saying|\blet\s+me(?:\s+just)?\s+say|\btime\s+(?:for\s+me\s+)?to\s+say)\s*$"
    r"|(?:我们?|咱们?|该|得|是时候|到时候)(?:就|先|也|该|要|得|想|只好|只能|还是|这就|现在|还)*"
    r"(?:[跟和对向](?:你们?|您|大家))?[说道](?:一?[声句])?$",
    re.IGNORECASE,
)
_UNDER_A_CONDITION = re.compile(
    r"\b(?:if|when(?:ever)?|before|after|until|once|unless|how|why|where|whether|every\s+time|each\s+time|always)\b"
    r"|如果|要是|每次|每当|怎么|为什么|之前|以前|那天|当时|那时",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"^\s+to\s+(?!you\b)|^\s+(?:to\s+you\s+)?(?:tomorrow|some\s?day|one\s+day|next|on|in|at|every|each)\b|[?？]\s*$",
    re.IGNORECASE,
)


def says_farewell(words: str) -> bool:
    """Whether the person says goodbye: a word of farewell in the closing sentences that is not only reported.

    Of longer sentences the last 4,000 characters are searched.
    """
    sentences = [sentence for sentence in _SENTENCE.findall(words[-_LONGEST_CLOSING:]) if sentence.strip()]
    return any(
        not _told_of(sentence[: match.start()], sentence[match.end() :])
        for sentence in sentences[-_CLOSING_SENTENCES:]
        for match in _WORD.finditer(sentence)
    )


def _told_of(before: str, after: str) -> bool:
    """Whether a word of farewell, judged by the words around it, only reports a goodbye."""
    clause, said = _CLAUSE.split(before)[-1], before.strip()
    quoted = len(said) > 1 and said.endswith(_OPENING_QUOTES)
    if _A_THING.search(clause) or _OF_A_THING.search(after) or quoted:
        return True
    if not _DEED.search(clause):
        return False
    here_and_now = _NOW.search(clause) and not _UNDER_A_CONDITION.search(clause) and not _ELSEWHERE.search(after)
    return not here_and_now


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
