"""The embedded model, really run; replies are short, since two cores write some fifty tokens a second."""

import asyncio
import json
import shutil
import struct
import subprocess
import sys

import msgspec
import pytest

from sociometer.core.conversation import Request, Sampling, Schema, result, spoken, user
from sociometer.core.errors import MachineryError, UsageError
from sociometer.core.tools import Tool, read_content
from sociometer.models.files import local_models
from sociometer.models.local import chat_body, chat_template, threads_of
from sociometer.models.openai import read_completion
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve
from tiny_gguf import make_tiny_gguf

MOOD = Schema(
    {
        "type": "object",
        "properties": {"mood": {"enum": ["glad", "sad"]}, "points": {"type": "integer", "minimum": 0, "maximum": 9}},
        "required": ["mood", "points"],
        "additionalProperties": False,
    }
)
HELLO = (user("Say hello."),)


@pytest.fixture(scope="module")
def heard(embedded_model):
    """What the embedded model says; one conversation in one event loop, the tests below look at its parts."""

    async def all_of_it(player):
        return {
            "identity": player.identity,
            "greedy": await player.answer(Request("s", HELLO, sampling=Sampling(temperature=0, max_tokens=4))),
        }

    return told_by("smollm2-135m", all_of_it)


@pytest.fixture(scope="module")
def heard_from_tiny(tmp_path_factory):
    """What a very small model says: most that llama.cpp does is the same for any weights."""
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")

    async def all_of_it(player):
        ask = player.answer
        drawn, other = (Sampling(temperature=1.0, seed=seed, max_tokens=12) for seed in (7, 8))
        return {
            "seeded": await ask(Request("s", HELLO, sampling=drawn)),
            "other": await ask(Request("s", HELLO, sampling=other)),
            "together": await asyncio.gather(*(ask(Request("s", HELLO, sampling=drawn)) for _ in range(2))),
            "schema": await ask(Request("s", HELLO, MOOD, Sampling(temperature=0, max_tokens=40))),
            "too long": await failed(ask(Request("s", (user("word " * 9000),)))),
        }

    return told_by(make_tiny_gguf(tmp_path_factory.mktemp("tiny") / "tiny.gguf"), all_of_it)


def told_by(model, conversation):
    async def told():
        async with resolve(f"local/{model}") as player:
            return await conversation(player)

    return asyncio.run(told())


async def failed(answer):
    with pytest.raises(MachineryError) as caught:
        await answer
    return caught.value


def test_its_revision_is_the_checksum_of_its_file(heard):
    assert heard["identity"].revision == local_models()["smollm2-135m"].sha256
    assert heard["identity"].certain
    assert heard["identity"].stand_in


def test_a_reply_has_usage(heard):
    reply = heard["greedy"]
    assert reply.text
    assert reply.usage.output_tokens == 4
    assert reply.finish == "length"


def test_the_same_seed_gives_the_same_reply_alone_and_in_a_crowd(heard_from_tiny):
    said = {reply.text for reply in (heard_from_tiny["seeded"], *heard_from_tiny["together"])}
    assert len(said) == 1
    assert heard_from_tiny["other"].text not in said


def test_a_schema_is_kept_to(heard_from_tiny):
    filled = json.loads(heard_from_tiny["schema"].text)
    assert filled["mood"] in ("glad", "sad")
    assert 0 <= filled["points"] <= 9


def test_what_is_too_long_for_it_is_an_error_not_an_answer(heard_from_tiny):
    assert heard_from_tiny["too long"].kind == "context too long"


def test_a_file_of_ones_own_is_played_under_its_name(embedded_model, tmp_path):
    copy = tmp_path / "mine.gguf"
    shutil.copy(embedded_model, copy)
    player = resolve(f"local/{copy}")
    assert player.identity.name == "mine.gguf"
    assert player.identity.revision == local_models()["smollm2-135m"].sha256


def test_a_revision_of_ones_own_is_kept_beside_the_checksum(embedded_model, tmp_path):
    copy = tmp_path / "mine.gguf"
    shutil.copy(embedded_model, copy)
    revision = resolve(f"local/{copy}", ModelOptions(revision="step-4000")).identity.revision
    assert revision == f"step-4000 sha256:{local_models()['smollm2-135m'].sha256}"


def test_a_file_that_changes_after_it_was_named_is_not_loaded(embedded_model, tmp_path, monkeypatch):
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF one")
    player = resolve(f"local/{file}")
    file.write_bytes(b"GGUF two")
    monkeypatch.setattr("sociometer.models.local.LlamaContext", lambda *_, **__: pytest.fail("it was loaded"))

    async def ask():
        async with player:
            await player.answer(Request("s", HELLO))

    with pytest.raises(MachineryError, match=r"mine\.gguf.*changed") as caught:
        asyncio.run(ask())
    assert caught.value.fatal


def test_a_file_that_goes_away_is_a_failure_of_the_machinery(embedded_model, tmp_path):
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF one")
    player = resolve(f"local/{file}")
    file.unlink()

    async def ask():
        async with player:
            await player.answer(Request("s", HELLO))

    with pytest.raises(MachineryError, match=r"mine\.gguf"):
        asyncio.run(ask())


def test_weights_that_replace_others_at_the_same_path_are_loaded_anew(embedded_model, tmp_path):
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF one")
    first = resolve(f"local/{file}")
    file.write_bytes(b"GGUF two")
    second = resolve(f"local/{file}")
    assert first.identity.revision != second.identity.revision

    async def both():
        async with first, second:
            assert first.model is not second.model

    asyncio.run(both())


def test_a_file_that_is_no_model_fails_once_for_all(embedded_model, tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF but no more than that")

    async def ask():
        player = resolve(f"local/{broken}")
        await player.open()
        try:
            await player.answer(Request("s", HELLO))
        finally:
            await player.close()

    with pytest.raises(MachineryError) as caught:
        asyncio.run(ask())
    assert caught.value.fatal
    assert "broken.gguf" in str(caught.value)


def test_without_the_extra_the_extra_is_named(embedded_model, monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(UsageError, match=r"\[local\]"):
        resolve("local/smollm2-135m")


@pytest.mark.parametrize("wrong", ["0", "many", "-1"])
def test_a_wrong_number_of_threads_is_told(monkeypatch, wrong):
    monkeypatch.setenv("SOCIOMETER_THREADS", wrong)
    with pytest.raises(UsageError, match=f"SOCIOMETER_THREADS is '{wrong}'"):
        threads_of()


def test_a_busy_machine_gets_half_the_threads(monkeypatch):
    monkeypatch.delenv("SOCIOMETER_THREADS", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    monkeypatch.setattr("os.getloadavg", lambda: (9.0, 0.0, 0.0), raising=False)
    assert threads_of() == 2
    monkeypatch.setattr("os.getloadavg", lambda: (1.0, 0.0, 0.0), raising=False)
    assert threads_of() == 0


def test_a_wrong_number_of_layers_is_told(tmp_path, monkeypatch):
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    monkeypatch.setenv("SOCIOMETER_GPU_LAYERS", "all")
    copy = make_tiny_gguf(tmp_path / "mine.gguf")

    async def ask():
        player = resolve(f"local/{copy}")
        await player.open()
        try:
            await player.answer(Request("s", HELLO))
        finally:
            await player.close()

    with pytest.raises(UsageError, match="SOCIOMETER_GPU_LAYERS is 'all'"):
        asyncio.run(ask())


def test_options_are_sent_only_where_set():
    bare = chat_body(Request("s", HELLO))
    assert set(bare) == {"messages", "max_tokens"}
    drawn = Sampling(temperature=0.3, top_p=0.8, seed=1, stop=("X",), max_tokens=9, reasoning_effort="low")
    body = chat_body(Request("s", HELLO, sampling=drawn))
    assert (body["temperature"], body["top_p"], body["seed"], body["stop"], body["max_tokens"]) == (
        0.3,
        0.8,
        1,
        ["X"],
        9,
    )
    assert body["chat_template_kwargs"] == {"reasoning_effort": "low"}


PEAK = """
import resource, subprocess, sys
code = subprocess.run([sys.executable, "-m", "sociometer", *sys.argv[1:]], capture_output=True).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.slow
def test_a_run_of_several_models_takes_the_memory_of_one(embedded_model, tmp_path):
    for name in ("one", "two", "three"):
        copy = shutil.copy(embedded_model, tmp_path / f"{name}.gguf")
        with copy.open("ab") as file:
            file.write(name.encode())  # other weights, as far as anybody can tell
    (tmp_path / "broken.gguf").write_bytes(embedded_model.read_bytes()[:1_000_000])

    def peak(*names):
        models = [word for name in names for word in ("--model", f"local/{tmp_path / name}.gguf")]
        words = ["run", "seceu", *models, "--limit", "1", "-o", "reply-tokens=2", "--quiet"]
        store = ("--store", str(tmp_path / f"{'-'.join(names)}.db"))
        told = subprocess.run([sys.executable, "-c", PEAK, *words, *store], capture_output=True, text=True, check=True)
        code, size = map(int, told.stdout.split())
        return code, size

    _, alone = peak("one")
    for names, expected in ((("one", "two", "three"), 0), (("one", "broken", "three"), 4)):
        code, size = peak(*names)
        assert (code, size < 1.15 * alone) == (expected, True), (names, size, alone)


@pytest.mark.parametrize(
    ("template", "able"), [("{% if tools %}x{% endif %}", True), ("{{ messages }}", False), (None, False)]
)
def test_a_file_whose_template_knows_no_tools_is_told_of_them(tmp_path, template, able):
    path, key = tmp_path / "m.gguf", b"tokenizer.chat_template"
    said = b"" if template is None else key + struct.pack("<IQ", 8, len(template)) + template.encode()
    path.write_bytes(b"GGUF" + b"the tools of a vocabulary" + said + b" tools")
    assert chat_template(path) == (template or "")
    assert resolve(f"local/{path}", ModelOptions()).abilities.calls_tools is able


def test_tools_and_calls_have_the_format_of_openai():
    tool = Tool("look_up", "Shows a record.", {"type": "object"})
    call = {"id": "theirs", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    received = msgspec.json.encode({"choices": [{"message": {"content": None, "tool_calls": [call]}}]})
    reply = read_completion(received, tools=True)
    said = spoken(reply, ())
    talk = (user("a"), said, result(read_content(said.content).calls[0], "Guest: Ann"))
    body = chat_body(Request("s", talk, tools=(tool,)))
    assert body["tools"][0]["function"]["name"] == "look_up"
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "tool"]
    assert body["messages"][1]["tool_calls"] == [{**call, "id": "call00000"}]
    assert "tools" not in chat_body(Request("s", (user("a"),)))
