"""Requests to a model in process (hf/), one by one and in batches: tokens a second, and whether the replies agree.

    PYTHONPATH=src python bench/batches.py --size 135m --rows 64 --new 16
    PYTHONPATH=src python bench/batches.py --model smollm2-135m          # real weights: a name, a folder, a GGUF file

Without --model the weights are random and made from a configuration, so no network is needed. Random weights cost as
much time as trained ones, but two tokens are often nearly equally likely, so more replies differ in half precision.
"""

import argparse
import json
import random
import time

import torch

from sociometer.core.conversation import Sampling
from sociometer.models.hf.weights import LoadedWeights, chosen_device, find_weights
from sociometer.models.hf.writing import Continued, Prompt, generate, score

# hidden size, layers, heads, key-value heads, intermediate size, vocabulary
SIZES = {
    "tiny": (64, 2, 4, 2, 128, 1000),
    "135m": (576, 30, 9, 3, 1536, 49152),
    "1b": (2048, 16, 32, 8, 8192, 128256),
    "8b": (4096, 32, 32, 8, 14336, 128256),
}


class NoWords:
    """A tokenizer for weights that know no words."""

    def decode(self, ids, **_):
        return " ".join(map(str, ids))


def random_model(size, device, dtype):
    from transformers import LlamaConfig, LlamaForCausalLM

    hidden, layers, heads, key_values, inner, vocabulary = SIZES[size]
    config = LlamaConfig(
        vocab_size=vocabulary, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
        num_key_value_heads=key_values, intermediate_size=inner, max_position_embeddings=4096, dtype=dtype,
    )  # fmt: skip
    torch.manual_seed(0)
    with torch.device(device):
        torch.set_default_dtype(dtype)
        model = LlamaForCausalLM(config)
        torch.set_default_dtype(torch.float32)
    return LoadedWeights(model.eval(), NoWords(), device)


def timed(device, work):
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    start, used = time.perf_counter(), time.process_time()
    done = work()
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return done, time.perf_counter() - start, time.process_time() - used


def in_parts(work, rows, size):
    return [one for start in range(0, len(rows), size) for one in work(rows[start : start + size])]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", default="")
    options.add_argument("--size", choices=SIZES, default="135m")
    options.add_argument("--device", default="")
    options.add_argument("--dtype", choices=["float32", "bfloat16"], default="")
    options.add_argument("--rows", type=int, default=64)
    options.add_argument("--prompt", type=int, default=200, help="tokens of the longest prompt; the shortest has half")
    options.add_argument("--new", type=int, default=16, help="tokens of a reply")
    options.add_argument("--batches", type=int, nargs="*", default=[1, 8, 64])
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    device = given.device or chosen_device()
    dtype = getattr(torch, given.dtype or ("float32" if device == "cpu" else "bfloat16"))
    loaded = find_weights(given.model).load(device) if given.model else random_model(given.size, device, dtype)
    vocabulary = loaded.model.config.vocab_size
    draw = random.Random(0)
    prompts = [
        tuple(draw.randrange(100, vocabulary) for _ in range(draw.randrange(given.prompt // 2, given.prompt + 1)))
        for _ in range(given.rows)
    ]
    greedy = [Prompt(ids, Sampling(temperature=0), given.new, frozenset()) for ids in prompts]
    options_of = [tuple(tuple(draw.randrange(100, vocabulary) for _ in range(12)) for _ in range(4)) for _ in prompts]
    scored = [Continued(ids, texts) for ids, texts in zip(prompts, options_of, strict=True)]
    generate(loaded, greedy[:2])
    score(loaded, scored[:2])
    found, first = [], None
    for size in given.batches:
        written, seconds, used = timed(
            device, lambda size=size: in_parts(lambda part: generate(loaded, part), greedy, size)
        )
        chances, reading, _ = timed(device, lambda size=size: in_parts(lambda part: score(loaded, part), scored, size))
        first = first or (written, chances)
        tokens = sum(len(one.ids) for one in written)
        same = sum(one.ids == other.ids for one, other in zip(written, first[0], strict=True))
        apart = max(
            abs(a - b) for one, two in zip(chances, first[1], strict=True) for a, b in zip(one, two, strict=True)
        )
        row = {
            "batch": size,
            "seconds": round(seconds, 2),
            "tokens a second": round(tokens / seconds, 1),
            "tokens a CPU second": round(tokens / used, 1),
            "faster": round(found[0]["seconds"] / seconds, 2) if found else 1.0,
            "replies as one by one": f"{same}/{len(written)}",
            "items scored a second": round(len(scored) / reading, 2),
            "largest difference of a log-probability": float(f"{apart:.2g}"),
        }
        found.append(row)
        if not given.json:
            print("  ".join(f"{name}: {value}" for name, value in row.items()), flush=True)
    if given.json:
        about = {"device": device, "dtype": str(loaded.model.dtype), "torch": torch.__version__, "rows": given.rows}
        about["card"] = torch.cuda.get_device_name() if device.startswith("cuda") else ""
        print(json.dumps({**about, "model": given.model or f"random {given.size}", "found": found}))


if __name__ == "__main__":
    main()
