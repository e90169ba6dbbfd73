"""Joining a study: one click makes one participant, the quota counts those who start, an address has a bound."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from open_study import OpenStudy
from person import Form, plain
from serving import Client

from sociometer.cli.main import run_command


def joining(opened, **about):
    client = Client(opened.served.url)
    form = Form(client.get(opened.link).text, opened.link)
    return client, {**form.hidden, "agree": "yes", **about}


def test_a_double_click_makes_one_participant(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1") as opened:
        client, fields = joining(opened)
        with ThreadPoolExecutor(8) as pool:
            got = list(pool.map(lambda _: client.post(opened.link, fields), range(8)))
        assert {one.status for one in got} == {303}
        assert len(opened.book.participants("spring")) == 1


def test_a_known_session_continues_where_it_was(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "2") as opened:
        person = opened.person().join()
        person.answer()
        got = person.get(opened.link)
        assert (got.status, got.headers["Location"]) == (303, "/take")
        assert Form(person.page().text, "/take").hidden["number"] == "1"
        assert len(opened.book.participants("spring")) == 1


def test_a_link_from_another_site_opens_itself_again_so_that_the_cookie_comes_along(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1") as opened:
        headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        got = opened.person().get(f"{opened.link}?PROLIFIC_PID=7", **headers)
        assert got.status == 200 and f'url={opened.link}?PROLIFIC_PID=7"' in got.text


def test_the_quota_counts_those_who_start_and_can_be_raised(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1", "--quota", "1") as opened:
        first, second = opened.person().join(), opened.person().join()
        assert first.answer()
        full = second.get("/take")
        assert full.status == 403 and "all the participants" in full.text
        client, fields = joining(opened)
        assert client.post(opened.link, fields).status == 403
        assert run_command(["study", "change", "spring", "--quota", "2", "--store", str(opened.path)]) == 0
        assert second.answer()


def test_joins_from_one_address_have_a_bound(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1", per_address=3) as opened:
        for _ in range(3):
            client, fields = joining(opened)
            assert client.post(opened.link, fields).status == 303
        assert client.post(opened.link, fields).status == 303
        client, fields = joining(opened)
        got = client.post(opened.link, fields)
        assert got.status == 429 and "network" in got.text
        assert len(opened.book.participants("spring")) == 3


def test_the_owner_can_try_the_study_in_the_same_browser(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1") as opened:
        owner = opened.owner()
        client, fields = joining(opened)
        got = client.post(opened.link, fields)
        both = Client(opened.served.url, f"{owner.cookie}; {got.cookie}")
        assert both.get("/owner").status == 200
        assert both.get("/take").status == 200


def test_the_owners_texts_and_the_completion_code_are_shown(tmp_path):
    texts = ("--title", "Feelings at work", "--contact", "Anna, anna@example.org", "--consent", "We ask you …",
             "--debriefing", "This was about …", "--completion", "C0DE77", "--ask", "PROLIFIC_PID")  # fmt: skip
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1", *texts) as opened:
        person = opened.person()
        said = person.get(f"{opened.link}?PROLIFIC_PID=abc123").text
        assert all(text in said for text in ("Feelings at work", "anna@example.org", "We ask you", 'value="abc123"'))
        assert "spring" not in plain(said)
        person.join()
        person.answer_all()
        end = person.page().text
        assert "C0DE77" in end and "This was about" in end
        run_command(["study", "change", "spring", "--completion", "https://panel.example/done?cc=1",
                     "--store", str(opened.path)])  # fmt: skip
        assert re.search(r'href="https://panel.example/done\?cc=1"', person.page().text)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"agree=\xff", "application/x-www-form-urlencoded"),
        (b"agree=yes", "application/x-www-form-urlencoded; charset=nonsense"),
        (b"--x\r\nbroken", "multipart/form-data; boundary=x"),
        (b"agree", "multipart/form-data"),
    ],
)
def test_a_body_that_is_no_form_is_refused(tmp_path, body, kind):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1") as opened:
        client, _ = joining(opened)
        got = client.send("POST", opened.link, body, {"Origin": client.url, "Content-Type": kind})
        assert got.status == 400 and not opened.book.participants("spring")
