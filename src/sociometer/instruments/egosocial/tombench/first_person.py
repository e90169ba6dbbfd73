"""First-person ToMBench as readers converted it: edits that are applied to the released files.

`data/tombench-first/en.jsonl` and `zh.jsonl` have one conversion per line and none of the authors' sentences:

    {"id": "tombench-hidden-emotions-001", "language": "en", "ego": "Arno", "order": 1, "kept": 0,
     "digest": "0123456789abcdef", "edits": [[0, 0, 6, "Your"], [1, 10, 9, "do you"]]}

`ego`     who becomes "you", as the release names them.
`order`   1 if the question asks what "you" think, feel, want or do, 2 if it asks "you" about another mind or whether
          anybody says something inappropriate, 0 if it asks for a fact.
`kept`    how many pronouns of the third person (he, they, 他 …) are left in the converted texts. The reader saw each of
          them and found that it means somebody else. Chinese words with the character 他 (其他, 吉他) count too.
`digest`  the first 16 hexadecimal digits of the SHA-256 of the released texts of that language, joined by line feeds:
          story, question, options. Where it differs, the release has changed and the line is refused.
`edits`   [text, start, length, words]: in text 0 (story), 1 (question) or 2, 3, ... (options), `length` characters from
          character `start` (code points of the text as `release` reads it, from 0) are replaced by `words`. Edits are
          in order and do not overlap; length 0 inserts, empty words delete. The story and the question say "you"; the
          options are said by the person and say "I".

`left-out.en.csv` and `left-out.zh.csv` list the items that readers left out: id and reason, one a row.
`review-en.jsonl` holds what a second reader found: `verdict` is "ok", "wording" (a word is odd, the meaning kept)
or "meaning" (something that matters was lost or changed), `note` says what, and `conversion` is the digest of the
converted texts that were read.
"""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.instruments.egosocial.stories.scenes import measured_by
from sociometer.instruments.egosocial.tombench.release import TomBenchQuestion, Wording
from sociometer.reading import read_items

FOLDER = Path(__file__).parents[1] / "data" / "tombench-first"


class Edit(Struct, frozen=True, array_like=True):
    """Characters of one text of a question, and the words that replace them."""

    text: int
    start: int
    length: int
    words: str


class FirstPerson(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a file of edits: the conversion of a released question, without its text."""

    id: str
    language: str
    ego: str
    order: int
    kept: int
    digest: str
    edits: tuple[Edit, ...]


def shipped(language: str) -> tuple[FirstPerson, ...]:
    """The conversions that come with Sociometer in one language."""
    return tuple(read_items(FOLDER / f"{language}.jsonl", FirstPerson))


class Converted(Struct, frozen=True):
    """A question in the first person: who is "you", what it measures, and its texts."""

    ego: str
    measures: str
    texts: Wording


def first_person(lines: Iterable[FirstPerson], questions: Iterable[TomBenchQuestion]) -> dict[str, Converted]:
    """The conversions of the available questions, by the question's id."""
    released = {question.id: question for question in questions}
    return {
        line.id: Converted(line.ego, measured_by(line.order), applied(line, released[line.id].wording(line.language)))
        for line in lines
        if line.id in released
    }


def applied(line: FirstPerson, third: Wording) -> Wording:
    """The question in the first person; a released text that differs from the one that was converted is refused."""
    if digest(third) != line.digest:
        raise DataError(
            f"{line.id} ({line.language}) has changed since it was converted: digest {digest(third)}, expected"
            f" {line.digest}; use the release that the README names"
        )
    texts = texts_of(third)
    pieces: list[list[str]] = [[] for _ in texts]
    ends = [0] * len(texts)
    for edit in line.edits:
        text = texts[edit.text]
        pieces[edit.text] += [text[ends[edit.text] : edit.start], edit.words]
        ends[edit.text] = edit.start + edit.length
    story, question, *options = (
        "".join(parts) + text[end:] for parts, text, end in zip(pieces, texts, ends, strict=True)
    )
    return Wording(story, question, tuple(options))


def digest(wording: Wording) -> str:
    """The digest in a line of edits: of the released texts of one language."""
    return hashlib.sha256("\n".join(texts_of(wording)).encode()).hexdigest()[:16]


def texts_of(wording: Wording) -> Sequence[str]:
    """Story, question and options, in the order that edits count them."""
    return (wording.story, wording.question, *wording.options)
