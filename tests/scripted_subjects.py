"""Subjects whose every answer is known: models on a real loopback server, and functions.

Each of three models knows some items and not others, by a digest of its name, its *mind* and
the item. The subject finds out from the text of a request which item it is. A *mood* of the
server spoils every third item.
"""

import hashlib
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from oracle import FAILED, RIGHT, UNREADABLE, WRONG
from servers.faults import DROPPED, FILTERED, SERVER_ERROR, Fault
from servers.loopback import Received
from servers.openai import OpenAIServer

_INSTRUMENTS = Path(__file__).parents[1] / "src" / "sociometer" / "instruments"
REFUSED = Fault(400, "This request is not supported", "invalid_request_error")
SLOW = Fault(delay_seconds=0.4)

MOODS = {
    "good": None,
    "fails": SERVER_ERROR,
    "refuses": REFUSED,
    "drops": DROPPED,
    "is slow": SLOW,
    "filters": FILTERED,
    "lies about usage": Fault(change="wrong usage"),
    "says no usage": Fault(change="no usage"),
}
"""What happens to every third item. The last two are good answers with an odd bill."""


class Question(NamedTuple):
    """An item as its data file has it."""

    test: str
    item: str
    language: str
    text: str
    options: tuple[str, ...]
    key: tuple[float, ...]
    """SESI: the place of the right option. SECEU: the points."""


def _rows(path: str) -> list[dict]:
    lines = (_INSTRUMENTS / path).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _questions() -> list[Question]:
    questions = []
    for row in _rows("sesi/data/items.jsonl"):
        language = row.get("language", "en")
        options = tuple(row["options"])
        questions.append(Question("sesi", row["id"], language, row["situation"], options, (row["answer"],)))
    for row in _rows("sesi/data/twins.jsonl"):
        for half in "ab":
            text = row[f"situation_{half}"]
            key = (row[f"key_{half}"],)
            questions.append(Question("sesi", row["id"] + half, row["language"], text, tuple(row["options"]), key))
    for row in _rows("seceu/data/scenarios.jsonl"):
        for language in ("en", "zh"):
            options = tuple(row["options"][language])
            text = row["story"][language]
            questions.append(Question("seceu", row["id"], language, text, options, tuple(row["key"])))
    return questions


QUESTIONS = _questions()
KEYS = {question.item: question.key for question in QUESTIONS}


def item_names(test: str) -> list[str]:
    """Of a test in English, in the order of the file."""
    return [question.item for question in QUESTIONS if question.test == test and question.language == "en"]


A_TALK = Question("sage", "a talk", "en", "", (), (0,))
"""What a request is about that asks none of the items above."""


def question_in(text: str) -> Question:
    """The item that a request is about."""
    for question in QUESTIONS:
        if question.text in text:
            return question
    return A_TALK


def _digest(*words: object) -> int:
    return hashlib.sha256(" ".join(map(str, words)).encode()).digest()[0]


KNOWS = {"ann": 110, "bob": 130, "eve": 240}
"""Of 256 items: eve is better than the other two."""


def answer_of(model: str, mind: int, question: Question) -> str:
    """`RIGHT` or `WRONG`: whether the model knows this item."""
    return RIGHT if _digest(model, mind, question.item) < KNOWS[model] else WRONG


def is_spoilt(question: Question) -> bool:
    """Whether a mood other than good meets this item."""
    return _digest("spoilt", question.item) % 3 == 0


def expected(model: str, mind: int, mood: str, question: Question) -> str:
    """What a play of this item ends with now, without retries."""
    if is_spoilt(question) and mood in ("fails", "refuses", "drops", "is slow"):
        return FAILED
    if is_spoilt(question) and mood == "filters":
        return UNREADABLE
    return answer_of(model, mind, question)


def reply(model: str, mind: int, question: Question) -> str:
    """The words of the answer."""
    is_right = answer_of(model, mind, question) == RIGHT
    if question.test == "seceu":
        shared = question.key if is_right else (2.5, 2.5, 2.5, 2.5)
        return "\n".join(f"{name}: {points:g}" for name, points in zip(question.options, shared, strict=True))
    place = int(question.key[0]) if is_right else (int(question.key[0]) + 1) % 4
    return f"Answer: {'ABCD'[place]}"


class Asked(NamedTuple):
    """One request that reached a subject."""

    model: str
    kind: str
    item: str
    language: str


HELPERS = ("simulator", "judge")
"""Models in other roles; what they are asked is not in `asked`."""


def filled(body: dict) -> str:
    """An answer of a helper: one that fits the schema of the request, by what is asked."""
    asked = body["messages"][-1]["content"]
    if "response_format" not in body:
        return "70"
    values: dict[str, str | int] = {}
    for name, kind in body["response_format"]["json_schema"]["schema"]["properties"].items():
        digest = _digest(name, asked)
        if "enum" in kind:
            values[name] = kind["enum"][digest % len(kind["enum"])]
        elif kind["type"] == "integer":
            values[name] = kind["minimum"] + digest % (kind["maximum"] - kind["minimum"] + 1)
        else:
            values[name] = f"Well, {digest}."
    return json.dumps(values)


class Subjects(OpenAIServer):
    """The server; `/known/v1` and `/own/v1` are the same models, with and without a revision."""

    def __init__(self) -> None:
        super().__init__()
        self.mood = "good"
        self.mind = 0
        """Another number is other weights, of models without a revision only."""
        self.served_name = ""
        self.helper_mood = "good"
        """Of the models `simulator` and `judge`: `good`, `fails`, `sometimes fails`, talks `nonsense`
        or `sometimes nonsense`."""
        self.asked: list[Asked] = []
        self.before_answer: Callable[[int], None] | None = None
        """Called with the number of each request since it was set."""
        self._since = 0
        self.say = self._say
        self.fault_of = self._fault_now

    def watch(self, act: Callable[[int], None] | None) -> None:
        """Calls `act` with 1, 2, 3 … as requests come in."""
        self._since = len(self.asked)
        self.before_answer = act

    def url_of(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}/{path}/v1"

    def mind_of(self, model_path: str) -> int:
        return self.mind if "/own/" in model_path else 0

    def _is_helper(self, mood: str, body: dict) -> bool:
        """Whether a request to a helper meets this mood; a sometimes mood, by what is asked."""
        if self.helper_mood == f"sometimes {mood}":
            return _digest("helper", body["messages"][-1]["content"]) % 4 == 0
        return self.helper_mood == mood

    def _question(self, request: Received) -> Question:
        return question_in("\n".join(message["content"] for message in request.body["messages"]))

    def _fault_now(self, number: int) -> Fault | None:
        request = self.received[number]
        if request.body["model"] in HELPERS:
            return SERVER_ERROR if self._is_helper("fails", request.body) else None
        question = self._question(request)
        kind = "own" if "/own/" in request.path else "known"
        self.asked.append(Asked(request.body["model"], kind, question.item, question.language))
        if self.before_answer is not None:
            self.before_answer(len(self.asked) - self._since)
        return MOODS[self.mood] if is_spoilt(question) else None

    def good(self, path: str, body: dict, fault: Fault) -> dict:
        self._path = path
        answer = super().good(path, body, fault)
        if self.served_name:
            answer["model"] = self.served_name
        return answer

    def _say(self, body: dict) -> str:
        if body["model"] in HELPERS:
            return "What a lovely day." if self._is_helper("nonsense", body) else filled(body)
        question = question_in("\n".join(message["content"] for message in body["messages"]))
        return reply(body["model"], self.mind_of(self._path), question)


FUNCTION_ASKED: list[Asked] = []
"""What the functions were asked in this process."""
_LOCK = threading.Lock()


def _function(model: str) -> Callable[[list[dict]], str]:
    def answer(messages: list[dict]) -> str:
        question = question_in("\n".join(message["content"] for message in messages))
        with _LOCK:
            FUNCTION_ASKED.append(Asked(model, "function", question.item, question.language))
        return reply(model, 0, question)

    return answer


ann = _function("ann")
bob = _function("bob")
eve = _function("eve")
