"""Models in process by transformers: a tiny model with random weights, really run."""

import asyncio

import pytest

from sociometer.core.conversation import Message, Request, Sampling, text, user
from sociometer.core.errors import MachineryError, UsageError
from sociometer.models.hf.weights import find_weights
from sociometer.models.hf.writing import Prompt, Writer, sampled
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve

GREEDY = Sampling(temperature=0, max_tokens=12)
WORDS = ("Say hello.", "Who is sad, and why? " * 9, "A", "周 is glad that Ada came back. " * 3)


@pytest.fixture(scope="module")
def loaded(tiny_model):
    return find_weights(str(tiny_model)).load("cpu")


def answers(model, requests, options=None):
    async def ask():
        player = resolve(f"hf/{model}", options or ModelOptions())
        await player.open()
        try:
            return await asyncio.gather(*map(player.answer, requests)), player.model
        finally:
            await player.close()

    return asyncio.run(ask())


def asked(words, sampling=GREEDY, **more):
    return Request("subject", (user(words),), sampling=sampling, **more)


def test_requests_in_flight_share_a_batch(tiny_model):
    replies, model = answers(tiny_model, [asked(words) for words in WORDS])
    assert model.batches == [4]
    assert all(reply.finish in ("stop", "length") for reply in replies)


def test_a_short_reply_does_not_wait_for_a_long_one_in_its_batch(tiny_model):
    lengths = {"long": 40, "short": 1}
    order = []

    async def ask():
        player = resolve(f"hf/{tiny_model}", ModelOptions())
        await player.open()

        async def one(name, most):
            reply = await player.answer(asked("Say hello.", Sampling(temperature=0, max_tokens=most)))
            order.append((name, reply.usage.output_tokens))

        try:
            await asyncio.gather(*(one(name, most) for name, most in lengths.items()))
            return player.model.batches
        finally:
            await player.close()

    assert asyncio.run(ask()) == [2]
    assert order == [("short", 1), ("long", 40)]


def test_a_request_joins_a_batch_that_is_being_written_and_its_reply_is_the_same(tiny_model):
    first = [asked(words, Sampling(temperature=0, max_tokens=60)) for words in WORDS[:2]]
    late = [asked(words, Sampling(temperature=0.8, seed=3, max_tokens=9)) for words in WORDS]
    alone = [answers(tiny_model, [one])[0][0] for one in (*first, *late)]

    async def ask():
        player = resolve(f"hf/{tiny_model}", ModelOptions())
        await player.open()
        order = []

        async def one(request):
            reply = await player.answer(request)
            order.append(request)
            return reply

        async def later():
            while not player.model._running:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            return [await one(request) for request in late]

        try:
            *early, joined = await asyncio.gather(*map(one, first), later())
            return [*early, *joined], order
        finally:
            await player.close()

    together, order = asyncio.run(ask())
    assert together == alone
    assert order[0] in late


def test_a_batch_that_does_not_fit_into_memory_is_halved(tiny_model, monkeypatch):
    alone = [answers(tiny_model, [asked(words)])[0][0] for words in WORDS]
    add = Writer.add

    def limited(self, prompts):
        if len(prompts) + len(self.running) > 2:
            raise MemoryError
        return add(self, prompts)

    monkeypatch.setattr(Writer, "add", limited)
    assert answers(tiny_model, [asked(words) for words in WORDS])[0] == alone
    monkeypatch.setattr(Writer, "add", lambda self, prompts: limited(self, [None] * 3))
    with pytest.raises(MachineryError, match="does not fit into the memory"):
        answers(tiny_model, [asked(words) for words in WORDS])


def test_a_greedy_reply_does_not_depend_on_what_shares_its_batch(tiny_model):
    together, _ = answers(tiny_model, [asked(words) for words in WORDS])
    alone = [answers(tiny_model, [asked(words)])[0][0] for words in WORDS]
    assert together == alone


def test_a_seed_gives_the_same_reply_alone_and_in_a_batch(tiny_model):
    drawn = Sampling(temperature=1.0, top_p=0.9, seed=7, max_tokens=12)
    together, _ = answers(tiny_model, [asked(words, drawn) for words in WORDS])
    assert together[2] == answers(tiny_model, [asked(WORDS[2], drawn)])[0][0]
    other = Sampling(temperature=1.0, top_p=0.9, seed=8, max_tokens=12)
    assert together[2] != answers(tiny_model, [asked(WORDS[2], other)])[0][0]


def test_a_limit_ends_a_reply_and_its_tokens_are_counted(tiny_model):
    (reply,), _ = answers(tiny_model, [asked("Say hello.", Sampling(temperature=0, max_tokens=3))])
    assert (reply.finish, reply.usage.output_tokens) == ("length", 3)
    assert reply.usage.input_tokens == 3 + len("user\nSay hello.\nassistant\n")  # three special tokens, the rest bytes


def generate(loaded, prompts):
    """What each prompt is continued with."""
    writer = Writer(loaded)
    written = writer.add(prompts)
    while writer.running:
        writer.step()
    return written


def test_a_stop_sequence_ends_a_reply_and_is_not_part_of_it(loaded):
    prompt = tuple(loaded.tokenizer("Once upon a time").input_ids)
    free = generate(loaded, [Prompt(prompt, GREEDY, 12, frozenset())])[0]
    stop = free.text[4:6]
    stopped = generate(loaded, [Prompt(prompt, Sampling(temperature=0, stop=(stop,)), 12, frozenset())])[0]
    assert stopped.finish == "stop"
    assert stopped.text == free.text[: free.text.index(stop)]


def test_an_end_token_ends_a_row_while_the_others_go_on(loaded):
    prompts = [tuple(loaded.tokenizer(words).input_ids) for words in WORDS]
    free = generate(loaded, [Prompt(ids, GREEDY, 8, frozenset()) for ids in prompts])
    end = free[0].ids[2]
    rows = [Prompt(ids, GREEDY, 8, frozenset([end] if at == 0 else [])) for at, ids in enumerate(prompts)]
    stopped = generate(loaded, rows)
    assert stopped[0].finish == "stop"
    assert stopped[0].ids == free[0].ids[: free[0].ids.index(end)]
    assert [one.ids for one in stopped[1:]] == [one.ids for one in free[1:]]


def test_a_plain_text_is_continued_without_the_chat_template(tiny_model, loaded):
    request = Request("subject", (text("Once upon a time"),), sampling=GREEDY)
    (reply,), _ = answers(tiny_model, [request])
    assert reply.usage.input_tokens == len("Once upon a time")
    expected = generate(
        loaded, [Prompt(tuple(loaded.tokenizer("Once upon a time").input_ids), GREEDY, 12, frozenset([2]))]
    )
    assert reply.text == expected[0].text


def test_a_base_model_cannot_chat(tmp_path, tiny_model):
    from tiny_model import make_tiny_model

    folder = make_tiny_model(tmp_path, template=False)
    with pytest.raises(UsageError, match="-o base"):
        answers(folder, [asked("Say hello.")])


def test_a_request_that_is_too_long_fails_alone(tiny_model):
    async def ask():
        player = resolve(f"hf/{tiny_model}")
        await player.open()
        try:
            return await asyncio.gather(
                player.answer(asked("word " * 900)), player.answer(asked("Hi.")), return_exceptions=True
            )
        finally:
            await player.close()

    long, short = asyncio.run(ask())
    assert isinstance(long, MachineryError)
    assert long.kind == "context too long"
    assert short.finish


def test_the_identity_has_the_digest_of_the_files_and_the_precision(tiny_model):
    player = resolve(f"hf/{tiny_model}")
    assert player.identity.revision == f"{find_weights(str(tiny_model)).revision} float32"
    assert player.identity.name == tiny_model.name
    assert player.identity.certain


def test_a_system_message_goes_before_the_first_one_where_the_template_knows_none(loaded):
    from sociometer.models.hf.player import rendered

    class Strict:
        chat_template = "x"

        def apply_chat_template(self, messages, **options):
            if messages[0]["role"] == "system":
                raise ValueError("System role not supported")
            return messages[0]["content"]

    request = Request("subject", (Message("system", "Be kind."), user("Hello.")))
    assert rendered(Strict(), request) == "Be kind.\n\nHello."


def test_sampling_takes_the_likeliest_token_first_and_stays_within_top_p():
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'sociometer[hf]'")
    logits = torch.log(torch.tensor([0.1, 0.6, 0.3]))

    def drawn(top_p, *draws, temperature=1.0):
        return sampled(logits.expand(len(draws), 3), [(Sampling(temperature, top_p), draw) for draw in draws])

    assert drawn(None, 0.0, 0.59, 0.61, 0.89, 0.91, 0.999) == [1, 1, 2, 2, 0, 0]
    assert drawn(0.5, 0.0, 0.999) == [1, 1]
    assert drawn(0.7, 0.5, 0.7, 0.999) == [1, 2, 2]
    assert drawn(None, 0.999, temperature=0.01) == [1]
