"""Leaks: utterances in which the person reveals the hidden intention, or that they are simulated."""

import re

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
_CLAUSE = re.compile(r"[^.!?。！？\n]+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
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
    if named and any(_WISH.search(part) and named.search(part) for part in _CLAUSE.findall(words)):
        return "plea"
    return ""


def _quotes(words: str, hidden: str) -> bool:
    if _HAN.search(hidden):
        return _shares_run(_HAN.findall(words), _HAN.findall(hidden), _CHARACTERS_IN_A_ROW)
    return _shares_run(_lower_words(words), _lower_words(hidden), _WORDS_IN_A_ROW)


def _lower_words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _shares_run(said: list[str], kept: list[str], length: int) -> bool:
    runs = {tuple(kept[start : start + length]) for start in range(len(kept) - length + 1)}
    return any(tuple(said[start : start + length]) in runs for start in range(len(said) - length + 1))
