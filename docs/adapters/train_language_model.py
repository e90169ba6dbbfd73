"""Trains a small language model on number guessing with the gym and a plain PyTorch loop, and measures it held out.

    python train_language_model.py --weights SmolLM2-135M-Instruct.Q4_1.gguf --steps 60

Each step plays several matches of several opponents at once, compares the rewards of the matches against the same
opponent (as GRPO does), and takes one step on the model's own replies. Needs PyTorch, transformers and gguf.
"""

import argparse
import asyncio
import json
import random
import time
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from sociometer.adapters.gym import Gym
from sociometer.adapters.training import TRAINING_OPPONENTS

TRAINED_ON, HELD_OUT = TRAINING_OPPONENTS[0::2], TRAINING_OPPONENTS[1::2]


class Policy:
    """The model, what it replies, and what it learns."""

    def __init__(self, weights: str, rate: float, temperature: float) -> None:
        path = Path(weights).absolute()
        self.tokens = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name, padding_side="left")
        self.tokens.pad_token = self.tokens.pad_token or self.tokens.eos_token
        self.model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
        self.model.to("cuda" if torch.cuda.is_available() else "cpu")
        self.steps = torch.optim.AdamW(self.model.parameters(), lr=rate, weight_decay=0.0)
        self.temperature = temperature

    @torch.no_grad()
    def reply(self, asked: list[list[dict[str, str]]], *, greedy: bool = False) -> list[tuple[torch.Tensor, int, str]]:
        """For each conversation: the tokens of prompt and reply, the length of the prompt, and the reply's text."""
        texts = [self.tokens.apply_chat_template(one, tokenize=False, add_generation_prompt=True) for one in asked]
        batch = self.tokens(texts, return_tensors="pt", padding=True, add_special_tokens=False).to(self.model.device)
        sampling = {"do_sample": False} if greedy else {"do_sample": True, "temperature": self.temperature, "top_k": 0}
        with torch.autocast(self.model.device.type, torch.bfloat16):
            made = self.model.generate(**batch, max_new_tokens=24, pad_token_id=self.tokens.pad_token_id, **sampling)
        width, found = batch["input_ids"].shape[1], []
        for row, mask in zip(made, batch["attention_mask"], strict=True):
            prompt, written = row[:width][mask.bool()], row[width:]
            ends = (written == self.tokens.eos_token_id).nonzero()
            written = written[: int(ends[0]) + 1] if len(ends) else written
            text = self.tokens.decode(written, skip_special_tokens=True)
            found.append((torch.cat((prompt, written)), len(prompt), text))
        return found

    def learn(self, replies: list[tuple[torch.Tensor, int, float]], size: int = 32) -> None:
        """One step on all replies, each weighted by its advantage."""
        self.steps.zero_grad()
        total = sum(len(row) - start for row, start, _ in replies)
        for begin in range(0, len(replies), size):
            part = replies[begin : begin + size]
            rows = torch.nn.utils.rnn.pad_sequence([row for row, _, _ in part], batch_first=True)
            with torch.autocast(self.model.device.type, torch.bfloat16):
                logits = self.model(rows[:, :-1]).logits
            chances = torch.log_softmax(logits.float() / self.temperature, dim=-1)
            chances = chances.gather(2, rows[:, 1:, None])[:, :, 0]
            loss = torch.zeros((), device=rows.device)
            for place, (row, start, advantage) in enumerate(part):
                loss = loss - advantage * chances[place, start - 1 : len(row) - 1].sum()
            (loss / total).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.steps.step()


async def play(gym: Gym, items: list, policy: Policy, *, greedy: bool = False) -> list:
    """All rollouts side by side: each turn is one batch. Gives each rollout with the policy's replies in it."""
    playing = [await gym.reset(one) for one in items]
    made: list[list[tuple[torch.Tensor, int]]] = [[] for _ in items]
    while any(one.messages for one in playing):
        open_ = [place for place, one in enumerate(playing) if one.messages]
        asked = [[{"role": m.role, "content": m.content} for m in playing[place].messages] for place in open_]
        for place, (row, start, text) in zip(open_, policy.reply(asked, greedy=greedy), strict=True):
            made[place].append((row, start))
            await playing[place].step(text)
    return [(one.rollout, replies) for one, replies in zip(playing, made, strict=True)]


def gym_of(opponents: tuple[str, ...], rounds: int) -> Gym:
    """Number guessing against these opponents."""
    return Gym("numbers", settings={"rounds": rounds, "opponents": list(opponents)})


async def measured(policy: Policy, rounds: int, matches: int) -> dict[str, float]:
    """The mean reward and the share of unreadable replies against opponents that were trained on and held out."""
    found = {}
    for name, opponents in (("trained on", TRAINED_ON), ("held out", HELD_OUT)):
        gym = gym_of(opponents, rounds)
        played = [rollout for rollout, _ in await play(gym, list(gym.items(matches * len(opponents))), policy)]
        found[name] = sum(one.reward for one in played) / len(played)
        found[f"unreadable {name}"] = sum(one.unreadable for one in played) / (len(played) * rounds)
    return found


def say(path: str, facts: dict) -> None:
    """Print the facts of a step and append them to the file."""
    line = json.dumps({name: round(value, 4) if isinstance(value, float) else value for name, value in facts.items()})
    print(line, flush=True)
    with Path(path).open("a") as log:
        log.write(line + "\n")


async def main() -> None:
    """Train, and measure before, between and after."""
    options = argparse.ArgumentParser()
    options.add_argument("--weights", required=True)
    options.add_argument("--steps", type=int, default=60)
    options.add_argument("--group", type=int, default=64)
    options.add_argument("--rounds", type=int, default=4)
    options.add_argument("--rate", type=float, default=4e-5)
    options.add_argument("--temperature", type=float, default=1.0)
    options.add_argument("--minutes", type=float, default=8.0)
    options.add_argument("--to", default="training.jsonl")
    chosen = options.parse_args()
    torch.manual_seed(0)
    random.seed(0)
    policy = Policy(chosen.weights, chosen.rate, chosen.temperature)
    gym, began = gym_of(TRAINED_ON, chosen.rounds), time.monotonic()
    say(chosen.to, {"step": 0, **await measured(policy, chosen.rounds, 16)})
    items = gym.items(10**6)
    for step in range(1, chosen.steps + 1):
        drawn = [next(items) for _ in TRAINED_ON]
        played = await play(gym, [one for one in drawn for _ in range(chosen.group)], policy)
        lessons = []
        for begin in range(0, len(played), chosen.group):
            group = played[begin : begin + chosen.group]
            rewards = torch.tensor([rollout.reward - 0.2 * rollout.unreadable / chosen.rounds for rollout, _ in group])
            worth = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
            for (_, replies), advantage in zip(group, worth.tolist(), strict=True):
                lessons += [(row, start, advantage) for row, start in replies]
        policy.learn(lessons)
        mean = sum(rollout.reward for rollout, _ in played) / len(played)
        unread = sum(rollout.unreadable for rollout, _ in played) / (len(played) * chosen.rounds)
        say(chosen.to, {"step": step, "reward": mean, "unreadable": unread, "seconds": time.monotonic() - began})
        if step % 20 == 0:
            say(chosen.to, {"step": step, **await measured(policy, chosen.rounds, 16)})
        if time.monotonic() - began > 60 * chosen.minutes:
            break
    say(chosen.to, {"step": step, **await measured(policy, chosen.rounds, 32)})


if __name__ == "__main__":
    asyncio.run(main())
