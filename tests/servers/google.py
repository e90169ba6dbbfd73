"""A server that speaks generateContent and batchEmbedContents."""

from servers.faults import Fault
from servers.loopback import LoopbackServer


class GoogleServer(LoopbackServer):
    base_path = "/v1beta"

    def good(self, path: str, body: dict, fault: Fault) -> dict:
        if path.endswith(":batchEmbedContents"):
            texts = [one["content"]["parts"][0]["text"] for one in body["requests"]]
            return {"embeddings": [{"values": [float(len(text)), float(at)]} for at, text in enumerate(texts)]}
        parts = [{"text": self.reasoning, "thought": True}] if self.reasoning else []
        parts.append({"text": self.say(body)})
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        if body.get("generationConfig", {}).get("responseLogprobs"):
            chosen = [{"token": "B", "tokenId": 1, "logProbability": -0.1}]
            candidate["logprobsResult"] = {"chosenCandidates": chosen, "topCandidates": [{"candidates": chosen}]}
        answer = {"candidates": [candidate], "modelVersion": "gemini-served"}
        answer["usageMetadata"] = {"promptTokenCount": 12, "candidatesTokenCount": 3, "totalTokenCount": 15}
        match fault.change:
            case "empty":
                candidate["content"] = {"role": "model"}
            case "tool call":
                candidate["content"] = {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]}
            case "echo":
                parts[:] = [{"text": "thinking of {said}", "thought": True}, {"text": "B, said {said}"}]
                token = {"token": "{said}", "logProbability": -0.1}
                candidate["logprobsResult"] = {"chosenCandidates": [token], "topCandidates": [{"candidates": [token]}]}
                candidate["finishReason"], answer["modelVersion"] = "{key}", "model {key}"
            case "echo blocked":
                answer["candidates"], answer["promptFeedback"] = [], {"blockReason": "{key}"}
            case "no usage":
                del answer["usageMetadata"]
            case "wrong usage":
                answer["usageMetadata"] = {"promptTokenCount": "many"}
            case "filtered":
                answer["candidates"], answer["promptFeedback"] = [], {"blockReason": "SAFETY"}
            case "cut off thinking":
                candidate["content"] = {"parts": [{"text": "Let me", "thought": True}]}
                candidate["finishReason"] = "MAX_TOKENS"
        return answer

    def error(self, fault: Fault, key: str) -> dict:
        message = fault.message.replace("{key}", key)
        return {"error": {"code": fault.status, "message": message, "status": fault.code.upper()}}
