"""The rehearsal plays, tells its facts once each, gives no number, and is refused where a judgement is needed."""

import asyncio
import json
import re
from pathlib import Path

import pytest

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.errors import UsageError
from sociometer.instruments import load
from sociometer.instruments.sage.analyses.stability import contexts
from sociometer.instruments.sage.dialogue import StoredDialogue
from sociometer.instruments.sage.items import bundled

from .people import Listener, Says

NUMBER = re.compile(r"\d")


@pytest.fixture
def played(rehearse, sage, care_home):
    show = rehearse(subject=Listener("l"), simulator=sage.players["rehearsal"]())
    return show, asyncio.run(show.play("dialogue", care_home)).episode


def test_every_person_tells_facts_of_the_story_and_says_none_twice(rehearse, sage):
    for language in ("en", "zh"):
        for scenario in list(bundled(language))[::2]:
            show = rehearse(subject=Listener("l"), simulator=sage.players["rehearsal"]())
            turns = asyncio.run(show.play("dialogue", scenario)).episode.outcome.turns
            facts = [turn.words for turn in turns if turn.words][:4]
            assert len(set(facts)) == 4, scenario.id


def test_the_person_feels_better_with_a_listener_than_with_silence(rehearse, sage, care_home):
    def final(subject):
        show = rehearse(subject=subject, simulator=sage.players["rehearsal"]())
        return asyncio.run(show.play("dialogue", care_home)).episode.outcome.final

    assert final(Listener("l")) > 40 > final(Says(""))


def test_a_rehearsal_has_no_score_no_figure_and_no_series(played, sage):
    show, episode = played
    assert episode.score.values == {}
    summary = show.summarise("dialogue", [episode.item])
    assert [measure.value for measure in summary.measures] == [None]
    assert summary.notes == ("rehearsal: no simulator, no score.",) and not summary.series
    assert sage.beside(episode.item, episode.outcome) is None


def test_no_command_shows_a_number_of_a_rehearsal(tmp_path, capsys):
    store = str(tmp_path / "s.db")
    run = sm.run("sage", model="baseline/random", limit=2, store=store).id
    capsys.readouterr()
    assert run_command(["show", run, "--store", store]) == 0
    shown = capsys.readouterr().out
    assert "rehearsal: no simulator, no score" in shown
    item = next(iter(sm.get_run(run, store=store).episodes())).item.id
    assert run_command(["show", run, item, "--store", store]) == 0
    shown = capsys.readouterr().out
    assert "Tell me more" in shown and "emotion" not in shown
    for words in (["sage", "simulators", run], ["sage", "analyse", run, "--role", "judge=baseline/random"]):
        assert run_command([*words, "--store", store]) == 2
        assert "rehearsal: no simulator, no score" in capsys.readouterr().err
    page = tmp_path / "page.html"
    assert run_command(["report", run, "--to", str(page), "--store", store]) == 0
    text = page.read_text(encoding="utf-8")
    assert "rehearsal: no simulator, no score" in text and "Emotion by turn" not in text


def test_it_refuses_every_analysis_that_needs_a_judgement(played, rehearse, sage, care_home):
    _, episode = played
    stored = StoredDialogue(
        id=care_home.id, cluster=care_home.id, run="r", subject="s", scenario=care_home, dialogue=episode.outcome
    )
    show = rehearse(subject=Says("x"), simulator=sage.players["rehearsal"]())
    for task, item in (("stability", contexts(stored)[0]), ("rejudge", stored)):
        with pytest.raises(UsageError, match="the rehearsal follows rules and judges nothing"):
            asyncio.run(show.play(task, item))


def test_what_one_can_do_without_a_key_is_said_by_run_and_list(capsys, tmp_path):
    said = load("sage").card.default_stand_ins()["simulator"]
    assert "local server" in said and "GGUF" in said and "passport" in said
    assert run_command(["list", "sage", "--json"]) == 0
    assert "local server" in json.dumps(json.loads(capsys.readouterr().out))


def test_the_rehearsal_stays_small():
    folder = Path(load("sage").folder)
    files = (folder / "person" / "rehearsal.py", folder / "data" / "rehearsal.toml")
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) <= 320
