"""Providers of Inspect that need no other package: a loopback server, and replies from a script."""

import json
import re
from pathlib import Path

import httpx
from inspect_ai.model import ModelAPI, ModelOutput, modelapi


@modelapi(name="loopback")
class Loopback(ModelAPI):
    """Chat completions at `--model-base-url`."""

    def max_connections(self):
        return 4

    async def generate(self, input, tools, tool_choice, config):
        said = [{"role": message.role, "content": message.text} for message in input]
        body = {"model": self.model_name, "messages": said}
        body |= {"temperature": config.temperature, "max_tokens": config.max_tokens}
        async with httpx.AsyncClient(timeout=60) as client:
            answer = await client.post(f"{self.base_url}/chat/completions", json=body)
        answer.raise_for_status()
        return ModelOutput.from_content(self.model_name, answer.json()["choices"][0]["message"]["content"])


@modelapi(name="replies")
class Replies(ModelAPI):
    """The reply of the first line of a file whose pattern is in what was asked."""

    def __init__(self, model_name, *more, **options):
        super().__init__(model_name, *more, **options)
        self._entries = [json.loads(line) for line in Path(model_name).read_text(encoding="utf-8").splitlines()]

    async def generate(self, input, tools, tool_choice, config):
        for entry in self._entries:
            if re.search(entry["match"], input[-1].text):
                return ModelOutput.from_content(self.model_name, entry["reply"])
        raise ValueError("no reply left")
