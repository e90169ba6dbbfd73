"""Training environments hold nothing that measures models; rewards are the instruments' own scores."""

import asyncio
import shutil

import msgspec
import pytest

from sociometer.adapters.gym import Gym
from sociometer.adapters.training import (
    ENVIRONMENTS,
    FIRST_TRAINING_SEED,
    TRAINING_OPPONENTS,
    Choices,
    other_players,
    training_plan,
)
from sociometer.core.errors import UsageError
from sociometer.core.session import RoleBinding
from sociometer.engine.plan import make_plan
from sociometer.engine.run_options import make_config
from sociometer.engine.runner import play_episode
from sociometer.instruments import card_of, load
from sociometer.instruments.egosocial.games.numbers.opponents import LEVELS
from sociometer.models.baselines import baseline


def test_items(name, **options):
    environment = ENVIRONMENTS[name]
    task = "dialogue" if name == "sage" else environment.task
    config = make_config(card_of(environment.instrument), "baseline/random", tasks=(task,), **options)
    plan = make_plan(config, load(environment.instrument), bindings={})
    return list(plan.items(plan.tasks[0]))


test_items.__test__ = False


def plan_of(name, **choices):
    return training_plan(name, Choices(**choices))


def items_of(plan):
    return list(plan.items(plan.tasks[0]))


def test_number_guessing_trains_against_other_opponents_than_the_tests():
    trained = items_of(plan_of("numbers"))
    assert {item.opponent for item in trained} == set(TRAINING_OPPONENTS)
    # The tests play opponents drawn from a family by the seed, and with --official the paper's three levels.
    assert all(item.drawn is None for item in trained)
    assert all(item.drawn is not None for item in test_items("numbers"))
    official = {item.opponent for item in test_items("numbers", official=True)}
    assert official == set(LEVELS) and official.isdisjoint(TRAINING_OPPONENTS)


def test_fresh_stories_for_training_are_none_of_the_tests():
    few = {"stories": 3}
    trained = {item.tellings for item in items_of(plan_of("stories", settings=few))}
    tested = {item.tellings for item in test_items("stories", settings=few)}
    assert trained
    assert trained.isdisjoint(tested)


def test_more_tasks_than_items_play_them_again_with_new_seeds():
    found = list(Gym("numbers").items(12))
    assert len({(one.item.id, one.seed) for one in found}) == 12
    assert {one.seed for one in found} == {FIRST_TRAINING_SEED, FIRST_TRAINING_SEED + 1, FIRST_TRAINING_SEED + 2}


@pytest.fixture
def held_out_scenarios(tmp_path):
    path = tmp_path / "held-out.jsonl"
    path.write_bytes(msgspec.json.encode(test_items("sage")[0]) + b"\n")
    return path


@pytest.fixture
def shipped_weights(tmp_path):
    return shutil.copytree(load("egosocial").folder / "games" / "weights", tmp_path / "weights")


@pytest.fixture
def bundled_trees(tmp_path):
    return shutil.copytree(load("socialeval").folder / "data", tmp_path / "data" / "socialeval").parent


@pytest.mark.parametrize(
    ("name", "choices", "said"),
    [
        ("numbers", {"seed": 7}, "training seeds are 1,000,000 and above"),
        ("stories", {"seed": 0}, "training seeds are 1,000,000 and above"),
        ("numbers", {"settings": {"opponents": ("noisy-1", "level-3")}}, "held out for the test: level-3"),
        ("goals", {}, "the bundled trees are held out"),
        ("sage", {}, "the bundled scenarios are held out"),
        ("chess", {}, "unknown training environment 'chess'"),
    ],
)
def test_what_measures_models_is_refused(name, choices, said):
    with pytest.raises(UsageError, match=said):
        plan_of(name, **choices)


def test_copies_of_what_measures_models_are_refused(held_out_scenarios, shipped_weights, bundled_trees):
    with pytest.raises(UsageError, match="is one of the test's"):
        plan_of("sage", settings={"scenarios": str(held_out_scenarios)}, simulator="openai/gpt-4o-mini")
    with pytest.raises(UsageError, match="is a bundled opponent"):
        plan_of("holdem", settings={"weights": str(shipped_weights)})
    with pytest.raises(UsageError, match="is one of the test's"):
        plan_of("goals", data=str(bundled_trees))


def test_official_trees_are_refused_by_name_and_by_content(official_data, tmp_path):
    with pytest.raises(UsageError, match="has the name of an official file"):
        plan_of("goals", data=str(official_data))
    folder = tmp_path / "socialeval"
    folder.mkdir()
    some = next(path for path in (official_data / "socialeval").glob("*.json") if "example" in path.name)
    shutil.copy(some, folder / some.name.replace("example", "mine"))
    with pytest.raises(UsageError, match="is one of the test's"):
        plan_of("goals", data=str(tmp_path))


def test_the_person_in_training_is_a_model_and_never_the_rule_based_one(own_scenarios):
    with pytest.raises(UsageError, match="name a model to play the person"):
        plan_of("sage", settings={"scenarios": str(own_scenarios)})
    choices = Choices(settings={"scenarios": str(own_scenarios)}, simulator="rehearsal")
    with pytest.raises(UsageError, match="is a stand-in and gives no reward"):
        other_players("sage", choices, training_plan("sage", choices))


@pytest.mark.parametrize(
    ("name", "values", "reward"),
    [
        ("sage", {"reward": 0.65, "emotion": 90.0}, 0.65),
        ("goals", {"achieved": 1.0, "partly": 0.0}, 1.0),
        ("goals", {"achieved": 0.0, "partly": 1.0}, 0.5),
        ("numbers", {"right": 0.3, "won": 1.0}, 0.3),
        ("stories", {"first": 1.0, "third": 0.0}, 0.5),
        ("holdem", {"right": 1.0, "chips": -3.0}, 1.0),
    ],
)
def test_a_reward_is_between_0_and_1_and_comes_from_the_scores(name, values, reward):
    assert ENVIRONMENTS[name].reward(values) == reward


def rewards(name, choices, *policies):
    """The reward of each item of an environment for baselines as the policy."""
    plan = training_plan(name, choices)
    others, items = other_players(name, choices, plan), items_of(plan)
    found = []
    for policy in policies:
        bindings = {**others, "subject": RoleBinding(baseline(policy), policy, policy)}
        bound = msgspec.structs.replace(plan, bindings=bindings)
        played = [asyncio.run(play_episode(bound, plan.tasks[0], item)) for item in items]
        assert [one.error for one in played] == [None] * len(played)
        found.append([ENVIRONMENTS[name].reward(one.episode.score.values) for one in played])
    return found


@pytest.fixture
def choices_of(own_opponents, own_trees):
    return {
        "numbers": Choices(settings={"rounds": 3}),
        "stories": Choices(settings={"stories": 4}),
        "holdem": Choices(settings={"weights": str(own_opponents), "matches": 2, "hands": 2}),
        "goals": Choices(data=str(own_trees)),
    }


@pytest.mark.parametrize("name", ["numbers", "stories", "holdem", "goals"])
def test_who_knows_the_answers_gets_the_whole_reward_and_who_knows_nothing_some_reward(name, choices_of):
    knows, guesses = rewards(name, choices_of[name], "oracle", "random")
    assert name == "numbers" or set(knows) == {1.0}
    assert guesses and all(0 <= reward <= 1 for reward in guesses)


def test_a_scenario_of_the_test_is_refused_under_another_name_and_with_small_changes(tmp_path):
    scenario = test_items("sage")[0]
    other = {"id": "mine", "cluster": "mine", "first_words": "Other words.", "background": f" {scenario.background}!"}
    path = tmp_path / "scenarios.jsonl"
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(scenario, **other)) + b"\n")
    with pytest.raises(UsageError, match=f"like '{scenario.id}'"):
        plan_of("sage", settings={"scenarios": str(path)}, simulator="vllm/person@http://127.0.0.1:1/v1#1")
