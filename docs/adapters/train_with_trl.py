"""Trains a tiny policy on practice talks of two turns with TRL's GRPOTrainer, on a CPU in a few minutes.

    python train_with_trl.py --steps 40

The policy is a Llama of two layers with random weights. It can say five things, each of which is one token: a call of
the tool `say`. So it needs no practice in writing, and the trainer does all that it does with a real model: the chat
template, the tool, the answer of the person, the mask. The person is a function; name a model in its place
(`simulator="openai/…"`) to train for more than a demonstration. Needs torch, transformers, datasets and trl.
"""

import argparse
import asyncio
import json
import re
import threading

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_chat_template

from sociometer.adapters.gym import Gym, new_text

LOOP = asyncio.new_event_loop()
OVER = "(The talk is over.)"
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


GYM = Gym("practice", simulator=f"python/{__name__}:person", settings={"turns": 2, "talks": 24})


def wait(coroutine):
    """The result of what is played in the other thread."""
    return asyncio.run_coroutine_threadsafe(coroutine, LOOP).result()


class Practice:
    """One talk at a time; TRL makes as many of these as it plays at once, and offers `say` as a tool."""

    def __init__(self) -> None:
        self._playing = None

    def reset(self, index: int, **_) -> None:
        """Begin the talk of a row; its prompt has all that is said so far."""
        if self._playing is not None:
            LOOP.call_soon_threadsafe(self._playing.close)
        self._playing = wait(GYM.reset(GYM.item(index)))

    def say(self, reply: str) -> str:
        """
        Say this to the other, and hear what they answer.

        Args:
            reply: What you say.

        Returns:
            What they answer.
        """
        if self._playing.request is None:
            return OVER
        before = self._playing.last.observation
        step = wait(self._playing.step(reply))
        return OVER if step.observation is None else new_text(before, step.observation)

    def get_reward(self) -> float | None:
        """The reward; 0 for a talk that the policy left, None (which TRL leaves out) if something else failed."""
        return self._playing.last.reward


async def row(index: int) -> dict:
    """A row of the dataset: what the policy is asked first, as a test asks it, and the number of the item."""
    playing = await GYM.reset(GYM.item(index))
    playing.close()
    asked = playing.last.observation.messages
    return {"prompt": [{"role": one.role, "content": one.content} for one in asked], "index": index}


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
    model.generation_config.exponential_decay_length_penalty = (0, 1e6)  # one call, then the end of the turn
    return model, tokens


def main() -> None:
    """Train, and print the mean reward of the first and the last steps."""
    options = argparse.ArgumentParser()
    options.add_argument("--steps", type=int, default=40)
    options.add_argument("--group", type=int, default=8)
    chosen = options.parse_args()
    threading.Thread(target=LOOP.run_forever, daemon=True).start()
    rows = [wait(row(index)) for index in range(GYM.count)]
    model, tokens = policy_for(rows)
    config = GRPOConfig(
        output_dir="trl", max_steps=chosen.steps, per_device_train_batch_size=2 * chosen.group, report_to=[],
        num_generations=chosen.group, max_completion_length=256, learning_rate=0.01, use_cpu=True, logging_steps=1,
        save_strategy="no", beta=0.0, bf16=False, seed=0, disable_tqdm=True, lr_scheduler_type="constant",
        max_tool_calling_iterations=2,
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
