"""SocialEval in the authors' own words; the module here has their structure and our words."""

import json
import re

import pytest

from rehearsal import Rehearsal
from sociometer.cli.main import run_command
from sociometer.core.errors import DataError
from sociometer.instruments import load
from sociometer.instruments.socialeval.play import read_constant
from tests.instruments.socialeval.test_play import Player, item_of, play, rehearse

MODULE = '''
import package_that_is_not_installed

Ending_Evaluation_Prompt_zhou = \\
"""{character_name}，选一句，例：{{"explaination": 理由,"choice": "A"}}。
{main_profile}
{user_profile}
{dialogue_context}
{choices}
"""
Ending_Evaluation_Prompt_zhou_en = """Be {character_name}. Example: {{"explanation": "why", "choice": "A"}}.
{main_profile}
{user_profile}
[Story]
{dialogue_context}
[Options]
{choices}
"""
Skill_Evaluation_Prompt_zhou = """{character_name}是谁？
{public}{private}{goal}{user_profile}{dialogue_context}{question}{choices}"""
Skill_Evaluation_Prompt_zhou_en = """
Who is {character_name}? {public}; {private}; {goal}
{user_profile}
{dialogue_context}
{question}
{choices}
"""
Response_Prompt = "{character_name}{main_profile}{user_profile}{dialogue_context}{len}{social_skill}说"
Response_Prompt_en = """Speak as {character_name}, about {len}, by one of: {social_skill}
{main_profile} {user_profile} {dialogue_context}"""
'''


@pytest.fixture
def data(tmp_path, monkeypatch):
    folder = tmp_path / "data" / "socialeval"
    folder.mkdir(parents=True)
    (folder / "evalprompt.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setenv("SOCIOMETER_DATA", str(folder.parent))
    return folder


def test_a_walk_asks_three_orders_in_the_authors_words(data, draw, at):
    tree = draw(at(0, 1, 2), at(1, 3, 4), at(2), at(3, goal=2), at(4, goal=0))
    subject = Player(lambda request: '{"explanation": "A, B or C?", "choice": "A"}')
    made = rehearse(subject, wording="paper")
    outcome = play(made, "goals", item_of(tree)).episode.outcome
    assert all(len(step.votes) == 3 for step in outcome.steps)
    first = subject.seen[0]
    asked = first.messages[0].content
    assert asked.startswith('Be Ada. Example: {"explanation": "why", "choice": "A"}.')
    assert '{"name": "Ada", "public": "a baker", "private": "owes rent", "goal": "keep the shop"}' in asked
    assert re.search(r"\nA: Ada: say 0\.[01]\nB: Ada: say 0\.[01]$", asked)
    assert (first.sampling.temperature, first.sampling.max_tokens) == (1.0, None)
    assert len({request.messages[0].content for request in subject.seen[:3]}) > 1, "the options are shuffled"
    assert not any("Ada: say 0." in request.messages[0].content for request in subject.seen[3:]), (
        "the chosen line is not told again, as in the runner"
    )


def test_votes_can_follow_the_runner_which_asks_once(data, draw, at):
    tree = draw(at(0, 1, 2), at(1, goal=2), at(2, goal=0))
    made = rehearse(Player(lambda request: '{"choice": "B"}'), wording="paper", votes=1)
    (step,) = play(made, "goals", item_of(tree)).episode.outcome.steps
    assert len(step.votes) == 1


def test_an_ability_question_and_a_free_reply_are_asked_in_the_authors_words(data):
    subject = Player(lambda request: '{"explaination": "so", "skill": "trust", "answer": "Stay."}')
    made = rehearse(subject, wording="paper", language="en")
    question = next(iter(made.instrument.task("abilities").items(made.source())))
    play(made, "abilities", question)
    assert subject.seen[0].messages[0].content.startswith(f"Who is {question.people[0].name}? ")
    assert len(subject.seen) == 3
    subject.seen.clear()
    players, settings = {"subject": subject, "embedder": subject}, {"wording": "paper", "language": "en"}
    rehearsal = Rehearsal(load("socialeval"), players, settings, tasks=("utterances",))
    crossing = next(one for one in rehearsal.instrument.task("utterances").items(rehearsal.source()) if one.abilities)
    outcome = play(rehearsal, "utterances", crossing).episode.outcome
    asked = subject.seen[0].messages[0].content
    length = round(sum(map(len, crossing.candidates)) / len(crossing.candidates))
    assert asked.startswith(f"Speak as {crossing.people[0].name}, about {length}, by one of: {crossing.abilities[0]}")
    assert outcome.said == "Stay."
    assert "[Options]" in subject.seen[1].messages[0].content


def test_a_constant_that_changed_is_named(data):
    with pytest.raises(DataError, match=r"evalprompt\.py: has no text named 'Answer_Prompt'"):
        read_constant(data / "evalprompt.py", name="Answer_Prompt")
    (data / "evalprompt.py").write_text(MODULE.replace("{main_profile}\n", ""), encoding="utf-8")
    with pytest.raises(
        DataError, match=r"the prompt 'paper/goals' has the placeholders .*; expected: .*\{main_profile\}"
    ):
        rehearse("baseline/random", wording="paper", language="en").source()


def best_or_not(share):
    """Answers ability questions rightly on this share of them, known by the fresh options of the test's file."""

    def say(body):
        prompt = body["messages"][-1]["content"]
        number = int(re.search(r"question (\d+)", prompt)[1])
        right = re.search(r"\n([A-D])\. right", prompt)[1]
        wrong = "ABCD"[("ABCD".index(right) + 1) % 4]
        return json.dumps({"explanation": "A or B", "choice": right if number < share * 100 else wrong})

    return say


def released_question(number):
    """One entry of the authors' file of ability questions, in English and in words of ours."""
    person = {"name": f"Ada {number}", "public profile": "a baker", "private profile": "", "goal": "sell bread"}
    options = [("skill choice", "right"), *(("confusion", f"wrong {letter}") for letter in "abc")]
    return {
        "data_id": number,
        "en_data": {
            "profile": [person, {"name": "Bo", "public profile": "a miller"}],
            "content": [{"role": "Bo", "content": "Hello."}],
            "question": {"text": f"Ask question {number}", "skills": ["capacity for trust"]},
            "choices": [{"type": kind, "content": {"role": "Ada", "content": text}} for kind, text in options],
        },
    }


@pytest.mark.parametrize(("share", "code"), [(0.82, 0), (0.3, 1)])
def test_abilities_hit_or_miss_the_printed_row(data, openai_server, key, tmp_path, capsys, share, code):
    questions = [released_question(number) for number in range(100)]
    (data / "interpersonal_abilities_data.json").write_text(json.dumps(questions), encoding="utf-8")
    openai_server.say = best_or_not(share)
    store = ["--store", str(tmp_path / "runs.db"), "--quiet", "--json"]
    run_command(
        ["paper", "replicate", "socialeval", "--model", f"Qwen-2.5-72B=openai/mine@{openai_server.url}", *store]
    )
    result = json.loads(capsys.readouterr().out)
    found = {tuple(sorted(one["figure"]["group"].items())): one["within"] for one in result["figures"]}
    assert found[("dimension", "cooperation"), ("language", "en")] is (code == 0)
    assert result["not_measured"] == 10, "no Chinese question, and no English one of the other dimensions"
