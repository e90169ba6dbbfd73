"""Trains a small policy on number guessing with verifiers, on a CPU in a minute, and measures it on held-out opponents.

The policy is no language model: a softmax over seven guesses of what the opponent will choose, whose weights say how
much a guess that was right before counts. It is served behind an OpenAI-compatible endpoint, as a model is, and plays
against the training opponents through verifiers; REINFORCE changes its weights by the rewards. The test is
`sociometer run egosocial --task numbers`, whose opponents it has never met.

    python train_numbers.py --rounds-of-training 30
"""

import argparse
import asyncio
import json
import re
from collections import defaultdict

import numpy as np
import verifiers.v1 as vf
from aiohttp import web
from verifiers.v1.utils.loaders import load_environment, resolve_env_config

import sociometer as sm

PLAYED = re.compile(r"you chose (\d+\.?\d*), your opponent chose (\d+\.?\d*); the target was (\d+\.?\d*)")


def guesses(history):
    """What the opponent may choose next, by seven rules of thumb."""
    if not history:
        return [50.0] * 7
    mine, theirs, gold = history[-1]
    before = history[-2][1] if len(history) > 1 else theirs
    thumb = [50.0, theirs, theirs - 5, 2 * theirs - before, mine * 2 / 3, mine * 4 / 9, gold]
    return [round(min(100.0, max(1.0, guess)), 2) for guess in thumb]


def features(history):
    """For each rule: how often it was right so far, whether it was right last, and a bias of its own."""
    right = np.zeros((7, 9))
    for place in range(len(history)):
        for rule, guess in enumerate(guesses(history[:place])):
            hit = float(abs(guess - history[place][1]) < 0.01)
            right[rule, 0] += hit / len(history)
            right[rule, 1] = hit
    right[:, 2:] = np.eye(7)
    return right


class Policy:
    """The weights, and every choice made with them, by rollout."""

    def __init__(self, seed=0):
        self.weights = np.zeros(9)
        self.random = np.random.default_rng(seed)
        self.choices = defaultdict(list)

    def reply(self, messages, session=None):
        """The guess as the game wants it; without a session the likeliest rule is taken."""
        history = [tuple(map(float, found)) for found in PLAYED.findall(messages[-1]["content"])]
        seen = features(history)
        scores = seen @ self.weights
        chances = np.exp(scores - scores.max())
        chances /= chances.sum()
        rule = int(scores.argmax()) if session is None else int(self.random.choice(7, p=chances))
        if session is not None:
            self.choices[session].append(seen[rule] - chances @ seen)
        guess = guesses(history)[rule]
        return json.dumps({"prediction": guess, "choice": round(max(1.0, guess * 2 / 3), 2)})

    def learn(self, rewards, rate):
        """One step of REINFORCE; the mean reward is the baseline."""
        baseline = np.mean(list(rewards.values()))
        step = sum(
            (reward - baseline) * np.sum(self.choices.pop(session), axis=0) for session, reward in rewards.items()
        )
        self.weights += rate * step / len(rewards)


async def serve(policy):
    """The policy behind an endpoint, as verifiers expects a model to be."""

    async def complete(request):
        body = await request.json()
        text = policy.reply(body["messages"], request.headers.get("X-Session-ID"))
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return web.json_response(
            {"id": "1", "object": "chat.completion", "created": 1, "model": "policy", "choices": [choice]}
        )

    app = web.Application()
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner


def held_out(policy, store):
    """The share of right predictions against the test's own opponents."""
    run = sm.run("egosocial", model=policy.reply, tasks=("numbers",), store=store, fresh=True)
    return run.summary("numbers").measure("accuracy").value


async def train(policy, steps, group, rate):
    """Plays and learns; gives the mean reward of each step."""
    server = await serve(policy)
    url = f"http://127.0.0.1:{server.addresses[0][1]}/v1"
    taskset = {"id": "sociometer-training", "environment": "numbers", "count": steps * group}
    env = load_environment(resolve_env_config({"taskset": taskset}))
    client = vf.EvalClientConfig(base_url=url, api_key_var="POLICY_KEY")
    context = vf.ModelContext(model="policy", client=client, sampling=vf.SamplingConfig())
    tasks, mean_rewards = list(env.taskset), []
    async with env.serving():
        for step in range(steps):
            batch = tasks[step * group : (step + 1) * group]
            episodes = await asyncio.gather(*(env.run_episode(task, context) for task in batch))
            traces = [trace for episode in episodes for trace in episode.traces if trace.ok]
            if len(traces) < len(batch):
                raise RuntimeError(
                    f"a match failed: {[error for one in episodes for t in one.traces for error in t.errors]}"
                )
            rewards = {trace.id: trace.rewards["social"].value for trace in traces}
            policy.learn(rewards, rate)
            mean_rewards.append(float(np.mean(list(rewards.values()))))
    await server.cleanup()
    return mean_rewards


def main():
    """Measures, trains, measures again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds-of-training", type=int, default=30)
    parser.add_argument("--group", type=int, default=20, help="matches in each round of training")
    parser.add_argument("--rate", type=float, default=1.5)
    parser.add_argument("--store", default="train-numbers.db")
    chosen = parser.parse_args()
    policy = Policy()
    before = held_out(policy, chosen.store)
    rewards = asyncio.run(train(policy, chosen.rounds_of_training, chosen.group, chosen.rate))
    after = held_out(policy, chosen.store)
    found = {"reward_first": np.mean(rewards[:3]), "reward_last": np.mean(rewards[-3:])}
    print(json.dumps({**found, "held_out_before": before, "held_out_after": after}))


if __name__ == "__main__":
    main()
