"""The export of a study opens in other programs and has what people were asked, what they answered, and when."""

import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "web"))

from open_study import OpenStudy

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.errors import NotFound
from sociometer.results.study_tables import _variable

QUESTION = "Which of the following statements about yourself describes your mood?"
LONG = "about_which_of_the_following_statements_about"


def exported(opened, folder):
    assert run_command(["study", "export", "spring", "--to", str(folder), "--store", str(opened.path)]) == 0
    import pandas  # here, since it takes long to load

    return {file.stem: pandas.read_csv(file) for file in folder.iterdir()}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Two people share points in stories in an order of their own; the second one stops after two."""
    folder = tmp_path_factory.mktemp("export")
    options = (
        "--limit",
        "3",
        "--ask",
        "age",
        "--ask",
        "性别",
        "--ask",
        QUESTION,
        "--order",
        "random",
        "--attention",
        "1",
    )
    with OpenStudy(folder / "s.db", "seceu", *options) as opened:
        for points, count in (((4, 3, 2, 1), 3), ((0, 0.5, 9.5, 0), 2)):
            person = opened.person(points=points).join(**{"about-0": "31", "about-1": "女"})
            person.page()
            csrf = person.filled(_form(person))["csrf"]
            for number in range(count):
                fields = {"csrf": csrf, "number": number, **{f"points-{at}": one for at, one in enumerate(points)}}
                assert person.post("/take", fields).status == 303
        return exported(opened, folder / "x")


def _form(person):
    from person import Form

    return Form(person.get("/stored").text, "/withdraw")


def test_every_answer_is_a_row_as_given_and_as_read(tables):
    rows = tables["seceu_feelings"]
    assert len(rows) == 5 and list(rows["position"]) == [1, 2, 3, 1, 2]
    first, last = rows.iloc[0], rows.iloc[4]
    assert [line.partition(": ")[2] for line in first["answer"].split("\\n")] == ["4", "3", "2", "1"]
    assert [last[f"read_points_{place}"] for place in (1, 2, 3, 4)] == [0, 0.5, 9.5, 0]
    assert (
        (rows["seconds_server"] > 0).all()
        and rows["seconds_page"].isna().all()
        and rows["score_distance"].notna().all()
    )
    assert set(rows["about_age"]) == {31} and set(rows["about_2"]) == {"女"}
    assert rows["asked"].str.contains("Share out 10 points").all() and not rows["asked"].str.contains("\n").any()


RESERVED = {"all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"}


def test_spss_takes_every_column_and_the_codebook_has_the_labels_of_its_values(tables):
    for name, table in tables.items():
        assert len({column.lower() for column in table}) == len(table.columns)
        for column in table:
            assert re.fullmatch(r"[a-z]\w{0,62}[a-z0-9]", column, re.ASCII) and column not in RESERVED, (name, column)
    codebook = tables["codebook"].set_index(["table", "column"])
    assert codebook.loc[("people.csv", "flag_speed"), "values"] == "0 = no | 1 = yes"
    assert codebook.loc[("seceu_feelings.csv", "last"), "values"] == "0 = no | 1 = yes"


def test_long_names_of_columns_are_cut_and_stay_apart(tables):
    long = [_variable("read_" + "decision_" * 8 + end) for end in ("own", "other", "own")]
    assert len(set(long)) == 2 and all(len(name) <= 64 for name in long)
    assert _variable("score_") == "score" and LONG in tables["people"]


def test_people_and_items_have_tables_and_every_column_a_line_in_the_codebook(tables):
    people, items, codebook = tables["people"], tables["items"], tables["codebook"]
    assert list(people["items"]) == [3, 2] and list(people["planned"]) == [3, 3]
    assert list(people["flag_speed"]) == [1, 1] and people["flag_checks"][0] == 1 and len(items) == 3
    assert set(tables["seceu_feelings"]["item"]) == set(items["item"])
    for name, table in tables.items():
        if name != "codebook":
            assert list(codebook[codebook["table"] == f"{name}.csv"]["column"]) == list(table.columns)
    assert codebook["meaning"].notna().all()
    meaning = codebook.set_index(["table", "column"])["meaning"]
    assert meaning["people.csv", "about_2"].endswith(": 性别")


def test_people_have_their_results_and_median_time_and_items_a_column_for_each_part(tables):
    people, items, answers = tables["people"], tables["items"], tables["seceu_feelings"]
    means = answers.groupby("person")["score_distance"].mean()
    assert list(people["result_seceu_feelings_distance"]) == pytest.approx([means[one] for one in people["person"]])
    medians = answers.groupby("person")["seconds_server"].median()  # no browser measured the time on the screen
    assert list(people["seconds_median"]) == pytest.approx([medians[one] for one in people["person"]], abs=1e-3)
    for _, item in items.iterrows():
        whole = json.loads(item["content"])
        assert item["item_story"] == whole["story"]
        assert [item[f"item_option_{place}"] for place in (1, 2, 3, 4)] == whole["options"]
        assert [item[f"item_key_{place}"] for place in (1, 2, 3, 4)] == whole["standard"]
    meaning = tables["codebook"].set_index(["table", "column"])["meaning"]["seceu_feelings.csv"]
    assert meaning["read_points_1"].startswith("points that are scored, after a repair: option 1")
    assert meaning["read_written_1"].startswith("points as given, before a repair")
    assert meaning["read_order_2"] == "option shown at this place: 1 is item_option_1 of items.csv"
    assert list(answers.filter(like="read_order_").iloc[0]) == [1, 2, 3, 4]
    assert meaning["condition_context"].endswith(": context")


def test_the_wide_table_has_a_row_a_person_and_a_column_an_item(tables):
    wide, people, answers = tables["wide"], tables["people"], tables["seceu_feelings"]
    assert list(wide["person"]) == list(people["person"]) and list(wide["about_age"]) == [31, 31]
    scores = wide.set_index("person").filter(regex="^score_seceu_feelings_ours_")
    assert scores.shape == (2, 3) and scores.isna().sum().sum() == 1  # the second person stopped after two stories
    for _, answer in answers.iterrows():
        column = f"score_seceu_feelings_{answer['item'].replace('-', '_')}"
        assert scores.loc[answer["person"], column] == pytest.approx(answer["score_distance"])
    means = list(scores.mean(axis=1))
    assert list(wide["result_seceu_feelings_distance"]) == pytest.approx(means)
    codebook = tables["codebook"].set_index(["table", "column"]).loc["wide.csv"]
    assert set(codebook.loc[scores.columns, "better"]) == {"lower"}
    assert codebook.loc["about_age", "meaning"] == "asked about the person: age"
    assert list(scores) == sorted(scores), "in the same order for everybody"
    told = f": Distance to the key (SECEU score), ours-{scores.columns[0][-2:]}"
    assert codebook.loc[scores.columns[0], "meaning"].endswith(told)


def test_a_talk_has_a_row_for_each_answer_and_one_score(tmp_path):
    with OpenStudy(tmp_path / "s.db", "egosocial", "--limit", "1", "--task", "numbers") as opened:
        opened.person(words="=1+1\nmore").join().answer_all()
        rows = exported(opened, tmp_path / "x")["egosocial_numbers"]
    assert list(rows["question"]) == list(range(1, 11)) and list(rows["last"]) == [0] * 9 + [1]
    assert rows["score_right"].notna().sum() == 1 and rows["asked"].str.contains("Round").all()


def test_a_key_is_a_place_among_the_options_only_where_it_is_one(tables, tmp_path, capsys):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "2") as opened:
        assert run_command(["study", "export", "spring", "--to", str(tmp_path / "e"), "--store", str(opened.path)]) == 2
        said = "nobody has joined study spring yet; let people in with 'sociometer study open spring"
        assert said in capsys.readouterr().err and not (tmp_path / "e").exists()
        opened.person().join().answer_all()
        found = exported(opened, tmp_path / "x")
    items, row = found["items"].set_index("item"), found["sesi_questions"].iloc[0]
    assert json.loads(items.loc[row["item"], "content"])["answer"] + 1 == items.loc[row["item"], "item_key"]
    assert (row["read_picked"] == items.loc[row["item"], "item_key"]) == (row["score_correct"] == 1)
    codebook = found["codebook"].set_index(["table", "column"])["meaning"]["items.csv"]
    assert codebook["item_key"] == "right option: 1 is item_option_1: key"
    assert codebook["item_situation"] == "part of the item: situation"
    points = tables["codebook"].set_index(["table", "column"])["meaning"]["items.csv"]
    assert points["item_key_1"] == "part of the item: key 1" and points["item_story"] == "part of the item: story"


def test_a_study_is_exported_to_a_folder_by_its_own_command(tmp_path, capsys):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1") as opened:
        opened.person().join()
        at = ["--to", str(tmp_path / "x.csv"), "--store", str(opened.path)]
        assert run_command(["export", "spring", *at]) == 2
        assert "sociometer study export spring --to FOLDER" in capsys.readouterr().err
        assert run_command(["study", "export", "spring", *at]) == 2
        assert "must be a folder" in capsys.readouterr().err


def test_an_export_of_all_runs_names_the_study_that_it_leaves_out(tmp_path, capsys):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "2") as opened:
        opened.person().join().answer_all()
        sm.run("sesi", "baseline/first", limit=2, store=opened.path)
        for name in ("x.csv", "folder"):
            capsys.readouterr()
            assert run_command(["export", "all", "--to", str(tmp_path / name), "--store", str(opened.path)]) == 0
            said = " ".join(capsys.readouterr().out.split())
            assert "left out: 'spring' is a study; to write it: sociometer study export spring --to FOLDER" in said
            with pytest.warns(UserWarning, match="left out: 'spring' is a study"):
                sm.export("all", tmp_path / name, store=opened.path)
        assert (tmp_path / "x.csv").read_text().count("baseline/first") == 2 and len(
            list((tmp_path / "folder").iterdir())
        ) == 1


def test_the_codebook_has_the_declared_types_ranges_choices_and_labels(tmp_path):
    asks = ("age; number 18..99", "sex; choice female|male|other", "tired; scale 1..7 not at all|very")
    options = ("seceu", "--limit", "3", *(word for one in asks for word in ("--ask", one)))
    with OpenStudy(tmp_path / "s.db", *options) as opened:
        said = {"about-0": "31", "about-1": "male", "about-2": "7"}
        opened.person(points=(4, 3, 2, 1)).join(**said).answer_all()
        codebook = exported(opened, tmp_path / "x")["codebook"].set_index(["table", "column"])
    for table in ("people.csv", "seceu_feelings.csv"):
        facts = ["type", "possible_lowest", "possible_highest", "lowest"]
        age, sex, tired = (codebook.loc[(table, f"about_{name}")] for name in ("age", "sex", "tired"))
        assert list(age[facts]) == ["number", 18, 99, 31] and list(tired[facts]) == ["number", 1, 7, 7]
        assert (sex["type"], sex["values"]) == ("text", "female | male | other")
        assert tired["values"] == "1 = not at all | 2 | 3 | 4 | 5 | 6 | 7 = very"
    score = codebook.loc[("seceu_feelings.csv", "score_distance")]
    assert (score["unit"], score["better"], score["possible_lowest"]) == ("number", "lower", 0)
    assert score["possible_highest"] == pytest.approx(200**0.5)
    points = [codebook.loc[("seceu_feelings.csv", f"read_points_{place}"), "meaning"] for place in (1, 2, 3, 4)]
    assert "option 1 of the item, such as '" in points[0] and len(set(points)) == 4


def test_a_study_in_python_has_the_tables_of_its_export(tmp_path):
    import pandas  # here, since it takes long to load

    with OpenStudy(tmp_path / "s.db", "seceu", "--limit", "3", "--ask", "age; number 18..99") as opened:
        opened.person(points=(4, 3, 2, 1)).join(**{"about-0": "31"}).answer_all()
        written = exported(opened, tmp_path / "x")
        study = sm.study("spring", store=opened.path)
        assert study.frame()["about_age"].tolist() == [31] and list(study.people.columns) == list(study.frame())
        for name, table in written.items():
            made = study.frame(name)
            assert list(made.columns) == list(table.columns) and len(made) == len(table)
        again = study.export(tmp_path / "y")
        assert all(pandas.read_csv(again / f"{name}.csv").equals(table) for name, table in written.items())
        assert repr(study) == "<study spring: 1 people; tables: people, items, seceu_feelings, wide, codebook>"
        with pytest.raises(NotFound, match="unknown table 'peple'; did you mean 'people'"):
            study.frame("peple")
        with pytest.raises(sm.SociometerError, match=r"'spring' is a study; to write it: sm\.study\('spring', store="):
            sm.export("spring", tmp_path / "x.csv", store=opened.path)


def test_a_study_that_nobody_joined_has_the_columns_of_its_people_and_create_names_those_of_other_letters(
    tmp_path, capsys
):
    with OpenStudy(tmp_path / "s.db", "seceu", "--limit", "2", "--ask", "age", "--ask", "性别") as opened:
        assert "Their columns in tables: 性别 is about_2" in capsys.readouterr().out
        before = sm.study("spring", store=opened.path).frame()
        opened.person().join(**{"about-1": "女"}).answer_all()
        after = sm.study("spring", store=opened.path).frame()
    assert len(before) == 0 and [one for one in after if not one.startswith("result_")] == list(before)
    assert list(after["about_2"]) == ["女"]
