"""The paragraphs of a Word document, read with care: it comes from outside and may be oversized or hostile."""

import zipfile
from pathlib import Path
from xml.etree import ElementTree

from sociometer.core.errors import DataError

MOST_BYTES = 20_000_000
_BODY = "word/document.xml"
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def read_paragraphs(path: Path) -> list[str]:
    """Return the text of each paragraph in order, tabs and line breaks kept."""
    body = _read_body(path)
    if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise DataError("the document declares XML entities, which no Word file needs; it is not read", path)
    try:
        root = ElementTree.fromstring(body)  # noqa: S314 - entities are refused above
    except ElementTree.ParseError as error:
        raise DataError(f"the document's text is not XML ({error}); fetch the file again", path) from None
    return [_text(paragraph) for paragraph in root.iter(f"{_WORD}p")]


def _read_body(path: Path) -> bytes:
    try:
        with zipfile.ZipFile(path) as archive:
            size = archive.getinfo(_BODY).file_size
            if size > MOST_BYTES:
                raise DataError(f"the document's text has {size:,} bytes; at most {MOST_BYTES:,} are read", path)
            with archive.open(_BODY) as body:
                text = body.read(MOST_BYTES + 1)
    except OSError as error:
        raise DataError(f"cannot be opened: {error.strerror or error}", path) from None
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, EOFError) as error:
        raise DataError(f"not a Word document ({error}); fetch the file again", path) from None
    if len(text) > MOST_BYTES:
        raise DataError(f"the document's text has more bytes than the {MOST_BYTES:,} that are read", path)
    return text


def _text(paragraph: ElementTree.Element) -> str:
    parts: list[str] = []
    for node in paragraph.iter():
        if node.tag == f"{_WORD}t":
            parts.append(node.text or "")
        elif node.tag == f"{_WORD}tab":
            parts.append("\t")
        elif node.tag in (f"{_WORD}br", f"{_WORD}cr"):
            parts.append("\n")
    return "".join(parts)
