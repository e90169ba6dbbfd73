"""A study over HTTP: every instrument to its end, leaving and coming back, withdrawing, and everything forbidden."""

import csv
import json
import random
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from open_study import OpenStudy
from person import Form
from serving import Client

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.config import RunConfig
from sociometer.core.errors import StoreError, UsageError
from sociometer.instruments import load
from sociometer.store.studies import Study, StudyBook, book_path, study_lock
from sociometer.web.serving import Place
from sociometer.web.study import serve_study


@pytest.fixture
def seceu(tmp_path):
    with OpenStudy(tmp_path / "s.db", "seceu", "--limit", "4", "--ask", "age", "--shows", "score") as opened:
        yield opened


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A study for tests that leave it as it is for everybody else."""
    with OpenStudy(tmp_path_factory.mktemp("shared") / "s.db", "seceu", "--limit", "4") as opened:
        yield opened


def csrf_of(person):
    return Form(person.page().text, "/take").hidden["csrf"]


CASES = {
    "sesi": ["sesi", "--limit", "2"],
    "seceu": ["seceu", "--limit", "2"],
    "seceu-zh": ["seceu", "--limit", "2", "--language", "zh"],
    "stories": ["egosocial", "--task", "generated", "--limit", "1", "--set", "stories=1"],
    "blackjack": ["egosocial", "--task", "blackjack", "--limit", "1"],
    "numbers": ["egosocial", "--task", "numbers", "--limit", "1", "--set", "rounds=2"],
    "holdem": ["egosocial", "--task", "holdem", "--limit", "1"],
    "trees": ["socialeval", "--task", "goals", "--limit", "1", "--language", "zh"],
    "abilities": ["socialeval", "--task", "abilities", "--limit", "1"],
}


@pytest.mark.parametrize("case", CASES)
def test_a_person_takes_an_instrument_to_its_end_and_every_answer_is_read(case, tmp_path):
    with OpenStudy(tmp_path / "s.db", *CASES[case]) as opened:
        person = opened.person(points=(50, 40) if case == "numbers" else (4, 3, 2, 1)).join()
        assert person.answer_all() > 0
        assert ("谢谢你" if "zh" in CASES[case] else "Thank you") in person.page().text
        run = sm.get_run(opened.run_of(person), store=opened.path)
        episodes = list(run.episodes())
        assert run.status == "finished" and run.subject == "human"
        assert episodes and all(episode.failure is None for episode in episodes)
        assert [episode.item.id for episode in episodes if episode.score.unreadable] == []
        run.summary(run.tasks[0])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_points_that_are_entered_are_the_points_that_are_scored(tmp_path, language):
    with OpenStudy(tmp_path / "s.db", "seceu", "--limit", "4", "--language", language) as opened:
        lots = random.Random(3)
        person = opened.person().join()
        given = []
        while True:
            cuts = sorted(lots.randrange(21) for _ in range(3))
            person.points = [b / 2 - a / 2 for a, b in zip([0, *cuts], [*cuts, 20], strict=True)]
            if not person.answer():
                break
            given.append(tuple(person.points))
        stored = [episode.outcome.points for episode in sm.get_run(opened.run_of(person), store=opened.path).episodes()]
        assert stored == given and len(given) == 4


@pytest.mark.parametrize(
    "points", [(1, 2, 3, 5), (0, 0, 0, 0), (-1, 4, 4, 3), ("", 4, 3, 2), ("nan", 1, 2, 3), ("x", 1, 2, 3)]
)
def test_points_that_do_not_share_out_ten_are_asked_for_again_with_what_was_entered(shared, points):
    person = shared.person().join()
    form = Form(person.page().text, "/take")
    got = person.post("/take", {**form.hidden, **dict(zip(form.numbers, points, strict=True))})
    assert got.status == 400 and 'role="alert"' in got.text
    assert all(f'value="{value}"' in got.text for value in points if value != "")
    assert Form(person.page().text, "/take").hidden["number"] == "0"


def test_nobody_takes_part_without_agreeing(seceu):
    person = seceu.person()
    got = person.post(person.join_path, {"about-0": "30"})
    assert got.status == 400 and 'value="30"' in got.text
    assert seceu.book.participants("spring") == []


def test_what_is_asked_about_a_person_is_kept_and_nothing_else(seceu):
    person = seceu.person()
    person.join(**{"about-0": " 41 ", "about-1": "x", "name": "Ada"})
    (participant,) = seceu.book.participants("spring")
    assert participant.about == {"age": "41"}


def test_a_wrong_code_can_be_corrected(shared):
    got = shared.person().come_back("abcd-efgh-ijkl")
    assert got.status == 403 and "<details" in got.text and 'value="abcd-efgh-ijkl"' in got.text
    assert " open>" in got.text


def test_a_person_leaves_and_comes_back_with_the_code(shared):
    person = shared.person().join()
    person.answer()
    other = shared.person()
    assert other.come_back(person.code.upper().replace("-", " ")).status == 303
    assert Form(other.page().text, "/take").hidden["number"] == "1"
    assert other.answer_all() == 3


def test_a_form_that_is_sent_twice_counts_once(shared):
    person = shared.person().join()
    fields = person.filled(Form(person.page().text, "/take"))
    for _ in range(3):
        assert person.post("/take", fields).status == 303
    assert Form(person.page().text, "/take").hidden["number"] == "1"


def test_the_result_is_shown_only_where_the_study_shows_it(seceu, tmp_path):
    person = seceu.person().join()
    person.answer_all()
    assert "Your result" in person.page().text
    with OpenStudy(tmp_path / "t.db", "seceu", "--limit", "1") as opened:
        other = opened.person().join()
        other.answer_all()
        assert "Your result" not in other.page().text


def test_everyone_gets_a_sample_of_their_own(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--sample", "3") as opened:
        people = [opened.person().join() for _ in range(4)]
        assert [person.answer_all() for person in people] == [3] * 4
        samples = [
            frozenset(episode.item.id for episode in sm.get_run(opened.run_of(person), store=opened.path).episodes())
            for person in people
        ]
        assert len(set(samples)) > 1


def test_the_quota_holds_against_many_at_once(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1", "--quota", "2") as opened:
        people = [opened.person().join() for _ in range(6)]
        with ThreadPoolExecutor(6) as pool:
            statuses = sorted(pool.map(lambda person: person.get("/take").status, people))
        assert statuses == [200, 200, 403, 403, 403, 403]


def test_response_times_are_kept_apart_from_the_answers(seceu, capsys):
    person = seceu.person().join()
    person.answer_all()
    times = list(seceu.book.timings("spring"))
    assert [time.question for time in times] == [0, 1, 2, 3] and all(time.seconds >= 0 for time in times)
    capsys.readouterr()
    assert run_command(["study", "show", "spring", "--json", "--store", str(seceu.path)]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["status"] == "finished" and row["items"] == 4 and row["answers"] == 4


# What is forbidden


@pytest.mark.parametrize(("method", "path"), [("GET", "/take"), ("GET", "/end"), ("GET", "/stored"),
                                              ("POST", "/take"), ("POST", "/withdraw")])  # fmt: skip
def test_without_a_session_there_is_no_page(shared, method, path):
    stranger = Client(shared.served.url)
    got = stranger.get(path) if method == "GET" else stranger.post(path, {})
    assert got.status == 403


@pytest.mark.parametrize("path", ["/", "/join/", "/join/x", "/", "/owner", "/join/../take"])
def test_without_the_secret_of_the_link_there_is_nothing(shared, path):
    got = Client(shared.served.url).get(path)
    assert got.status in (403, 404) and "spring" not in got.text


def test_a_participant_reaches_only_their_own_answers(shared):
    one, two = shared.person().join(), shared.person().join()
    one.answer()
    theirs = Form(two.page().text, "/take")
    stolen = {**two.filled(theirs), "csrf": csrf_of(one)}
    assert two.post("/take", stolen).status == 403
    assert Client(one.url, one.cookie).post("/take", two.filled(theirs)).status == 403
    assert Form(two.page().text, "/take").hidden["number"] == "0"
    assert Form(one.page().text, "/take").hidden["number"] == "1"


def test_a_form_of_another_site_changes_nothing(shared):
    person = shared.person().join()
    fields = person.filled(Form(person.page().text, "/take"))
    for headers in ({"Origin": "https://evil.example"}, {"Origin": None}, {"Sec_Fetch_Site": "cross-site"}):
        assert person.post("/take", fields, **headers).status == 403
        assert person.post("/withdraw", fields, **headers).status == 403
    assert person.post("/take", {**fields, "csrf": "x"}).status == 403
    assert person.post("/withdraw", {}).status == 403
    assert Form(person.page().text, "/take").hidden["number"] == "0"


def test_guessing_codes_is_slowed_down(seceu):
    person = seceu.person().join()
    guesser = seceu.person()
    assert [guesser.come_back("aaaa-bbbb-cccc").status for _ in range(12)] == [403] * 10 + [429] * 2
    assert guesser.come_back(person.code).status == 429


@pytest.mark.parametrize(
    ("config", "model"),
    [
        (RunConfig(instrument="sage", subject="openai/x", roles={"participant": "human"}), "openai/x"),
        (RunConfig(instrument="sage", subject="human", roles={"simulator": "python/os:system"}), "python/os:system"),
    ],
)
def test_a_study_of_version_0_3_that_calls_a_model_is_not_opened(tmp_path, config, model):
    path = tmp_path / "s.db"
    with closing(StudyBook(book_path(path))) as book:
        book.create(Study("spring", config))
    with pytest.raises(UsageError, match=f"made by version 0.3, calls {model}, and a study never calls a model"):
        serve_study(path, "spring", load, Place("127.0.0.1", 0, ""), print)


def test_a_study_of_imported_talks_is_not_opened(tmp_path):
    path = tmp_path / "s.db"
    with closing(StudyBook(book_path(path))) as book:
        book.create(Study("spring", RunConfig(instrument="sage", subject="m-1", tasks=("talk",)), imported="digest"))
    with pytest.raises(UsageError, match="talks of study spring were imported, so nobody can join it"):
        serve_study(path, "spring", load, Place("127.0.0.1", 0, ""), print)


def test_a_code_opens_only_the_study_it_belongs_to(shared):
    person = shared.person().join()
    assert shared.book.with_code("autumn", person.code) is None


def test_codes_and_cookies_are_not_in_the_file(shared):
    person = shared.person().join()
    body = b"".join(path.read_bytes() for path in shared.path.parent.glob("s.db.studies*"))
    assert person.code.replace("-", "").encode() not in body
    assert person.cookie.partition("=")[2].encode() not in body
    assert book_path(shared.path).stat().st_mode & 0o077 == 0


def test_what_a_person_writes_is_shown_as_text(tmp_path):
    with OpenStudy(tmp_path / "s.db", "egosocial", "--task", "blackjack", "--limit", "1", "--ask", "age") as opened:
        person = opened.person(words="<script>alert(1)</script>")
        person.join(**{"about-0": "<b>9</b>"})
        form = Form(person.page().text, "/take")
        refused = person.post("/take", {**person.filled(form), **dict.fromkeys(form.numbers, "")})
        assert refused.status == 400
        assert "&lt;script&gt;" in refused.text and "<script>alert" not in refused.text
        assert "&lt;b&gt;9" in person.get("/stored").text


# Withdrawing


def test_the_owner_can_withdraw_a_participant(seceu):
    person = seceu.person().join()
    person.answer_all()
    (participant,) = seceu.book.participants("spring")
    command = ["study", "withdraw", "spring", participant.id, "--yes", "--store", str(seceu.path)]
    assert run_command(command) == 0
    assert seceu.book.participants("spring") == []
    assert person.get("/take").status == 403
    assert run_command(command) == 2


def test_the_error_about_an_open_study_names_the_study(tmp_path):
    with (
        study_lock(tmp_path / "s.db", "spring"),
        pytest.raises(StoreError, match=r"study spring is open in process \d+; close it there first"),
        study_lock(tmp_path / "s.db", "spring"),
    ):
        pass


# What a study is for


@pytest.mark.parametrize(("words", "said"), [
    (["sage"], "'dialogue' is not for people; tasks of sage for people: none."),
    (["sesi", "--task", "recall"], "'recall' is not for people"),
    (["sage", "--task", "talk"], "'talk' is not for people"),
    (["socialeval", "--task", "utterances"], "tasks of socialeval for people: abilities, goals"),
    (["socialeval", "--task", "inside"], "'inside' is not for people"),
    (["seceu", "--set", "shufle=true"], "unknown setting 'shufle'; did you mean '--set shuffle=true'?"),
    (["sesi", "seceu", "--set", "shufle=true"], "unknown setting 'shufle'; did you mean '--set shuffle=true'?"),
    (["sesi", "seceu", "--official", "--language", "zh"], "error: SESI's official items, conditions and other"),
])  # fmt: skip
def test_a_study_that_could_give_no_score_is_refused(words, said, tmp_path, capsys):
    assert run_command(["study", "create", *words, "--name", "spring", "--store", str(tmp_path / "s.db")]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        (("seceu", "--attention", "1"), ("answer questions", "check that you read carefully")),
        (("sesi",), ("answer questions",)),
        (("egosocial", "--task", "numbers"), ("games",)),
        (("socialeval", "--task", "goals", "--task", "abilities"), ("conversations", "answer questions")),
    ],
)
def test_the_consent_says_what_the_study_has(words, kinds, tmp_path):
    with OpenStudy(tmp_path / "s.db", *words, "--limit", "2") as opened:
        text = opened.person().get(opened.link).text
    every = ("answer questions", "games", "conversations", "check that you read carefully")
    assert [kind for kind in every if kind in text] == [kind for kind in every if kind in kinds]
    assert "trick" not in text


def test_a_game_begins_with_a_round_that_does_not_count(tmp_path):
    with OpenStudy(tmp_path / "s.db", "egosocial", "--task", "numbers", "--limit", "1", "--set", "rounds=3") as opened:
        person, bars = opened.person().join(), []
        while "does not count" in (text := person.page().text):
            form = Form(text, "/take")
            assert int(form.hidden["number"]) < 0 and 'value="0"></progress>' in text
            assert person.post("/take", person.filled(form)).status == 303
        assert opened.book.timings("spring") == []
        # Somebody who comes back before the first round that counts practises again, later not any more.
        for _ in range(3):
            text = person.page().text
            assert "does not count" not in text and "1 of 1" in text
            bars.append(float(re.search(r'value="([\d.]+)"></progress>', text).group(1)))
            assert person.answer()
        assert bars == sorted(set(bars)) and 0 == bars[0] < bars[-1] < 1
        assert "Thank you" in person.page().text
        (run,) = sm.runs(store=opened.path)
        assert run.status == "finished" and [time.question for time in opened.book.timings("spring")] == [0, 1, 2]
        (episode,) = run.episodes()
        assert len(episode.outcome.rounds) == 3


# Several instruments in one sitting


def test_a_battery_is_one_sitting_with_a_run_and_a_table_for_each_instrument(tmp_path, capsys):
    options = (
        "--limit",
        "2",
        "--ask",
        "age; number 18..99",
        "--attention",
        "1",
        "--shows",
        "score",
        "--order",
        "random",
    )
    with OpenStudy(tmp_path / "s.db", "sesi", "seceu", *options) as opened:
        person, seen = opened.person(choose=lambda values: values[-1]).join(**{"about-0": "44"}), []
        while "Thank you" not in (text := person.page().text):
            path = "/check" if 'action="/check"' in text else "/take"
            form = Form(text, path)
            seen += [form.hidden["number"]] if path == "/take" else []
            assert path == "/check" or f"{len(seen)} of 4" in text
            assert person.post(path, person.filled(form)).status == 303
            if len(seen) == 3:  # in the middle of the second instrument, in another browser
                person.cookie = ""
                assert person.come_back().status == 303
        assert seen == ["0", "1", "2", "3"] and text.count("<dt>") == 2
        other = opened.person().join()
        if (check := Form(other.page().text, "/check")).hidden:
            assert other.post("/check", other.filled(check)).status == 303
        assert other.answer() and other.page().status == 200
        at = ["--store", str(opened.path)]
        people = sm.get_run("spring.seceu", store=opened.path)
        assert people.subject.startswith("people (spring.seceu, n = 1") and people.instrument == "seceu"
        assert sm.get_run("spring.sesi", store=opened.path).people == 1
        with pytest.raises(UsageError, match=r"name the people of one: spring\.sesi, spring\.seceu"):
            sm.get_run("spring", store=opened.path)
        assert run_command(["study", "export", "spring", "--to", str(tmp_path / "x"), *at]) == 0
        made = {file.stem: file.read_text().splitlines() for file in (tmp_path / "x").iterdir()}
        assert len(made["sesi_questions"]) == 4 and len(made["seceu_feelings"]) == 3 and len(made["people"]) == 3
        meaning = {column: said for table, column, said, *_ in csv.reader(made["codebook"]) if table == "wide.csv"}
        assert "by its counts_… column" in meaning["counts"] and meaning["counts_sesi"].startswith("1 if the results")
        assert meaning["excluded_sesi"].endswith("leave this person out: sesi")
        capsys.readouterr()
        assert run_command(["study", "show", "spring", "--json", *at]) == 0
        one, two = json.loads(capsys.readouterr().out)
        assert (one["status"], one["items"], one["answers"], one["excluded"]) == ("finished", 4, 4, "")
        assert len(one["run"].split()) == 2 and two["items"] == 1 and two["excluded"] in ("", "answered 1 of 4 items")
        assert person.withdraw().status == 200
        assert [run.instrument for run in sm.runs(store=opened.path)] == ["sesi"]


def test_a_battery_gives_each_instrument_the_options_that_it_knows(tmp_path, capsys):
    create = ["study", "create", "sesi", "egosocial", "--name", "spring", "--store", str(tmp_path / "s.db")]
    assert run_command([*create, "--task", "numbers", "--set", "rounds=2", "--limit", "1"]) == 0
    assert "sesi, 1 item of questions; egosocial, 1 item of numbers" in capsys.readouterr().out
    assert run_command([*create, "--task", "nowhere"]) == 2
