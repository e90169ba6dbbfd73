"""A study as one subject: who counts, the interval over people and items, and a model's place among people."""

import json
import math
import random
import re
import sqlite3
import zlib
from contextlib import closing

import numpy as np
import pytest
from msgspec import structs
from scipy import stats

import sociometer as sm
from fake_runs import card, fake_run
from sociometer.cli.main import run_command
from sociometer.core.config import RunConfig
from sociometer.core.errors import NotFound
from sociometer.core.words import counted
from sociometer.instruments import load
from sociometer.results.comparison import compare
from sociometer.results.groups import study_run
from sociometer.results.leaderboard import leaderboard
from sociometer.results.reliability import raw_items, reliability_sentence, task_reliability
from sociometer.statistics.item_values import ItemValue
from sociometer.statistics.people import cohens_d, mean_over_people, place_among, scores_of
from sociometer.statistics.reliability import cronbach_alpha
from sociometer.store.store import Store
from sociometer.store.studies import Study, StudyBook, book_path

PEOPLE, ITEMS = 12, 15


def table(values):
    """Item values from an array of people × items."""
    return {
        f"i{place}": ItemValue(f"i{place}", f"i{place}", float(column.mean()), tuple(column), {}, b"",
                               tuple(range(len(column))))
        for place, column in enumerate(np.asarray(values, dtype=float).T)
    }  # fmt: skip


def test_the_interval_covers_other_people_and_other_items():
    draws, inside = np.random.default_rng(1), 0
    for _ in range(400):
        people, items = draws.normal(size=(20, 1)), draws.normal(size=(1, 25))
        found = mean_over_people(table(people + items + draws.normal(size=(20, 25)))).interval
        inside += found.low < 0 < found.high
    assert 0.92 < inside / 400 < 0.98


def test_an_interval_over_people_and_items_is_never_narrower_than_one_over_people():
    draws = np.random.default_rng(2)
    for _ in range(50):
        right = (draws.random((14, 12)) < 0.25).astype(float)
        found, each = mean_over_people(table(right)).interval, right.mean(axis=1)
        over_people = stats.t.interval(0.95, 11, each.mean(), stats.sem(each))
        assert found.high - found.low >= over_people[1] - over_people[0] - 1e-9


@pytest.mark.parametrize(("people", "items", "said"), [(9, 12, "9 people"), (12, 9, "9 stories"), (1, 1, "1 story")])
def test_an_interval_says_whether_people_or_items_are_too_few(people, items, said):
    found = mean_over_people(table(np.eye(people, items))).interval
    assert found.too_few and counted(found.clusters, found.scarce("story")) == said


def test_where_people_agree_only_the_items_count_and_the_other_way_round():
    spread = np.linspace(0, 1, 20)
    agree, alike = mean_over_people(table([spread] * 12)), mean_over_people(table([[value] * 12 for value in spread]))
    assert agree.added == pytest.approx(0, abs=1e-12)
    assert alike.added == pytest.approx(np.var(spread, ddof=1) / 20, rel=0.1)


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_a_share_of_people_at_an_end_has_an_interval_and_other_values_have_none(end):
    alike = table(np.full((14, 12), end))
    found = mean_over_people(alike, share=True).interval
    assert (found.low, found.high) == pytest.approx((0.0, 0.285) if end == 0 else (0.715, 1.0), abs=0.005)
    assert found.method == "Wilson over people and items"
    assert mean_over_people(alike).interval.method == "no variation"
    assert mean_over_people(table(np.full((14, 12), 0.3)), share=True).interval.method == "no variation"


def test_the_place_among_people_counts_each_on_the_items_that_they_took():
    people = {
        "a": ItemValue("a", "a", 1, (1.0, 0.0), {}, b"", (0, 1)),
        "b": ItemValue("b", "b", 0, (0.0,), {}, b"", (2,)),
        "c": ItemValue("c", "c", 1, (1.0,), {}, b"", (3,)),
    }
    model = {name: ItemValue(name, name, value, (value,), {}, b"", (0,)) for name, value in (("a", 1.0), ("b", 1.0))}
    found = place_among(people, model, 1.0)
    assert (found.better_than, found.people) == (2.5, 3)


def test_how_far_a_model_is_from_the_people_is_in_standard_deviations_of_their_scores():
    people = table([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])  # scores 1.5, 3.5 and 5.5: mean 3.5, SD 2
    names = list(people)
    model = {name: ItemValue(name, name, 4.5, (4.5,), {}, b"", (0,)) for name in names}
    assert place_among(people, model, -1.0).deviations == pytest.approx(0.5)
    alike = table([[1.0, 2.0]] * 3)
    assert place_among(alike, model, 1.0).deviations is None


def test_two_groups_of_people_have_cohens_d():
    one, two = (1.0, 2.0, 3.0), (2.0, 4.0, 6.0, 8.0)  # sums of squares 2 and 20, 5 degrees of freedom
    assert cohens_d(one, two) == pytest.approx(3 / (22 / 5) ** 0.5)
    assert cohens_d((1.0, 1.0), (1.0, 1.0)) is None
    assert scores_of(table([[1.0, 2.0], [3.0, 4.0]])) == (1.5, 3.5)
    draws = np.random.default_rng(2)
    groups = []
    for subject in ("spring", "autumn"):
        values = draws.integers(0, 2, size=(PEOPLE, ITEMS)).astype(float)
        each = [(person, fake_run(subject, list(row)).episodes()) for person, row in enumerate(values)]
        episodes = [structs.replace(episode, repeat=person) for person, some in each for episode in some]
        run = fake_run(subject, list(values[0]))
        groups.append((structs.replace(run, walk=episodes.__iter__, people=PEOPLE), values.mean(axis=1)))
    (compared,) = compare([run for run, _ in groups])
    found = cohens_d(*(scores.tolist() for _, scores in groups))
    assert any(f"Cohen's d {found:.2f}".replace("-", "−") in note for note in compared.notes), compared.notes


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    """A store with a study of twelve people who answered, one of them without reading, and two baselines."""
    path = tmp_path_factory.mktemp("group") / "s.db"
    book, lots = StudyBook(book_path(path)), random.Random(4)
    config = RunConfig(instrument="sesi", subject="human", limit=ITEMS)
    study = Study("spring", config, asks=("age", "sex"), attention=1, fastest_seconds=0)
    book.create(study)

    for number in range(PEOPLE + 1):

        def answer(messages, number=number):
            return "ABCD"[zlib.crc32(f"{number} {messages}".encode()) % 4]

        person, _ = book.join(study, {"age": str(20 + number), "sex": lots.choice("fm")})
        options = {"settings": {"orders": 1}, "name": f"spring.{person.id}"}
        made = sm.run("sesi", model=answer, limit=ITEMS, fresh=True, store=path, **options)
        book.set_run(person, made.id)
        book.add_check(person.id, 0, number < PEOPLE)
    book.close()
    sm.run("sesi", model="baseline/oracle", limit=ITEMS, settings={"orders": 1}, store=path)
    sm.run("sesi", model="baseline/random", limit=ITEMS, settings={"orders": 1}, store=path)
    return path


def test_a_study_is_one_subject_without_those_who_are_excluded(studied, capsys):
    at = ["--store", str(studied)]
    oracle = next(run.id for run in sm.runs(store=studied) if "oracle" in run.subject)
    assert run_command(["compare", "spring", oracle, *at, "--format", "wide"]) == 0
    said = capsys.readouterr().out
    assert f"people (spring, n = {PEOPLE}, 1 excluded)" in said
    assert re.search(r"baseline/oracle is better than people \(spring.*: \d+", said)
    assert re.search(
        r"better than 12 of 12 people, 100 % \[\d+, 100\], and \d+\.\d\d SD better than the mean of their scores", said
    )
    place = sm.compare("spring", oracle, store=studied)[0].measure().place
    assert (place.better_than, place.people, place.share, place.interval.high) == (12, 12, 1, 1)
    assert f"100 % [{100 * place.interval.low:.0f}, 100], and {place.deviations:.2f} SD better" in said
    assert run_command(["compare", "spring", oracle, *at, "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert told["measures"][0]["place"]["share"] == 1 and not any(one["place"] for one in told["measures"][1:])
    board = sm.compare("spring", oracle, store=studied).ranking().boards[0]
    assert {one.subject: one.place and one.place.share for one in board.standings}["baseline/oracle"] == 1


def test_a_study_says_which_part_of_the_papers_items_its_people_answered_together(tmp_path, official_data, monkeypatch):
    monkeypatch.setenv("SOCIOMETER_DATA", str(official_data))
    config = RunConfig(instrument="socialeval", subject="human", tasks=("goals",), official=True)
    with closing(StudyBook(book_path(tmp_path / "s.db"))) as book:
        study = Study("spring", config, asks=(), attention=0, fastest_seconds=0)
        book.create(study)
        for seed in range(3):
            played = {"official": True, "tasks": ["goals"], "limit": 5, "repeats": 1, "seed": seed, "fresh": True}
            made = sm.run("socialeval", lambda messages: "A", store=tmp_path / "s.db", **played)
            book.set_run(book.join(study, {})[0], made.id)
    run = sm.get_run("spring", store=tmp_path / "s.db")
    trees = {episode.item.cluster for episode in run.episodes()}
    said = f"{len(trees)} of the paper's 153 trees"
    assert len(trees) > 5 and run.part_of_paper("goals") == said and f"goals has {said}." in run.summary().notes


def test_a_study_is_shown_as_its_people_and_not_item_by_item(studied, capsys):
    assert run_command(["show", "spring", "--store", str(studied)]) == 0
    said = capsys.readouterr().out
    assert "people (spring" in said
    for more in ("--items", "x"):
        assert run_command(["show", "spring", more, "--store", str(studied)]) == 2
        assert "sociometer study export spring --to FOLDER" in capsys.readouterr().err


def test_a_mistyped_study_is_named_and_a_frame_of_it_has_a_column_for_the_person(studied, capsys):
    assert run_command(["compare", "sprng", "last", "--store", str(studied)]) == 2
    told = "unknown run 'sprng'; did you mean 'spring'? If it is in another store, give --store. To see all: sociometer"
    assert told in capsys.readouterr().err
    with pytest.raises(
        sm.SociometerError, match="'spring'\\? Make one with 'sociometer study create INSTRUMENT --name"
    ):
        sm.study("sprng", store=studied)
    frame = sm.frame(sm.get_run("spring", store=studied))
    with closing(sqlite3.connect(book_path(studied))) as book:
        people = {name for (name,) in book.execute("SELECT id FROM participant")}
    assert set(frame["person"]) < people and len(set(frame["person"])) == PEOPLE
    assert "person" not in sm.frame(sm.get_run(store=studied))


@pytest.mark.parametrize("words", [("show", "spring.{}"), ("show", "{}"), ("study", "withdraw", "spring", "{}")])
def test_the_error_about_an_unknown_participant_names_nobody_else(studied, capsys, words):
    with closing(sqlite3.connect(book_path(studied))) as book:
        people = [name for (name,) in book.execute("SELECT id FROM participant")]
    mistyped = people[0][:-1] + ("y" if people[0].endswith("x") else "x")
    assert run_command([word.format(mistyped) for word in words] + ["--store", str(studied)]) == 2
    said = capsys.readouterr().err
    assert mistyped in said and not [name for name in people if name in said]
    where = "sociometer runs" if words == ("show", "{}") else "sociometer study show spring"
    assert where in said


def test_a_study_that_nobody_has_joined_is_found_and_deleted(tmp_path, capsys):
    at = ["--store", str(tmp_path / "s.db")]
    assert run_command(["study", "create", "seceu", "--name", "spring", "--limit", "2", *at]) == 0
    for words in (["show", "spring"], ["compare", "spring", "model"]):
        assert run_command([*words, *at]) == 2
        assert "nobody in study spring counts yet" in capsys.readouterr().err
    assert run_command(["store", "delete", "spring", "--yes", *at]) == 0
    assert "Deleted study spring with 0 participants" in capsys.readouterr().out


def test_a_participant_in_the_place_of_the_study_is_told_the_order(studied, capsys):
    with closing(sqlite3.connect(book_path(studied))) as book:
        ((person,),) = book.execute("SELECT min(id) FROM participant")
    assert run_command(["study", "withdraw", person, "spring", "--store", str(studied)]) == 2
    assert f"'{person}' is a participant of spring; 'sociometer study show spring" in capsys.readouterr().err


def test_no_single_participant_is_people(studied, capsys):
    at = ["--store", str(studied)]
    assert run_command(["compare", "sesi", *at]) == 0
    said = capsys.readouterr().out
    assert said.count("people (spring") and not re.search(r"\bhuman\b", said)
    assert run_command(["report", *at, "--to", str(studied.parent / "r.html")]) == 0
    page = (studied.parent / "r.html").read_text()
    assert "people (spring, n\u00a0=\u00a012)" in page and ">human<" not in page


def test_a_study_that_cannot_be_read_stops_nothing_else(studied, tmp_path, capsys):
    path = tmp_path / "s.db"
    assert run_command(["store", "copy", str(studied), str(path)]) == 0
    at = ["--store", str(path)]
    book = StudyBook(book_path(path))
    book.create(Study("bad", RunConfig(instrument="sesi", subject="human"), fastest_seconds=math.nan))
    book.close()
    oracle = next(run.id for run in sm.runs(store=path) if "oracle" in run.subject)
    for words in (
        ["compare", "sesi"],
        ["compare", "spring", oracle],
        ["report", "--to", str(tmp_path / "r.html")],
        ["study", "show", "spring"],
        ["study", "export", "spring", "--to", str(tmp_path / "e")],
    ):
        assert run_command([*words, *at]) == 0, words
    capsys.readouterr()
    assert run_command(["study", "list", *at]) == 0
    assert "bad\tdamaged" in capsys.readouterr().out
    assert run_command(["compare", "bad", oracle, *at]) == run_command(["study", "show", "bad", *at]) == 5
    assert run_command(["check", "store", *at]) == 1
    assert "study bad\t" in capsys.readouterr().out
    with closing(sqlite3.connect(book_path(path), isolation_level=None)) as file:
        file.execute("UPDATE study SET body = '{'")
    assert run_command(["compare", "sesi", *at]) == 0
    assert not re.search(r"\bhuman\b", capsys.readouterr().out)


def test_the_interval_of_a_study_is_over_people_and_items(studied):
    with Store(studied) as store:
        group = study_run(store, "spring", load)
        measure = group.summary("questions").measure("accuracy")
        assert "people and items" in measure.interval.method and group.people == PEOPLE


def test_a_ranking_with_people_agrees_with_the_comparison_of_the_two():
    """Where people differ widely, a model ahead of these people on every item may not be ahead of others."""
    lots = np.random.default_rng(3)
    people = np.repeat([0.0, 1.0], [7, 5]) + lots.normal(0, 0.05, (30, 12))
    crowd = structs.replace(fake_run("people", people.ravel(), repeats=12, of=card("number")), people=12)
    model = fake_run("model", people.mean(axis=1) + 0.2 + lots.normal(0, 0.02, 30), of=card("number"))
    assert compare([crowd, model])[0].measures[0].verdict == "cannot tell"
    first = leaderboard([crowd, model]).standings[0]
    assert (first.subject, first.beats, first.ranks.high) == ("model", (), 2)


def test_beside_people_the_intervals_are_adjusted_for_the_comparisons_with_them_alone():
    lots = np.random.default_rng(3)
    people = lots.normal(0, 1, (30, 12))
    crowd = structs.replace(fake_run("people", people.ravel(), repeats=12, of=card("number")), people=12)
    models = [fake_run(name, lots.normal(0, 1, 30), of=card("number")) for name in "abc"]
    assert [one.measures[0].family for one in compare([crowd, *models])] == [3] * 3
    assert [one.measures[0].family for one in compare([*models, crowd])] == [6] * 3, "of four subjects all pairs"


@pytest.mark.parametrize(("people", "said"), [(1, "1 person is"), (2, "2 people are"), (9, "9 people are")])
def test_a_comparison_with_few_people_says_how_many_they_are(people, said):
    values = np.random.default_rng(3).normal(0, 1, (14, people))
    crowd = fake_run("people", values.ravel(), repeats=people, of=card("number"))
    model = fake_run("model", values.mean(axis=1) + 0.1, of=card("number"))
    (found,) = compare([structs.replace(crowd, people=people), model])
    assert f"{said} too few to tell" in found.sentence and found.undecided.endswith(f": {people})"), found.sentence


def test_failed_items_do_not_make_a_comparison_with_people_surer():
    lots = np.random.default_rng(3)
    people = np.clip(np.repeat([0.0, 1.0], [7, 5]) + lots.normal(0, 0.05, (30, 12)), 0, 1)
    of = card("number", low=0.0, high=1.0)
    crowd = structs.replace(fake_run("people", people.ravel(), repeats=12, of=of), people=12)
    model = fake_run("model", [None, *np.clip(people.mean(axis=1) + 0.2, 0, 1)[1:]], of=of)
    found = compare([crowd, model])[0].measures[0]
    assert (found.verdict, found.failed, found.with_failed) == ("cannot tell", 1, ())


def test_the_reliability_of_a_study_is_that_over_its_people(studied, capsys):
    where = ["--store", str(studied)]
    assert run_command(["compare", "--reliability", "spring", *where, "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    alpha = found["alpha"]
    assert (alpha["subjects"], alpha["items"], alpha["interval"]["method"]) == (PEOPLE, ITEMS, "Feldt")
    assert alpha["value"] is not None and found["repeats"] == {}
    assert run_command(["compare", "--reliability", "spring", *where]) == 0
    assert f"over {PEOPLE} people" in (said := capsys.readouterr().out) and "epeat" not in said
    assert "Not shown: 1 table. To see everything, add --format wide." in said
    assert run_command(["compare", "--reliability", "spring", *where, "--format", "wide"]) == 0
    wide = capsys.readouterr().out
    assert all(one["item"] in wide for one in found["items"]) and len(found["items"]) == ITEMS
    assert "mean\tshare right (p)\tdiscrimination" in wide and "--to FILE.csv" in wide


def test_alpha_is_one_step_away_in_python(studied):
    found = sm.reliability("spring", store=studied)
    (task,) = found.tasks
    assert found["questions"] is found["sesi/questions"] is task
    assert (task.alpha.subjects, task.alpha.interval.method) == (PEOPLE, "Feldt")
    with pytest.raises(NotFound, match=r"none of \.tasks are 'feelings': sesi/questions of people \(spring"):
        found["feelings"]
    distance = [structs.replace(one, share_right=None) for one in task.items]  # a scale without right and wrong
    without = raw_items([structs.replace(task, items=tuple(distance))])
    assert [*found.items.columns] == [*without.columns[:5], "share right (p)", *without.columns[5:]]


def test_the_reliability_of_people_leaves_out_who_did_not_answer_every_item():
    draws = np.random.default_rng(2)
    values = (draws.normal(size=(PEOPLE, 1)) + draws.normal(size=(PEOPLE, ITEMS)) > 0).astype(float)
    episodes = [
        structs.replace(episode, repeat=person)
        for person, row in enumerate(values)
        for episode in fake_run("people", list(row)).episodes()
    ]
    whole = structs.replace(fake_run("people", list(values[0])), walk=lambda: iter(episodes), people=PEOPLE)
    found, expected = task_reliability([whole]), cronbach_alpha(values)
    assert found.alpha.value == pytest.approx(expected.value) and not found.notes
    assert found.alpha.interval.low == pytest.approx(expected.interval.low)
    part = structs.replace(whole, walk=lambda: iter(episodes[1:]))
    assert task_reliability([part]).alpha.subjects == PEOPLE - 1
    assert f"1 of {PEOPLE} people did not answer every item and are left out" in task_reliability([part]).notes
    single = structs.replace(whole, walk=lambda: iter(episodes[:: ITEMS + 1]))
    assert "too few people: 0" in reliability_sentence(task_reliability([single]))
