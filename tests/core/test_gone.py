"""What earlier versions had: each word ends with exit code 2, and the message says what to type now."""

import pytest

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.errors import ExitCode, NotFound

RUN = "run sesi --model baseline/first"


@pytest.mark.parametrize(
    ("words", "now"),
    [
        (f"{RUN} --until decided --against old", "--against RUN"),
        (f"{RUN} --watch folder", "--against RUN"),
        (f"{RUN} --shard 1/2", "--on ray"),
        (f"{RUN} --batch", "-o in-flight=N"),
        (f"{RUN} --blind", "'sociometer list INSTRUMENT'"),
        (f"{RUN} --log-to wandb", "callback=FUNCTION"),
        (f"{RUN} -o answer=probability", "sociometer_sesi_likelihood"),
        (f"{RUN} -o logprobs=2", "sociometer_sesi_likelihood"),
        ("plan sesi --detect 3", "'sociometer compare'"),
        ("compare a b --profile", "'sociometer report'"),
        ("annotate create labels --run a", "'sociometer sheet write'"),
        ("env serve practice", "HelpdeskEnvironment"),
        ("import inspect log.eval", "'sociometer import csv FILE'"),
        ("import lm-eval samples.jsonl", "'sociometer import csv FILE'"),
        ("import run a.sociometer", "'sociometer check FILE'"),
        ("study plan sesi", "the formula"),
        ("sage sheet a", "'sociometer sheet write RUN --of SHEET'"),
        ("run sage --model baseline/first --task deeds", "'sociometer run helpdesk'"),
    ],
)
def test_a_word_of_an_earlier_version_is_answered_with_what_to_type_now(words, now, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    assert run_command(words.split()) == ExitCode.USAGE
    said = " ".join(capsys.readouterr().err.split())
    assert "version 0.4 took it away. " in said and now in said and ".." not in said


def test_python_names_what_to_type_in_python():
    with pytest.raises(NotFound, match=r"'until': version 0\.4 took it away\. against=RUN"):
        sm.run("sesi", "baseline/first", until="decided")
    with pytest.raises(NotFound, match=r"'log_to': version 0\.4 took it away\. In Python, callback=FUNCTION"):
        sm.run("sesi", "baseline/first", log_to="wandb")
    with pytest.raises(AttributeError, match=r"'rank': version 0\.4 took it away\. .* compare"):
        _ = sm.rank
