"""Whether somebody says goodbye, or only reports a goodbye. Pure."""

import re

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
    return any(_takes_leave(sentence) for sentence in sentences[-_CLOSING_SENTENCES:])


def _takes_leave(sentence: str) -> bool:
    return any(not _told_of(sentence[: match.start()], sentence[match.end() :]) for match in _WORD.finditer(sentence))


def _told_of(before: str, after: str) -> bool:
    """Whether a word of farewell, judged by the words around it, only reports a goodbye."""
    clause = _CLAUSE.split(before)[-1]
    if _A_THING.search(clause) or _OF_A_THING.search(after) or _is_quoted(before):
        return True
    if not _DEED.search(clause):
        return False
    here_and_now = _NOW.search(clause) and not _UNDER_A_CONDITION.search(clause) and not _ELSEWHERE.search(after)
    return not here_and_now


def _is_quoted(before: str) -> bool:
    """Whether words end with an opening quotation mark that is not their first character."""
    said = before.strip()
    return len(said) > 1 and said.endswith(_OPENING_QUOTES)
