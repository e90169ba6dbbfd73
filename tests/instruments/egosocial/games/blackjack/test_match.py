"""The official file's layout: system and user messages that name the cards (the lines here are ours)."""

import asyncio
import json

import pytest

from rehearsal import Rehearsal
from sociometer.cli.main import run_command
from sociometer.core.errors import DataError, UsageError
from sociometer.engine.plan import make_plan
from sociometer.engine.run_options import make_config
from sociometer.instruments import card_of, load
from sociometer.instruments.egosocial.commands import judged, table
from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.blackjack.match import read


def lines(tmp_path, *users, system="You are playing blackjack."):
    path = tmp_path / "blackjack.jsonl"
    path.write_text("\n".join(json.dumps({"system": system, "user": user}) for user in users), encoding="utf-8")
    return path


def told(dealer, *player):
    return f"The dealer current card is {{{dealer}}}. Your current cards are {{{', '.join(player)}}}."


def test_cards_are_found_in_the_words(tmp_path):
    (line,) = read(lines(tmp_path, told("Heart 10", "Spade A", "Club 6")))
    assert (cards.names(line.player), cards.name(line.open_card)) == (["SA", "C6"], "HT")


@pytest.mark.parametrize(
    ("user", "reason"),
    [
        ("Good luck!", "found 0 open and 0 own"),
        (told("Heart K", "Spade 7"), "found 1 open and 1 own"),
        (told("Heart K", "Heart K", "Heart K"), "more often than a deck contains it"),
    ],
)
def test_a_line_without_readable_cards_is_refused_naming_file_and_line(tmp_path, user, reason):
    path = lines(tmp_path, told("Heart K", "Spade 7", "Diamond 8"), user)
    with pytest.raises(DataError, match=rf"blackjack.jsonl:2: .*{reason}"):
        list(read(path))


def test_a_line_that_is_no_object_is_refused(tmp_path):
    path = tmp_path / "blackjack.jsonl"
    path.write_text("[1, 2]\n", encoding="utf-8")
    with pytest.raises(DataError, match="'system' and 'user'"):
        list(read(path))


ELEVEN = told("Heart 10", "Spade 5", "Club 6") + " State your beliefs."
BELIEFS = "Self-Belief: My total is 11. External-Belief: The dealer's open card is worth 10."


@pytest.fixture
def official_show(tmp_path, script):
    def show(reply, **settings):
        lines(tmp_path, ELEVEN)
        return Rehearsal(load("egosocial"), {"subject": script(reply)}, settings, data=tmp_path)

    return show


def test_beliefs_in_sentences_are_stored_and_no_rule_grades_them(official_show):
    show = official_show(BELIEFS)
    (item,) = show.instrument.task("blackjack").items(show.source())
    episode = asyncio.run(show.play("blackjack", item)).episode
    assert episode.score.values == {"faults": 0.0}
    assert episode.score.unreadable == 0
    assert episode.outcome.result is None


def test_a_move_beside_the_beliefs_is_played_and_scored(official_show):
    show = official_show(BELIEFS + " Action: stand")
    (item,) = show.instrument.task("blackjack").items(show.source())
    episode = asyncio.run(show.play("blackjack", item)).episode
    assert episode.score.values["best_action"] == 0
    assert episode.score.values["lost_value"] > 0
    assert episode.outcome.result in (-1, 0, 1)


def test_the_authors_wording_asks_once_in_their_words_and_with_their_sampling(official_show):
    show = official_show(BELIEFS + " Action: hit", wording="paper")
    (item,) = show.instrument.task("blackjack").items(show.source())
    played = asyncio.run(show.play("blackjack", item))
    (asked,) = show.plan.bindings["subject"].player.asked
    assert asked.messages[-1].content == ELEVEN
    assert (asked.sampling.temperature, asked.sampling.max_tokens) == (1.0, 1024)
    assert played.episode.outcome.result is None
    assert len(played.episode.outcome.decisions) == 1


def test_the_authors_wording_needs_their_deals_and_no_other_task_has_one(rehearsal, baseline):
    show = rehearsal(baseline("oracle"), wording="paper")
    assert show.plan.config.tasks == ("blackjack",)
    with pytest.raises(UsageError, match="--wording paper needs --official"):
        list(show.instrument.task("blackjack").items(show.source()))
    config = make_config(card_of("egosocial"), "baseline/random", tasks=["tomi"], settings={"wording": "paper"})
    with pytest.raises(UsageError, match=r"egosocial/tomi has no prompt that the authors released.*: blackjack"):
        make_plan(config, load("egosocial"))


@pytest.mark.parametrize(("wrong", "code"), [(2, 0), (20, 1)])
def test_replies_as_good_as_the_printed_row_hit_it_and_worse_ones_miss(
    tmp_path, openai_server, key, capsys, monkeypatch, wrong, code
):
    cases = [f"Deal {number}. {ELEVEN}" for number in range(50)]
    lines(tmp_path, *cases)
    monkeypatch.setenv("SOCIOMETER_DATA", str(tmp_path))

    def say(body):
        asked = body["messages"][-1]["content"]
        if "grade" in asked:  # the judge
            assert "to 100 (right)" in asked  # the paper's scale, where a grade above 85 is right
            return '{"grade": 80}' if "total is 19" in asked else '{"grade": 90}'
        number = int(body["messages"][-1]["content"].split()[1].rstrip("."))
        return BELIEFS.replace("total is 11", "total is 19") if number < wrong else BELIEFS

    openai_server.say = say
    store = ["--store", str(tmp_path / "runs.db"), "--quiet", "--json"]
    row, judge = f"GPT-4o=openai/mine@{openai_server.url}", f"judge=openai/judge@{openai_server.url}"
    assert run_command(["paper", "replicate", "egosocial", "--model", row, "--role", judge, *store]) == code
    (figure,) = json.loads(capsys.readouterr().out)["figures"]
    assert (figure["figure"]["value"], figure["within"]) == (pytest.approx(0.965), code == 0)
    assert not any("response_format" in received.body for received in openai_server.received)
    assert len(openai_server.received) == 150


def test_the_summary_says_where_the_deals_came_from(official_show, rehearsal, baseline):
    summary = official_show(BELIEFS).summarise("blackjack")
    assert summary.find("accuracy") is None
    assert summary.notes == (
        "Beliefs in sentences are stored and not graded. Add --role judge=MODEL, or let people grade them: 'sociometer"
        " sheet write RUN --of beliefs --to FILE'.",
        "Deals: 1 from the official file.",
    )
    assert summary.measure("best_action").value is None
    ours = rehearsal(baseline("oracle"), deals=2).summarise("blackjack")
    assert ours.measure("accuracy").note == "deals: 2 from the seed"


def test_official_deals_without_their_file_are_refused_not_dealt_from_the_seed(tmp_path, baseline):
    players = {"subject": baseline("oracle")}
    show = Rehearsal(load("egosocial"), players, data=tmp_path)
    with pytest.raises(DataError, match=r"blackjack\.jsonl' not found"):
        list(show.instrument.task("blackjack").items(show.source()))


def test_the_judge_of_a_run_is_compared_with_people(tmp_path, script):
    lines(tmp_path, ELEVEN)
    judge = script('{"grade": 90}', '{"grade": 80}', name="judge")
    show = Rehearsal(load("egosocial"), {"subject": script(BELIEFS), "judge": judge}, data=tmp_path)
    run = show.play_all("blackjack")
    assert list(judged(run).values()) == [True, False], "on the paper's scale a grade above 85 is right"
    assert [row[:4] for row in table({}, judged(run)).rows] == [
        ("judge", "self", 1, "100 % (too few)"),
        ("judge", "external", 1, "0 % (too few)"),
    ]


@pytest.mark.parametrize(("second", "lost"), [("86", True), ('{"grade": 80}', False)])
def test_a_grade_that_the_judge_does_not_give_counts_as_failed_and_the_other_is_kept(tmp_path, script, second, lost):
    lines(tmp_path, ELEVEN)
    judge = script('{"grade": 90}', second, "86", "86", name="judge")
    show = Rehearsal(load("egosocial"), {"subject": script(BELIEFS), "judge": judge}, data=tmp_path)
    summary = show.summarise("blackjack")
    accuracy, own, dealer = (summary.measure(name) for name in ("accuracy", "self_belief", "external_belief"))
    assert own.value == 1 and not any("Add --role judge" in note for note in summary.notes)
    told = "The judge gave no readable grade for 1 of 2 beliefs; they count as failed."
    if lost:
        assert (accuracy.value, accuracy.errors, dealer.errors, own.errors) == (None, 1, 1, 0)
        assert told in summary.notes
    else:
        assert (accuracy.value, accuracy.errors, dealer.value) == (0, 0, 0) and told not in summary.notes
