"""A recording is made from stored runs and matches today's items; an item that changed is reported by its name."""

import json
import random
from pathlib import Path

import pytest
from msgspec import structs

import forked
import sociometer as sm
from sociometer.core.errors import UsageError
from sociometer.core.prompts import Prompts
from sociometer.engine.recordings import matching as matching_of
from sociometer.instruments import load
from sociometer.models.recorded import BUNDLED, ENDING, ModelRecording, bundled, load_recording
from tools.record import command, recorded_items, recorded_model


def matching(recording):
    return matching_of(recording, load)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Three items of SESI, recorded from a script that always takes B."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "script.jsonl").write_text('{"reply": "Answer: B", "match": "."}\n', encoding="utf-8")
    run = sm.run("sesi", f"scripted/{folder / 'script.jsonl'}", limit=3, store=folder / "store.db")
    return ModelRecording("owl", recorded_model([run], "Owl 1.5B"), recorded_items([run]))


def test_a_recording_holds_each_item_once_with_the_replies_to_it(recording):
    assert [len(item.replies) for item in recording.items] == [1, 1, 1]
    assert len({item.item for item in recording.items}) == 3
    assert recording.items[0].replies[0].reply.text == "Answer: B"


def test_what_was_just_recorded_matches(recording):
    found = matching(recording)
    assert found.items == recording.items
    assert found.changed == ()


def test_an_item_of_another_wording_is_reported_by_its_name(recording):
    first, *rest = recording.items
    replies = (structs.replace(first.replies[0], asked="0" * 32),)
    found = matching(structs.replace(recording, items=(structs.replace(first, replies=replies), *rest)))
    assert found.items == tuple(rest)
    assert [item.item for item, _ in found.changed] == [first.item]
    assert "has no (further) reply" in found.changed[0][1]


def test_a_changed_prompt_is_reported_for_every_item(recording, monkeypatch):
    render = Prompts.render
    monkeypatch.setattr(Prompts, "render", lambda *given, **values: render(*given, **values) + " Think well.")
    found = matching(recording)
    assert found.items == ()
    assert [item.item for item, _ in found.changed] == [item.item for item in recording.items]


def test_an_item_that_is_gone_or_asks_for_fewer_replies_is_reported(recording):
    first, second, _ = recording.items
    gone = structs.replace(first, item="sesi-none")
    more = structs.replace(second, replies=second.replies * 2)
    found = matching(structs.replace(recording, items=(gone, more)))
    assert [why for _, why in found.changed] == ["the item is gone", "it asks for 1 replies; 2 were recorded"]


def test_a_recording_is_of_one_model_with_a_revision(tmp_path):
    run = sm.run("sesi", "baseline/random", limit=1, store=tmp_path / "store.db")
    with pytest.raises(UsageError, match="one model with one revision"):
        recorded_model([run], "chance")


@pytest.mark.parametrize("name", bundled())
def test_a_recording_that_ships_matches_its_items(name):
    changed = [f"{item.instrument} {item.item}" for item, _ in matching(load_recording(name)).changed]
    assert not changed, f"{name}: record these again (tools/record.py), or leave them out"


def test_the_recordings_that_ship_are_small():
    assert sum(path.stat().st_size for path in BUNDLED.glob("*")) < 3_000_000


def test_a_recording_that_cannot_be_written_leaves_the_earlier_one(tmp_path):
    """The disk is full in the middle of the file: the process may write no file over a size."""
    reply = random.Random(7).randbytes(20_000).hex()
    (tmp_path / "script.jsonl").write_text(json.dumps({"reply": f"Answer: B {reply}", "match": "."}) + "\n")
    out = tmp_path / f"owl{ENDING}"
    words = ["--model", f"scripted/{tmp_path / 'script.jsonl'}", "--only", "sesi", "--out", str(out)]
    assert command.main(words, standalone_mode=False) == 0
    before = out.read_bytes()
    most = len(before) // 2
    assert most > 100_000
    limited = f"import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}));"
    limited += " sys.argv.pop(0); runpy.run_path(sys.argv[0], run_name='__main__')"
    tool = Path(__file__).parents[2] / "tools" / "record.py"
    ended = forked.start(["-c", limited, tool, *words, "--no-play", "--title", "Owl 2"], stderr=forked.PIPE)
    _, told = ended.communicate()
    assert ended.returncode and "File too large" in told
    assert out.read_bytes() == before and not list(tmp_path.glob(".*"))
