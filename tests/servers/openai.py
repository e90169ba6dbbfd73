"""A server that speaks chat completions, text completions and embeddings."""

import re

from servers.faults import Fault
from servers.loopback import LoopbackServer


class OpenAIServer(LoopbackServer):
    usage: dict | None = None
    """What it reports in place of its usual usage."""
    base_path = "/v1"

    def __init__(self, certificate: str = "") -> None:
        super().__init__(certificate)
        self.reasoning_field = "reasoning_content"
        self.echoes = True
        """Whether a text completion repeats its prompt with log-probabilities where asked to."""
        self.worth = lambda token: -float(len(token))
        """The log-probability of a token of a text completion."""

    def good(self, path: str, body: dict, fault: Fault) -> dict:
        if path.endswith("/embeddings"):
            vectors = [
                {"index": at, "embedding": [float(len(text)), float(at)]} for at, text in enumerate(body["input"])
            ]
            return {"data": vectors[::-1], "model": body["model"]}
        if not path.endswith("/chat/completions"):
            return self._text_completion(body)
        message = {"role": "assistant", "content": self.say(body)}
        if self.reasoning:
            message[self.reasoning_field] = self.reasoning
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        if called := self.calls(body) if body.get("tools") else []:
            message["content"], choice["finish_reason"] = message["content"] or None, "tool_calls"
            message["tool_calls"] = [
                {"id": call, "type": "function", "function": {"name": name, "arguments": given}}
                for call, name, given in called
            ]
        if body.get("logprobs"):
            rivals = [{"token": "B", "logprob": -0.1}, {"token": "A", "logprob": -2.5}][: body["top_logprobs"]]
            choice["logprobs"] = {"content": [{"token": "B", "logprob": -0.1, "bytes": [66], "top_logprobs": rivals}]}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "choices": [choice]}
        answer["model"] = f"{body['model']}-served"
        answer["usage"] = self.usage or {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
        return self._changed(answer, choice, message, fault.change)

    def _text_completion(self, body: dict) -> dict:
        """Tokens are words with the space before them; a prompt is repeated with the worth of each token."""
        prompts = body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
        choices = []
        for index, prompt in enumerate(prompts):
            said = self.say(body)
            text = prompt + said if body.get("echo") and self.echoes else said
            choice = {"index": index, "text": text, "finish_reason": "stop", "logprobs": None}
            if body.get("logprobs"):
                tokens = re.findall(r"\s*\S+|\s+$", text)
                values = [self.worth(token) for token in tokens]
                if body.get("echo") and self.echoes:
                    values[0] = None
                tops = [{" A": -1.0, " B": -0.5, " C": -3.0}] + [{}] * (len(tokens) - 1)
                choice["logprobs"] = {"tokens": tokens, "token_logprobs": values, "top_logprobs": tops}
            choices.append(choice)
        usage = {"prompt_tokens": 12 * len(prompts), "completion_tokens": len(prompts)}
        return {
            "id": "1",
            "object": "text_completion",
            "choices": choices[::-1],
            "model": body["model"],
            "usage": usage,
        }

    def error(self, fault: Fault, key: str) -> dict:
        message = fault.message.replace("{key}", key)
        return {"error": {"message": message, "type": fault.code, "code": fault.code, "param": fault.option or None}}

    def _changed(self, answer: dict, choice: dict, message: dict, change: str) -> dict:
        match change:
            case "empty":
                message["content"] = None
            case "tool call":
                called = {"id": "t", "type": "function", "function": {"name": "look", "arguments": "{}"}}
                message["content"], message["tool_calls"], choice["finish_reason"] = None, [called], "tool_calls"
            case "echo":
                message["content"] = "B, said {said}"
                message["reasoning_content"] = "thinking of {said}"
                token = {"token": "{said}", "logprob": -0.1, "top_logprobs": [{"token": "{said}", "logprob": -1.0}]}
                choice |= {"finish_reason": "{key}", "logprobs": {"content": [token]}}
                answer |= {"model": "model {key}", "id": "{key}", "system_fingerprint": "{key}"}
            case "no usage":
                del answer["usage"]
            case "wrong usage":
                answer["usage"] = {"prompt_tokens": "many", "completion_tokens": [1]}
            case "filtered":
                message["content"], choice["finish_reason"] = "", "content_filter"
            case "cut off thinking":
                message["content"], choice["finish_reason"] = "<think>Let me see", "length"
        return answer
