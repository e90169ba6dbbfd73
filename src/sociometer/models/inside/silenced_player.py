"""A model that answers in words with some of its neurons switched off."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sociometer.core.conversation import Identity, Reply, Request
from sociometer.core.errors import MachineryError
from sociometer.models.inside.hooks import switched_off
from sociometer.models.inside.vector_files import digest_of

if TYPE_CHECKING:
    from sociometer.models.inside.open_model import OpenModel

_MOST_TOKENS = 256


class SilencedPlayer:
    """Answers by the likeliest tokens, one question at a time; its identity includes the neurons that are off."""

    journaled = True

    def __init__(self, model: "OpenModel", off: Sequence[int], name: str) -> None:
        self._model = model
        self._off = sorted(map(int, off))
        revision = digest_of(model.revision, self._off) if self._off else model.revision
        self.identity = Identity("hf-inside", f"hf/{model.name} ({name})", revision=revision)
        self._turn = asyncio.Lock()

    async def answer(self, request: Request) -> Reply:
        """One greedy reply."""
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        async with self._turn:
            return await asyncio.to_thread(self._generate, messages, request.sampling.max_tokens or _MOST_TOKENS)

    def _generate(self, messages: list[dict[str, str]], most: int) -> Reply:
        import torch

        model, tokenizer = self._model.loaded.model, self._model.loaded.tokenizer
        if getattr(tokenizer, "chat_template", None):
            text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        else:
            text = "\n\n".join(message["content"] for message in messages) + "\n"
        ids = torch.tensor([tokenizer(text, add_special_tokens=False)["input_ids"]], device=self._model.device)
        with torch.inference_mode(), switched_off(self._model.anatomy, self._off):
            made = model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=most,
                do_sample=False,
                pad_token_id=tokenizer.pad_token_id or tokenizer.eos_token_id or 0,
            )
        written = made[0, ids.shape[1] :]
        finish = "length" if len(written) >= most else "stop"
        return Reply(tokenizer.decode(written, skip_special_tokens=True), finish=finish)

    async def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """Raise an error: this player gives no embeddings."""
        raise MachineryError(f"{self.identity.name} gives no embeddings.", "no embeddings", fatal=True)

    async def close(self) -> None:
        """The weights stay loaded for the next set of neurons."""
