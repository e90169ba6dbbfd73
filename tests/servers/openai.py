"""A server that speaks chat completions, text completions and embeddings."""

from servers.faults import Fault
from servers.loopback import LoopbackServer


class OpenAIServer(LoopbackServer):
    usage: dict | None = None
    """What it reports in place of its usual usage."""
    base_path = "/v1"

    def __init__(self, certificate: str = "") -> None:
        super().__init__(certificate)
        self.reasoning_field = "reasoning_content"

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
        answer = {"id": "1", "object": "chat.completion", "created": 1, "choices": [choice]}
        answer["model"] = f"{body['model']}-served"
        answer["usage"] = self.usage or {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
        return self._changed(answer, choice, message, fault.change)

    def _text_completion(self, body: dict) -> dict:
        return {
            "id": "1",
            "object": "text_completion",
            "choices": [{"index": 0, "text": self.say(body), "finish_reason": "stop", "logprobs": None}],
            "model": body["model"],
            "usage": {"prompt_tokens": 12, "completion_tokens": 1},
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
