"""Tokens per CPU-second of local models, with every prompt read in full and with the prefix cache.

The requests are those of the first items of an instrument, in the order of a run, with random replies in their
dialogues. Prompt tokens count in full in both cases. One thread, because threads that wait for each other use CPU time.
"""

import argparse
import asyncio
import json
import resource
import tempfile
from functools import partial
from itertools import islice
from pathlib import Path

from msgspec import Struct, structs

from sociometer.core.config import RunConfig
from sociometer.core.conversation import Message, Request, Sampling
from sociometer.engine.engine import Engine
from sociometer.engine.estimate import rehearse
from sociometer.engine.plan import ItemList
from sociometer.instruments import load
from sociometer.models.files import verified_file
from sociometer.models.local import LlamaContext, chat_body, new_slots
from sociometer.store.store import Store

WORK = {
    "sesi": RunConfig(subject="", instrument="sesi", tasks=("questions",)),
    "sage": RunConfig(subject="", instrument="sage", tasks=("dialogue",), roles={"simulator": "baseline/random"}),
    "socialeval": RunConfig(subject="", instrument="socialeval", tasks=("abilities",), settings={"language": "en"}),
}
"""In SAGE, the model plays both parties."""


def requests_of(config: RunConfig, model: str, count: int) -> list[tuple[Message, ...]]:
    """The first requests of a run."""
    given = structs.replace(config, subject=model, roles=dict.fromkeys(config.roles, model))
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store") as store:
        plan = Engine(store, load).plan(given, sends=False)
        task = plan.tasks[0]
        items = islice(ItemList(task.name, partial(plan.items, task)), count)
        asked = [exchange for one in asyncio.run(rehearse(plan, task, list(items))) for exchange in one]
    return [exchange.messages for exchange in asked][:count]


class Measured(Struct, frozen=True):
    """Tokens in all and those of prompts that were computed, CPU seconds, and replies with their log-probabilities."""

    tokens: int
    computed: int
    cpu_seconds: float
    replies: list[str]


def measured(path: Path, work: list[tuple[Message, ...]], written: int, *, reuse: bool) -> Measured:
    """Answers all requests."""
    context = LlamaContext(path, 1, reuse=reuse)
    context.measure()  # the first use of the weights reads them from the disk
    read_before, begun = context.read_tokens, _cpu_seconds()
    tokens, replies = 0, []
    for messages in work:
        body = chat_body(Request("subject", messages, sampling=Sampling(temperature=0, max_tokens=written)))
        answer = context.chat({**body, "logprobs": True, "top_logprobs": 1})
        tokens += answer["usage"]["total_tokens"]
        replies.append(json.dumps(answer["choices"]))
    return Measured(tokens, context.read_tokens - read_before, _cpu_seconds() - begun, replies)


def predicted(
    context: LlamaContext, speeds: tuple[float, float], work: list[tuple[Message, ...]], written: int
) -> tuple[Measured, Measured]:
    """The same without and with the cache, from the tokens of the prompts and the speeds of reading and writing."""
    slots, (read, write) = new_slots(), speeds
    tokens = computed = 0
    for messages in work:
        prompt = context.chat_prompt(chat_body(Request("subject", messages)))
        found = slots.find(prompt)
        slots.keep(found.slot, prompt)
        tokens += len(prompt)
        computed += len(prompt) - found.tokens + (not found.exact)
    replies = len(work) * written
    before, after = (Measured(tokens + replies, done, done / read + replies / write, []) for done in (tokens, computed))
    return before, after


def cpu_speeds(context: LlamaContext) -> tuple[float, float]:
    """Tokens read and written per CPU-second."""
    seconds = []
    for read, written in ((64, 1), (1, 5)):
        begun = _cpu_seconds()
        context.complete({"prompt": list(range(100, 100 + read)), "max_tokens": written, "ignore_eos": True})
        seconds.append(_cpu_seconds() - begun)
    return 64 / seconds[0], 5 / seconds[1]


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print one line for each model and instrument."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=["smollm2-135m"], help="names of local models, or GGUF files")
    parser.add_argument("--requests", type=int, default=6, help="requests of each instrument")
    parser.add_argument("--written", type=int, default=16, help="tokens of each reply")
    parser.add_argument("--predict", action="store_true", help="count tokens, and time one short request only")
    parser.add_argument("--only", choices=WORK, action="append", help="instruments")
    given = parser.parse_args()
    print("| model | instrument | tokens | prompt tokens computed | before: tokens/CPU-s | after | same replies |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in given.models:
        path = Path(name) if name.endswith(".gguf") else verified_file(name)
        if path is None:
            raise SystemExit(f"{name} is not on this machine; run 'sociometer get model {name}'.")
        context = LlamaContext(path, 1) if given.predict else None
        speeds = cpu_speeds(context) if context else (0.0, 0.0)
        for instrument in given.only or WORK:
            work = requests_of(WORK[instrument], f"local/{name}", given.requests)
            if context:
                before, after = predicted(context, speeds, work, given.written)
            else:
                before, after = (measured(path, work, given.written, reuse=reuse) for reuse in (False, True))
            rates = " | ".join(f"{one.tokens / one.cpu_seconds:.1f}" for one in (before, after))
            share = f"{after.tokens:,} | {after.computed:,}"
            same = "not asked" if given.predict else "yes" if before.replies == after.replies else "NO"
            print(f"| {path.name} | {instrument} | {share} | {rates} | {same} |", flush=True)


if __name__ == "__main__":
    main()
