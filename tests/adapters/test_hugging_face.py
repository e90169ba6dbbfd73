"""A run as a dataset folder, read back by the Hub's own libraries; official items are never in it."""

import json

import pyarrow.parquet
import pytest
import yaml

import sociometer as sm
from sociometer.adapters.hugging_face import publish
from sociometer.statistics.formatting import number


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("publish") / "store.db"


@pytest.fixture(scope="module")
def bundled(store):
    return sm.run("sesi", "baseline/random", limit=20, store=store, name="bundled")


@pytest.fixture(scope="module")
def official(store, official_data):
    return sm.run("sesi", "baseline/random", limit=20, store=store, name="official", data=official_data)


def rows(folder, task="questions"):
    return pyarrow.parquet.read_table(folder / "data" / f"{task}.parquet").to_pylist()


def words(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def front_matter(folder):
    return yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])


def test_the_rows_hold_every_episode_with_item_transcript_outcome_and_scores(bundled, tmp_path):
    publish(bundled, tmp_path / "d")
    found = {row["item"]: row for row in rows(tmp_path / "d")}
    for episode in bundled.episodes():
        row = found[episode.item.id]
        assert row["score.correct"] == episode.score.values["correct"]
        assert json.loads(row["item_content"])["situation"] == episode.item.situation
        assert episode.item.situation in json.loads(row["transcript"])[0]["messages"][0]["content"]
    assert len(found) == 20


def test_the_card_names_its_files_and_shows_the_numbers_with_their_intervals(bundled, tmp_path):
    publish(bundled, tmp_path / "d")
    (config,) = front_matter(tmp_path / "d")["configs"]
    assert config["data_files"] == [{"split": "test", "path": "data/questions.parquet"}]
    text = (tmp_path / "d" / "README.md").read_text(encoding="utf-8")
    found = bundled.summary().measure("accuracy")
    assert f"| accuracy | all | {number(found.value, 'share', interval=found.interval)} | " in text
    assert "Bundled items of this project" in text


def test_the_card_of_a_labelled_script_does_not_name_its_folder(tmp_path):
    script = tmp_path / "private" / "replies.jsonl"
    script.parent.mkdir()
    script.write_text('{"match": ".", "reply": "A"}\n', encoding="utf-8")
    run = sm.run("sesi", model=f"scripted/{script}", label="mine", limit=4, store=tmp_path / "s.db")
    publish(run, tmp_path / "out")
    assert "subject: scripted/replies.jsonl" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert not any(b"private" in file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file())


def test_the_card_has_licence_language_and_category(bundled, official, tmp_path):
    for run, licence in ((bundled, "mit"), (official, "other")):
        publish(run, tmp_path / licence)
        front = front_matter(tmp_path / licence)
        assert (front["license"], front["language"], front["task_categories"]) == (licence, ["en"], ["text-generation"])


def test_the_folder_is_loaded_by_datasets(bundled, tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed (make test-adapters)")
    publish(bundled, tmp_path / "d")
    loaded = datasets.load_dataset(str(tmp_path / "d"), "questions", split="test", cache_dir=str(tmp_path / "cache"))
    assert loaded.num_rows == 20
    assert "score.correct" in loaded.column_names


def test_official_items_are_never_included(official, tmp_path):
    done = publish(official, tmp_path / "d")
    assert "not ours to publish" in done.left_out
    kept = words(tmp_path / "d").decode("utf-8", "ignore")
    for episode in official.episodes():
        for text in (*episode.item.texts, episode.item.situation[:60]):
            assert text not in kept
    assert set(rows(tmp_path / "d")[0]).isdisjoint({"item_content", "transcript", "outcome"})
    assert rows(tmp_path / "d")[0]["score.correct"] in (0.0, 1.0)


def test_without_keys_nothing_tells_the_right_answer(bundled, tmp_path):
    publish(bundled, tmp_path / "d", without_keys=True)
    for row in rows(tmp_path / "d"):
        assert not [name for name in row if name.startswith(("score.", "facet."))]
        assert set(row).isdisjoint({"item_content", "outcome", "unreadable"})
        events = json.loads(row["transcript"])
        assert events
        assert {event["type"] for event in events} == {"exchange"}


def test_a_transcript_never_holds_the_key_of_an_answer_format(store, tmp_path):
    """The transcript of an exchange has messages and reply, never the answer format with its key."""
    run = sm.run("sesi", "baseline/random", limit=3, store=store, seed=5)
    publish(run, tmp_path / "d", without_keys=True)
    for row in rows(tmp_path / "d"):
        for event in json.loads(row["transcript"]):
            assert set(event) <= {"type", "role", "model", "messages", "reply", "branch"}


def test_what_cannot_be_published_is_refused(bundled, official, cli, tmp_path, monkeypatch, store):
    monkeypatch.setenv("SOCIOMETER_STORE", str(store))
    assert "never published" in cli("export", "--as", "hugging-face", "official", "--to", "d", "--without-keys", code=2)
    assert "wrote" in cli("export", "--as", "hugging-face", "bundled", "--to", "d")
    assert "is not empty" in cli("export", "--as", "hugging-face", "bundled", "--to", "d", code=2)


def test_imported_items_stay_at_home(cli, tmp_path):
    (tmp_path / "t.csv").write_text("item,subject,score\n" + "".join(f"q{n},one,{n % 2}\n" for n in range(12)))
    (run,) = cli("import", "csv", "t.csv", "--name", "t", "--json")
    assert "not ours to publish" in cli("export", "--as", "hugging-face", "t", "--to", "d")
    assert len(rows(tmp_path / "d", "items")) == 12
    assert run["instrument"] == "t"
