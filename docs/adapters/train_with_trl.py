"""Trains a tiny policy on number guessing with TRL's GRPOTrainer, on a CPU in a minute or two.

    python train_with_trl.py --steps 40

The policy is a Llama of two layers with random weights. Its words are the words of the questions, and one word for each
reply that it can give, so that it needs no practice in writing. A match has one round: the prompt is the gym's first
question, the reward comes from the rollout. Needs torch, transformers, datasets and trl.
"""

import argparse
import asyncio
import re

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

from sociometer.adapters.gym import Gym

REPLIES = [f'{{"prediction": {number}, "choice": 30}}' for number in (50, 33.33, 22.22, 14.81, 66, 10, 90)]
PREFIX = "reply-"


def policy_for(questions: list[str]) -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast]:
    """A model with random weights, and the tokens of these questions and of the replies."""
    words = sorted({word for question in questions for word in question.split()})
    known = ["<pad>", "<end>", "<unknown>", *words, *(f"{PREFIX}{place}" for place in range(len(REPLIES)))]
    inner = Tokenizer(models.WordLevel({word: place for place, word in enumerate(known)}, unk_token="<unknown>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokens = PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", eos_token="<end>", unk_token="<unknown>", padding_side="left"
    )
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=len(known), pad_token_id=0, eos_token_id=1, **sizes)), tokens


def main() -> None:
    """Train, and print the mean reward of the first and the last steps."""
    options = argparse.ArgumentParser()
    options.add_argument("--steps", type=int, default=40)
    options.add_argument("--group", type=int, default=32)
    chosen = options.parse_args()
    gym = Gym("numbers", settings={"rounds": 1, "opponents": ["reasoning-1", "reasoning-2"]})
    items = list(gym.items())

    async def question(place: int) -> str:
        playing = await gym.reset(items[place])
        asked = "\n".join(message.content for message in playing.messages)
        playing.close()
        return asked

    async def social(prompts, completions, item, **_) -> list[float | None]:
        """TRL leaves a rollout without a reward out, as it should."""
        found = []
        for written, place in zip(completions, item, strict=True):
            said = re.search(rf"{PREFIX}(\d+)", written)

            async def policy(messages, said=said) -> str:
                return REPLIES[int(said[1])] if said else ""

            found.append((await gym.play(items[place], policy)).reward)
        return found

    questions = [asyncio.run(question(place)) for place in range(len(items))]
    model, tokens = policy_for(questions)
    rows = [{"prompt": questions[place], "item": place} for place in range(len(items))] * 64
    config = GRPOConfig(
        output_dir="trl", max_steps=chosen.steps, per_device_train_batch_size=chosen.group, report_to=[],
        num_generations=chosen.group, max_completion_length=1, learning_rate=0.01, use_cpu=True, logging_steps=1,
        save_strategy="no", beta=0.0, bf16=False, seed=0, disable_tqdm=True, lr_scheduler_type="constant",
    )  # fmt: skip
    trainer = GRPOTrainer(
        model, reward_funcs=social, args=config, train_dataset=Dataset.from_list(rows), processing_class=tokens
    )
    trainer.train()
    rewards = [row["reward"] for row in trainer.state.log_history if "reward" in row]
    some = max(1, len(rewards) // 5)
    print({"first": sum(rewards[:some]) / some, "last": sum(rewards[-some:]) / some})


if __name__ == "__main__":
    main()
