"""Which results words choose: nothing is guessed, and what was asked differently stays apart."""

import shutil
import sqlite3
from contextlib import closing

import pytest
from msgspec import structs

import sociometer as sm
from fake_runs import card, fake_run
from sociometer.cli.main import run_command
from sociometer.core.config import RunConfig
from sociometer.core.errors import UsageError
from sociometer.core.settings import Setting
from sociometer.instruments.sesi.items import OFFICIAL
from sociometer.instruments.socialeval.items import BUNDLED
from sociometer.results.blocks import blocks
from sociometer.store.store import Store
from sociometer.store.studies import Study, StudyBook, book_path


def played(path, test, model, limit=4, **options):
    """A run of a baseline on a few items."""
    return sm.run(test, f"baseline/{model}", limit=limit, store=path, **options)


def items_of(result):
    return sum(len(result.repeats(task)) for task in result.tasks)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Ann has a pilot, a longer run and one with another setting on SESI, and SECEU in two languages; Bo has SESI."""
    path = tmp_path_factory.mktemp("choice") / "s.db"
    for limit in (4, 6):
        played(path, "sesi", "first", limit, name="Ann")
    played(path, "sesi", "first", settings={"orders": 2})
    for language in ("en", "zh"):
        played(path, "seceu", "first", settings={"language": language})
    played(path, "sesi", "last", 6, name="Bo")
    return path


def told(chosen):
    """Subject, test and number of items of each result."""
    return [(run.subject, run.instrument, items_of(run)) for run in chosen]


SESI_OF_ANN = [("Ann", "sesi", 6), ("Ann", "sesi", 4)]
SECEU_OF_ANN = [("Ann", "seceu", 4), ("Ann", "seceu", 4)]
SESI_OF_BO = [("Bo", "sesi", 6)]


@pytest.mark.parametrize(
    ("words", "results"),
    [
        ((), SESI_OF_ANN + SECEU_OF_ANN + SESI_OF_BO),
        (("all",), SESI_OF_ANN + SECEU_OF_ANN + SESI_OF_BO),
        (("sesi",), SESI_OF_ANN + SESI_OF_BO),
        (("sesi", "all"), SESI_OF_ANN + SESI_OF_BO),
        (("Ann",), SESI_OF_ANN + SECEU_OF_ANN),
        (("baseline/first",), SESI_OF_ANN + SECEU_OF_ANN),
        (("Bo", "Ann"), SESI_OF_BO + SESI_OF_ANN + SECEU_OF_ANN),
        (("sesi", "Ann"), SESI_OF_ANN),
        (("Ann", "sesi"), SESI_OF_ANN),
        (("seceu", "Ann", "Ann"), SECEU_OF_ANN),
        (("last",), SESI_OF_BO),
    ],
)
def test_words_choose_every_result_that_they_mean(store, words, results):
    chosen = sm.choose(*words, store=store)
    assert told(chosen) == results
    assert chosen.left_out == () and chosen.notes == ()


def test_a_pilot_and_a_longer_run_on_one_form_are_one_result_with_the_items_of_both(store):
    result, other = sm.choose("sesi", "Ann", store=store)
    pilot, longer = (sm.get_run(part, store=store) for part in result.members)
    assert (items_of(pilot), items_of(longer), items_of(result)) == (4, 6, 6)
    assert result.id == f"{pilot.id}+{longer.id}"
    assert told(sm.choose(result.id, store=store)) == [("Ann", "sesi", 6)]
    assert told(sm.choose(pilot.id, store=store)) == [("Ann", "sesi", 4)], "an id means its run alone"
    assert result.summary().measure("accuracy").value == longer.summary().measure("accuracy").value
    assert other.manifest.config.settings["orders"] == 2 and len(other.members) == 1


def test_two_forms_of_one_subject_are_two_results_and_neither_is_chosen(store):
    english, chinese = sm.choose("seceu", "Ann", store=store)
    assert [one.form("feelings").language for one in (english, chinese)] == ["en", "zh"]
    with pytest.raises(
        UsageError, match=rf"has several results: {english.id} .*language en.*{chinese.id} .*language zh"
    ):
        sm.get_run("Ann", "seceu", store=store)


def test_official_items_and_ours_are_two_results_that_are_not_compared(tmp_path, official_data, capsys):
    path = tmp_path / "s.db"
    ours = played(path, "sesi", "first")
    official = played(path, "sesi", "first", data=official_data)
    assert [run.id for run in sm.choose("baseline/first", store=path)] == [ours.id, official.id]
    assert run_command(["compare", "baseline/first", "--store", str(path)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "cannot be compared: one has bundled items and the other official ones" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing",), "unknown run 'nothing'"),
        (("sesy",), "unknown instrument 'sesy'; did you mean 'sesi'"),
        (("sesi-zzzzz",), "unknown run 'sesi-zzzzz'"),
        (("seceu", "Bo"), "has no result of seceu, only of sesi"),
        (("sage",), "the store has no run of sage"),
        (("nothing", "all"), "'all' means every result; leave out 'nothing', or name every one"),
    ],
)
def test_a_word_that_means_nothing_is_an_error(store, words, said):
    with pytest.raises(UsageError, match=said):
        sm.choose(*words, store=store)


@pytest.mark.parametrize(
    "words", [("compare", "nothing", "all"), ("report", "all", "nothing"), ("compare", "all", "nothing")]
)
def test_a_result_that_is_named_next_to_all_is_not_ignored(store, capsys, words):
    assert run_command([*words, "--store", str(store)]) == 2
    assert "'all' means every result; leave out 'nothing', or name every one." in capsys.readouterr().err


def test_analyses_and_contamination_checks_are_left_out_and_named(tmp_path, official_data, monkeypatch):
    monkeypatch.setenv("SOCIOMETER_DATA", str(official_data))
    path = tmp_path / "s.db"
    at = ["--quiet", "--store", str(path)]
    shown = played(path, "sesi", "first", official=True)
    assert run_command(["sesi", "analyse", shown.id, "--role", "judge=baseline/random", *at]) == 0
    for model in ("first", "random"):  # one has a score beside its check, the other none
        check = ["sesi", "contamination", "--official", "--limit", "1", "--model", f"baseline/{model}", *at]
        assert run_command(check) == 0
    for word in ("all", "sesi", "baseline/first"):
        assert [run.id for run in sm.choose(word, store=path)] == [shown.id], word
    chosen = sm.choose("all", store=path)
    assert {run.id for run in sm.runs(store=path)} == {shown.id, *(one.run for one in chosen.left_out)}
    assert [(one.subject, one.why) for one in chosen.left_out] == [
        ("", "an analysis of stored runs"),
        ("baseline/first", "a check for contamination"),
        ("baseline/random", "a check for contamination"),
    ]


def test_a_damaged_run_is_left_out_and_named(tmp_path):
    path = tmp_path / "s.db"
    shown = played(path, "sesi", "first")
    spoilt = played(path, "sesi", "last")
    with closing(sqlite3.connect(path)) as store, store:
        store.execute("UPDATE run SET manifest = x'00' WHERE id = ?", (spoilt.id,))
    chosen = sm.choose("all", store=path)
    assert [run.id for run in chosen] == [shown.id]
    assert [(one.run, one.why) for one in chosen.left_out] == [(spoilt.id, "damaged")]


def test_the_people_of_a_study_are_one_result_beside_models(tmp_path):
    path = tmp_path / "s.db"
    with closing(StudyBook(book_path(path))) as book:
        study = Study("spring", RunConfig(instrument="sesi", subject="human", limit=4))
        book.create(study)
        for letter in "AB":
            person, _ = book.join(study, {})
            name = f"spring.{person.id}"
            made = sm.run("sesi", lambda messages, letter=letter: letter, limit=4, fresh=True, name=name, store=path)
            book.set_run(person, made.id)
    model = played(path, "sesi", "first")
    for words in (("all",), ("sesi",), ("baseline/first", "spring")):
        chosen = sm.choose(*words, store=path)
        assert [(run.id, run.people) for run in chosen] == [(model.id, 0), ("spring", 2)]
        assert chosen.left_out == ()
    with pytest.raises(
        UsageError, match=r"study spring has no run 'spring.nobody'; one person's is spring.PARTICIPANT"
    ):
        sm.choose("spring.nobody", store=path)


def test_the_name_of_an_instrument_means_its_results_in_report_and_export(tmp_path, capsys, monkeypatch, official_data):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOCIOMETER_STORE", "runs.db")
    monkeypatch.setenv("SOCIOMETER_DATA", str(official_data))
    official = ("--official", "--quiet")
    for model, limit in (("baseline/random", "12"), ("baseline/random", "10"), ("baseline/even", "12")):
        assert run_command(["run", "seceu", "--model", model, "--limit", limit, *official]) == 0
    assert run_command(["seceu", "contamination", "--limit", "1", "--model", "baseline/random", *official]) == 0
    capsys.readouterr()
    assert run_command(["report", "seceu", "--to", "x.html", "--evidence", "0"]) == 0
    assert run_command(["export", "seceu", "--to", "x.csv"]) == 0
    assert "24 rows" in capsys.readouterr().out, "both results, without the check for contamination"


def test_results_with_the_options_in_another_order_are_neither_ranked_nor_compared_with_the_others(tmp_path, capsys):
    path = tmp_path / "s.db"
    at = ["--store", str(path)]
    for name in ("random", "first", "even"):
        played(path, "seceu", name, name=name)
    played(path, "seceu", "last", name="last one", settings={"shuffle": True})
    differ = "they differ in the setting 'shuffle': False and True"
    (board,) = sm.compare("all", store=path).ranking().boards
    assert {one.subject for one in board.standings} == {"random", "first", "even"}
    assert board.left_out == (f"last one: {differ}",)
    capsys.readouterr()
    assert run_command(["compare", "random", "last one", *at]) == 2
    assert f"random and last one cannot be compared: {differ}" in capsys.readouterr().err
    assert run_command(["compare", "random", "last one", "--fail-if", "worse", *at]) == 1
    assert f"random and last one on seceu/feelings: {differ}" in " ".join(capsys.readouterr().err.split())


def test_a_set_of_ones_own_in_the_official_layout_is_not_called_official(tmp_path, official_data):
    (tmp_path / "own/sesi").mkdir(parents=True)
    lines = (official_data / OFFICIAL).read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "own" / OFFICIAL).write_text("".join(lines[:60]), encoding="utf-8")
    path = tmp_path / "s.db"
    played(path, "sesi", "random")
    for folder in (tmp_path / "own", official_data):
        played(path, "sesi", "random", official=True, data=folder)
    with Store(path) as store:
        assert [record.manifest.whose_items for record in store.runs.all()] == ["bundled", "own", "official"]
    assert len(sm.choose("all", store=path).runs) == 3


def test_trees_of_ones_own_are_not_called_official_and_a_file_of_them_cannot_be_checked(tmp_path, capsys):
    own, store = tmp_path / "own", ["--store", str(tmp_path / "s.db")]
    own.mkdir()
    shutil.copy(next(iter(sorted(BUNDLED.glob("*_en_*.json")))), own)
    asked = ["run", "socialeval", "--task", "goals", "--data", str(own), "--model", "baseline/oracle", "--name", "mine"]
    assert run_command([*asked, *store, "--quiet"]) == 0
    assert run_command(["paper", "tables", "socialeval", "mine", "--to", str(tmp_path / "pack"), *store]) == 0
    assert "not the paper's items" in (tmp_path / "pack" / "README.md").read_text(encoding="utf-8")
    assert run_command(["export", "mine", "--to", str(tmp_path / "mine.sociometer"), *store]) == 0
    capsys.readouterr()
    assert run_command(["check", str(tmp_path / "mine.sociometer"), *store]) == 6
    assert "items of somebody's own" in "".join(capsys.readouterr())


def asked(name, order="once", **more):
    """A result in memory that was asked in an order, a setting with which results can still be compared."""
    return fake_run(name, [1.0, 0.0], settings={"order": order}, **more)


def people(name):
    return structs.replace(asked(name, "their own"), people=2)


def named(found):
    """The names in each group, and of those that are in none."""
    return [[one.subject for one in members] for members in found.together], [one.subject for one in found.alone]


def test_results_on_one_form_are_a_group_and_a_single_result_is_alone():
    assert named(blocks([])) == ([], [])
    assert named(blocks([asked("a")])) == ([], ["a"])
    assert named(blocks([asked("a"), asked("b"), asked("c")])) == ([["a", "b", "c"]], [])


def test_a_result_on_a_form_of_its_own_joins_the_only_group_in_the_given_order():
    assert named(blocks([asked("c", "twice"), asked("a"), asked("b")])) == ([["c", "a", "b"]], [])
    assert named(blocks([asked("a"), asked("b", "twice")])) == ([["a", "b"]], []), "no group: both can be compared"
    assert named(blocks([asked("a"), asked("a", "twice")])) == ([["a", "a"]], []), "two forms of one subject"


def test_a_result_does_not_join_a_group_that_has_its_subject():
    assert named(blocks([asked("a"), asked("b"), asked("a", "twice")])) == ([["a", "b"]], ["a"])


def test_nothing_chooses_between_two_groups():
    first, second = [asked("a"), asked("b")], [asked("c", "twice"), asked("d", "twice")]
    assert named(blocks([*first, *second])) == ([["a", "b"], ["c", "d"]], [])
    assert named(blocks([*first, *second, asked("e", "often")])) == ([["a", "b"], ["c", "d"]], ["e"])
    again = [asked("a", "twice"), asked("b", "twice")]
    assert named(blocks([*first, *again])) == ([["a", "b"], ["a", "b"]], []), "the same subjects under two conditions"


def test_what_cannot_be_compared_is_in_no_group_together():
    of = structs.replace(card(), setting=(Setting("language", ""), Setting("wording", "", apart=True)))
    for changed in ({"settings": {"language": "zh"}}, {"settings": {"wording": "paper"}}, {"version": "2"}):
        first = [fake_run(name, [1.0, 0.0], of=of) for name in "ab"]
        others = [fake_run(name, [1.0, 0.0], of=of, **changed) for name in "cd"]
        assert named(blocks([*first, *others[:1]])) == ([["a", "b"]], ["c"])
        assert named(blocks([*first, *others])) == ([["a", "b"], ["c", "d"]], [])
        assert named(blocks([first[0], others[0]])) == ([], ["a", "c"])


def test_people_are_in_every_group_that_they_can_be_compared_with():
    assert named(blocks([asked("a"), people("spring"), asked("b")])) == ([["a", "spring", "b"]], [])
    assert named(blocks([asked("a"), people("spring")])) == ([["a", "spring"]], [])
    assert named(blocks([people("spring"), people("autumn")])) == ([["spring", "autumn"]], [])
    groups = [asked("a"), asked("b"), asked("c", "twice"), asked("d", "twice")]
    assert named(blocks([people("spring"), *groups])) == ([["spring", "a", "b"], ["spring", "c", "d"]], [])


def test_each_task_of_each_instrument_has_its_own_groups():
    other = structs.replace(card(), name="tact-2")
    results = [asked("a"), asked("a", of=other), asked("b"), asked("b", of=other), asked("c", of=other)]
    assert named(blocks(results)) == ([["a", "b"], ["a", "b", "c"]], [])
