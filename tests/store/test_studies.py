"""The study book: names and codes."""

import pytest

from sociometer.core.config import RunConfig
from sociometer.core.errors import UsageError
from sociometer.store.studies import Study, StudyBook, plain_code, shown_code


def test_a_code_is_read_as_people_write_it():
    assert shown_code("abcd2345wxyz") == "abcd-2345-wxyz"
    assert plain_code(" ABCD 2345-wxyz ") == "abcd2345wxyz"


def test_a_study_has_a_name_of_its_own(tmp_path):
    book, study = StudyBook(tmp_path / "s.db.studies"), Study("spring", RunConfig(instrument="sesi", subject="human"))
    book.create(study)
    with pytest.raises(UsageError, match="already"):
        book.create(study)
    book.close()
