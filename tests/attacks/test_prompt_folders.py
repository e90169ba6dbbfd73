"""A folder of prompts from somebody else (`--prompts`): no device, no endless file, no template that runs."""

import os

import pytest

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.instruments import load

PROMPT = "en/question.md"


def pipe(path):
    os.mkfifo(path)


def device(path):
    path.symlink_to("/dev/zero")


def endless(path):
    with path.open("wb") as stream:
        stream.truncate(1 << 40)


def circle(path):
    path.symlink_to(path)


def secret(path):
    path.symlink_to("/etc/passwd")


def folder(path):
    path.mkdir()


@pytest.mark.parametrize("make", [pipe, device, endless, circle, secret, folder])
def test_a_prompt_that_is_no_small_file_of_the_folder_is_refused(tmp_path, capsys, make):
    (tmp_path / "prompts" / "en").mkdir(parents=True)
    make(tmp_path / "prompts" / PROMPT)
    words = ["run", "sesi", "--model", "baseline/random", "--limit", "1"]
    where = ["--prompts", str(tmp_path / "prompts"), "--store", str(tmp_path / "s.db")]
    assert run_command([*words, *where]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert PROMPT in said
    assert len(said.splitlines()) == 1


def test_a_template_in_a_prompt_is_sent_as_it_is(tmp_path, openai_server, key):
    written = "{situation.__class__} {0} {{7*7}} ${HOME} %s {{situation}} \x1b[31m"
    (tmp_path / "prompts" / "en").mkdir(parents=True)
    ours = (load("sesi").folder / "prompts" / PROMPT).read_text(encoding="utf-8")
    (tmp_path / "prompts" / PROMPT).write_text(f"{ours}\n{written}\nend", encoding="utf-8")
    how = {"base_url": openai_server.url, "store": tmp_path / "s.db", "prompts": tmp_path / "prompts"}
    sm.run("sesi", "openai/m", limit=1, **how)
    (sent,) = {request.body["messages"][-1]["content"] for request in openai_server.received}
    assert written.partition(" {{situation}}")[0] in sent
    assert "\x1b[31m" in sent
