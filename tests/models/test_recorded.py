"""A recorded model answers what was asked then, says which recording lacks a reply, and its file survives damage."""

import asyncio
import gzip

import pytest

from sociometer.core.conversation import Reply, Request, Usage, system, user
from sociometer.core.errors import DataError, MachineryError, UsageError
from sociometer.models.recorded import (
    RecordedItem,
    RecordedModel,
    RecordedReply,
    bundled,
    digest,
    load_recording,
    read_recording,
    write_recording,
)
from sociometer.models.registry import describe, resolve

QUESTION = (system("Be brief."), user("Who lied?"))
ABOUT = RecordedModel(model="Owl 1.5B", sha256="ab" * 32, recorded="2026-11-15", licence="Apache-2.0")


@pytest.fixture
def file(tmp_path):
    texts = (Reply("B", usage=Usage(9, 1)), Reply("C"))
    replies = tuple(RecordedReply(digest(QUESTION), reply) for reply in texts)
    path = tmp_path / "owl.jsonl.gz"
    write_recording(path, ABOUT, [RecordedItem(instrument="sesi", task="questions", item="one", replies=replies)])
    return path


def ask(player, *messages):
    return asyncio.run(player.answer(Request("subject", messages or QUESTION)))


def test_what_was_said_is_said_again_each_reply_once(file):
    player = resolve(f"recorded/{file}")
    assert [ask(player), ask(player)] == [Reply("B", usage=Usage(9, 1)), Reply("C")]
    with pytest.raises(MachineryError, match=r"'owl' \(2026-11-15\) has no") as caught:
        ask(player)
    assert caught.value.kind == "not recorded"


def test_the_identity_is_the_recording_with_the_digest_of_the_weights(file):
    identity = resolve(f"recorded/{file}").identity
    assert (identity.wire, identity.name, identity.revision) == ("recorded", "owl", "ab" * 32)
    assert not identity.stand_in


@pytest.mark.parametrize(
    "messages",
    [(system("Be brief."), user("Who lies?")), (user("Be brief."), user("Who lied?")), (user("Be brief.Who lied?"),)],
    ids=["another word", "another speaker", "joined"],
)
def test_a_request_in_other_words_was_not_recorded(file, messages):
    with pytest.raises(MachineryError, match="as worded then"):
        ask(resolve(f"recorded/{file}"), *messages)


def test_the_same_replies_make_the_same_file(file, tmp_path):
    again = tmp_path / "again.jsonl.gz"
    write_recording(again, ABOUT, read_recording(file).items)
    assert again.read_bytes() == file.read_bytes()


def test_a_recording_that_does_not_exist_is_an_error_that_says_what_to_give(tmp_path):
    with pytest.raises(UsageError, match=r"unknown recording 'owl'.*recorded/PATH\.jsonl\.gz"):
        resolve("recorded/owl")
    with pytest.raises(DataError, match="No such file"):
        resolve(f"recorded/{tmp_path / 'none.jsonl.gz'}")
    with pytest.raises(UsageError, match="needs a recording after the slash"):
        resolve("recorded/")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"not compressed", "cannot be read"),
        (gzip.compress(b'{"model": "Owl", "sha256": "ab", "recorded": "2026"}\n{"item": 1}\n'), r":2: "),
        (gzip.compress(b""), ":1: "),
        (gzip.compress(b"\xff\xfe\n"), ":1: "),
        (gzip.compress(b"[" * 100_000), ":1: "),
        (gzip.compress(b'{"model": "Owl", "sha256": "ab", "recorded": "2026", "format": 9}'), "format 9"),
        (gzip.compress(b"a" * 1000)[:-12], "cannot be read"),
    ],
    ids=["plain", "bad line", "empty", "not UTF-8", "nested", "newer", "cut short"],
)
def test_a_damaged_recording_is_an_error_that_names_the_file(tmp_path, content, said):
    path = tmp_path / "bad.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(DataError, match=said) as caught:
        read_recording(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", bundled())
def test_a_recording_that_ships_names_its_model_or_says_that_it_answered_by_hand(name):
    recording = load_recording(name)
    about = recording.about
    assert "by hand" in about.model or (len(about.sha256) == 64 and about.licence)
    assert about.recorded.startswith("20")
    assert recording.items
    assert f"recorded/{name}" in {entry.spec for entry in describe()}
