"""Scores of any test from a table: one run for each subject, which every analysis takes."""

import pytest


def table(path, rows, header="item,subject,score,cluster"):
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def scores(tmp_path):
    """Two models on 48 items of 16 stories: the second is right on 12 more of them."""
    rows = []
    for item in range(48):
        rows.append(f"q{item},small,{int(item % 2 == 0)},story-{item // 3}")
        rows.append(f"q{item},large,{int(item % 4 != 1)},story-{item // 3}")
    return table(tmp_path / "empathy.csv", rows)


def ids(runs):
    return [run["run"] for run in runs]


def test_each_subject_becomes_a_run_with_its_mean_and_clusters(cli, scores):
    small, large = cli("import", "csv", scores, "--json")
    assert (small["instrument"], small["subject"], large["subject"]) == ("empathy", "small", "large")
    (found,) = small["summaries"]["items"]["measures"]
    assert (found["name"], found["value"], found["items"], found["clusters"]) == ("score", 0.5, 48, 16)
    assert large["summaries"]["items"]["measures"][0]["value"] == 0.75


def test_imported_runs_are_compared_ranked_shown_and_reported(cli, scores, tmp_path):
    small, large = ids(cli("import", "csv", scores, "--json"))
    assert "large is better than small: 25" in cli("compare", small, large)
    assert "large is worse" not in cli("compare", small, large, "--fail-if", "worse")
    cli("compare", large, small, "--fail-if", "worse", code=1)
    board = cli("compare", "empathy", "--json")["rankings"][0]
    assert [line["subject"] for line in board["standings"]] == ["large", "small"]
    assert "empathy/items, score: " in cli("compare", "--reliability", "empathy")
    assert "story-0" in cli("show", large, "q0", "--json")["episode"]["item"]["cluster"]
    cli("report", small, large, "--to", tmp_path / "page.html")
    assert "large is better than small" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "no findings" in cli("check", "store")
    cli("store", "rescore", large)


def test_a_file_is_imported_once(cli, scores):
    first, again = cli("import", "csv", scores, "--json"), cli("import", "csv", scores, "--json")
    assert ids(first) == ids(again)
    assert len(cli("runs", "--json")) == 2


def test_an_item_that_a_subject_has_twice_counts_as_repeats(cli, tmp_path):
    rows = [f"q{item},one,{value},s{item}" for item in range(4) for value in (0, 1)]
    (run,) = cli("import", "csv", table(tmp_path / "t.csv", rows), "--json")
    (found,) = run["summaries"]["items"]["measures"]
    assert (found["value"], found["items"]) == (0.5, 4)


def _selective(empty):
    """200 items; b drops or leaves empty 31 of those that it would get wrong, and a gets these right."""
    rows = ["item,subject,score"] + [f"q{n},a,{int((n % 10 < 5) != (n < 66))}" for n in range(200)]
    for n in range(200):
        wrong = n % 10 >= 5
        lost = wrong and n < 66
        rows += [f"q{n},b,"] if lost and empty else [] if lost else [f"q{n},b,{int(not wrong)}"]
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("empty", [True, False], ids=["an empty score", "no row"])
def test_items_that_a_subject_lacks_count_as_failed_in_verdicts_and_gates(cli, tmp_path, empty):
    (tmp_path / "t.csv").write_text(_selective(empty))
    (one, _), (two, found) = (
        (run["run"], run["summaries"]["items"]["measures"][0])
        for run in cli("import", "csv", tmp_path / "t.csv", "--json")
    )
    assert found["errors"] == 31 and found["cases"][0]["value"] == 0.5
    assert "without the 31 failed items" in cli("compare", one, two, "--margin", "5")
    cli("compare", one, two, "--fail-unless", "no-worse", "--margin", "5", code=1)
    assert "cannot separate" in cli("compare", "t")


def test_scores_that_are_no_shares_are_numbers_and_may_be_better_when_lower(cli, tmp_path):
    rows = [f"q{item},{who},{item + shift},c{item}" for item in range(20) for who, shift in (("a", 2.0), ("b", 0.0))]
    file = table(tmp_path / "errors.csv", rows)
    first, second = ids(cli("import", "csv", file, "--lower-is-better", "--benchmark", "Mean Error", "--json"))
    assert first.startswith("mean-error-")
    assert "b is better than a on score: 2.00 lower" in cli("compare", first, second)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("q1,a,much,c", "t.csv:3: score 'much' is not a number"),
        ("q1,a,nan,c", "t.csv:3: score 'nan' is not a number"),
        (",a,1,c", "t.csv:3: the item is empty"),
        ("q1,,1,c", "t.csv:3: the subject is empty"),
        ("q0,b,1,other", "item 'q0' is in cluster 'other' here and in 'c' above"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_stored(cli, tmp_path, row, said):
    assert said in cli("import", "csv", table(tmp_path / "t.csv", ["q0,a,1,c", row]), code=2)
    assert cli("runs", "--json") == []


def test_a_file_without_the_columns_or_without_rows_is_refused(cli, tmp_path):
    assert "columns missing: score" in cli("import", "csv", table(tmp_path / "t.csv", ["1,2"], "item,subject"), code=2)
    assert "the file has no rows" in cli("import", "csv", table(tmp_path / "t.csv", []), code=2)
    assert "there is no such file" in cli("import", "csv", tmp_path / "absent.csv", code=2)


@pytest.mark.slow
def test_a_large_table_is_not_held_in_memory(cli, tmp_path, peak_memory):
    rows = [f"item-{item},one,{item % 2},cluster-{item // 10},{'x' * 4000}" for item in range(6000)]
    file = table(tmp_path / "t.csv", rows, "item,subject,score,cluster,text")
    cli("import", "csv", table(tmp_path / "small.csv", ["q,one,1,c"]), "--json")  # loads what every import loads
    with peak_memory() as peak:
        cli("import", "csv", file, "--json")
    assert file.stat().st_size > 24_000_000
    assert peak() < 16_000_000


def test_a_test_named_like_an_instrument_is_told_apart(cli, scores):
    (first, *_) = ids(cli("import", "csv", scores, "--benchmark", "sesi", "--json"))
    assert first.startswith("imported-sesi-")


def test_import_names_its_formats(cli):
    assert "known: csv" in cli("import", "html", "page.html", code=2)
    assert "item, subject, score" in cli("import", "csv", "--help")


def test_an_imported_run_cannot_be_resumed_and_says_so(cli, scores):
    (first, *_) = ids(cli("import", "csv", scores, "--json"))
    assert "was imported, so it cannot be resumed" in cli("resume", first, code=2)
