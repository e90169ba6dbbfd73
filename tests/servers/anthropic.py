"""A server that speaks messages."""

import json

from servers.faults import Fault
from servers.loopback import LoopbackServer


class AnthropicServer(LoopbackServer):
    def good(self, path: str, body: dict, fault: Fault) -> dict:
        said = self.say(body)
        blocks = [{"type": "thinking", "thinking": self.reasoning, "signature": "x"}] if self.reasoning else []
        called = self.calls(body) if body.get("tools") else []
        if called:
            blocks += [{"type": "text", "text": said}] if said else []
            blocks += [{"type": "tool_use", "id": call, "name": name, "input": given} for call, name, given in called]
        elif body.get("tools") and body["tool_choice"]["type"] == "tool":
            blocks.append({"type": "tool_use", "id": "t", "name": body["tools"][0]["name"], "input": json.loads(said)})
        else:
            blocks.append({"type": "text", "text": said})
        answer = {"id": "1", "type": "message", "role": "assistant", "model": f"{body['model']}-served"}
        answer |= {"content": blocks, "stop_reason": "end_turn", "usage": {"input_tokens": 12, "output_tokens": 3}}
        match fault.change:
            case "empty":
                answer["content"] = []
            case "tool call":
                answer["content"] = [{"type": "tool_use", "id": "t", "name": "look", "input": {"at": "the sky"}}]
                answer["stop_reason"] = "tool_use"
            case "echo":
                thought = {"type": "thinking", "thinking": "thinking of {said}", "signature": "{key}"}
                answer["content"] = [thought, {"type": "text", "text": "B, said {said}"}]
                answer |= {"stop_reason": "{key}", "model": "model {key}", "id": "{key}", "stop_sequence": "{key}"}
            case "no usage":
                del answer["usage"]
            case "wrong usage":
                answer["usage"] = {"input_tokens": "many", "output_tokens": {}}
            case "filtered":
                answer["content"], answer["stop_reason"] = [], "refusal"
            case "cut off thinking":
                answer["content"], answer["stop_reason"] = [{"type": "thinking", "thinking": "Let me"}], "max_tokens"
        return answer

    def error(self, fault: Fault, key: str) -> dict:
        message = fault.message.replace("{key}", key)
        return {
            "type": "error",
            "error": {"type": fault.code, "message": f"{fault.option}: {message}" if fault.option else message},
        }
