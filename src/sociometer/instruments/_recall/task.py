"""The task `recall`: complete the second half of an item, recall the order of its options, and answer it."""

import re
from typing import Any

import msgspec
from msgspec import Struct

from sociometer.core.conversation import Choice, Sampling, user
from sociometer.core.reply_kind import Asked, ReplyKind, count_replies, kind_of
from sociometer.core.session import Session
from sociometer.core.task import TASK, Score, Task
from sociometer.instruments._recall.evidence import summarise
from sociometer.instruments._recall.pairs import RecallItem, verbatim_share
from sociometer.reading import arrange, render_options, shared_prompt, shuffled

_SAMPLING = Sampling(temperature=0, top_p=1, max_tokens=1000)
_LETTERS = "ABCDEFGH"


class Recalled(Struct, frozen=True, omit_defaults=True):
    """The outcome of one question."""

    text: str = ""
    """What the subject wrote as the second half."""
    order: tuple[int, ...] = ()
    """The recalled order, as places in the item; empty if none could be read."""
    answer: dict[str, Any] | None = None
    """The outcome of the test itself."""
    asked: Asked = Asked()


def recall_task(
    item_type: type[RecallItem], test: Task[Any, Any], value: str, *, lower_is_better: bool
) -> Task[Any, Any]:
    """The task of an instrument, whose items hold the test's item as `test`; `value` is the score that is compared."""

    async def play(item: Any, session: Session) -> Recalled:
        if item.asked == "completion":
            return await _complete(item, session)
        if item.asked == "order":
            return await _order(item, session)
        return Recalled(answer=msgspec.to_builtins(await test.play(item.test, session)))

    def score(item: Any, outcome: Recalled) -> Score:
        facets = {"items": item.origin} | ({"ability": item.ability} if item.ability else {})
        if item.asked == "answer":
            scored = test.score(item.test, msgspec.convert(outcome.answer, test.outcome_type))
            found = scored.values.get(value)
            values = {} if found is None else {"answer": -found if lower_is_better else found}
            return Score(values=values, facets=facets, unreadable=scored.unreadable, replies=scored.replies)
        right = (
            verbatim_share(outcome.text, item.hidden)
            if item.asked == "completion"
            else float(outcome.order == tuple(range(len(item.options))))
        )
        unreadable = int(outcome.asked.kind is not ReplyKind.ANSWERED)
        return Score(
            values={item.asked: right}, facets=facets, unreadable=unreadable, replies=count_replies([outcome.asked])
        )

    return Task(TASK, item_type, Recalled, play=play, score=score, summarise=summarise)


async def _complete(item: RecallItem, session: Session) -> Recalled:
    prompt = shared_prompt(session, "recall-half", item.language, text=item.shown)
    reply = await session.ask("subject", [user(prompt)], sampling=_SAMPLING)
    read = ReplyKind.ANSWERED if reply.text.strip() else ReplyKind.UNREADABLE
    return Recalled(text=reply.text, asked=Asked(kind_of(reply, read)))


async def _order(item: RecallItem, session: Session) -> Recalled:
    order = shuffled(len(item.options), session.rng)
    options = render_options(Choice(arrange(item.options, order)))
    example = ", ".join(_LETTERS[: len(order)][::-1])
    prompt = shared_prompt(session, "recall-order", item.language, text=item.shown, options=options, example=example)
    reply = await session.ask("subject", [user(prompt)], sampling=_SAMPLING)
    places = read_order(reply.text, len(order))
    session.note("order", shown=list(order), recalled=list(places))
    read = ReplyKind.ANSWERED if places else ReplyKind.UNREADABLE
    return Recalled(order=tuple(order[place] for place in places), asked=Asked(kind_of(reply, read)))


def read_order(text: str, count: int) -> tuple[int, ...]:
    """The last complete order of letters in a reply, as places; empty if there is none."""
    letters = _LETTERS[:count]
    listed = re.compile(rf"(?<![A-Za-z])([{letters}])" + rf"(?:[\s,;.>、，()\-→]+([{letters}]))" * (count - 1))
    joined = re.compile(rf"(?<![A-Za-z])([{letters}]{{{count}}})(?![A-Za-z])")
    found = [(match.end(), "".join(match.groups())) for pattern in (listed, joined) for match in pattern.finditer(text)]
    whole = [order for _, order in sorted(found) if len(set(order)) == count]
    return tuple(letters.index(letter) for letter in whole[-1]) if whole else ()
