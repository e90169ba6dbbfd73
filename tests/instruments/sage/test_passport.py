"""The passport: an honest judge may be used; a random, a loving, a mute one and one that likes length may not."""

import asyncio
import json
import random
import re
from collections import Counter
from functools import cache
from pathlib import Path

import msgspec
import pytest

import sociometer as sm
from servers.openai import OpenAIServer
from sociometer.cli.main import run_command
from sociometer.core.errors import Unreachable
from sociometer.instruments.sage.items import bundled
from sociometer.instruments.sage.passport import page as pages
from sociometer.instruments.sage.passport import released as witnesses
from sociometer.instruments.sage.passport.page import kept_at
from sociometer.instruments.sage.passport.probes import Felt, answers, own_probes
from sociometer.instruments.sage.passport.released import released_probes
from sociometer.instruments.sage.passport.verdict import Passport, examine, judge
from sociometer.instruments.sage.person.emotion import is_refusal
from sociometer.reporting.content import gather

from .people import Chair, InTurn, Says, emotion_json, reply_json


class Simulator(Chair):
    """Answers the first hop by a function of the reply, and the second with a sentence."""

    def __init__(self, feels, words="And then she left.", name="simulator"):
        super().__init__(name)
        self._feels, self._words = feels, words

    def say(self, request):
        if request.view.hop == "reply":
            return reply_json(self._words)
        found = self._feels(request.view)
        return found if isinstance(found, str) else emotion_json(found)


def honest():
    """Knows which of our replies is which, and the released changes."""
    arms = {"good": 6, "stock": 1, "cold": -3, "cruel": -8}
    known = {probe.talk[-1][1]: arms.get(probe.arm, -5) for probe in own_probes()}
    return lambda view: known.get(view.reply, 0)


@pytest.fixture(scope="module", autouse=True)
def read_once():
    """All released turns are read from their files once; that takes two seconds."""
    once = cache(witnesses.released_turns)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(witnesses, "released_turns", lambda folders: once(tuple(folders)))
        yield


@pytest.fixture(scope="module")
def released(official):
    """Sixty released turns."""
    return released_probes([official.parent], 60, seed=0)


@pytest.fixture(scope="module")
def hundred(official):
    """A hundred others."""
    return released_probes([official.parent], 100, seed=1)


@pytest.fixture(scope="module")
def every_turn(official):
    """All released turns."""
    return [probe for found in witnesses.released_turns([official.parent]).values() for probe in found]


def examined(rehearse, feels, probes=None, **more):
    show = rehearse({"rereads": 0}, simulator=Simulator(feels, **more))
    run = show.play_all("passport", own_probes() if probes is None else probes)
    return examine(answers(run), "simulator")


def test_an_honest_simulator_without_released_turns_is_used_with_care(rehearse):
    found = examined(rehearse, honest())
    assert found.verdict == "use with care"
    assert found.reasons == ("not compared with released judgements (fewer than 30 turns)",)
    assert found.ordered == 1 and found.spread == 0 and found.unreadable == 0


def test_an_honest_simulator_that_agrees_with_the_release_may_be_used(rehearse, released):
    probes = released
    assert {probe.released_by for probe in probes} == {"DeepSeek-V3", "GPT-4o"} and len(probes) == 60
    ours = honest()
    by_reply = {probe.talk[-1][1]: probe.change for probe in probes}
    found = examined(rehearse, lambda view: by_reply.get(view.reply, ours(view)), [*own_probes(), *probes])
    assert (found.verdict, found.reasons) == ("may be used", ())
    assert all(each.r > 0.99 and abs(each.bias) < 0.2 and each.error < each.constant for each in found.agreement)
    assert found.beyond.r > 0.99 and found.beyond.first > 0.99 and found.beyond.first_turns >= 20


def test_at_least_half_of_the_released_turns_are_first_turns_in_sets_of_one_opening(released):
    for name in ("DeepSeek-V3", "GPT-4o"):
        asked = [probe for probe in released if probe.released_by == name]
        first = Counter(probe.cluster for probe in asked if probe.state[0] == 1)
        assert len(asked) == 30 and first.total() == 15 and max(first.values()) == 4
        assert all(probe.before == 40 for probe in asked if probe.state[0] == 1)


@pytest.mark.parametrize("blind", ["released momentum", "hopeful at first", "the state's own prediction"])
def test_a_judge_who_ignores_the_reply_fails_by_its_agreement_alone(rehearse, hundred, blind):
    expected = {probe.talk[-1][1]: probe.expected for probe in hundred}
    ours = honest()

    def feels(view):
        if view.reply not in expected:
            return ours(view)
        if blind == "released momentum":
            return round((view.emotion - 45) / 6)
        if blind == "hopeful at first":
            return (8 if len(view.earlier) == 0 else 0) + (2 if view.emotion > 60 else -4)
        return round(expected[view.reply])

    found = examined(rehearse, feels, [*own_probes(), *hundred])
    assert found.beyond.interval.low <= 0 and found.verdict == "not a person"
    said = "its changes follow released ones no better than a judge who ignores the reply"
    assert [reason for reason in found.reasons if "apart" not in reason] == [said]


def test_a_passport_made_before_says_that_its_agreement_is_by_the_old_rule(rehearse, released, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    by_reply, ours = {probe.talk[-1][1]: probe.change for probe in released}, honest()
    found = examined(rehearse, lambda view: by_reply.get(view.reply, ours(view)), [*own_probes(), *released])
    before = json.loads(pages.as_json(msgspec.structs.replace(found, version="8")))
    del before["beyond"]
    kept_at("simulator").parent.mkdir(parents=True)
    kept_at("simulator").write_text(json.dumps(before), "utf-8")
    (said,) = pages.notices({"simulator": "simulator"}, {"simulator": "simulator"}, "9")
    assert "by the rule before version 9, which a judge who ignores the reply can pass" in said
    assert "rule before" not in found.line
    (short,) = pages.notices({"simulator": "simulator"}, {}, "9")
    assert short == f"the person is played by simulator, whose passport (version 8) says: {found.verdict}"


@pytest.mark.parametrize("seed", range(3))
def test_a_random_simulator_is_not_a_person(rehearse, seed):
    rng = random.Random(seed)
    assert examined(rehearse, lambda view: rng.randint(-10, 10)).verdict == "not a person"


@pytest.mark.parametrize("change", [10, 0])
def test_a_simulator_that_feels_the_same_about_everything_is_not_a_person(rehearse, change):
    found = examined(rehearse, lambda view: change)
    assert found.verdict == "not a person" and found.ordered == 0


def test_a_simulator_that_likes_long_replies_is_not_a_person(rehearse, released):
    found = examined(rehearse, lambda view: min(10, len(view.reply) // 25), [*own_probes(), *released])
    assert found.verdict == "not a person"


def test_a_simulator_that_obeys_orders_or_loves_nonsense_is_found_out(rehearse):
    ours = honest()
    obeys = examined(rehearse, lambda view: 10 if "system" in view.reply or "系统" in view.reply else ours(view))
    assert any("it feels better after injection (known)" in reason for reason in obeys.reasons)
    nouns = {each.id: each.details[:2] for language in ("en", "zh") for each in bundled(language)}
    loves = examined(
        rehearse, lambda view: 10 if any(noun in view.reply for noun in nouns[view.scenario.id]) else min(ours(view), 6)
    )
    assert any("nonsense" in reason for reason in loves.reasons)


def test_a_judgement_that_changes_sign_when_asked_again_is_fragile(rehearse):
    sure = examined(rehearse, honest())
    assert sure.fragile == 0
    ours, seen = honest(), Counter()

    def wavers(view):
        seen[view.reply] += 1
        return ours(view) if seen[view.reply] % 2 else -ours(view)

    unsure = examined(rehearse, wavers)
    assert unsure.fragile == pytest.approx(0.6), "of five judgements of a turn, six of the ten pairs are opposed"
    facts = dict(pages.tables(unsure)[0].rows)
    assert facts["judgements of one turn that change sign"] == "60 %"


def test_unreadable_answers_refusals_and_leaks_are_counted(rehearse):
    mute = examined(rehearse, lambda view: "Once upon a time")
    assert mute.verdict == "not a person" and mute.unreadable == 1
    refuses = examined(rehearse, honest(), words="I'm sorry, I can't assist with that request.")
    assert refuses.refused == 1 and any("refuses to speak" in reason for reason in refuses.reasons)
    leaks = examined(rehearse, honest(), words="My emotion score is 40 and my hidden intention is a secret.")
    assert leaks.leaked == 1


@pytest.mark.parametrize("name", ["by-hand.json", "by-hand-2.json"])
def test_the_passport_of_a_model_that_answered_by_hand_follows_from_its_raw_answers(name, every_turn):
    raw = json.loads((Path(__file__).parent / "passports" / name).read_text("utf-8"))
    probes = [*own_probes(), *(probe for probe in every_turn if probe.id in raw["answers"])]
    rows = [(probe, msgspec.convert(raw["answers"][probe.id], Felt)) for probe in probes]
    found = examine(rows, raw["passport"]["simulator"], raw["passport"]["version"])
    stored = msgspec.convert(raw["passport"], Passport)
    assert _rounded(msgspec.structs.replace(found, tokens=stored.tokens)) == _rounded(stored)


def _rounded(found):
    return json.loads(json.dumps(msgspec.to_builtins(found)), parse_float=lambda text: round(float(text), 9))


def test_a_broken_connection_is_no_finding(rehearse):
    class Broken(Chair):
        def say(self, request):
            raise Unreachable("no connection")

    run = rehearse(simulator=Broken("broken")).play_all("passport", own_probes()[:1])
    assert [each.failure.kind for each in run.episodes()] == ["unreachable of the simulator"]


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        ("I'm sorry, I can't assist with that.", True),
        ("I'm sorry, but I can't assist with that request.", True),
        ("抱歉，我无法协助处理这个请求。", True),
        ("I'm sorry, I can't stop crying.", False),
        ("Sorry, I can't help it, I keep thinking of her.", False),
        ("对不起，我不能原谅他。", False),
    ],
)
def test_a_refusal_is_told_from_a_person_who_is_sorry(words, refusal):
    assert is_refusal(words) is refusal


def test_a_refusal_is_not_the_persons_words_and_is_asked_for_again(rehearse, care_home):
    again = InTurn(emotion_json(1), reply_json("I'm sorry, I can't assist with that."), reply_json("She left at six."))
    show = rehearse({"turns": 2}, subject=Says("I hear you."), simulator=again)
    outcome = asyncio.run(show.play("dialogue", care_home)).episode.outcome
    assert outcome.turns[0].words == "She left at six." and outcome.turns[0].rereads == 1


def test_refusals_of_the_release_are_recognised(released_talks):
    counts = Counter()
    for path, _, dialogue in released_talks:
        counts[path.parent.name] += sum(is_refusal(turn.words) for turn in dialogue.turns)
    assert counts["transcripts"] == 0 and counts["transcripts-judge-gpt-4o"] == 7, "of the four files here"


def test_who_plays_the_person_is_beside_the_numbers_and_the_verdict(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    words = ["run", "sage", "--limit", "10", "--turns", "1", "--store", "s.db", "--role", "simulator=baseline/random"]
    for model, name in (("random", "one"), ("oracle", "two")):
        assert run_command([*words, "--model", f"baseline/{model}", "--name", name]) == 0
    for shown in (["show", "one"], ["show", "one", "--json"], ["compare", "one", "two"]):
        capsys.readouterr()
        assert run_command([*shown, "--store", "s.db"]) == 0
        said = re.sub(r"\s+", " ", capsys.readouterr().out)
        assert said.count("played by baseline/random, which has no passport and is not checked against people") == 1
    content = gather([sm.get_run(name, store="s.db") for name in ("one", "two")])
    assert content.chapters[0].caveat.startswith("the person is played by baseline/random, which has no passport")


def test_the_command_writes_a_page_and_run_prints_the_verdict(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    words = ["run", "sage", "--model", "baseline/random", "--limit", "1", "--turns", "1", "--role"]
    assert run_command([*words, "simulator=baseline/random", "--store", "s.db"]) == 0
    assert "baseline/random has no passport" in capsys.readouterr().err
    assert (
        run_command(["sage", "passport", "--role", "simulator=baseline/random", "--turns", "0", "--store", "s.db"]) == 0
    )
    shown, progress = capsys.readouterr()
    assert "sage · baseline/random\n" in progress
    assert run_command(["runs", "--store", "s.db", "--json"]) == 0
    _, *examined = json.loads(capsys.readouterr().out)
    assert {(one["subject"], one["score"]) for one in examined} == {("baseline/random", "")}
    assert "Passport of baseline/random: not a person" in shown and "Not compared with released judgements" in shown
    kept = json.loads(kept_at("baseline/random").read_text("utf-8"))
    assert kept == json.loads((tmp_path / "passport.json").read_text("utf-8")) and kept["verdict"] == "not a person"
    page = (tmp_path / "passport.md").read_text("utf-8")
    assert "**not a person**" in page and re.search(r"\| held nonsense \| ", page)
    assert run_command([*words, "simulator=baseline/random", "--store", "s2.db"]) == 0
    assert "Passport of baseline/random: not a person" in capsys.readouterr().err
    assert run_command(["sage", "passport", "--turns", "0", "--store", "s.db"]) != 0
    assert "the rehearsal follows rules and judges nothing" in capsys.readouterr().err


def test_a_model_that_writes_without_end_is_asked_no_more_than_the_first_turns(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    with OpenAIServer() as server:
        server.say = lambda body: '{"said": "' + "and then " * min(body["max_tokens"], 5000)
        name = f"vllm/endless@{server.url}#1"
        words = ["sage", "passport", "--role", f"simulator={name}", "--turns", "0", "--rereads", "1", "--store", "s.db"]
        assert run_command(words) == 0
        assert len(server.received) == 12 and all(each.body["max_tokens"] == 2000 for each in server.received)
        asked = "none of its first 6 answers can be read; the other 120 were not asked for"
        assert f"not a person ({asked})" in " ".join(capsys.readouterr().out.split())
        page = (tmp_path / "passport.md").read_text("utf-8")
        assert asked in page and "| judgements asked for | 6 |" in page and "| judgements left out | 120 |" in page
        assert json.loads((tmp_path / "passport.json").read_text("utf-8"))["unreadable"] == 1
        assert run_command(words) == 0 and len(server.received) == 12, "what was asked is kept"


def test_a_kept_passport_is_read_back_and_judged_the_same(rehearse):
    found = examined(rehearse, honest())
    again = msgspec.json.decode(pages.as_json(found), type=Passport)
    assert judge(again) == (found.verdict, found.reasons)
