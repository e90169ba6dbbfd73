"""`--wording paper`: the authors' prompts come from their file at run time, with our placeholders."""

import hashlib
import json

import pytest

from seceu_documents import EXAMPLE, PROMPTS
from sociometer.cli.main import run_command
from sociometer.core.errors import DataError, UsageError
from sociometer.engine.plan import make_plan
from sociometer.engine.run_options import make_config
from sociometer.instruments import card_of, load
from sociometer.instruments.seceu.play import read_method

PLACE = "Q: {story} Options: {options}. Rate each, please."


@pytest.fixture
def released(write_docx):
    """A file of the same structure as the authors', in words of ours."""
    return write_docx("seceu/Prompts.docx", PROMPTS)


@pytest.mark.parametrize(
    ("method", "text"),
    [
        ("zero-shot", f"Rate what you read.\n{PLACE}\nA:"),
        ("two-shot", f'{EXAMPLE}\nSteps: 3, 3, 2, 2\nA: {{"Emotion": []}}<end>\n{PLACE}'),
        ("two-shot-steps", f"{EXAMPLE}\nSteps: slowly, 3, 3, 2, 2\n{PLACE}\nSteps: slowly,"),
    ],
)
def test_only_the_last_question_becomes_a_placeholder(released, method, text):
    assert read_method(released, method=method) == text


def test_a_file_with_other_sections_is_refused(write_docx):
    with pytest.raises(DataError, match="expected 4 prompting methods, found 1"):
        read_method(write_docx("less.docx", PROMPTS[:4]), method="zero-shot")
    with pytest.raises(DataError, match=r"no question of the form 'Q: … Options: …'"):
        changed = [line.replace("Options:", "Choices:") for line in PROMPTS]
        read_method(write_docx("other.docx", changed), method="two-shot")


def test_the_subject_reads_the_authors_words_and_the_manifest_says_so(rehearse, released, official_data, tmp_path):
    for name in ("SECEU_40items_English.docx", "SECEU_norm.docx"):
        (tmp_path / "seceu" / name).write_bytes((official_data / "seceu" / name).read_bytes())
    made = rehearse("3, 3, 2, 2", data=tmp_path, wording="paper", prompting="two-shot")
    made.play_all("feelings", list(made.plan.items(made.instrument.task("feelings")))[:1])
    asked = made.subject.requests[0].messages[-1].content
    assert asked.startswith(EXAMPLE) and "Options: (1) " in asked and asked.endswith("Rate each, please.")
    manifest = made.plan.described()
    assert manifest.config.settings["wording"] == "paper"
    assert manifest.data_files["seceu/Prompts.docx"] == hashlib.sha256(released.read_bytes()).hexdigest()
    assert manifest.prompts_digest != rehearse("3, 3, 2, 2", prompting="two-shot").plan.described().prompts_digest


def test_a_missing_file_names_the_command_that_fetches_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SOCIOMETER_DATA", str(tmp_path))
    command = ["run", "seceu", "--model", "baseline/random", "--wording", "paper", "--prompting", "two-shot"]
    assert run_command([*command, "--store", str(tmp_path / "runs.db")]) == 2
    said = capsys.readouterr().err
    assert "seceu/Prompts.docx" in said and "sociometer get data seceu" in said


def test_the_direct_question_is_only_in_the_paper_and_taken_from_a_copy(tmp_path):
    seceu = load("seceu")
    config = {"settings": {"wording": "paper"}, "limit": 1}
    said = r"you can play --prompting zero-shot, .*DIR/en/paper/direct\.md with \{options\} and \{story\}"
    with pytest.raises(DataError, match=said):
        make_plan(make_config(card_of("seceu"), "baseline/random", **config), seceu)
    copy = tmp_path / "en" / "paper" / "direct.md"
    copy.parent.mkdir(parents=True)
    copy.write_text("{story} Points for {options}?")
    plan = make_plan(make_config(card_of("seceu"), "baseline/random", prompts=tmp_path, **config), seceu)
    assert plan.prompts.render("paper/direct", story="S", options="O") == "S Points for O?"
    copy.write_text("{story} Points for {feelings}?")
    with pytest.raises(
        DataError, match=r"has the placeholders \{feelings\}, \{story\}; expected: \{options\}, \{story\}"
    ):
        make_plan(make_config(card_of("seceu"), "baseline/random", prompts=tmp_path, **config), seceu)


def test_what_the_authors_never_wrote_is_refused():
    config = make_config(card_of("seceu"), "baseline/random", settings={"wording": "paper", "language": "zh"})
    with pytest.raises(UsageError, match="--wording paper needs"):
        make_plan(config, load("seceu"))


def test_the_real_file_has_the_four_methods(official_data):
    for method in ("zero-shot", "zero-shot-steps", "two-shot", "two-shot-steps"):
        text = read_method(official_data / "seceu" / "Prompts.docx", method=method)
        assert text.count("{story} Options: {options}.") == 1
        assert text.count("<end>") == (2 if method.startswith("two") else 0)


def test_boards_do_not_mix_wordings(tmp_path, capsys, released, monkeypatch):
    monkeypatch.setenv("SOCIOMETER_DATA", str(tmp_path))
    store = ["--store", str(tmp_path / "runs.db")]
    run = ["run", "seceu", "--prompting", "zero-shot", "--limit", "6", "--quiet", *store]
    assert run_command([*run, "--model", "baseline/random"]) == 0
    assert run_command([*run, "--model", "baseline/first"]) == 0
    assert run_command([*run, "--model", "baseline/random", "--wording", "paper"]) == 0
    assert "Asked in the authors' own words" in capsys.readouterr().out
    assert run_command(["compare", "seceu", "--json", *store]) == 0
    board = json.loads(capsys.readouterr().out)["rankings"][0]
    assert [each["subject"] for each in board["standings"]] == ["baseline/random (wording reworded)", "baseline/first"]
    why = "they differ in the setting 'wording': reworded and paper"
    assert board["left_out"] == [f"baseline/random (wording paper): {why}"]
    run_command(["runs", "--json", *store])
    ours, _, theirs = (each["run"] for each in json.loads(capsys.readouterr().out))
    run_command(["compare", ours, theirs, *store])
    assert f"cannot be compared: {why}" in capsys.readouterr().err
