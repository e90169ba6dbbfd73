"""Providers of Inspect: one asks a loopback server, as those of its own do that need another package."""

import httpx
from inspect_ai.model import ModelAPI, ModelOutput, modelapi


@modelapi(name="loopback")
class Loopback(ModelAPI):
    """Chat completions at `--model-base-url`."""

    def max_connections(self):
        return 4

    async def generate(self, input, tools, tool_choice, config):
        said = [{"role": message.role, "content": message.text} for message in input]
        async with httpx.AsyncClient(timeout=60) as client:
            answer = await client.post(
                f"{self.base_url}/chat/completions", json={"model": self.model_name, "messages": said}
            )
        answer.raise_for_status()
        return ModelOutput.from_content(self.model_name, answer.json()["choices"][0]["message"]["content"])
