"""Small things that a hostile user, page or file tries: redirects, headers, numbers that are none."""

import pytest
from open_study import OpenStudy

from sociometer.core.errors import UsageError
from sociometer.core.server_fields import server_fields
from sociometer.models.keys import KeyPolicy

ELSEWHERE = [
    "//host.example", "/\t/host.example", "/\\host.example", "/\n/host.example", "/\r\nSet-Cookie: a=b",
    "\t//host.example",
    "/\r/host.example", "https://host.example", "/\\\t/host.example", "/\x00/host.example", "/é", "", "/ /host.example",
]  # fmt: skip


@pytest.mark.parametrize("back", ELSEWHERE)
def test_the_choice_of_a_language_leads_to_a_page_of_this_server(tmp_path, back):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1") as opened:
        owner = opened.owner()
        csrf = owner.get("/owner").text.split('name="csrf" value="')[1].split('"')[0]
        got = owner.post("/language", {"csrf": csrf, "language": "zh", "back": back})
        assert (got.status, got.headers["Location"]) == (303, "/")
        assert got.headers.get_all("Set-Cookie") == [got.headers["Set-Cookie"]]


def test_a_page_of_this_server_is_where_it_leads_back(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1") as opened:
        owner = opened.owner()
        csrf = owner.get("/owner").text.split('name="csrf" value="')[1].split('"')[0]
        got = owner.post("/language", {"csrf": csrf, "language": "zh", "back": "/owner?a=%20b&c=d"})
        assert got.headers["Location"] == "/owner?a=%20b&c=d"


KEYS = ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", "glpat-abcdefGHIJ", "AKIAIOSFODNNEXAMPLE", "ghp_abcdefghijkl"]


@pytest.mark.parametrize("part", ["body", "header", "query"])
@pytest.mark.parametrize("key", KEYS)
def test_keys_of_many_makers_are_not_taken_as_fields(part, key):
    fields = server_fields({f"{part}.team": key})["subject"]
    with pytest.raises(UsageError, match="looks like a key"):
        KeyPolicy().check_fields(fields, "subject", "", "")


def test_a_file_for_strangers_has_the_names_of_fields_and_only_numbers():
    given = {
        "body.top_k": 40,
        "body.user": "Zwiebelturm",
        "body.more": {"note": "Zwiebelturm", "deep": ["Zwiebelturm", 1.5, True]},
        "query.team": "Zwiebelturm",
        "header.X-Team": "Zwiebelturm",
    }
    published = server_fields(given)["subject"].published
    assert "Zwiebelturm" not in repr(published)
    assert published.body["top_k"] == 40 and published.body["more"]["deep"][1:] == [1.5, True]
    assert {*published.body} == {"top_k", "user", "more"} and {*published.query} == {"team"}
    assert published.published == published
