"""Tables and logs made to hurt: `import` reads them or says in one sentence why not, and damages no store."""

import copy
import json
import warnings
from pathlib import Path

import pytest

from sociometer.cli.main import run_command
from sociometer.core.errors import DataError
from sociometer.core.sheets import stream_rows
from untidy import left_open

SAMPLE = {"doc_id": 0, "doc": {"q": "x"}, "metrics": ["acc"], "acc": 1.0, "resps": [["a"]], "filtered_resps": ["a"]}
LOG = "samples_t_2025-01-01T00-00-00.jsonl"


@pytest.fixture
def imported(tmp_path, capsys):
    """Imports a file; gives the exit code and what was said, and looks whether the store and a report are sound."""

    def call(tool, path):
        store = ["--store", str(tmp_path / "s.db")]
        code = run_command(["import", tool, str(path), *store])
        said = capsys.readouterr().err
        assert "Traceback" not in said
        if code == 0:
            assert run_command(["check", "store", *store]) == 0, capsys.readouterr().out
            assert run_command(["report", "last", "--to", str(tmp_path / "page.html"), *store]) == 0
        return code, said

    return call


def log_of(folder, *changes, **results):
    lines = (json.dumps(SAMPLE | change) for change in changes)
    (folder / LOG).write_text("\n".join(lines), encoding="utf-8")
    if results:
        (folder / "results_2025-01-01T00-00-00.json").write_text(json.dumps(results), encoding="utf-8")
    return folder / LOG


def test_a_table_with_many_columns_takes_as_long_as_it_is(tmp_path):
    # Comparing each name with all others would take minutes, and so would a record of all columns for each row.
    header = ",".join(["item", "subject", "score", *(f"c{number}" for number in range(200_000))])
    rows = (f"i{number},m,1" for number in range(5_000))
    (tmp_path / "wide.csv").write_text("\n".join([header, *rows]), encoding="utf-8")
    found = [row for _, row in stream_rows(tmp_path / "wide.csv", ("item", "subject", "score"), ("cluster",))]
    assert len(found) == 5_000
    assert found[0] == {"item": "i0", "subject": "m", "score": "1"}
    (tmp_path / "wide.csv").write_text(f"{header},c7\n", encoding="utf-8")
    with pytest.raises(DataError, match="two columns have the name 'c7'"):
        list(stream_rows(tmp_path / "wide.csv", ("item", "subject", "score")))


@pytest.mark.parametrize("rows", ["a,m,1\nb,m,", "a,m,1\na,n,0\nb,n,1"], ids=["an empty score", "no row"])
def test_an_item_without_a_score_leaves_the_store_sound(tmp_path, imported, rows):
    (tmp_path / "scores.csv").write_text(f"item,subject,score\n{rows}\n", encoding="utf-8")
    assert imported("csv", tmp_path / "scores.csv")[0] == 0


@pytest.mark.parametrize("shots", ["five", [1], {"a": 1}, None, True, 10**40])
def test_a_number_of_shots_that_is_none_is_left_out(tmp_path, imported, shots):
    assert imported("lm-eval", log_of(tmp_path, {}, **{"n-shot": {"t": shots}}))[0] == 0


def test_a_score_with_400_digits_is_no_number(tmp_path, imported):
    assert imported("lm-eval", log_of(tmp_path, {}, {"doc_id": 1, "acc": 10**400}))[0] == 0
    code, said = imported("lm-eval", log_of(tmp_path, {"acc": 10**400}))
    assert (code, "no numeric scores" in said) == (2, True)


def test_a_log_with_thousands_of_scores_is_refused(tmp_path, imported):
    names = [f"m{number}" for number in range(5_000)]
    code, said = imported("lm-eval", log_of(tmp_path, {"metrics": names, **dict.fromkeys(names, 1.0)}))
    assert (code, "5,000 different scores; at most 1,000 are read" in said) == (2, True)


def test_the_file_of_results_fills_no_memory(tmp_path, imported):
    with (tmp_path / "results_2025-01-01T00-00-00.json").open("wb") as stream:
        stream.truncate(1 << 34)
    code, said = imported("lm-eval", log_of(tmp_path, {}))
    assert (code, "more than 256 MB" in said) == (2, True)


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Logs of Inspect in JSON: of any task, and of one of ours."""
    inspect = pytest.importorskip("inspect_ai", reason="the extra 'inspect' is not installed")
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import exact

    folder = tmp_path_factory.mktemp("logs")
    other = inspect.Task(dataset=[Sample(input=f"q{n}", target="a", id=f"s{n}") for n in range(3)], scorer=exact())
    how = {"model": "sociometer/baseline/random", "log_dir": str(folder), "log_format": "json", "display": "none"}
    found = {}
    with left_open():
        warnings.simplefilter("ignore")
        for name, task in (("theirs", other), ("ours", "sociometer/sesi")):
            (made,) = inspect.eval(task, limit=3, **how)
            assert made.status == "success", made.error
            found[name] = json.loads(Path(made.location.removeprefix("file://")).read_text(encoding="utf-8"))
    return found


GONE = object()
WRONG = {"a text": "x", "a list": [1], "null": None, "a number": -5, "an object": {"a": 1}, "gone": GONE}
PLACES = [
    ("theirs", ("samples",)),
    ("theirs", ("samples", 0, "id")),
    ("theirs", ("samples", 0, "epoch")),
    ("theirs", ("samples", 0, "scores")),
    ("theirs", ("samples", 0, "scores", "exact", "value")),
    ("theirs", ("samples", 0, "output")),
    ("ours", ("eval", "metadata", "sociometer", "config")),
    ("ours", ("eval", "metadata", "sociometer", "config", "tasks")),
    ("ours", ("eval", "metadata", "sociometer", "config", "instrument")),
    ("ours", ("samples", 0, "metadata", "item")),
    ("ours", ("samples", 0, "store", "sociometer:roles")),
]


@pytest.mark.parametrize(("log", "place"), PLACES, ids=[".".join(map(str, place)) for _, place in PLACES])
def test_a_log_of_inspect_with_a_wrong_value_is_read_or_refused(tmp_path, logs, imported, log, place):
    for name, value in WRONG.items():
        changed = copy.deepcopy(logs[log])
        inside = changed
        for part in place[:-1]:
            inside = inside[part]
        if value is GONE:
            del inside[place[-1]]
        else:
            inside[place[-1]] = value
        path = tmp_path / f"{name.replace(' ', '-')}.json"
        path.write_text(json.dumps(changed), encoding="utf-8")
        assert imported("inspect", path)[0] in (0, 2), (name, place)
