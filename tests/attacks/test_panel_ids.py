"""A panel id is no key: guessing it reads nobody's answers, and a link takes nobody into somebody else's seat."""

import pytest
from open_study import OpenStudy
from person import Form, plain
from serving import Client

PANEL = ("sesi", "--limit", "2", "--ask", "SONA_ID; panel", "--ask", "age", "--completion", "PAID7")


@pytest.fixture
def panel_study(tmp_path):
    with OpenStudy(tmp_path / "s.db", *PANEL) as study:
        yield study


def link(opened, sona_id):
    return f"{opened.link}?SONA_ID={sona_id}"


def join(opened, sona_id, person=None, age="31"):
    """Somebody opens the link that the panel gave, and takes part."""
    person = person or opened.person()
    form = Form(person.get(link(opened, sona_id)).text, opened.link)
    got = person.post(opened.link, {**form.hidden, "agree": "yes", "about-1": age})
    return person, got


def code_of(person):
    text = person.get("/code").text
    return text.split("<code>")[1].split("</code>")[0]


def test_guessed_ids_open_no_session_and_show_nothing(panel_study):
    victim, _ = join(panel_study, 17, age="Zwiebelturm")
    victim.answer_all()
    for guess in range(1, 40):
        stranger = Client(panel_study.served.url)
        page = stranger.get(link(panel_study, guess))
        assert page.status == 200 and not stranger.cookie, "the page is the same for every id"
        assert "Zwiebelturm" not in page.text and "PAID7" not in page.text
        assert stranger.get("/take").status == stranger.get("/stored").status == stranger.get("/end").status == 403
    assert len(panel_study.book.participants("spring")) == 1


def test_a_form_with_a_used_id_asks_for_the_code_and_is_counted(panel_study):
    victim, _ = join(panel_study, 17)
    code = code_of(victim)
    victim.answer()
    stranger, got = join(panel_study, 17)
    assert got.status == 403 and "enter your code" in got.text and not stranger.cookie
    statuses = [join(panel_study, 17)[1].status for _ in range(12)]
    assert statuses[-1] == 429, "guesses are counted"
    assert Form(victim.page().text, "/take").hidden["number"] == "1"
    assert panel_study.book.with_code("spring", code) is not None


def test_the_code_opens_it_in_another_browser(panel_study):
    person, _ = join(panel_study, 17)
    code = code_of(person)
    person.answer()
    other = panel_study.person()
    assert other.come_back(code).status == 303
    assert Form(other.page().text, "/take").hidden["number"] == "1"


def test_before_the_first_answer_the_id_opens_the_study_anew_and_the_earlier_session_ends(panel_study):
    """Whoever prepared a participation under somebody's id has no way into it once the person comes."""
    attacker, _ = join(panel_study, 17, age="of the attacker")
    prepared = code_of(attacker)
    assert attacker.page().status == 200
    victim, got = join(panel_study, 17, age="Zwiebelturm")
    assert got.status == 303
    victim.answer()
    for path in ("/take", "/code", "/stored", "/end"):
        assert attacker.get(path).status == 403
    assert attacker.come_back(prepared).status == 403
    (participant,) = panel_study.book.participants("spring")
    assert participant.about == {"SONA_ID": "17", "age": "Zwiebelturm"}
    assert victim.come_back(code_of(victim)).status == 303


def test_a_link_with_another_id_replaces_no_session_unasked(panel_study):
    join(panel_study, 66)
    victim, _ = join(panel_study, 17)
    victim.answer()
    page = victim.get(link(panel_study, 66))
    assert page.status == 200 and "Somebody takes part in this browser" in page.text and not page.cookie
    assert Form(victim.page().text, "/take").hidden["number"] == "1"
    # Not by the form of the link either.
    form = Form(panel_study.person().get(link(panel_study, 66)).text, panel_study.link)
    got = victim.post(panel_study.link, {**form.hidden, "agree": "yes"})
    assert got.status == 200 and not got.cookie and "Somebody takes part in this browser" in got.text
    assert {person.about["SONA_ID"]: person.answered for person in panel_study.book.participants("spring")} == {
        "66": False,
        "17": True,
    }


def test_another_person_at_the_same_computer_begins_when_they_say_so(panel_study):
    first, _ = join(panel_study, 17)
    code = code_of(first)
    first.answer()
    shared = panel_study.person()
    shared.cookie = first.cookie
    asked = Form(shared.get(link(panel_study, 18)).text, f"{panel_study.link}/other")
    assert shared.post(f"{panel_study.link}/other", {**asked.hidden, "csrf": "wrong"}).status == 403
    got = shared.post(f"{panel_study.link}/other", asked.hidden)
    assert got.headers["Location"] == link(panel_study, 18)
    assert first.get("/take").status == 403, "the session has ended"
    _, got = join(panel_study, 18)
    assert got.status == 303
    assert first.come_back(code).status == 303


def test_who_was_screened_out_does_not_try_again_with_the_same_id(tmp_path):
    options = ("sesi", "--limit", "1", "--ask", "SONA_ID; panel", "--ask", "age; number 1..99; only 18..65")
    with OpenStudy(tmp_path / "s.db", *options) as opened:
        person, got = join(opened, 17, age="12")
        assert got.status == 303 and "Thank you for your interest" in plain(person.page().text)
        _, got = join(opened, 17, age="31")
        assert got.status == 403
