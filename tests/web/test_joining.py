"""Joining a study: one click makes one participant, the quota counts those who start, an address has a bound."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from open_study import OpenStudy
from person import Form, plain
from serving import Client

from sociometer.cli.main import run_command
from sociometer.core.errors import UsageError
from sociometer.store.person_questions import checked_question


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


PANEL = ("--ask", "PROLIFIC_PID; panel", "--ask", "STUDY_ID; hidden")
CODES = "DONE screened-out=OUT9 failed-checks=https://panel.example/?cc=F no-consent=NO5"


def test_a_panel_id_is_required_hidden_and_continues_in_the_browser_that_has_its_session(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "2", *PANEL) as opened:
        link, path = opened.link, f"{opened.link}?PROLIFIC_PID=abc&STUDY_ID=s1"
        got = opened.person().get(link)
        assert got.status == 400 and "The link is not complete" in plain(got.text)
        client = opened.person()
        form = Form(client.get(path).text, link)
        assert form.hidden["about-0"] == "abc" and not form.texts
        assert client.post(link, {**form.hidden, "about-0": "", "agree": "yes"}).status == 400
        assert client.post(link, {**form.hidden, "agree": "yes"}).status == 303
        assert client.answer()
        assert client.get(path).headers["Location"] == "/take"
        # The same id in another browser needs the code; the form that was sent twice does not.
        other = opened.person()
        assert other.post(link, {**form.hidden, "ticket": "x" * 43, "agree": "yes"}).status == 403
        late = opened.person()
        assert late.post(link, {**form.hidden, "agree": "yes"}).status == 303
        assert late.answer() and not late.answer()
        (participant,) = opened.book.participants("spring")
        assert participant.about == {"PROLIFIC_PID": "abc", "STUDY_ID": "s1"}
        assert late.withdraw().status == 200 and opened.book.participants("spring") == []
        assert "agree" in opened.person().get(path).text


def test_after_an_error_the_tick_of_consent_is_kept_and_no_link_sets_it(tmp_path):
    with OpenStudy(
        tmp_path / "s.db", "sesi", "--limit", "1", "--ask", "age; number 18..99", "--ask", "agree"
    ) as opened:
        person = opened.person()
        fresh = person.get(f"{opened.link}?agree=yes").text
        form = Form(fresh, opened.link)
        again = person.post(opened.link, {**form.hidden, "agree": "yes", "about-0": "12"}).text
        unticked = person.post(opened.link, {**form.hidden, "about-0": "12"}).text
    boxes = [re.search(r'<input type="checkbox" name="agree"[^>]*>', text)[0] for text in (fresh, again, unticked)]
    assert ["checked" in box for box in boxes] == [False, True, False]


@pytest.mark.parametrize(("asks", "said"), [
    (["age", "PROLIFIC_PID; panel", "group; hidden"], "“About you”: age. ‖From your link: PROLIFIC_PID, group."),
    (["PROLIFIC_PID; panel"], "We do not ask for your name or address. ‖From your link: PROLIFIC_PID."),
    (["age", "sex; choice f|m"], "“About you”: age, sex."),
])  # fmt: skip
def test_what_comes_with_the_link_is_named_apart_from_what_people_write(tmp_path, asks, said):
    options = [word for one in asks for word in ("--ask", one)]
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1", *options) as opened:
        text = plain(opened.person().get(f"{opened.link}?PROLIFIC_PID=a&group=b").text)
    assert said.replace("‖", "") in text and ("From your link" in text) == ("‖" in said)


def test_a_consent_page_in_chinese_denies_no_more_than_the_english_one(tmp_path):
    options = ("--language", "zh", "--limit", "1", "--ask", "PROLIFIC_PID; panel")
    with OpenStudy(tmp_path / "s.db", "seceu", *options) as opened:
        text = plain(opened.person().get(f"{opened.link}?PROLIFIC_PID=a").text)
    assert "我们不会询问你的姓名或地址。" in text and "从你的链接中读取：PROLIFIC_PID。" in text
    assert "任何个人信息" not in text, "the id of the panel is stored"


def test_every_end_has_its_completion_code(tmp_path, capsys):
    asks = ("--ask", "Age; number 16..99; only 18..65", "--completion", CODES, "--attention", "1")
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1", *asks) as opened:
        person = opened.person()
        form = Form(person.get(opened.link).text, opened.link)
        declined = person.post(opened.link, {**form.hidden, "decline": "yes"})
        assert "NO5" in declined.text and "Nothing was stored" in declined.text
        assert opened.book.participants("spring") == []
        young = opened.person()
        for said in ("12", "x", ""):
            assert young.post(opened.link, {**form.hidden, "agree": "yes", "about-0": said}).status == 400
        assert young.post(opened.link, {**form.hidden, "agree": "yes", "about-0": "17"}).status == 303
        assert "OUT9" in young.page().text and "DONE" not in young.page().text
        assert [one.started for one in opened.book.participants("spring")] == [False]
        assert (
            "participants 0 have started (and maximum) 0 / " in (said := plain(opened.owner().get("/owner").text))
            and "excluded 0 " in said
        )
        assert "screened out" in said, "the row stays"
        capsys.readouterr()
        assert run_command(["study", "list", "--json", "--store", str(opened.path)]) == 0
        assert json.loads(capsys.readouterr().out)[0]["participants"] == 0
        for right, code in ((True, "DONE"), (False, "https://panel.example/?cc=F")):
            taker = opened.person().join(**{"about-0": "30"})
            while "Thank you" not in (text := taker.page().text):
                path = "/check" if 'action="/check"' in text else "/take"
                fields = taker.filled(Form(text, path))
                if path == "/check":
                    named = re.search("choose “([^”]+)”", plain(text)).group(1)
                    others = [one for one in Form(text, path).radios["answer"] if one != named]
                    fields["answer"] = named if right else others[0]
                assert taker.post(path, fields).status == 303
            assert code in text and "OUT9" not in text


def test_questions_about_the_person_have_types_and_come_before_or_after(tmp_path):
    asks = (
        "Sex; choice female|male|other; required",
        "Age; number 18..99",
        "Tired?; scale 1..5 no|very; required; after",
    )
    options = [word for one in asks for word in ("--ask", one)]
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1", *options) as opened:
        person = opened.person()
        form = Form(person.get(opened.link).text, opened.link)
        assert form.radios == {"about-0": ["female", "male", "other"]} and form.numbers == {"about-1": (18, 99)}
        assert "Age (optional) (18 – 99)" in plain(person.get(opened.link).text)
        for about in ({}, {"about-0": "x"}, {"about-0": "male", "about-1": "17"}):
            got = person.post(opened.link, {**form.hidden, "agree": "yes", **about})
            assert got.status == 400 and "alert" in got.text
        assert "“Age”: enter a number from 18 to 99." in plain(got.text)
        person.join(**{"about-0": "male"})
        person.answer_all()
        after = Form(person.page().text, "/after")
        assert after.radios == {"about-2": ["1", "2", "3", "4", "5"]} and "5 very" in person.page().text
        assert person.post("/after", after.hidden).status == 400
        assert person.post("/after", {**after.hidden, "about-2": "4"}).status == 303
        assert "Thank you" in person.page().text
        assert opened.book.participants("spring")[0].about == {"Sex": "male", "Tired?": "4"}


@pytest.mark.parametrize("ask", ["Age; numbr", "Age; number 1", "Sex; choice one", "X; scale 1..99", "; required",
                                 "Id; panel; after", "Age; number 99..18", "Age; number; only 65..18",
                                 "age number", "age: number 18..99", "sex, choice f|m"])  # fmt: skip
def test_a_question_that_cannot_be_read_is_refused(ask, tmp_path, capsys):
    create = ["study", "create", "sesi", "--name", "spring", "--store", str(tmp_path / "s.db")]
    assert run_command([*create, "--ask", ask]) == 2
    assert f"--ask '{ask}'" in capsys.readouterr().err


@pytest.mark.parametrize(("asked", "meant"), [
    ("sex: male/female", "sex; choice male|female"), ("sex; f|m; required", "sex; choice f|m; required"),
    ("sex (male, female, other)", "sex; choice male|female|other"), ("sex; choice f/m", "sex; choice f|m"),
    ("age: 18-99", "age; number 18..99"), ("age; 18 to 99", "age; number 18..99"),
])  # fmt: skip
def test_answers_in_another_form_are_told_as_they_are_written_here(asked, meant):
    with pytest.raises(UsageError, match=re.escape(f"--ask '{asked}' is not understood; write '{meant}'")):
        checked_question(asked)
    assert checked_question(meant) == meant


@pytest.mark.parametrize("asked", ["sex: male/female; text", "Colour (red/blue); choice red|blue", "Sex/gender",
                                   "Tired?; scale 1..7 no|very", "native; choice yes|no; only yes"])  # fmt: skip
def test_names_with_signs_in_them_are_kept(asked):
    assert checked_question(asked) == asked


def test_the_questions_are_printed_back_with_their_kinds_and_ranges(tmp_path, capsys):
    create = ["study", "create", "sesi", "--limit", "3", "--name", "spring", "--store", str(tmp_path / "s.db")]
    assert run_command([*create, "--ask", "age number 18..99"]) == 2
    assert "write 'age; number 18..99', or 'age number 18..99; text' for a line of text" in capsys.readouterr().err
    asks = ("Age; number 18..99; required", "Sex; choice f|m", "Student number; text",
            "Tired?; scale 1..3 no|very; after", "PROLIFIC_PID; panel")  # fmt: skip
    assert run_command([*create, *(word for one in asks for word in ("--ask", one))]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert (
        "Questions about the person: Age (number 18 to 99, required); Sex (choice f | m); Student number (text);"
        in told
    )
    assert "Tired? (choice 1 no | 2 | 3 very, after the items); PROLIFIC_PID (from the link, required)" in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("seceu",), "seceu has no people to compare with; give a norm: --set norm=FILE ("),
        (("sesi",), "sesi has no people to compare with. --shows score shows the score only."),
    ],
)
def test_a_place_among_nobody_is_refused_before_the_study_is_made(words, said, tmp_path, capsys):
    at = ["--store", str(tmp_path / "s.db")]
    create = ["study", "create", *words, "--name", "spring", *at, "--limit", "3"]
    assert run_command([*create, "--shows", "place"]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert run_command([*create, "--shows", "score"]) == 0, "the name is free"


@pytest.mark.parametrize("name", ["", "my study", "my.study"])
def test_a_wrong_name_has_the_rule_for_the_names_of_studies(name, tmp_path, capsys):
    assert run_command(["study", "create", "seceu", "--name", name, "--store", str(tmp_path / "s.db")]) == 2
    assert f"--name must consist of letters, digits, '-' and '_', not '{name}'." in capsys.readouterr().err


def test_a_battery_shows_the_place_of_the_instrument_that_has_people(official_data, tmp_path, capsys):
    create = ["study", "create", "seceu", "sesi", "--official", "--name", "spring", "--store", str(tmp_path / "s.db")]
    assert run_command([*create, "--shows", "place"]) == 0
    assert "sesi has no people to compare with." in " ".join(capsys.readouterr().out.split())


def test_in_a_lab_nothing_of_one_person_is_shown_to_the_next(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "2", "--shows", "score", lab=True) as opened:
        first = opened.person().join()
        assert "Next participant" in first.page().text
        cookie = first.cookie
        first.answer_all()
        end = first.page().text
        assert "Your result" in end and f'href="{opened.link}"' in end
        got = first.get(opened.link)
        assert (
            got.status == 200
            and "Your result" not in got.text
            and "withdraw" not in plain(got.text).lower().split("stored")[0]
        )
        # The old session is gone, also where somebody goes back.
        for path in ("/end", "/take", "/stored", "/code"):
            assert opened.person().__class__(opened.served.url, opened.link).get(path, Cookie=cookie).status == 403
        second = opened.person()
        second.cookie = first.cookie
        second.join()
        assert Form(second.page().text, "/take").hidden["number"] == "0"
        # Somebody who was interrupted comes back with the code.
        second.answer()
        first.get(opened.link)
        assert second.come_back().status == 303 and Form(second.page().text, "/take").hidden["number"] == "1"


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
