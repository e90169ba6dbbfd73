"""People talk with a model in the browser and say how they feel: pages, ethics, failures, cost, withdrawal."""

import csv
import re
import sqlite3
from contextlib import closing

import pytest
from open_study import OpenStudy
from person import Form, Person, plain

from servers import faults
from servers.openai import OpenAIServer
from sociometer.cli.main import run_command
from sociometer.core.errors import UsageError
from sociometer.instruments import load
from sociometer.results.groups import study_run
from sociometer.store.erasing import finish_withdrawals
from sociometer.store.texts import open_text
from sociometer.web.study import SEATS, refuse_unconfirmed

NEEDS = ("--distress", "Call 112, or talk to somebody you trust.", "--contact", "lab@example.org")


class Talker(Person):
    """Taps how they feel, by the number of the question, and writes sentences of their own."""

    def __init__(self, *given, name="", feelings=(20, 35, 50, 65, 80), ends=3, prefers=0, **more):
        super().__init__(*given, **more)
        self.name, self.feelings, self.ends, self.prefers = name, list(feelings), ends, prefers
        self.tapped, self.wrote, self.seen = [], 0, []

    def join(self, **about):
        return super().join(adult="yes", **about)

    def filled(self, form):
        fields, options = dict(form.hidden), next(iter(form.radios.values()), [])
        self.words = f"My neighbour's dog barks all night, says {self.name} for the {self.wrote + 1}. time."
        if "50" in options:
            self.tapped.append(self.feelings[len(self.tapped) % len(self.feelings)])
            return fields | {"answer": str(self.tapped[-1])}
        if "part-next" in form.radios:
            done = self.wrote >= self.ends
            self.wrote += not done
            return fields | {"part-words": "" if done else self.words, "part-next": "end" if done else "send"}
        if form.texts:
            self.wrote += 1
            return fields | {"answer": self.words}
        return fields | {"answer": options[self.prefers if len(options) == 2 else -1]}

    def answer(self):
        self.seen.append(self.page().text)
        return self.answer_page(self.seen[-1])


@pytest.fixture
def server():
    with OpenAIServer() as made:
        count = iter(range(100_000))
        made.say = lambda body: f"Reply {next(count)} of {body['model']}: that sounds tiring."
        yield made


def models(server, *names):
    return [word for name in names for word in ("--model", f"vllm/{name}@{server.url}#1")]


def opened(tmp_path, server, *more, names=("secret-model",)):
    return OpenStudy(tmp_path / "s.db", "sage", "--task", "talk", *models(server, *names), *NEEDS, *more)


def talker(study, **more):
    return Talker(study.served.url, study.link, **more)


def talks_of(study, name="spring"):
    run = study_run(study.store, name, load)
    return {episode.item.id: episode.outcome for episode in run.episodes("talk")}


def test_a_talk_from_the_consent_to_the_debriefing_arrives_as_tapped(tmp_path, server):
    with opened(tmp_path, server) as study:
        one = talker(study, name="Ada", ends=4)
        welcome = plain(one.get(study.link).text)
        host = server.url.split("/")[2]
        for said in ("not with a person", "adults", host, "They may keep it", "Call 112", "lab@example.org"):
            assert said in welcome, said
        one.join().answer_all()
        end = plain(one.page().text)
        assert "secret-model" in end and "Call 112" in end
        asked = one.seen[:-1]
        assert not any("secret-model" in page.replace("of secret-model", "") for page in asked), "models are unnamed"
        assert all("If you are not well" in page for page in asked)
        (talk,) = talks_of(study).values()
        assert [talk.start, *(turn.felt for turn in talk.turns)] == one.tapped == [20, 35, 50, 65, 80]
        assert len(talk.turns) == 4 and talk.turns[0].words.endswith("2. time.")
        assert talk.turns[3].words == "" and talk.answers == {"understood": 4, "again": 4, "honest": 4}
        (second,) = [turn for turn in talk.turns if turn.preferred]
        assert second.other.startswith("Reply") and second.other != second.reply
        sent = [each.body["messages"] for each in server.received]
        later = [said["content"] for messages in sent for said in messages if said["role"] == "assistant"]
        assert second.reply in later and second.other not in later, "the talk goes on with the assigned reply"


def test_a_study_that_is_closed_while_the_model_writes_names_no_error(tmp_path, server, capsys, monkeypatch):
    monkeypatch.setattr("sociometer.web.study.WAIT_SECONDS", 0.2)
    server.fault_of = lambda number: faults.slow(20)
    with opened(tmp_path, server) as study:
        one = talker(study, name="Ada").join()
        while not server.received:
            one.answer_page(one.get("/take").text)
        capsys.readouterr()
    assert run_command(["runs", "--store", str(study.path)]) == 0
    said = capsys.readouterr().out
    assert "left after 0 of 1 item. To continue it: sociometer study open spring" in said and "error:" not in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--set", "turns=3"], "How many talks: 1. Messages that you write in each: 3."),
        ([], "How many talks: 1. Messages that you write in each: 3 to 10."),
        (["--set", "turns=5", "--language", "zh"], "共 1 次聊天，每次你写 3 到 5 条消息。"),
    ],
)
def test_the_consent_says_how_many_messages_a_talk_has(tmp_path, server, options, said):
    with opened(tmp_path, server, *options) as study:
        assert said in plain(study.person().get(study.link).text)
        if options[:2] == ["--set", "turns=3"]:
            one = talker(study, name="Ada", ends=9).join()
            one.answer_all()
            assert one.wrote == 3, "the talk has as many"


@pytest.mark.parametrize(
    ("names", "said"), [("a", "1 talk (1 model) for each of"), ("abc", "1 talk (3 models) for each of")]
)
def test_create_says_how_many_talks_and_models_there_are(tmp_path, server, capsys, names, said):
    with opened(tmp_path, server, names=names):
        assert f"Study spring: {said} at most 1,000 participants" in capsys.readouterr().out


def test_feelings_come_before_the_second_reply_and_no_value_is_preset(tmp_path, server):
    with opened(tmp_path, server) as study:
        one = talker(study, name="Ada").join()
        one.answer_all()
        place = next(number for number, page in enumerate(one.seen) if "Which one would you rather" in page)
        assert "After this reply: how do you feel" in one.seen[place - 1]
        scales = [page for page in one.seen if 'class="moves scale"' in page]
        assert len(scales) == 4 and all("0: very bad" in page and "100: very good" in page for page in scales)
        assert not any(re.search(r'checked|type="range"', page) for page in scales)
        assert scales[0].count('name="answer"') == 21


def test_the_order_of_the_two_replies_and_the_turn_differ_between_people(tmp_path, server):
    with opened(tmp_path, server) as study:
        for number in range(40):  # Each chooses the reply that is shown first; as a rule four people show all.
            talker(study, name=f"person {number}").join().answer_all()
            talks = [enumerate(talk.turns) for talk in talks_of(study).values()]
            seen = [(place, turn.preferred) for turns in talks for place, turn in turns if turn.preferred]
            places, preferred = (set(each) for each in zip(*seen, strict=True))
            if preferred == {"reply", "other"} and len(places) > 1:
                break
        else:
            pytest.fail(f"40 people saw the same reply first or at the same turn: {preferred}, {places}")


def test_minors_and_people_who_do_not_say_so_cannot_join(tmp_path, server):
    with opened(tmp_path, server) as study:
        client = Person(study.served.url, study.link)
        form = Form(client.get(study.link).text, study.link)
        got = client.post(study.link, {**form.hidden, "agree": "yes"})
        assert got.status == 400 and "Only adults can take part" in plain(got.text)


@pytest.mark.parametrize("missing", ["--distress", "--contact", "--model"])
def test_a_study_of_talks_needs_a_text_for_people_in_distress_a_contact_and_a_model(tmp_path, server, capsys, missing):
    words = [*models(server, "m"), *NEEDS]
    place = words.index(missing)
    del words[place : place + 2]
    made = ["study", "create", "sage", "--task", "talk", "--name", "spring", "--store", str(tmp_path / "s.db")]
    assert run_command([*made, *words]) == 2
    assert f"needs {missing}" in " ".join(capsys.readouterr().err.split())


def test_people_are_spread_over_models_and_compared_within_people_if_each_talks_with_two(tmp_path, server, capsys):
    with opened(tmp_path, server, "--sample", "2", names=("kind", "curt")) as study:
        for number in range(2):
            one = talker(study, name=f"person {number}", feelings=range(5, 100, 5))
            one.join().answer_all()
            assert {"kind", "curt"} <= set(re.findall(r"kind|curt", plain(one.page().text)))
        kind, curt = talks_of(study, "spring.vllm-kind-1"), talks_of(study, "spring.vllm-curt-1")
        assert kind.keys() == curt.keys() and len(kind) == 2
        assert all(kind[who].opening != curt[who].opening for who in kind), "the second talk begins anew"
        study.served.app[SEATS].prepare(study.study)  # as `study open` does
    path = str(tmp_path / "s.db")
    assert run_command(["study", "export", "spring", "--to", str(tmp_path / "out"), "--store", path]) == 0
    with (tmp_path / "out" / "sage_talk.csv").open(encoding="utf-8-sig", newline="") as file:
        found = list(csv.DictReader(file))
    assert {row["model"] for row in found} == {"vllm/kind#1", "vllm/curt#1"}
    assert sum(row["answer"] == "5" for row in found) == 2, "feelings are there as tapped"
    with (tmp_path / "out" / "people.csv").open(encoding="utf-8-sig", newline="") as file:
        columns = [name for name in next(csv.reader(file)) if name.startswith("result_")]
    of = {model: [name for name in columns if name.endswith(f"_vllm_{model}_1")] for model in ("kind", "curt")}
    assert sorted(columns) == sorted(of["kind"] + of["curt"]) and len(of["kind"]) == len(of["curt"])
    assert of["kind"], "a result for each of the models"
    assert run_command(["compare", "spring.vllm-kind-1", "spring.vllm-curt-1", "--store", path]) == 0
    assert "with people (spring.vllm-kind-1, n = 2)" in " ".join(capsys.readouterr().out.split())


def test_people_are_assigned_to_models_in_equal_numbers(tmp_path, server):
    with opened(tmp_path, server, "--ask", "hand; choice left|right; only left", names=("kind", "curt")) as study:
        for number in range(8):  # every second one is screened out
            talker(study, name=f"person {number}").join(**{"about-0": "right" if number % 2 else "left"})
        places = [one.places for one in study.book.participants("spring")]
        assert sorted(places) == [*[()] * 4, (0,), (0,), (1,), (1,)]


def texts_in(path):
    """All texts of a store, and all bytes of the files next to it."""
    with closing(sqlite3.connect(path)) as store:
        texts = [open_text(*row) for row in store.execute("SELECT hash, body FROM text")]
    return b"".join([*texts, *(one.read_bytes() for one in path.parent.glob(f"{path.name}*") if one.is_file())])


@pytest.mark.parametrize("answers", [1, 3, 5, 7])
def test_withdrawal_in_the_middle_of_a_talk_leaves_nothing(tmp_path, server, answers):
    with opened(tmp_path, server) as study:
        stays, goes = talker(study, name="Bob").join(), talker(study, name="Ada").join()
        for _ in range(answers):
            assert stays.answer() and goes.answer()
        study.store.flush()
        assert b"says Ada" in texts_in(study.path)
        assert "Your data was deleted" in goes.withdraw().text
        found = texts_in(study.path)
        assert b"says Ada" not in found and b"says Bob" in found
        stays.answer_all()
        assert len(talks_of(study)) == 1 and study.book.study("spring").withdrawn == 1


def test_withdrawal_with_a_busy_store_leaves_nothing_in_the_end(tmp_path, server, monkeypatch):
    plain_connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **named: plain_connect(*given, **{**named, "timeout": 0.3}))
    with opened(tmp_path, server) as study:
        goes = talker(study, name="Ada").join()
        for _ in range(5):
            assert goes.answer()
        study.store.flush()
        with closing(plain_connect(study.path, isolation_level=None)) as other:
            other.execute("BEGIN")
            other.execute("SELECT count(*) FROM journal").fetchone()
            assert "Your withdrawal is in progress" in goes.withdraw().text
        finish_withdrawals(study.store.database, study.store.forget)  # as the server does every minute
        assert b"says Ada" not in texts_in(study.path) and not study.book.withdrawing()


def test_a_provider_that_fails_in_the_middle_is_told_in_plain_words_and_the_talk_goes_on_later(tmp_path, server):
    with opened(tmp_path, server) as study:
        one = talker(study, name="Ada").join()
        for _ in range(4):
            assert one.answer()
        said, server.say = server.say, broken
        one.answer_all()
        page = one.page()
        assert page.status == 503 and "does not answer at the moment" in plain(page.text), plain(page.text)
        assert "You can go on later" in plain(page.text) and "Traceback" not in page.text
        server.say = said
        one.answer_all()
        (talk,) = talks_of(study).values()
        assert len(talk.turns) == 3 and [talk.start, *(turn.felt for turn in talk.turns)] == one.tapped


def broken(body):
    raise RuntimeError("the model is broken")


def test_when_the_limit_of_cost_is_reached_new_people_do_not_start_and_others_finish(tmp_path, server, monkeypatch):
    prices = tmp_path / "prices.toml"
    prices.write_text('["vllm/secret-model"]\ninput = 1000000\noutput = 1000000\nas_of = 2026-01-01\n', "utf-8")
    monkeypatch.setenv("SOCIOMETER_PRICES", str(prices))
    with opened(tmp_path, server, "--max-cost", "5") as study:
        first, late = talker(study, name="Ada").join(), talker(study, name="Bob").join()
        for _ in range(4):
            assert first.answer()
        got = late.get("/take")
        assert got.status == 403 and "used up its means" in plain(got.text)
        first.answer_all()
        assert len(talks_of(study)) == 1


def test_a_situation_of_a_scenario_takes_the_place_of_an_own_matter(tmp_path, server):
    with opened(tmp_path, server, "--item", "en-care-home") as study:
        one = talker(study, name="Ada").join()
        assert "Imagine that you are in this situation" in plain(one.page().text)
        one.answer_all()
        (talk,) = talks_of(study).values()
        assert talk.matter != talk.opening and "care" in talk.matter.lower()


def test_the_text_for_people_in_distress_can_be_changed_but_not_removed(tmp_path, server, capsys):
    with opened(tmp_path, server):
        pass
    change = ["study", "change", "spring", "--store", str(tmp_path / "s.db"), "--distress"]
    assert run_command([*change, ""]) == 2 and "cannot be empty" in capsys.readouterr().err
    assert run_command([*change, "Call your doctor."]) == 0


def test_a_model_with_an_address_is_confirmed_when_the_study_is_opened(tmp_path, server):
    with opened(tmp_path, server) as study:
        named = f"vllm/secret-model@{server.url}#1"
        with pytest.raises(UsageError, match="confirm that with --role subject="):
            refuse_unconfirmed(study.study, [])
        refuse_unconfirmed(study.study, [("subject", named)])
