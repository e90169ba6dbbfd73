"""A language model behind HTTP in the opponent's chair, from the command line to the summary."""

import json
import re

from servers.openai import OpenAIServer
from sociometer.cli.main import run_command


class Gambler(OpenAIServer):
    """Plays whatever it is asked to: raises where it may, predicts 40 and names a style; keeps what it was told."""

    def __init__(self):
        super().__init__()
        self.told = []

    def good(self, path, body, fault):
        answer = super().good(path, body, fault)
        text = body["messages"][-1]["content"]
        self.told.append("\n".join(message["content"] for message in body["messages"]))
        if "style of play" in text:
            said = "A"
        elif "prediction" in text:
            said = '{"prediction": 40, "choice": 30}'
        else:
            legal = re.search(r"holding one of: (.*)\.", text)[1].split(", ")
            said = json.dumps({"action": "raise" if "raise" in legal else legal[0]})
        answer["choices"][0]["message"]["content"] = said
        return answer


def test_a_model_behind_http_plays_the_opponent(tmp_path, capsys):
    with Gambler() as server:
        words = ["run", "egosocial", "--task", "holdem", "--task", "numbers", "--matches", "2", "--opponents", "seated"]
        words += ["--rounds", "3", "--model", "baseline/first", "--role", f"opponent=vllm/m@{server.url}"]
        code = run_command([*words, "--store", str(tmp_path / "s.db"), "--json", "--quiet"])
        out, err = capsys.readouterr()
        assert code == 0, err
        told = server.told
    (played,) = json.loads(out)
    measures = {
        task: {one["name"]: one["value"] for one in summary["measures"] if not one.get("group")}
        for task, summary in played["summaries"].items()
    }
    assert measures["holdem"]["opponent_faults"] == measures["numbers"]["opponent_faults"] == 0
    assert measures["holdem"]["chips_per_hand"] is not None
    assert any("vllm/m" in note or "m, not a steady" in note for note in played["summaries"]["holdem"]["notes"])
    assert any("You are player 1 of two" in text for text in told)
