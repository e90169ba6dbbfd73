"""The paper pack of released dialogues with a rule-based judge: ranks, captions, intervals, sizes, rounding."""

import csv
import json
import re

import pytest
from msgspec import structs

import sociometer as sm
from fake_runs import summarised_run
from sociometer.cli.main import run_command
from sociometer.core.measure import Measure, Summary
from sociometer.core.paper import PaperInput
from sociometer.instruments.sage.paper import paper
from sociometer.instruments.sage.person.authors import read_feeling
from sociometer.statistics.correlation import pearson
from sociometer.statistics.formatting import number

from .test_commands import OTHER, TALK, cli, released, tables  # noqa: F401
from .test_transcripts import row, write


@pytest.fixture(scope="module")
def pack(official, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pack")
    store = str(folder / "s.db")
    models = ("claude3.7", "deepseek-v3-1227", "openai-o1")
    files = [str(path) for model in models for path in sorted(official.glob(f"transcripts*/{model}_result.jsonl"))]
    assert run_command(["sage", "import", *files, "--store", store]) == 0
    words = [
        "--what",
        "strategies",
        "--what",
        "coordinate",
        "--role",
        "judge=baseline/random",
        "--limit",
        "10",
        "--store",
        store,
    ]
    figures = str(folder / "figures")
    assert run_command(["sage", "analyse", *(run.id for run in sm.runs(store=store)), *words, "--to", figures]) == 0
    assert run_command(["paper", "tables", "sage", "--to", str(folder / "pack"), "--published", "--store", store]) == 0
    return folder


def texts(path):
    """The words of a figure, whatever lines they are on."""
    return " ".join(re.sub(r"<[^>]*>", " ", path.read_text(encoding="utf-8")).split())


@pytest.mark.slow
def test_table_3_has_ranks(pack):
    with (pack / "pack" / "table-3.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    place = next(at for at, title in enumerate(rows[0]) if "Rank" in title)
    ours = [line for line in rows[1:] if not any("printed" in cell for cell in line)]
    assert sorted(line[place] for line in ours) == ["1", "1", "2", "2", "3", "3"]


@pytest.mark.slow
def test_figure_12_shows_one_persons_first_exchange_with_every_model(pack):
    with (pack / "pack" / "fig-12.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 6 and len({row["Person"] for row in rows}) == 1
    assert all(row["Reply"] and row["Emotion after"] for row in rows)


def test_table_3_of_a_rehearsal_says_what_gives_a_score_and_has_no_column_without_a_value(tmp_path, capsys):
    store = ("--store", str(tmp_path / "s.db"))
    assert run_command(["run", "sage", "--model", "baseline/first", "--limit", "1", *store]) == 0
    capsys.readouterr()
    assert run_command(["paper", "tables", "sage", "all", "--to", str(tmp_path / "p"), "--json", *store]) == 0
    (found,) = (part for part in json.loads(capsys.readouterr().out)["data"]["parts"] if part["label"] == "Table 3")
    assert "No score of baseline/first: sociometer run sage" in found["missing"]
    written = (tmp_path / "p" / "table-3.tex").read_text(encoding="utf-8")
    assert "Arena" not in written and "which ranks the scenarios leave open" in written


def test_r_of_figures_3_and_4_is_in_a_table():
    measured = ((20.0, 30.0, 2.0), (50.0, 55.0, 3.5), (80.0, 90.0, 3.0), (60.0, 70.0, 4.0))
    runs = tuple(
        summarised_run(f"r{at}", "relationship", f"m{at}", {}, Summary(tuple(
            Measure(name, value) for name, value in zip(("emotion", "relationship", "talk"), values, strict=True))))
        for at, values in enumerate(measured)
    )  # fmt: skip
    (part,) = [one for one in paper(PaperInput(runs)) if one.label == "Figs. 3 and 4"]
    ours, printed = part.table.rows
    expected = pearson([one[0] for one in measured], [one[1] for one in measured])
    assert ours.cells[1].value == expected.r and ours.cells[2] == 4
    assert (printed.cells[1].value, printed.cells[3].value) == (0.818, 0.788)
    short = Summary(tuple(Measure(name, value) for name, value in (("emotion", 9.0), ("relationship", 99.0))))
    more = paper(PaperInput((structs.replace(runs[0], subject="m0 (short)", summary=short), *runs)))
    parts = {part.label: part for part in more}
    assert parts["Figs. 3 and 4"].table.rows[0].cells == ours.cells, "a second run of a model is no further model"
    assert "over 4 models" in parts["Fig. 3"].how


@pytest.mark.slow
def test_a_judge_by_rules_is_named_in_the_figures_that_it_judged(pack):
    for place in (5, 6, 9, 10, 11):
        (first, *_) = (pack / "pack").glob(f"fig-{place}-*.svg")
        assert "judge: baseline/random" in texts(first), first.name


@pytest.mark.slow
def test_figures_without_a_judge_carry_no_caveat_of_one(pack):
    for path in (pack / "pack").glob("fig-8-*.svg"):
        assert "judge" not in texts(path), path.name
    assert any("judge" in texts(path) for path in (pack / "pack").glob("fig-5-*.svg"))


@pytest.mark.slow
def test_whiskers_are_not_denied(pack):
    for path in [*(pack / "pack").glob("fig-6-*.svg"), *(pack / "pack").glob("fig-9-*.svg")]:
        assert "No intervals are shown" not in texts(path), path.name


@pytest.mark.slow
def test_figures_of_analyse_carry_their_caveat(pack):
    found = list((pack / "figures").glob("*.svg"))
    judged = [path for path in found if path.name.startswith(("repetition", "coordinate", "strategies", "effect"))]
    assert judged
    assert all("baseline/random (judge)" in texts(path) for path in judged)


@pytest.mark.slow
def test_figure_7_estimates_tokens_like_figure_8_and_has_intervals(pack):
    parts = {part["label"]: part for part in json.loads((pack / "pack" / "pack.json").read_text("utf-8"))["parts"]}
    assert not parts["Fig. 7"]["missing"] and "estimated from the text" in parts["Fig. 7"]["how"]
    assert "95 % intervals" in parts["Fig. 7"]["how"] and "95 % intervals" in parts["Fig. 11"]["how"]
    assert re.search(r"from \d+ to \d+ dialogues", parts["Fig. 11"]["how"])


@pytest.mark.parametrize(("value", "shown"), [(61.25, "61.3"), (37.55, "37.6"), (33.25, "33.3"), (28.95, "29.0")])
def test_halves_are_rounded_as_the_paper_does_everywhere(value, shown):
    assert number(value, "points", 1) == shown


@pytest.mark.parametrize(("line", "change"), [("5. Change: -3", -3), ("- Change: +4", 4), ("（5）Change：2", 2)])
def test_a_label_in_a_list_is_read_as_in_the_authors_code(line, change):
    assert (
        read_feeling(f"1. Content: a\n2. TargetCompletion: b\n3. Activity: c\n4. Analyse: d\n{line}").change == change
    )


def test_a_folder_gives_its_name_as_it_is(cli, tmp_path):  # noqa: F811
    found = cli("sage", "import", released(tmp_path / "my-judge", TALK, 45), "--json")
    assert found["tables"][0]["rows"][0][2] == "my-judge"
    assert any("'my-judge' is the name of the folder" in note for note in found["notes"])


def test_the_same_dialogue_twice_counts_once_and_another_is_a_repeat(cli, tmp_path):  # noqa: F811
    folder = tmp_path / "kind_based_simulator"
    folder.mkdir()
    one, other = ({**row(history, final), "id": "id-1"} for history, final in ((TALK, 45), (OTHER, 30)))
    found = cli("sage", "import", write(folder, one, one, one, other), "--json")
    assert found["tables"][0]["rows"][0][3:5] == [2, (45 + 30) / 2]
    assert any("2 dialogues are in the file twice" in note for note in found["notes"])


def test_the_same_file_twice_is_one_run(cli, tmp_path):  # noqa: F811
    path = released(tmp_path / "kind_based_simulator", TALK, 45)
    both = cli("sage", "import", path, path, "--json")["tables"][0]["rows"]
    again = cli("sage", "import", path, "--json")["tables"][0]["rows"]
    assert len(both) == 1 and both[0][0] == again[0][0]
    assert len(cli("runs", "--json")) == 1


def test_table_1_has_intervals_and_counts(cli, tmp_path):  # noqa: F811
    run = cli("sage", "import", released(tmp_path / "kind_based_simulator", TALK, 45), "--json")["tables"][0]["rows"][
        0
    ][0]
    cli("sheet", "write", run, "--of", "feelings", "--sample", "10", "--to", "ann.csv")
    with (tmp_path / "ann.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    for place, entry in enumerate(rows):
        entry["direction"] = "up" if place % 3 else "down"
    with (tmp_path / "ann.csv").open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    cli("sheet", "read", "ann.csv")
    first = tables(cli("sage", "annotations", run, "--json"))["annotations"][0]
    assert first["answers"] == 10 and first["from"] < first["here"] < first["to"]
