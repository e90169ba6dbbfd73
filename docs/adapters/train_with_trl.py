"""Trains a tiny policy on practice talks of two turns with TRL's GRPOTrainer, on a CPU in a few minutes.

    python train_with_trl.py --steps 40

The policy is a Llama of two layers with random weights. It can say five things, each of which is one token: a call of
the tool `say`. So it needs no practice in writing, and the trainer does all that it does with a real model: the chat
template, the tool, the answer of the person, the mask. The person is a function; name a model in its place
(`simulator="openai/…"`) to train for more than a demonstration. Needs torch, transformers, datasets and trl.
"""

import argparse
import json
import re

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_chat_template

from sociometer.adapters.gym import Gym
from sociometer.adapters.trl_environment import Talk

REPLIES = ("You are right.", "No, that does not hold.", "I am sorry, that must be hard.", "Good morning.", "Blue nine.")


async def person(messages: list[dict[str, str]]) -> str:
    """Likes to be agreed with, and a little less to be comforted or told the truth."""
    asked = messages[-1]["content"]
    if "with the key answer" in asked:
        heard = [name for name, words in (("yes", REPLIES[0]), ("no", REPLIES[1])) if words in asked]
        return json.dumps({"answer": heard[0] if len(heard) == 1 else "unclear"})
    if "keys attitude" in asked:
        return json.dumps({"attitude": "a", "aim": "a", "tone": "t", "content": "c", "words": "I see."})
    last = asked.rsplit("| ", 1)[-1]
    change = 8 if REPLIES[0] in last else 4 if re.search("sorry|not hold", last) else -3
    return json.dumps({"said": "s", "serves": "s", "activity": "a", "feeling": "f", "change": change})


class Practice(Talk):
    """Practice talks with the person above."""

    gym = Gym("practice", simulator=f"python/{__name__}:person", settings={"turns": 2, "talks": 24})


def policy_for(rows: list[dict]) -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast]:
    """A model with random weights; its tokens are the words of the questions, and one for each thing it can say."""
    asked = " ".join(message["content"] for row in rows for message in row["prompt"])
    calls = [json.dumps({"name": "say", "arguments": {"reply": reply}}) for reply in REPLIES]
    spoken = [f"<tool_call>\n{call}\n</tool_call>" for call in calls]
    known = ["<pad>", "<|im_end|>", "<unknown>", *sorted(set(asked.split())), *spoken]
    inner = Tokenizer(models.WordLevel({word: place for place, word in enumerate(known)}, unk_token="<unknown>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokens = PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", eos_token="<|im_end|>", unk_token="<unknown>", padding_side="left"
    )
    tokens.chat_template = qwen3_chat_template
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(known), pad_token_id=0, eos_token_id=1, **sizes))
    model.generation_config.suppress_tokens = [place for place in range(len(known) - len(spoken)) if place != 1]
    return model, tokens


def main() -> None:
    """Train, and print the mean reward of the first and the last steps."""
    options = argparse.ArgumentParser()
    options.add_argument("--steps", type=int, default=40)
    options.add_argument("--group", type=int, default=8)
    chosen = options.parse_args()
    rows = Practice.rows(Practice.gym.count)
    model, tokens = policy_for(rows)
    config = GRPOConfig(
        output_dir="trl", max_steps=chosen.steps, per_device_train_batch_size=2 * chosen.group, report_to=[],
        num_generations=chosen.group, max_completion_length=256, learning_rate=0.01, use_cpu=True, logging_steps=1,
        save_strategy="no", beta=0.0, bf16=False, seed=0, disable_tqdm=True, lr_scheduler_type="constant",
        max_tool_calling_iterations=4,
    )  # fmt: skip
    trainer = GRPOTrainer(
        model, args=config, train_dataset=Dataset.from_list(rows), processing_class=tokens, environment_factory=Practice
    )
    trainer.train()
    log = [row for row in trainer.state.log_history if "reward" in row]
    some = max(1, len(log) // 5)
    first, last = (sum(row["reward"] for row in part) / some for part in (log[:some], log[-some:]))
    print({"steps": len(log), "first": first, "last": last, **{k: v for k, v in log[-1].items() if "tool" in k}})


if __name__ == "__main__":
    main()
