"""`check FILE` says what it recomputed, and what it could not; what no honest run has, it refuses."""

import gzip
import hashlib
import json

import msgspec
import pytest

import sociometer as sm
from servers.faults import Fault
from sociometer.cli.main import run_command
from sociometer.engine.replay import export_bundle
from sociometer.store.bundle import plan_digest
from sociometer.store.records import Manifest

FAILED, ITEMS = 28, 40


@pytest.fixture
def exported(openai_server, key, tmp_path):
    """A run of 40 items on a server that refuses the first requests."""

    def made(failed=0):
        openai_server.fault_of = lambda number: Fault(400, "no") if number < failed else None
        options = {"base_url": openai_server.url, "revision": "1", "store": tmp_path / "s.db", "temperature": 0.5}
        path = tmp_path / "run.sociometer"
        export_bundle(sm.run("sesi", "openai/m", limit=ITEMS, in_flight=1, **options), path)
        return path

    return made


def changed(path, change):
    """The file with its rows changed by somebody who computes all digests again."""
    *lines, _ = gzip.decompress(path.read_bytes()).splitlines()
    rows = [json.loads(line)["content"] for line in lines]
    change(rows)
    rows[0]["plan"] = plan_digest(msgspec.convert(rows[0]["manifest"], Manifest))
    bodies = [json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() for row in rows]
    digests = [hashlib.sha256(body).hexdigest() for body in bodies]
    lines = [b'{"digest":"%s","content":%s}' % (one.encode(), body) for one, body in zip(digests, bodies, strict=True)]
    root = hashlib.sha256(json.dumps(digests, separators=(",", ":")).encode()).hexdigest()
    end = json.dumps({"rows": len(rows), "root": root}, separators=(",", ":")).encode()
    path.write_bytes(gzip.compress(b"\n".join([*lines, end]) + b"\n"))
    return path


def replies(rows):
    return [one["reply"] for row in rows if row["row"] == "episode" for one in row["replies"]]


def test_failed_episodes_are_not_called_recomputed(exported, capsys):
    path = exported(FAILED)
    assert run_command(["check", str(path)]) == 0
    said = capsys.readouterr().out
    assert f"{ITEMS - FAILED} of {ITEMS} episodes recomputed" in said
    assert f"{FAILED} failed and cannot be checked" in said
    assert run_command(["check", str(path), "--json"]) == 0
    ((_, value, worst),) = json.loads(capsys.readouterr().out)["at_worst"]
    assert worst == pytest.approx(value * (ITEMS - FAILED) / ITEMS)


def test_no_numbers_agree_where_all_episodes_failed(exported, capsys):
    for failed in (FAILED, ITEMS):
        path = exported(failed)
        assert run_command(["check", str(path)]) == 0
        finding = " ".join(capsys.readouterr().out.split()).split(" on sesi): ")[1].split("; consistent")[0]
        assert (", all numbers of the others agree" in finding) == (failed < ITEMS)


def test_another_model_in_the_manifest_is_named(exported, capsys):
    def rename(rows):
        manifest = rows[0]["manifest"]
        manifest["config"]["subject"] = "openai/gpt-9"
        manifest["roles"]["subject"] |= {"spec": "openai/gpt-9", "label": "openai/gpt-9"}
        manifest["roles"]["subject"]["identity"]["name"] = "gpt-9"

    assert run_command(["check", str(changed(exported(), rename))]) == 0
    assert f"Served name differs: {ITEMS} of {ITEMS} replies, subject openai/gpt-9: m-served" in capsys.readouterr().out


def test_the_honest_file_has_no_such_note(exported, capsys):
    assert run_command(["check", str(exported())]) == 0
    said = capsys.readouterr().out
    assert "all numbers agree" in said
    assert not any(word in said for word in ("Served name", "Sampling", "Finish", "failed"))


@pytest.mark.parametrize("where", ["replies", "manifest"])
def test_another_sampling_than_the_run_says_is_refused(exported, capsys, where):
    def sample(rows):
        rows[0]["manifest"]["config"]["sampling"]["temperature"] = 0.0 if where == "manifest" else 0.5
        for reply in replies(rows) if where == "replies" else ():
            reply["sampling"]["temperature"] = 1.9

    assert run_command(["check", str(changed(exported(), sample))]) == 1
    assert "sampled with temperature" in capsys.readouterr().err


def test_replies_that_do_not_say_their_sampling_or_ended_otherwise_are_counted(exported, capsys):
    def strip(rows):
        for reply in replies(rows):
            reply["sampling"].pop("temperature")
            reply["finish"] = "content_filter"

    assert run_command(["check", str(changed(exported(), strip))]) == 0
    said = capsys.readouterr().out
    assert f"Sampling: {ITEMS} of {ITEMS} replies lack a parameter" in said
    assert f"Finish of {ITEMS} replies: content_filter {ITEMS}." in said
