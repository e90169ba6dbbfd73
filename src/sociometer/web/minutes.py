"""How long a study takes: the time to read all that its pages show, and to answer."""

import asyncio
import math
from collections.abc import Mapping
from itertools import islice

from sociometer.core.conversation import Message, Reply, Request
from sociometer.engine.estimate import rehearse
from sociometer.engine.plan import ReadPlan
from sociometer.models.baselines import Guesser
from sociometer.store.studies import role_of_people
from sociometer.web.forms import PeopleTexts, fields_of, people_texts

_ANSWER_SECONDS = 12.0
"""How long people take to answer a question after reading it, about."""
_WORDS_A_MINUTE, _SIGNS_A_MINUTE = 238, 400
"""How fast people read English words (Brysbaert, 2019, doi 10.1016/j.jml.2019.104047) and Chinese signs, about."""
_MOST_READ = 200
"""Of a task with more items, at most so many, evenly spread, are read."""


def seconds_for(plan: ReadPlan, counts: Mapping[str, int], language: str) -> float:
    """About how long a participant needs to read and to answer so many items of each task."""
    role, texts, seconds = role_of_people(plan.config), people_texts(plan.instrument, language), 0.0
    for task in plan.tasks:
        items, reader = plan.lists[task.name], _Reader(role, texts)
        some = list(islice(items, 0, None, math.ceil(items.count / _MOST_READ)))
        asyncio.run(rehearse(plan, task, some, reader))
        seconds += reader.seconds * counts[task.name] / len(some)
    return seconds


class _Reader(Guesser):
    """Guesses, and adds up how long people take to read what is new on a page and its form, and to answer."""

    def __init__(self, role: str, texts: PeopleTexts) -> None:
        super().__init__()
        self._role, self._texts, self.seconds = role, texts, 0.0
        self._before: tuple[Message, ...] = ()

    async def answer(self, request: Request) -> Reply:
        if request.role == self._role:
            before, self._before = self._before, request.messages
            goes_on = request.turn > 0 and request.messages[: len(before)] == before
            new = (one.content for one in request.messages[len(before) * goes_on :] if one.role != "assistant")
            fields = fields_of(request.answer_format, self._texts)
            form = (text for one in fields for text in (one.label, *(option for _, option in one.options)))
            text = " ".join((*new, *form))
            signs, words = sum("\u3400" <= sign <= "\u9fff" for sign in text), sum(map(str.isascii, text.split()))
            self.seconds += _ANSWER_SECONDS + 60 * (signs / _SIGNS_A_MINUTE + words / _WORDS_A_MINUTE)
        return await super().answer(request)
