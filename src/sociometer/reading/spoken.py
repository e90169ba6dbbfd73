"""The part of a reply that answers: without reasoning, without the next question that a model asks itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sociometer.reading.normal import plain, tidy

__all__ = ["spoken"]

_HALF = 10_000  # an answer appears near the beginning or the end; the middle of a longer reply is not read
_THINK = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THINK_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_NEXT_QUESTION = re.compile(
    r"\n(?:#+ ?)?(?:(?:question|user|human|q) ?\d* ?:|(?:问题|題目|题目)(?: ?\d+)? ?:|(?:next question|下一题)\b)",
    re.IGNORECASE,
)
_ANSWERED = re.compile(r"\b(?:answer|choice)(?: is)? ?:|答案 ?(?:是|为)?:|^[\W_]*+\w{1,2}[\W_]*+$", re.IGNORECASE)
_TAKEN_BACK = re.compile(
    r"\b(?:wait|actually|correction|reconsider\w*|sorry|oops|no,)|等等|更正|不对|改", re.IGNORECASE
)


def spoken(text: str, options: Sequence[str], labels: Sequence[str]) -> str:
    """Return the plain text of the reply's own answer; of an absurdly long one, only the two ends."""
    text = _ends(tidy(plain(_ends(_without_reasoning(text)))))
    following = _NEXT_QUESTION.search(text)
    if following and text[: following.start()].strip():
        text = text[: following.start()]
    return _before_other_options(text, options, labels)


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _HALF else text[:_HALF] + "\n\n" + text[-_HALF:]


def _without_reasoning(text: str) -> str:
    closings = list(_THINK_END.finditer(text))
    closed = closings[-1] if closings else None
    opened = _THINK.search(text)
    if closed:
        head = text[: opened.start()] if opened and opened.start() < closed.start() else ""
        text = head + "\n" + text[closed.end() :]
        opened = _THINK.search(text)
    return text[: opened.start()] if opened else text


def _first_answer(lines: Sequence[str], heads: Sequence[tuple[str, ...]], known: Sequence[str]) -> int | None:
    """The line of the first answer: a marked one, a label alone, or one option alone in the first line."""
    first = lines[0].strip()
    if len(lines) > 2 and not lines[1].strip():
        for head, option in zip(heads, known, strict=True):
            if first.startswith(head) and first[2:].strip()[:20] == option:
                return 0
    return next((at for at, line in enumerate(lines) if _ANSWERED.search(line)), None)


def _before_other_options(text: str, options: Sequence[str], labels: Sequence[str]) -> str:
    """Cut the reply where, after an answer, it lists other options and answers those too."""
    lines = text.split("\n")
    heads = [tuple(f"{plain(label).strip('()[]. ')}{stop}" for stop in ".):") for label in labels]
    known = [plain(option)[:20] for option in options]
    answered = _first_answer(lines, heads, known)
    if answered is None:
        return text
    for at in range(answered + 1, len(lines) - 1):
        listed = all(lines[at + step].startswith(heads[step]) for step in (0, 1))
        asked = any(line.rstrip().endswith(("?", "？")) for line in lines[answered + 1 : at])
        if not listed or (not asked and any(line[2:].strip()[:20] in known for line in lines[at : at + 2])):
            continue
        again = any(_ANSWERED.search(line) for line in lines[at + 2 :])
        if again and not _TAKEN_BACK.search("\n".join(lines[answered:])):
            return "\n".join(lines[: answered + 1])
        return text
    return text
