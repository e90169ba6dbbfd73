"""Zip archives from outside: members are read up to a limit, and whatever is wrong with one is a DataError."""

import random
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociometer.core.archives import read_member, read_members
from sociometer.core.errors import DataError

TEXT = b"a line of text\n" * 500
LIMIT = 100_000


def packed(path, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def claiming(path, size):
    """Makes the last member of the archive claim another size, where readers look for it."""
    content = bytearray(path.read_bytes())
    entry = content.rfind(b"PK\x01\x02")
    content[entry + 24 : entry + 28] = size.to_bytes(4, "little")
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_member_is_read_by_its_name(tmp_path, method):
    path = packed(tmp_path / "a.zip", {"x/one": TEXT, "two": b""}, method)
    assert read_member(path, "x/one", LIMIT) == TEXT
    assert read_members(path, LIMIT) == {"x/one": TEXT, "two": b""}


def test_a_member_may_have_as_many_bytes_as_the_limit_and_no_more(tmp_path):
    path = packed(tmp_path / "a.zip", {"one": TEXT})
    assert read_member(path, "one", len(TEXT)) == TEXT
    with pytest.raises(DataError, match=r"a\.zip: member 'one' is too large; the limit is 7,499 bytes"):
        read_member(path, "one", len(TEXT) - 1)


def test_the_limit_is_on_all_members_together(tmp_path):
    path = packed(tmp_path / "a.zip", {"one": TEXT, "two": TEXT})
    with pytest.raises(DataError, match=r"a\.zip: member 'two' is too large; the limit is 10,000 bytes"):
        read_members(path, 10_000)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("claimed", [10, LIMIT])
def test_a_member_that_claims_less_than_it_unpacks_to_is_refused_within_the_limit(
    tmp_path, method, claimed, peak_memory
):
    path = claiming(packed(tmp_path / "bomb.zip", {"one": b"\0" * 20_000_000}, method), claimed)
    with peak_memory() as most, pytest.raises(DataError, match=r"bomb\.zip"):
        read_member(path, "one", LIMIT)
    assert most() < 5_000_000


def test_a_bomb_that_states_its_size_is_refused_unread(tmp_path, peak_memory):
    path = packed(tmp_path / "bomb.zip", {"one": b"\0" * 50_000_000})
    assert path.stat().st_size < 60_000
    with peak_memory() as most, pytest.raises(DataError, match="too large"):
        read_member(path, "one", LIMIT)
    assert most() < 1_000_000


def test_an_archive_inside_an_archive_is_content_like_any_other(tmp_path):
    inner = packed(tmp_path / "inner.zip", {"one": b"\0" * 5_000_000}).read_bytes()
    path = packed(tmp_path / "outer.zip", {"one": inner})
    assert read_member(path, "one", LIMIT) == inner


def test_names_that_lead_elsewhere_and_links_write_nothing(tmp_path):
    folder = tmp_path / "inside"
    folder.mkdir()
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    path = folder / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../outside", b"up")
        archive.writestr("/tmp/absolute", b"root")
        archive.writestr(link, b"/etc/passwd")
    found = read_members(path, LIMIT)
    assert sorted(found.values()) == [b"/etc/passwd", b"root", b"up"]
    assert [one.name for one in tmp_path.rglob("*")] == ["inside", "a.zip"]


def test_a_missing_member_is_named_with_those_that_are_there(tmp_path):
    path = packed(tmp_path / "a.zip", {f"m{number}": b"" for number in range(500)})
    with pytest.raises(DataError, match=r"no member 'x'; it holds: m0, m1, m2, m3, m4, m5, m6, m7; fetch it again$"):
        read_member(path, "x", LIMIT, next_step="fetch it again")


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04broken", b"PK\x05\x06" + b"\xff" * 18])
def test_what_is_no_archive_is_refused(tmp_path, content):
    path = tmp_path / "odd.zip"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"odd\.zip: not a readable zip archive"):
        read_member(path, "one", LIMIT)


def test_an_encrypted_member_is_refused(tmp_path):
    path = packed(tmp_path / "a.zip", {"one": TEXT})
    content = bytearray(path.read_bytes())
    content[content.rfind(b"PK\x01\x02") + 8] |= 1
    content[6] |= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match="encrypted"):
        read_member(path, "one", LIMIT)


def test_an_absent_archive_or_a_folder_is_named(tmp_path):
    with pytest.raises(DataError, match=r"gone\.zip: cannot be read \(No such file or directory\)"):
        read_member(tmp_path / "gone.zip", "one", LIMIT)
    with pytest.raises(DataError, match=r"cannot be read \(Is a directory\)"):
        read_member(tmp_path, "one", LIMIT)


@given(st.integers(0), st.integers(1, 12), st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
def test_a_damaged_archive_is_read_or_refused_and_nothing_else(tmp_path_factory, seed, changes, method):
    path = packed(tmp_path_factory.getbasetemp() / "damaged.zip", {"one": TEXT, "two": b"2"}, method)
    content, rng = bytearray(path.read_bytes()), random.Random(seed)
    for _ in range(changes):
        content[rng.randrange(len(content))] = rng.randrange(256)
    path.write_bytes(content[: rng.choice([None, rng.randrange(len(content))])])
    try:
        assert sum(map(len, read_members(path, LIMIT).values())) <= LIMIT
    except DataError as error:
        assert "damaged.zip" in str(error)
