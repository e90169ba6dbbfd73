"""The paragraphs of a Word document from outside, which may be oversized or hostile."""

from pathlib import Path
from xml.parsers import expat

from sociometer.core.archives import read_member
from sociometer.core.errors import DataError

MOST_BYTES = 20_000_000
MOST_DEPTH = 200
MOST_NESTED_PARAGRAPHS = 8
_BODY = "word/document.xml"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_BREAKS = {f"{_WORD}tab": "\t", f"{_WORD}br": "\n", f"{_WORD}cr": "\n"}


def read_paragraphs(path: Path) -> list[str]:
    """Return the text of each paragraph in order, tabs and line breaks kept."""
    body = read_member(path, _BODY, MOST_BYTES, next_step="fetch the file again")
    reader = _Paragraphs(path)
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = reader.refuse_doctype
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.say
    try:
        parser.Parse(body, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise DataError(f"the document's text is not XML ({error}); fetch the file again", path) from None
    return ["".join(parts) for parts in reader.found]


class _Paragraphs:
    """Collects paragraphs while the XML is read; one inside another (a text box) is part of both."""

    def __init__(self, path: Path) -> None:
        self.found: list[list[str]] = []
        self._path = path
        self._open: list[list[str]] = []
        self._depth = 0
        self._in_text = False

    def refuse_doctype(self, *_: object) -> None:
        # Entities are declared in a DOCTYPE and nowhere else, whatever the document's encoding.
        raise DataError("the document declares XML entities, which no Word file needs; it is not read", self._path)

    def start(self, tag: str, _: object) -> None:
        self._depth += 1
        if tag == f"{_WORD}p":
            self._open.append([])
            self.found.append(self._open[-1])
        if self._depth > MOST_DEPTH or len(self._open) > MOST_NESTED_PARAGRAPHS:
            raise DataError("the document's text is nested deeper than in any Word file; it is not read", self._path)
        self._in_text = tag == f"{_WORD}t"
        if tag in _BREAKS:
            self._add(_BREAKS[tag])

    def end(self, tag: str) -> None:
        self._depth -= 1
        self._in_text = False
        if tag == f"{_WORD}p":
            self._open.pop()

    def say(self, text: str) -> None:
        if self._in_text:
            self._add(text)

    def _add(self, text: str) -> None:
        for parts in self._open:
            parts.append(text)
