"""Subjects and simulators that the tests of SAGE put in the chairs."""

import json
import re

from sociometer.core.conversation import Identity, Reply, Request, Usage
from sociometer.core.player import RulePlayer
from sociometer.instruments.sage.judges.strategies import tokens

LISTENER = {
    "en": (
        "I'm listening. So it comes down to the {word}, and you have been carrying that by yourself. What was it like?",
        "No wonder the {word} stays with you. Part of you saw it before the others did. What do you make of it?",
        "Take your time with the {word}. You don't have to be fair about it here. How did you feel just then?",
        "It is not only the {word}, is it. Perhaps they never saw what it asked of you. I would be angry too.",
        "What you did about the {word} took nerve, and not many people would have noticed. Go on, I'd like to hear.",
        "On the one hand the {word}, on the other all you gave for it. How do you see it, looking back?",
        "You did nothing wrong in that. Maybe what hurts is that nobody asked about the {word}.",
        "You kept going, with the {word} on your mind. You are allowed to be tired of it. What would you keep?",
        "You could start this week with the {word} alone, and if that fails we look again. What have you tried?",
        "I'm here. I admire how plainly you say it about the {word}.",
    ),
    "zh": (
        "我听着呢。说到底是{word}，你一个人扛着。心里是什么滋味？",
        "难怪{word}放不下，好像只有你看见了一样。你自己怎么看？",
        "慢慢说，{word}这事不用讲道理。当时心里是什么滋味？",
        "不只是{word}，更是没人问过你一句。换做我也会气。",
        "{word}那一步真难得，没几个人做得到。接着说。",
        "一方面是{word}，另一方面你也搭进去不少。回头看，你怎么想？",
        "这不怪你。真正难受的，是没有人提{word}。",
        "你还撑着，心里装着{word}。你可以生气，不用忍。",
        "这周可以先从{word}试一小步，万一不行就停。之前试过什么没有？",
        "我在这儿听。佩服你把{word}说得这么清楚。",
    ),
}
LECTURER = {
    "en": (
        "Let us look at this rationally. It's important to communicate:\n1. Set goals.\n2. Stay positive.\n3. Rest.",
        "You need to focus on solutions:\n1. Make a list.\n2. Talk to them.\n3. Exercise every day.",
        "Studies show that stress harms your health. You must set boundaries and try to be patient with people.",
        "You should consider a counsellor. Meditation and a journal can help, and it's important to sleep enough.",
        "Try to see it from their side. You need to be open and honest.",
        "Research suggests three steps:\n1. Reflect.\n2. Plan.\n3. Act.\nYou should follow them.",
        "Time heals, and a hobby or exercise will take your mind off it.",
        "According to experts you should practise gratitude. Remember to breathe deeply.",
        "You ought to make a schedule and stick to it. Discipline is what is missing here.",
        "In summary: communicate, plan, rest. You should do all three.",
    ),
    "zh": (
        "理性看待。重要的是沟通：\n1. 设定目标。\n2. 保持积极。\n3. 早点休息。",
        "你需要换位思考，要保持乐观：\n1. 列清单。\n2. 好好沟通。\n3. 多运动。",
        "研究表明压力伤身，你必须学会调整心态，试着理解别人。",
        "建议你做心理咨询，写日记、冥想都有帮助，要保持耐心。",
        "你应该多看书，试着接受现实。",
        "专家建议三步走：\n1. 反思。\n2. 计划。\n3. 行动。\n你应该照做。",
        "时间会冲淡一切，培养个爱好，运动运动。",
        "根据统计，感恩练习有用，你要学会深呼吸。",
        "你应该制定计划，坚持下去，缺的就是自律。",
        "总之：沟通、计划、休息，你应该都做到。",
    ),
}  # fmt: skip


def language_of(text: str) -> str:
    """Chinese if a fifth of the words are Chinese characters."""
    words = tokens(text)
    return "zh" if words and 5 * sum("\u3400" <= word[0] <= "\u9fff" for word in words) >= len(words) else "en"


_STOP = frozenset(("that", "this", "with", "have", "what", "they", "them", "were", "been", "about", "which", "would"))


class Chair(RulePlayer):
    """Anything that answers in a test."""

    def __init__(self, name: str) -> None:
        self.identity = Identity("test", name)
        self.asked: list[Request] = []

    async def answer(self, request: Request) -> Reply:
        self.asked.append(request)
        return Reply(self.say(request), usage=Usage(10, 20))

    def say(self, request: Request) -> str:
        raise NotImplementedError


def spoken(request: Request) -> tuple[int, str]:
    """The number of the turn, and what the person said last."""
    return sum(message.role == "assistant" for message in request.messages), request.messages[-1].content


class Listener(Chair):
    """Takes up a word of the person's and stays with it; knows no hidden intention."""

    def say(self, request: Request) -> str:
        turn, words = spoken(request)
        language = language_of(words)
        line = LISTENER[language][turn % 10]
        return line.replace("{word}", self._word(words, language))

    @staticmethod
    def _word(words: str, language: str) -> str:
        if language == "zh":
            parts = re.findall(r"[\u4e00-\u9fff]+", words)
            return max(parts, key=len)[:4]
        return max((word for word in tokens(words) if word not in _STOP), key=len, default="rest of it")


class Lecturer(Chair):
    """Knows what is good for people."""

    def say(self, request: Request) -> str:
        turn, words = spoken(request)
        return LECTURER[language_of(words)][turn % 10]


class Says(Chair):
    """Says one thing to everything."""

    def __init__(self, text: str, name: str = "says") -> None:
        super().__init__(name)
        self._text = text

    def say(self, request: Request) -> str:
        return self._text


class Person(Chair):
    """A simulator with a fixed list of changes, repeated; speaks the JSON of both hops."""

    def __init__(self, *changes: int, words: str = "And then the shoes.", name: str = "person") -> None:
        super().__init__(name)
        self._changes = changes
        self._words = words
        self._felt = 0

    def say(self, request: Request) -> str:
        if request.view is not None and getattr(request.view, "hop", "") == "reply":
            return reply_json(self._words)
        change = self._changes[self._felt % len(self._changes)]
        self._felt += 1
        return emotion_json(change)


class InTurn(Chair):
    """Answers from a list, in order; the last answer serves for ever."""

    def __init__(self, *answers: str, name: str = "in turn") -> None:
        super().__init__(name)
        self._answers = list(answers)

    def say(self, request: Request) -> str:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


def emotion_json(change: object) -> str:
    return json.dumps({"said": "s", "serves": "partly", "activity": "hm", "feeling": "so so", "change": change})


def reply_json(words: str) -> str:
    return json.dumps({"attitude": "open", "aim": "a", "tone": "t", "content": "c", "words": words})
