"""Hard talks: what they hold, that they play, and that SAGE's own score knows nothing of them."""

import asyncio
import re

import pytest

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.errors import UsageError
from sociometer.instruments.sage.items import KINDS, OURS, bundled, bundled_talks, general_questions
from sociometer.instruments.sage.person.emotion import find_leak

from .people import Listener, Person, Says

TALKS = {language: list(bundled_talks(language)) for language in ("en", "zh")}


def test_there_are_at_least_eight_in_both_languages_and_two_of_each_kind():
    assert [talk.cluster for talk in TALKS["en"]] == [talk.cluster for talk in TALKS["zh"]]
    assert len(TALKS["en"]) >= 8
    for talks in TALKS.values():
        assert {kind: sum(talk.kind == kind for talk in talks) for kind in KINDS} == dict.fromkeys(KINDS, 2)


@pytest.mark.parametrize("talk", [talk for talks in TALKS.values() for talk in talks], ids=lambda talk: talk.id)
def test_a_hard_talk_is_complete(talk):
    asked = (*general_questions(talk.language), *talk.questions)
    assert len({question.id for question in asked}) == len(asked)
    assert {"sycophancy", "safety"} <= {question.about for question in talk.questions}
    assert {question.when for question in talk.questions} == {"never", "once"}
    for text in (talk.persona, talk.background, talk.goal, talk.hidden, talk.helps, talk.first_words):
        assert bool(re.search("[一-鿿]", text)) == (talk.language == "zh")
    assert talk.hidden != talk.helps and talk.rises and talk.falls and talk.calm and talk.uneasy and talk.raw
    assert find_leak(talk.first_words, talk.hidden, talk.intention) in ("", "plea")
    body = " ".join((talk.persona, talk.background, talk.first_words)).lower()
    assert sum(detail.lower() in body for detail in talk.details) >= len(talk.details) - 2


def test_both_languages_of_a_talk_ask_the_same():
    for one, two in zip(TALKS["en"], TALKS["zh"], strict=True):
        assert [(q.id, q.about, q.when) for q in one.questions] == [(q.id, q.about, q.when) for q in two.questions]
        assert (one.kind, one.intention) == (two.kind, two.intention)
    english, chinese = general_questions("en"), general_questions("zh")
    assert [(q.id, q.about, q.when) for q in english] == [(q.id, q.about, q.when) for q in chinese]


def test_sages_own_scenarios_and_score_exclude_them(sage, tmp_path):
    ours = {talk.id for talks in TALKS.values() for talk in talks}
    assert not ours & {scenario.id for language in ("en", "zh") for scenario in bundled(language)}
    assert not sage.card.task_card("hard-talks").default
    run = sm.run("sage", model="baseline/random", limit=2, settings={"turns": 1}, store=tmp_path / "s.db")
    assert run.tasks == ("dialogue",)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_embedded_person_plays_every_hard_talk(rehearse, language):
    show = rehearse({"turns": 3}, subject=Listener("listener"))
    for talk in TALKS[language]:
        episode = asyncio.run(show.play("hard-talks", talk)).episode
        assert episode.failure is None and 0 <= episode.outcome.final <= 100
        assert episode.score.facets == {"kind": talk.kind, "language": language}


def test_the_subject_sees_the_first_words_and_nothing_else(rehearse):
    subject, talk = Says("I see."), TALKS["en"][0]
    asyncio.run(rehearse({"turns": 1}, subject=subject, simulator=Person(1)).play("hard-talks", talk))
    (request,) = subject.asked
    seen = " ".join(message.content for message in request.messages)
    assert talk.first_words in seen
    for hidden in (talk.hidden, talk.helps, talk.background, *(question.text for question in talk.questions)):
        assert hidden not in seen


def test_the_summary_says_whose_they_are_and_that_feeling_is_not_all(rehearse):
    show = rehearse({"turns": 2}, subject=Says("I see."))
    summary = show.summarise("hard-talks", TALKS["en"])
    assert summary.find("sentient") is None
    assert summary.measure("emotion", kind="decide").items == 2
    assert OURS in summary.notes
    assert any("--what candour --role judge=MODEL" in note for note in summary.notes)


def test_official_and_other_scenarios_have_no_hard_talks(tmp_path, official):
    with pytest.raises(UsageError, match="our own scenarios"):
        sm.run(
            "sage", model="baseline/random", tasks=["hard-talks"], official=True, data=official.parent,
            store=tmp_path / "s.db",
        )  # fmt: skip


def test_sages_own_commands_refuse_a_run_of_hard_talks(tmp_path, capsys):
    store = tmp_path / "s.db"
    run = sm.run(
        "sage",
        model="baseline/random",
        tasks=["hard-talks"],
        limit=2,
        settings={"turns": 1},
        roles={"simulator": "baseline/random"},
        store=store,
    )
    for command in (
        ["sage", "simulators", run.id],
        ["sage", "analyse", run.id, "--what", "relationship", "--role", "judge=baseline/random"],
        ["sage", "analyse", run.id, "--what", "rejudge"],
    ):
        assert run_command([*command, "--store", str(store)]) == 2, command
        assert "Hard talks are judged by --what candour" in capsys.readouterr().err
