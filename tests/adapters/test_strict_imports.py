"""Numbers of others are taken as they are meant, or refused with the line."""

import pytest

TEXTS = {
    "a decimal comma": ("item,subject,score\nq0,gpt,0,85\n", "t.csv:2", "4 cells, the header 3"),
    "two columns of one name": ("item,subject,score,score\nq0,gpt,1,0\n", "t.csv:1", "two columns"),
    "a NUL": ("item,subject,score\nq0,g\0pt,1\n", "", "NUL"),
}


@pytest.mark.parametrize("what", TEXTS)
def test_a_table_that_could_mean_something_else_is_refused_with_its_line(cli, tmp_path, what):
    text, line, said = TEXTS[what]
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    told = cli("import", "csv", tmp_path / "t.csv", code=2)
    assert said in told
    assert line in told
    assert cli("runs", "--json") == []


def test_files_of_one_benchmark_are_on_one_scale(cli, tmp_path):
    for name, scores in (("a", (1, 5, 3)), ("b", (1, 1, 1))):
        rows = "".join(f"q{place},{name},{score}\n" for place, score in enumerate(scores))
        (tmp_path / f"{name}.csv").write_text("item,subject,score\n" + rows, encoding="utf-8")
    cli("import", "csv", tmp_path / "a.csv", "--benchmark", "ratings")
    assert "--scale LOW:HIGH" in cli("import", "csv", tmp_path / "b.csv", "--benchmark", "ratings", code=2)
    for name in ("a", "b"):
        cli("import", "csv", tmp_path / f"{name}.csv", "--benchmark", "five", "--scale", "1:5")
    assert "outside of --scale" in cli(
        "import", "csv", tmp_path / "a.csv", "--benchmark", "x", "--scale", "0:1", code=2
    )


def test_a_damaged_file_of_a_folder_is_named_and_the_others_are_read(cli, tmp_path):
    folder = tmp_path / "scores"
    folder.mkdir()
    (folder / "good.csv").write_text("item,subject,score\nq0,a,1\n", encoding="utf-8")
    (folder / "bad.csv").write_text("item,subject,score\nq0,a,one\n", encoding="utf-8")
    told = cli("import", "csv", folder, code=1)
    assert "bad.csv" in told
    assert len(cli("runs", "--json")) == 1
