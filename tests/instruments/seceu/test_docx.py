"""Word files from outside are read paragraph by paragraph, and hostile ones are refused."""

import zipfile

import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.seceu.docx import MOST_BYTES, read_paragraphs


def test_paragraphs_keep_their_tabs_and_breaks(write_docx):
    path = write_docx("a.docx", ["Item 1", "3.5\t2.5\t2\t2", "one\ntwo", "", "情绪 & <feeling>"])
    assert read_paragraphs(path) == ["Item 1", "3.5\t2.5\t2\t2", "one\ntwo", "", "情绪 & <feeling>"]


def test_entities_are_refused(write_docx):
    bomb = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    with pytest.raises(DataError, match="entities"):
        read_paragraphs(write_docx("bomb.docx", ["x"], head=bomb))


def test_an_oversized_text_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "big.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * (MOST_BYTES + 1))
    assert path.stat().st_size < 100_000
    with pytest.raises(DataError, match="at most"):
        read_paragraphs(path)


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04broken"])
def test_what_is_no_word_file_is_refused(tmp_path, content):
    path = tmp_path / "odd.docx"
    path.write_bytes(content)
    with pytest.raises(DataError, match="not a Word document"):
        read_paragraphs(path)


def test_a_zip_without_a_text_is_refused(tmp_path):
    path = tmp_path / "empty.docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.xml", "<x/>")
    with pytest.raises(DataError, match="not a Word document"):
        read_paragraphs(path)


def test_broken_xml_is_refused(tmp_path):
    path = tmp_path / "broken.docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<w:document>")
    with pytest.raises(DataError, match="not XML"):
        read_paragraphs(path)


def test_an_absent_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"gone\.docx: cannot be opened"):
        read_paragraphs(tmp_path / "gone.docx")
