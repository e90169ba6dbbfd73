"""Word files from outside are read paragraph by paragraph, and hostile ones are refused."""

import zipfile

import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.seceu.items import MOST_BYTES, MOST_NESTED_PARAGRAPHS, read_paragraphs

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
LAUGHS = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
FILE = '<!DOCTYPE x [<!ENTITY b SYSTEM "file:///etc/passwd">]>'


@pytest.fixture
def document(tmp_path):
    """Writes a Word file with this XML in it."""

    def write(content):
        path = tmp_path / "made.docx"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("word/document.xml", content)
        return path

    return write


def test_paragraphs_keep_their_tabs_and_breaks(write_docx):
    path = write_docx("a.docx", ["Item 1", "3.5\t2.5\t2\t2", "one\ntwo", "", "情绪 & <feeling>"])
    assert read_paragraphs(path) == ["Item 1", "3.5\t2.5\t2\t2", "one\ntwo", "", "情绪 & <feeling>"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
@pytest.mark.parametrize("declared", [LAUGHS, FILE])
def test_entities_are_refused_in_every_encoding(document, encoding, declared):
    body = f'<w:document xmlns:w="{WORD}"><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:document>'
    named = encoding.removesuffix("-le").removesuffix("-be")
    content = f'<?xml version="1.0" encoding="{named}"?>{declared}{body}'.encode(encoding)
    if encoding.endswith(("-le", "-be")):
        content = "\ufeff".encode(encoding) + content
    with pytest.raises(DataError, match=r"made\.docx: the document declares XML entities"):
        read_paragraphs(document(content))


def test_a_document_in_another_encoding_is_read(document):
    content = f'<?xml version="1.0" encoding="utf-16"?><d xmlns:w="{WORD}"><w:p><w:t>情绪</w:t></w:p></d>'
    assert read_paragraphs(document(content.encode("utf-16"))) == ["情绪"]


@pytest.mark.parametrize("declared", ["klingon", "utf-32", "big5"])
def test_an_encoding_that_is_not_read_is_refused(document, declared):
    with pytest.raises(DataError, match=r"made\.docx: the document's text is not XML"):
        read_paragraphs(document(f'<?xml version="1.0" encoding="{declared}"?><x>情</x>'.encode()))


def test_a_paragraph_inside_another_is_part_of_both(document):
    content = f'<d xmlns:w="{WORD}"><w:p><w:t>a</w:t><w:p><w:t>b</w:t></w:p><w:t>c</w:t> no text </w:p></d>'
    assert read_paragraphs(document(content)) == ["abc", "b"]


@pytest.mark.timeout(20)
@pytest.mark.parametrize(("tag", "times"), [("w:p", MOST_NESTED_PARAGRAPHS + 1), ("w:p", 500_000), ("x", 1_000_000)])
def test_a_text_nested_without_end_is_refused(document, tag, times):
    path = document(f'<d xmlns:w="{WORD}">' + f"<{tag}>" * times + "<w:t>x</w:t>" + f"</{tag}>" * times + "</d>")
    with pytest.raises(DataError, match=r"made\.docx: the document's text is nested deeper"):
        read_paragraphs(path)


def test_an_oversized_text_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "big.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * (MOST_BYTES + 1))
    assert path.stat().st_size < 100_000
    with pytest.raises(DataError, match="the limit is"):
        read_paragraphs(path)


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04broken"])
def test_what_is_no_word_file_is_refused(tmp_path, content):
    path = tmp_path / "odd.docx"
    path.write_bytes(content)
    with pytest.raises(DataError, match="not a readable zip archive"):
        read_paragraphs(path)


def test_a_zip_without_a_text_is_refused(tmp_path):
    path = tmp_path / "empty.docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.xml", "<x/>")
    with pytest.raises(DataError, match=r"has no member 'word/document\.xml'"):
        read_paragraphs(path)


def test_broken_xml_is_refused(tmp_path):
    path = tmp_path / "broken.docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<w:document>")
    with pytest.raises(DataError, match="not XML"):
        read_paragraphs(path)


def test_an_absent_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"gone\.docx: cannot be read"):
        read_paragraphs(tmp_path / "gone.docx")
