"""`sociometer paper replicate seceu`: scripted servers that give the printed score, or another one."""

import json
import re

import pytest

from seceu_documents import PROMPTS, synthetic_english, synthetic_norm
from sociometer.cli.main import run_command

STANDARD = (4.0, 3.0, 2.0, 1.0)
NAMES = ("Glad", "Calm", "Sad", "Cross")
FAR = (0.0, 0.0, 0.0, 10.0)
PRINTED = {"zero-shot": 3.12, "zero-shot-steps": 2.53, "two-shot": 3.08, "two-shot-steps": 2.78}
"""GPT-3.5-turbo in Table S2."""


def points_at(distance):
    """Ten points at this distance from the standard."""
    whole = sum((far - own) ** 2 for own, far in zip(STANDARD, FAR, strict=True)) ** 0.5
    part = distance / whole
    return [own + part * (far - own) for own, far in zip(STANDARD, FAR, strict=True)]


def scripted(distances):
    """A subject whose distance alternates around the one of the prompt's method."""

    def say(body):
        prompt = body["messages"][-1]["content"]
        number = int(re.findall(r"Something happens to (\d+)", prompt)[-1])
        shots = "two-shot" if "Ada" in prompt else "zero-shot" if "A:" in prompt else "direct"
        method = f"{shots}-steps" if "lowly" in prompt else shots
        points = points_at(distances[method] + (0.5 if number % 2 else -0.5))
        return "; ".join(f"{name}: {value:.6f}" for name, value in zip(NAMES, points, strict=True))

    return say


@pytest.fixture
def replicate(tmp_path, write_docx, monkeypatch, openai_server, key, capsys):
    """Runs `replicate seceu` against the server as GPT-3.5-turbo, and gives the exit code and what was printed."""
    write_docx("seceu/SECEU_40items_English.docx", synthetic_english())
    write_docx("seceu/SECEU_norm.docx", synthetic_norm())
    write_docx("seceu/Prompts.docx", PROMPTS)
    monkeypatch.setenv("SOCIOMETER_DATA", str(tmp_path))

    def call(*options):
        row = f"GPT-3.5-turbo=openai/mine@{openai_server.url}"
        store = ["--store", str(tmp_path / "runs.db"), "--quiet"]
        code = run_command(["paper", "replicate", "seceu", "--model", row, *store, *options])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


@pytest.fixture
def own_copy(tmp_path):
    """A folder with a copy of the prompt that only the paper prints, in words of ours."""
    copy = tmp_path / "own" / "en" / "paper" / "direct.md"
    copy.parent.mkdir(parents=True)
    copy.write_text("Tale: {story} {options}?")
    return tmp_path / "own"


def verdicts(out):
    return {(one["about"], one["figure"]["measure"]): one["within"] for one in json.loads(out)["figures"]}


def test_a_server_that_gives_the_printed_scores_hits_every_one(replicate, openai_server):
    openai_server.say = scripted({**PRINTED, "direct": 2.63})
    code, out, _ = replicate("--json")
    found = verdicts(out)
    assert all(found[method, "distance"] for method in PRINTED)
    assert all(found[method, "eq"] for method in PRINTED)
    # The direct prompt is only in the paper, so this row's run of Table S1 is played in our words and marked.
    assert found["direct, not the authors' wording", "distance"]
    assert not json.loads(out)["not_played"] and code in (0, 1)


def test_a_server_with_other_scores_misses_those(replicate, openai_server, own_copy):
    openai_server.say = scripted({**PRINTED, "direct": 2.63, "two-shot": 1.2})
    code, out, _ = replicate("--json", "--prompts", str(own_copy))
    found = verdicts(out)
    assert found["direct", "distance"] and found["zero-shot", "distance"] and not found["two-shot", "distance"]
    assert code == 1


def test_the_paper_decides_wording_items_and_sampling(replicate, openai_server, own_copy):
    openai_server.say = scripted({**PRINTED, "direct": 2.63})
    code, out, _ = replicate("--prompts", str(own_copy))
    bodies = [received.body for received in openai_server.received]
    assert len(bodies) == 5 * 40
    direct = [body for body in bodies if body["messages"][0]["content"].startswith("Tale: ")]
    assert len(direct) == 40 and {body["max_completion_tokens"] for body in direct} == {512}
    assert {body["temperature"] for body in direct} == {0.1}
    assert {body["temperature"] for body in bodies if body not in direct} == {0.0}
    assert "printed figures lie within our 95 % intervals" in out
    assert "not released" in out
    assert code == 0


def test_a_dry_run_gives_requests_and_sends_nothing(replicate, openai_server):
    code, out, err = replicate("--dry-run", "--json")
    assert code == 0 and not openai_server.received
    assert [row["estimate"]["requests"] for row in json.loads(out)] == [40] * 5
    assert "Not played" not in err


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("GPT-5=openai/x", "unknown published row 'GPT-5'"),
        ("Vicuna", "is not available (13B of March 2023; released as weight differences from LLaMA)"),
        ("Fastchat", "the paper prints no figure for the row 'Fastchat'"),
    ],
)
def test_a_row_that_cannot_be_played_is_said(model, said, capsys, tmp_path):
    assert run_command(["paper", "replicate", "seceu", "--model", model, "--store", str(tmp_path / "runs.db")]) == 2
    assert said in capsys.readouterr().err


def test_the_rows_are_listed_with_their_models(capsys):
    assert run_command(["paper", "replicate", "seceu", "--rows", "--json"]) == 0
    rows = {one["row"]: one for one in json.loads(capsys.readouterr().out)}
    assert len(rows) == 18
    assert rows["text-davinci-003"]["access"] == "gone"
