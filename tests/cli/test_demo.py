"""`tools/record.py` and `demo` as a user meets them, on few items."""

import csv
import io
import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from msgspec import structs

from sociometer.cli import demo
from sociometer.cli.demo import RELEASED, can_show_pages, sample_config
from sociometer.cli.main import run_command
from sociometer.core.errors import UsageError
from sociometer.instruments import cards, load
from sociometer.models.recorded import read_recording, write_recording
from sociometer.statistics.intervals import MINIMUM_CLUSTERS
from tools.record import command

ROOT = Path(__file__).parents[2]
SESI = sample_config("sesi", "baseline/random").limit
"""How many items the samples have."""


def record(*words):
    """The exit code of the tool."""
    return command.main(list(words), standalone_mode=False)


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.jsonl"
    path.write_text('{"reply": "I hear you. Answer: B", "match": "."}\n', encoding="utf-8")
    return f"scripted/{path}"


@pytest.fixture
def demo_of(monkeypatch):
    """Makes the demonstration play one recording, on a few instruments."""

    def chosen(recording, *instruments):
        monkeypatch.setattr(demo, "bundled", lambda: (str(recording),))
        monkeypatch.setattr(demo, "cards", lambda: {name: cards()[name] for name in instruments})

    return chosen


@pytest.fixture
def recording(tmp_path, script, capsys):
    out = tmp_path / "owl.jsonl.gz"
    assert record("--model", script, "--out", str(out), "--title", "Owl", "--only", "sesi") == 0
    assert f"{SESI} items: sesi {SESI}; {out.stat().st_size:,} bytes" in capsys.readouterr().out
    return out


def test_recording_again_plays_nothing_and_writes_the_same(recording, script):
    before = recording.read_bytes()
    assert record("--model", script, "--out", str(recording), "--title", "Owl", "--only", "sesi") == 0
    assert recording.read_bytes() == before
    assert len(read_recording(recording).items) == SESI


def test_a_recording_of_nothing_is_not_written(tmp_path, script):
    out = tmp_path / "none.jsonl.gz"
    with pytest.raises(UsageError, match="has no finished item"):
        record("--model", script, "--out", str(out), "--no-play", "--only", "sesi")
    assert not out.exists()
    with pytest.raises(UsageError, match=r"must end in \.jsonl\.gz"):
        record("--model", script, "--out", str(tmp_path / "a.json"))


def test_the_demo_shows_a_finding_a_line_for_each_instrument_and_the_page(tmp_path, recording, demo_of, capsys):
    folder = tmp_path / "demo"
    demo_of(recording, "sesi", "sage")
    assert run_command(["demo", "--to", str(folder)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Sociometer measures the social intelligence of language models.")
    assert out.index("GPT-4.1 is first of 6 on 100 shared items") < out.index("Samples, too small to measure")
    assert "\t" not in out, "also in a pipe, columns are aligned"
    (row,) = [re.split("  +", line) for line in out.splitlines() if line.startswith("Accuracy  ")]
    assert row[1] == "25 %" and row[4] == str(SESI)
    assert "a recorded model and baseline/random." in " ".join(out.split())
    assert "Owl" in out and out.index("Samples, too small") < out.index("Wrote the page")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<h1>Six models on SAGE dialogues</h1>" in page
    assert "results released by the authors of SAGE" in page and "Measured on" not in page
    assert page.index('<section id="sage-dialogues"') < page.index('<section id="samples"') < page.index('id="sesi"')
    assert "Owl" in page and "stand-in, so" not in page.partition('<section id="samples"')[0]
    hint, own = [line.partition(": ")[2] for line in out.splitlines() if line.startswith("Next, ")]
    assert own.startswith("sociometer run sesi --model ")
    assert shlex.split(hint)[1:] == ["view", "--store", str(folder / "demo.db")]
    assert run_command(["demo", "--to", str(folder)]) == 0


def test_the_whole_demo_fits_a_screen_and_says_what_its_subjects_are(tmp_path, capsys):
    assert run_command(["demo", "--to", str(tmp_path / "demo")]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) <= 30
    page = (tmp_path / "demo/report.html").read_text(encoding="utf-8")
    assert "by hand" not in out + page.partition('<script type="application/json"')[0]
    assert "</b>: replies of a capable, unnamed language model, careful, recorded on 20" in page


def test_the_page_opens_only_for_somebody_who_sits_at_a_display(monkeypatch):
    for name in ("CI", "SSH_CONNECTION", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    master, slave = os.openpty()
    with open(slave, "w", encoding="utf-8") as terminal:  # noqa: PTH123 - a descriptor
        monkeypatch.setattr(sys, "stdout", terminal)
        assert not can_show_pages(), "no display"
        monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
        assert can_show_pages()
        for name in ("CI", "SSH_CONNECTION"):
            with monkeypatch.context() as elsewhere:
                elsewhere.setenv(name, "true")
                assert not can_show_pages(), name
        monkeypatch.setattr(sys, "stdout", io.StringIO())
        assert not can_show_pages(), "a pipe"
    os.close(master)


def test_the_released_feelings_are_those_of_the_released_dialogues(official_data):
    shipped = {}
    for row in csv.DictReader(RELEASED.read_text().splitlines()):
        shipped.setdefault(row["subject"], []).append(float(row["score"]))
    released = []
    for path in (official_data / "sage/transcripts").glob("*.jsonl"):
        dialogues = sorted(map(json.loads, path.read_text().splitlines()), key=lambda one: one["id"])
        released.append([max(0, one["emo_point"]) for one in dialogues])
    assert sorted(shipped.values()) == sorted(released)


def test_items_that_changed_are_counted_and_left_out(tmp_path, recording, demo_of, capsys):
    read = read_recording(recording)
    gone = structs.replace(read.items[0], item="sesi-old-01")
    write_recording(recording, read.about, (gone, *read.items[1:]))
    demo_of(recording, "sesi")
    assert run_command(["demo", "--to", str(tmp_path / "demo"), "--json"]) == 0
    out, err = capsys.readouterr()
    assert "sesi: 1 item left out: changed since the recording." in err
    assert json.loads(out)["table"]["rows"][0][-3] == SESI - 1


@pytest.mark.parametrize("name", [name for name, card in cards().items() if name != "sage"])
def test_the_sample_of_an_instrument_is_english_and_has_no_reply_limit(name):
    config = sample_config(name, "baseline/random")
    assert config.sampling.max_tokens is None
    assert config.limit >= MINIMUM_CLUSTERS
    assert config.settings.get("language", "en") == "en"
    assert config.repeats == 1
    assert len(config.tasks or load(name).card.default_tasks()) == 1


def test_after_the_demo_the_next_command_of_the_readme_can_be_played(embedded_model, tmp_path, monkeypatch, capsys):
    block = (ROOT / "README.md").read_text(encoding="utf-8").partition("\nmake demo")[2].partition("```")[0]
    activate, after = (line.partition("#")[0].strip() for line in block.splitlines()[1:3])
    assert activate == ". .venv/bin/activate"
    program, *words = after.split()
    assert program == "sociometer"
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    assert run_command([*words, "--dry-run"]) == 0
    assert "smollm2-135m" in capsys.readouterr().out


def test_make_puts_the_embedded_model_where_run_looks_for_it():
    assert "SOCIOMETER_CACHE" not in (ROOT / "Makefile").read_text(encoding="utf-8")
