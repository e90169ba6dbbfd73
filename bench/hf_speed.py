"""Tokens a second of a model in process (hf/), on real runs or with random weights.

    PYTHONPATH=src python bench/hf_speed.py --model hf/HuggingFaceTB/SmolLM2-135M-Instruct   # SECEU and stories
    PYTHONPATH=src python bench/hf_speed.py --size 135m                                      # random weights

To compare with an earlier version, run the same file with PYTHONPATH at its source. Random weights end no reply by
themselves, so each request has a limit of its own, drawn from a distribution with a few long replies, as small models
write them: half of them below 40 tokens, the longest 512. Sampling is that of SECEU (temperature 0.1).
"""

import argparse
import asyncio
import hashlib
import json
import random
import sys
import tempfile
import time
from pathlib import Path

import torch

from sociometer.core.conversation import Request, Sampling, user
from sociometer.models.hf.player import HfPlayer
from sociometer.models.presets import ModelOptions

# hidden size, layers, heads, key-value heads, intermediate size, vocabulary
SIZES = {"tiny": (64, 2, 4, 2, 128, 1000), "135m": (576, 30, 9, 3, 1536, 49152), "1b": (2048, 16, 32, 8, 8192, 128256)}


def random_model(size, folder):
    """A folder with random weights, and the tokenizer of the tests, whose tokens are bytes."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from transformers import LlamaConfig, LlamaForCausalLM

    from tiny_model import make_tiny_model

    make_tiny_model(folder)
    hidden, layers, heads, key_values, inner, vocabulary = SIZES[size]
    config = LlamaConfig(
        vocab_size=vocabulary, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
        num_key_value_heads=key_values, intermediate_size=inner, max_position_embeddings=8192, eos_token_id=2,
        dtype=torch.bfloat16,
    )  # fmt: skip
    torch.manual_seed(0)
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    return folder


async def written(player, requests, in_flight):
    """All replies, with so many requests in flight."""
    places, found = asyncio.Semaphore(in_flight), []

    async def one(request):
        async with places:
            found.append(await player.answer(request))

    await asyncio.gather(*map(one, requests))
    return found


async def with_random_weights(given):
    draw = random.Random(0)
    lengths = [min(512, max(1, round(draw.lognormvariate(3.7, 1.3)))) for _ in range(given.requests)]
    texts = [" ".join(f"word{draw.randrange(1000)}" for _ in range(draw.randrange(20, 60))) for _ in lengths]
    requests = [
        Request("subject", (user(text),), sampling=Sampling(temperature=given.temperature, max_tokens=most, seed=most))
        for text, most in zip(texts, lengths, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        player = HfPlayer(str(random_model(given.size, Path(folder))), ModelOptions())
        await player.open()
        await written(player, requests[:2], 2)
        start = time.perf_counter()
        replies = await written(player, requests, given.in_flight)
        seconds = time.perf_counter() - start
        await player.close()
    told = {"what": f"random {given.size}", "requests": len(replies), "in flight": given.in_flight}
    return told, sum(reply.usage.output_tokens for reply in replies), seconds, "".join(sorted(r.text for r in replies))


def with_instruments(given):
    """SECEU, and the stories of EgoSocialArena."""
    import sociometer

    for instrument, tasks in (("seceu", ()), ("egosocial", ("generated",))):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            run = sociometer.run(
                instrument, given.model, tasks=tasks, limit=given.limit, in_flight=given.in_flight,
                store=Path(folder) / "runs.db",
            )  # fmt: skip
            seconds = time.perf_counter() - start
            spent = run.record.totals.spent
            show({"what": instrument, "requests": spent.requests}, spent.output_tokens, seconds)


def show(told, tokens, seconds, text=""):
    card = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    digest = hashlib.sha256(text.encode()).hexdigest()[:12] if text else ""
    speed = {"tokens": tokens, "seconds": round(seconds, 2), "tokens a second": round(tokens / seconds, 1)}
    print(json.dumps({**told, **speed, "card": card, "replies": digest}), flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="")
    options.add_argument("--limit", type=int, default=None, help="items of each instrument")
    options.add_argument("--size", choices=SIZES, default="135m")
    options.add_argument("--requests", type=int, default=200)
    options.add_argument("--in-flight", type=int, default=32)
    options.add_argument("--temperature", type=float, default=0.1)
    given = options.parse_args()
    if given.model:
        with_instruments(given)
    else:
        show(*asyncio.run(with_random_weights(given)))


if __name__ == "__main__":
    main()
