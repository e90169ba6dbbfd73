"""Replies as plain text: without reasoning, emphasis and full-width signs, so that rules meet one spelling."""

import re
import unicodedata
from functools import lru_cache

_HALF = 10_000
"""An answer appears near the beginning or the end; the middle of a longer reply is not read."""
_THINK = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_LATEX_WRAP = re.compile(r"\\(?:text|textbf|mathbf|mathrm|mathit|bold)\s{0,9}\{([^{}]*)\}")
_CIRCLED = {chr(first + step): f" ({step + 1}) " for first in (0x2460, 0x2474, 0x2776) for step in range(10)}
_MARKS = {"“": '"', "”": '"', "‘": "'", "’": "'", "「": '"', "」": '"', "『": '"', "』": '"', "【": "[", "】": "]"}
_MINUS = {"−": "-", "﹣": "-", "－": "-"}
SIGN = re.compile(r"(?<![^\s:：=(\[{|,;\"'])[‐‑‒–—―−﹣－](?=\d)")
"""A dash used as a minus sign: directly before a number and not after a word."""
_FRACTION = re.compile(r"(?:(?<!\d)(\d{1,6})\s?)?([¼-¾⅐-⅞↉])")
_STRUCK = re.compile(r"~~(?=\S)[^~\n]{1,200}~~")
_RAISED = re.compile(r"(?<=\d)[²³¹⁰-⁹₀-₉]")
_TABLE = str.maketrans({**_CIRCLED, **_MARKS, **_MINUS, "*": "", "`": "", "\u200b": "", "\ufeff": ""})
_SPACES = re.compile(r"[^\S\n]+")
_NOT_WORDS = re.compile(r"[\W_]+")


def without_thinking(text: str) -> str:
    """Return the text without the content of reasoning tags; a tag that is never closed reaches to the end."""
    kept: list[str] = []
    at, inside = 0, False
    for match in _THINK.finditer(text):
        if match[1] and not inside:
            kept.clear()  # the opening tag was cut off or never written
        elif not inside:
            kept.append(text[at : match.start()])
        inside = not match[1]
        at = match.end()
    return "\n".join([*kept, "" if inside else text[at:]])


def last_part(text: str) -> str:
    """Return what a reply says after its reasoning; of a very long one, only the two ends."""
    return _ends(without_thinking(text))


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _HALF else text[:_HALF] + "\n\n" + text[-_HALF:]


def plain(text: str) -> str:
    """Return the text in half-width letters without emphasis, struck-out words and surplus spaces."""
    text = _STRUCK.sub("", text)
    if not text.isascii():
        text = _RAISED.sub(r"^\g<0>", SIGN.sub("-", text))
        text = _FRACTION.sub(lambda one: f"{int(one[1] or 0) + unicodedata.numeric(one[2]):.6g}", text)  # 2½ is 2.5
        text = _ends(unicodedata.normalize("NFKC", text.translate(_TABLE)))  # some signs become eighteen letters
        text = "".join(mark for mark in text if mark in "\n\t" or unicodedata.category(mark)[0] != "C")
    else:
        text = text.translate(_TABLE)
    text = _LATEX_WRAP.sub(r"\1", text).replace("$", "")
    return "\n".join(_SPACES.sub(" ", line).strip() for line in text.split("\n")).strip()


@lru_cache(maxsize=4096)
def squeeze(text: str) -> str:
    """Return the text in lower case with runs of spaces and punctuation made one space."""
    return _NOT_WORDS.sub(" ", plain(text).casefold()).strip()
