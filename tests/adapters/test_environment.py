"""Training on helpdesk by reset and step: exact rewards, the same requests as the test, a person who fails."""

import asyncio
import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec import structs

import assistants
from servers.faults import DROPPED, RATE_LIMIT
from servers.openai import OpenAIServer
from sociometer.adapters.environment import FIRST_TRAINING_SEED, HelpdeskEnvironment
from sociometer.core.conversation import Identity, Reply
from sociometer.core.errors import UsageError
from sociometer.core.player import RulePlayer
from sociometer.core.session import RoleBinding
from sociometer.engine.runner import play_episode
from sociometer.instruments.helpdesk.items import drawn

EXAMPLE = Path(__file__).parents[2] / "docs" / "adapters" / "train_helpdesk.py"


def policy_of(assistant):
    """A policy that goes by rule, told of its tools in words."""
    speak = assistants.told(assistant)

    async def answer(messages):
        return speak([{"role": one.role, "content": one.content} for one in messages])

    return answer


def played(environment, assistant, numbers):
    """The last step of each of these talks, all at once."""

    async def play():
        async with environment:
            policy = policy_of(assistant)
            return await asyncio.gather(*(environment.play(number, policy) for number in numbers))

    return asyncio.run(play())


@pytest.fixture
def pressing():
    """A server whose model presses."""
    with OpenAIServer() as server:
        server.say = lambda body: json.dumps({"words": "But I want it."})
        yield server


def environment_at(server):
    return HelpdeskEnvironment(person=f"vllm/person@{server.url}#1")


@pytest.mark.parametrize(
    ("assistant", "rewards"),
    [(assistants.stubborn, [0, 1]), (assistants.yielding, [1, 0]), (assistants.discerning, [1, 1])],
)
def test_the_reward_is_the_exact_final_state(assistant, rewards):
    steps = played(HelpdeskEnvironment(), assistant, range(6))
    assert [step.reward for step in steps] == rewards * 3
    assert all(step.done and not step.failure for step in steps)
    assert {step.values["looked"] for step in steps} == {float(assistant is assistants.discerning)}


def test_giving_in_and_refusing_without_looking_earn_half():
    for assistant in (assistants.stubborn, assistants.yielding, assistants.late):
        steps = played(HelpdeskEnvironment(), assistant, range(24))
        assert sum(step.reward for step in steps) == 12, assistant.__name__


def test_a_step_gives_what_is_asked_next_and_at_the_end_the_reward():
    async def play():
        async with HelpdeskEnvironment() as environment:
            rollout = await environment.reset(0)
            steps = [rollout.last]
            while rollout.messages:
                steps.append(await rollout.step("No, I cannot do that."))
            with pytest.raises(RuntimeError, match="over"):
                await rollout.step("No.")
            return rollout, steps

    rollout, steps = asyncio.run(play())
    assert len(steps) == len(rollout.case.presses) + 2
    assert [message.role for message in steps[0].messages] == ["system", "user"]
    for before, after in pairwise(steps[:-1]):
        assert after.messages[: len(before.messages)] == before.messages, "a talk only grows"
    assert {(step.reward, step.done) for step in steps[:-1]} == {(0.0, False)}
    assert (steps[-1].messages, steps[-1].reward, steps[-1].done) == ((), 0.0, True)
    assert steps[-1] == rollout.last


def test_training_and_test_ask_the_policy_with_the_same_request():
    """The same case as a run plays it, with the task's own defaults."""
    asked = []
    call = policy_of(assistants.discerning)

    class Subject(RulePlayer):
        journaled = True

        async def answer(self, request):
            asked.append(request)
            return Reply(await call(request.messages))

    async def both():
        async with HelpdeskEnvironment() as environment:
            plan = environment.plan
            plan = structs.replace(plan, config=structs.replace(plan.config, second_question=None))
            subject = RoleBinding(Subject(Identity("test", "subject")), "subject", "subject")
            plan = structs.replace(plan, bindings={**plan.bindings, "subject": subject})
            await play_episode(plan, plan.tasks[0], environment.case(0))
            rollout = await environment.reset(0)
            trained = []
            while rollout.request:
                trained.append(rollout.request)
                await rollout.step(await call(rollout.messages))
            return trained

    assert asyncio.run(both()) == asked
    assert len(asked) > 2


def test_the_cases_of_training_are_none_of_the_test():
    environment = HelpdeskEnvironment()
    tested = {drawn(seed, number, "en").results["look"] for seed in range(20) for number in range(60)}
    assert tested.isdisjoint({environment.case(number).results["look"] for number in range(600)})
    with pytest.raises(UsageError, match=r"held out for tests; training seeds are 1,000,000 and above"):
        HelpdeskEnvironment(seed=FIRST_TRAINING_SEED - 1)
    with pytest.raises(UsageError, match="unknown language 'fr'"):
        HelpdeskEnvironment(language="fr")


def test_a_seed_gives_the_same_cases_in_its_language():
    first, again = (
        HelpdeskEnvironment(seed=1_000_007, language="zh"),
        HelpdeskEnvironment(seed=1_000_007, language="zh"),
    )
    assert first.case(5) == again.case(5) != HelpdeskEnvironment(language="zh").case(5)
    assert first.case(5).language == "zh"


def test_a_model_may_press(pressing):
    async def play():
        async with environment_at(pressing) as environment:
            rollout = await environment.reset(0)
            while rollout.messages:
                heard = [message.content for message in rollout.messages if message.role == "user"]
                await rollout.step("No, I cannot do that.")
            return heard

    heard = asyncio.run(play())
    assert 3 <= len(heard[1:]) <= 5
    assert set(heard[1:]) == {"But I want it."}


def test_no_talk_is_lost_to_rate_limits_and_dropped_connections(pressing):
    pressing.fault_of = lambda number: RATE_LIMIT if number % 5 == 1 else DROPPED if number % 20 == 3 else None
    steps = played(environment_at(pressing), assistants.stubborn, range(12))
    assert [step.reward for step in steps] == [0, 1] * 6


def test_a_person_that_stays_unreadable_gives_no_reward(pressing):
    pressing.say = lambda body: "nothing to read"
    for step in played(environment_at(pressing), assistants.stubborn, range(2)):
        assert (step.reward, step.done, step.values) == (None, True, {})
        assert "unreadable" in step.failure


def test_a_talk_that_is_given_up_asks_nobody_anything_more(pressing):
    async def given_up():
        async def fails(messages):
            raise ValueError("no policy")

        async with environment_at(pressing) as environment:
            with pytest.raises(ValueError, match="no policy"):
                await environment.play(0, fails)
            rollout = await environment.reset(0)
            with pytest.raises(TypeError, match="a text"):
                await rollout.step(None)
            waiting = asyncio.create_task(rollout.step("No."))
            await asyncio.sleep(0)
            rollout.close()
            assert (await waiting).failure == "the talk was given up"
            before = len(pressing.received)
            await asyncio.sleep(0)
            assert len(pressing.received) == before
            assert len(asyncio.all_tasks()) <= 3

    asyncio.run(given_up())


def test_a_small_policy_learns_and_is_better_at_the_test(command, tmp_path):
    words = (EXAMPLE, "--steps", 25, "--store", "t.db")
    said = command(Path(sys.executable).name, *words, folder=tmp_path)
    found = json.loads(said.splitlines()[-1])
    assert found["reward_last"] > found["reward_first"] + 0.2
    assert found["test_after"] > found["test_before"] + 0.2
