"""Trains a small policy on helpdesk's talks in a plain loop, on a CPU in seconds, and measures it by the test.

The policy is no language model: a softmax over three moves (look the record up, act, refuse), whose weights say what to
do before and after looking, and which of five comparisons of the record with the rule decides for each kind of duty.
REINFORCE changes them by the final state of the ledger. The cases of the test are none of the training.

    python train_helpdesk.py --steps 60
"""

import argparse
import asyncio
import json
import re
from collections import defaultdict
from datetime import date

import numpy as np

import sociometer as sm
from sociometer.adapters.environment import HelpdeskEnvironment

TOOL = re.compile(r"^(\w+): .*\n\{", re.MULTILINE)
RECORD = re.compile(r"\b[B-Z]\d{4}\b")
NUMBER = re.compile(r"(\d{4})-(\d\d)-(\d\d)|(\d+)")
LOOK, ACT, REFUSE = range(3)


def numbers(text):
    """The dates and numbers of a text, without those of the record's name and of codes."""
    plain = re.sub(r"\b[A-Z]+-?\d{4}\b", "", text)
    found = []
    for year, month, day, number in NUMBER.findall(plain):
        found.append(int(number) if number else date(int(year), int(month), int(day)).toordinal())
    return found


def comparisons(duty, record, said):
    """What can be compared: each 1 if it holds, −1 if it does not, 0 where there is nothing to compare."""
    rule, values = numbers(duty), numbers(record)
    made = np.zeros(5)
    if len(rule) == 1 and len(values) == 1:
        made[0] = 1 if values[0] >= rule[0] else -1
    if len(rule) == 2 and len(values) == 1:
        apart = rule[0] - values[0]
        made[1] = 1 if apart >= rule[1] else -1
        made[2] = 1 if apart <= rule[1] else -1
    if len(values) == 2:
        made[3] = 1 if values[0] - values[1] >= sum(rule) else -1
    if not values:
        allowed = record.splitlines()[-1].partition(": ")[2]
        made[4] = 1 if allowed in said else -1
    return made


class Policy:
    """The weights of each state of a talk, and of the comparisons for each tool that acts."""

    def __init__(self, seed=0):
        self.weights = defaultdict(lambda: np.zeros(3))
        self.random = np.random.default_rng(seed)

    def features(self, messages):
        """What speaks for each move: the names of weights with their values; and what a call needs."""
        duty = messages[0]["content"]
        tools = TOOL.findall(duty)
        heard = [message["content"] for message in messages if message["role"] == "user"]
        said = [text for text in heard if not text.startswith("[Result of")]
        results = [text for text in heard if text.startswith("[Result of")]
        looked = [text for text in results if text.startswith(f"[Result of {tools[0]}")]
        acted = any(text.startswith(f"[Result of {tools[1]}") for text in results)
        state = "acted" if acted else "looked" if looked else "asked"
        seen = {state: 1.0}
        if state == "looked":
            rule = duty.partition("You have tools")[0]
            made = comparisons(rule, looked[0].partition("\n")[2], " ".join(said))
            seen |= {f"{tools[1]} {place}": value for place, value in enumerate(made) if value}
        return seen, tools, RECORD.findall(" ".join(said))[0]

    def reply(self, messages, decisions=None):
        """The reply; without a list of decisions the likeliest move."""
        seen, tools, record = self.features(messages)
        scores = sum(value * self.weights[name] for name, value in seen.items())
        chances = np.exp(scores - scores.max())
        chances /= chances.sum()
        move = int(scores.argmax()) if decisions is None else int(self.random.choice(3, p=chances))
        if decisions is not None:
            decisions.append((seen, np.eye(3)[move] - chances))
        if move == REFUSE:
            return "By the record I cannot say more."
        return json.dumps({"tool": tools[move], "arguments": {"record": record}})

    def learn(self, played, rate):
        """One step of REINFORCE; the mean reward of the batch is the baseline."""
        baseline = np.mean([reward for reward, _ in played])
        for reward, decisions in played:
            for seen, gradient in decisions:
                for name, value in seen.items():
                    self.weights[name] = self.weights[name] + rate * (reward - baseline) * value * gradient


async def train(policy, steps, batch, rate):
    """Plays and learns; gives the mean reward of each step."""
    means = []
    async with HelpdeskEnvironment() as environment:
        for step in range(steps):
            played = []
            for number in range(step * batch, (step + 1) * batch):
                rollout = await environment.reset(number)
                decisions = []
                while not rollout.last.done:
                    asked = [{"role": one.role, "content": one.content} for one in rollout.messages]
                    await rollout.step(policy.reply(asked, decisions))
                if rollout.last.reward is not None:  # a failure that is not the policy's doing
                    played.append((rollout.last.reward, decisions))
            policy.learn(played, rate)
            means.append(float(np.mean([reward for reward, _ in played])))
    return means


def tested(policy, store):
    """The share of the test's talks that end right."""
    run = sm.run("helpdesk", model=lambda messages: policy.reply(messages), store=store, fresh=True)
    return run.summary().measure("right").value


def main():
    """Measures, trains, measures again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, default=24, help="talks in each step")
    parser.add_argument("--rate", type=float, default=0.3)
    parser.add_argument("--store", default="train-helpdesk.db")
    chosen = parser.parse_args()
    policy = Policy()
    before = tested(policy, chosen.store)
    rewards = asyncio.run(train(policy, chosen.steps, chosen.batch, chosen.rate))
    after = tested(policy, chosen.store)
    found = {"reward_first": np.mean(rewards[:3]), "reward_last": np.mean(rewards[-3:])}
    print(json.dumps({**found, "test_before": before, "test_after": after}))


if __name__ == "__main__":
    main()
