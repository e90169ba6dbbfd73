"""Checks whether a subject knows published items by heart, with pairs of public and unseen items.

The task `recall`: complete the second half of an item, and recall the order of its options. Both are tested together
(Holm). An order must beat both chance and the unseen items. Answers are not asked for: a gap in the score would be no
evidence, because public and unseen items may differ in difficulty.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import zip_longest
from random import Random
from typing import Any, Literal

import numpy as np
from msgspec import Struct, structs

from sociometer.core.command import CommandContext
from sociometer.core.conversation import Choice, Sampling, user
from sociometer.core.errors import UsageError, hint
from sociometer.core.instrument import Result
from sociometer.core.language import ENGLISH, language_of
from sociometer.core.measure import Cell, Interval, Measure, Summary, Table
from sociometer.core.reply_kind import Asked, ReplyKind, count_replies, kind_of
from sociometer.core.session import Session
from sociometer.core.settings import Settings
from sociometer.core.source import Source
from sociometer.core.task import SERIES, TASK, Item, RunView, Score, Task
from sociometer.core.words import grouped
from sociometer.reading import arrange, read_rules, render_options, shared_prompt, shuffled
from sociometer.statistics.distributions import binomial_below
from sociometer.statistics.formatting import bracketed_interval, number, signed_amount
from sociometer.statistics.measures import grouped_measures
from sociometer.statistics.paired import holm, paired_difference
from sociometer.statistics.power import smallest_detectable

_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+(?:['’][^\W_\u3400-\u9fff]+)*")
_HAN = re.compile(r"[\u3400-\u9fff]")
LEAST_RUN = 6
"""Words; shorter runs occur in any fluent continuation and do not count."""
LEAST_RUN_CHINESE = 10
"""Characters."""
_MOST_PAIRS = 150


def tokens(text: str) -> tuple[str, ...]:
    """The words of a text without case and punctuation; each Chinese character is one."""
    return tuple(_TOKEN.findall(text.lower().replace("’", "'")))


def verbatim_share(said: str, true: str) -> float:
    """The longest run of words that a reply shares with the true text, as a share of that text; 0 for a short run."""
    wanted = tokens(true)
    least = LEAST_RUN_CHINESE if _HAN.search(true) else LEAST_RUN
    run = SequenceMatcher(None, tokens(said), wanted, autojunk=False).find_longest_match().size
    return run / len(wanted) if wanted and run >= min(least, len(wanted)) else 0.0


def halves(text: str, length: int) -> tuple[str, str]:
    """The two halves of the first `length` words of a text (of its characters, where it is Chinese)."""
    parts = _parts(text)[:length]
    glue, middle = "" if _HAN.search(text) else " ", len(parts) // 2
    return glue.join(parts[:middle]), glue.join(parts[middle:])


@lru_cache(maxsize=4096)
def length_of(text: str) -> int:
    """The length of a text in words, or in characters where it is Chinese."""
    return len(_parts(text))


def _parts(text: str) -> list[str]:
    return list(text) if _HAN.search(text) else text.split()


Origin = Literal["public", "unseen"]
ASKED = ("completion", "order")


class RecallItem(Item, frozen=True, kw_only=True, omit_defaults=True):
    """One question about one item of a pair."""

    asked: str
    origin: Origin
    ability: str = ""
    language: str = ENGLISH
    shown: str = ""
    """What the subject sees: the first half of a text, or the whole text where the order of options is asked."""
    hidden: str = ""
    """The second half, which the subject completes."""
    options: tuple[str, ...] = ()
    """The options in the order of the item."""


class Passage(Struct, frozen=True):
    """An item as the check needs it: its ability, its text, what follows the text, and its options."""

    id: str
    text: str
    options: tuple[str, ...]
    ability: str = ""
    question: str = ""
    language: str = ENGLISH


class Pair(Struct, frozen=True):
    """A public item and the unseen one that it is compared with."""

    public: Passage
    unseen: Passage

    @property
    def length(self) -> int:
        """The length to which both texts are cut."""
        return min(length_of(self.public.text), length_of(self.unseen.text))


def pair_up(public: Iterable[Passage], unseen: Iterable[Passage], count: int, seed: int) -> list[Pair]:
    """Up to `count` pairs, each item used once, the abilities in turn; an unseen item gets the public one nearest in
    length among those of its ability.
    """
    known = grouped((passage.ability, passage) for passage in public)
    others = list(unseen)
    Random(seed).shuffle(others)
    made: dict[str, list[Pair]] = {ability: [] for ability in known}
    for other in others:
        free = known.get(other.ability, [])
        if free:
            nearest = min(free, key=lambda one: abs(length_of(one.text) - length_of(other.text)))
            free.remove(nearest)
            made[other.ability].append(Pair(nearest, other))
    return [pair for turn in zip_longest(*made.values()) for pair in turn if pair is not None][:count]


def recalled(
    public: Iterable[Passage], unseen: Iterable[Passage], count: int, seed: int
) -> tuple[list[Pair], list[RecallItem]]:
    """The pairs of public and unseen items, and the questions about both of each pair."""
    pairs = pair_up(public, unseen, count, seed)
    asked = []
    for pair in pairs:
        sides: tuple[tuple[Origin, Passage], ...] = (("public", pair.public), ("unseen", pair.unseen))
        asked += [_question(kind, origin, one, pair) for origin, one in sides for kind in ASKED]
    return pairs, asked


def _question(asked: str, origin: Origin, one: Passage, pair: Pair) -> RecallItem:
    shown, hidden = halves(one.text, pair.length)
    options: tuple[str, ...] = ()
    if asked == "order":
        shown, hidden, options = f"{one.text}\n{one.question}".strip(), "", one.options
    return RecallItem(
        id=f"{asked}:{origin}:{one.id}",
        cluster=pair.public.id,
        asked=asked,
        origin=origin,
        ability=one.ability,
        language=one.language,
        shown=shown,
        hidden=hidden,
        options=options,
    )


LEVEL = 0.05
POWER = 0.8
FEWEST_PAIRS = 10
TITLES = {"completion": "second half, word for word", "order": "order of the options"}


class Contrast(Struct, frozen=True):
    """Public against unseen items in one question."""

    asked: str
    pairs: int
    public: float
    unseen: float
    difference: float
    interval: Interval
    p_value: float
    """Of completion and order corrected together; of an order also against chance."""
    detectable: float | None
    """The share of public items known by heart that would have been found."""
    unreadable: int = 0
    """Replies without an answer, of twice as many as there are pairs; for completion also declined or repeated ones."""

    @property
    def blind(self) -> bool:
        """Whether more than half of the replies contain no answer, so that nothing could be found."""
        return self.unreadable > self.pairs

    @property
    def found(self) -> bool:
        """Whether the subject knows more of the public items than of the unseen ones."""
        return self.difference > 0 and self.p_value < LEVEL


def summarise(run: RunView[RecallItem, Any]) -> Summary:
    """The shares on public and unseen items, their differences, and the verdict."""
    found = contrasts(run)
    measures: list[Measure] = []
    for contrast in found:
        sizes = (2 * contrast.pairs, contrast.pairs)
        overall, *groups = grouped_measures(run, contrast.asked, contrast.asked, ("items",))
        gain = Measure(f"{contrast.asked}_gain", contrast.difference, {}, contrast.interval, *sizes)
        measures += [structs.replace(gain, errors=overall.errors), *groups]
    blind = (
        f"{TITLES[one.asked].capitalize()}: {one.unreadable} of {2 * one.pairs} replies contain no answer"
        f"{', decline or repeat one text' * (one.asked == 'completion')}"
        f"{'; the verdict rests on the others' if one.found else ', so nothing could be found'}."
        for one in found
        if one.blind
    )
    return Summary(
        tuple(measures),
        (evidence_table(found),) if found else (),
        (verdict(found), *blind),
        {SERIES: {"note": verdict(found), "found": any(one.found for one in found)}},
    )


def contrasts(run: RunView[RecallItem, Any]) -> list[Contrast]:
    """Each question that has pairs with both values."""
    values: dict[str, dict[str, dict[str, float]]] = {asked: {} for asked in ASKED}
    options, unreadable = 0, Counter[str]()
    replies: dict[tuple[str, ...], set[str]] = {}
    for item, outcome, score in run.scored():
        options = max(options, len(item.options))
        unreadable[item.asked] += score.unreadable
        if item.asked == "completion" and not score.unreadable:
            words = () if _declined(outcome.text, item, score) else tokens(outcome.text)
            replies.setdefault(words, set()).add(item.id)
        if item.asked in values and item.asked in score.values:
            values[item.asked].setdefault(item.cluster, {})[item.origin] = score.values[item.asked]
    # A text that follows several different beginnings continues none of them.
    unreadable["completion"] += sum(len(items) for words, items in replies.items() if len(items) > 1 or not words)
    chance = 1 / math.factorial(options) if options else None
    made = {asked: _contrast(asked, pairs, chance, unreadable[asked]) for asked, pairs in values.items()}
    known = [one for one in made.values() if one is not None]
    corrected = holm([one.p_value for one in known])
    return [structs.replace(one, p_value=float(p_value)) for one, p_value in zip(known, corrected, strict=True)]


def _declined(text: str, item: RecallItem, score: Score) -> bool:
    """Whether a completion begins by declining; one that contains a part of the true text does not."""
    # Only at the beginning: people in a story say such words too.
    found = read_rules("choice", item.language).search("refusal", text[:80].replace("’", "'"))
    return found is not None and not score.values["completion"]


def _contrast(
    asked: str, pairs: Mapping[str, Mapping[str, float]], chance: float | None, unreadable: int
) -> Contrast | None:
    whole = {name: both for name, both in pairs.items() if len(both) == 2}
    if not whole:
        return None
    public, unseen = ([both[origin] for both in whole.values()] for origin in ("public", "unseen"))
    paired = paired_difference(unseen, public, list(whole))
    p_value = paired.p_value
    if asked == "order" and chance is not None:
        right = round(sum(public))
        p_value = max(p_value, 1 - binomial_below(right - 1, len(public), chance) if right else 1.0)
    possible = paired.interval.widened(paired.difference, 1, -1.0, 1.0)  # shares differ by at most 100 points
    found = (paired.second, paired.first, paired.difference, possible)
    made = Contrast(asked, len(whole), *found, p_value, _detectable(unseen), unreadable)
    return structs.replace(made, detectable=None) if made.blind else made


def _detectable(unseen: Sequence[float]) -> float | None:
    """The share of items known by heart that would have been found with 80 % power."""
    if len(unseen) < FEWEST_PAIRS:
        return None
    shares = [count / len(unseen) for count in range(1, len(unseen) + 1)]
    return next((share for share in shares if _would_be_found(share, unseen)), None)


def _would_be_found(share: float, unseen: Sequence[float]) -> bool:
    """Whether knowing a share of the public items by heart would be found, at the level of the stricter of two tests.

    Public items are like unseen ones, except that this share of them is right. The sign-flip test also needs some items
    that differ at all.
    """
    count, level = len(unseen), LEVEL / 2
    gain = 1 - float(np.mean(unseen))
    spread = 2 * float(np.var(unseen)) + share * (1 - share) * gain * gain
    error = math.sqrt(spread / count)
    least = math.ceil(1 - math.log2(level))
    enough = 1 - binomial_below(least - 1, count, share) >= POWER
    return enough and share * gain >= smallest_detectable(error, count, power=POWER, level=1 - level)


def evidence_table(found: Sequence[Contrast]) -> Table:
    """The questions with the values on both kinds of items."""
    rows: list[tuple[Cell, ...]] = [
        (
            TITLES[one.asked],
            one.pairs,
            number(one.public, "share"),
            number(one.unseen, "share"),
            signed_amount(one.difference, "share"),
            "too few pairs" if one.interval.too_few else bracketed_interval(one.interval, "share"),
            one.p_value,
            None if one.detectable is None else number(one.detectable, "share"),
        )
        for one in found
    ]
    note = "Detectable (80 % power): the share of public items known by heart." if any(row[-1] for row in rows) else ""
    columns = ("question", "pairs", "public", "unseen", "difference", "95 % interval", "p", "detectable")
    return Table("recall", "Public against unseen items", columns, tuple(rows), note, {"p": "p"})


def verdict(found: Sequence[Contrast]) -> str:
    """One sentence: whether the subject knows the public items by heart."""
    known = [one for one in found if one.found]
    pairs = max((one.pairs for one in found), default=0)
    if known:
        said = "; ".join(
            f"{TITLES[one.asked]}: {number(one.public, 'share')} against {number(one.unseen, 'share')}" for one in known
        )
        return (
            f"Contamination: the subject recalls public items better than unseen ones ({said}; {pairs} pairs). Its"
            " score on public items may reflect memorisation."
        )
    if pairs < FEWEST_PAIRS:
        return f"Contamination: {pairs} pairs are too few to tell; {FEWEST_PAIRS} or more are needed."
    if all(one.blind for one in found):
        return "Contamination: cannot tell, because more than half of the replies contain no answer."
    shares = [one.detectable for one in found if one.detectable is not None]
    power = f"; {number(min(shares), 'share')} known by heart would have been found with 80 % power" if shares else ""
    return f"Contamination: no sign that the subject knows the public items by heart ({pairs} pairs{power})."


ToRecall = Callable[[Source, str, int], tuple[Sequence[Pair], Sequence[Item]]]
"""Makes the pairs of public and unseen items, and what is asked about them."""


def examine(context: CommandContext, options: Settings, recalled: ToRecall) -> Result:
    """Asks every subject about pairs of public and unseen items, and says whether it knows the public ones by heart."""
    if not context.subjects:
        raise UsageError("contamination needs a subject: give --model MODEL; repeat it for several.")
    most = options.whole("limit") if options["limit"] else _MOST_PAIRS
    pairs, asked = recalled(context.source(), options.text("unseen"), most)
    if not pairs:
        raise UsageError("no public item has an unseen one of the same ability; give others with --unseen FILE.")
    plan = context.plan_table(TASK, asked)  # an unknown model is an error before anything is announced
    if options.flag("dry-run"):
        return Result((plan,))
    context.expect(len(context.subjects), f"{len(pairs)} pairs: {len(asked)} requests to each model")
    runs = [context.play(TASK, subject=subject, items=asked) for subject in context.subjects]
    told = {run.subject: run.summary(TASK) for run in runs}
    replies = hint("show", runs[0].id, "ITEM")
    found = {who: bool(one.series[SERIES]["found"]) for who, one in told.items()}
    return Result(
        tuple(structs.replace(one, title=f"{one.title}: {who}") for who, made in told.items() for one in made.tables),
        (
            *(f"{who}: {note}" for who, one in told.items() for note in one.notes[1:]),
            _matching(pairs),
            f"The verdict is shown next to this subject's scores. Replies: {replies}",
        ),
        data={"runs": {run.subject: run.id for run in runs}, "found": found},
        finding="\n".join(f"{who}: {one.notes[0]}" for who, one in told.items()),
    )


def _matching(pairs: Sequence[Pair]) -> str:
    words = "words" if language_of(pairs[0].public.language).space else "characters"
    abilities = {pair.public.ability for pair in pairs} - {""}
    same = f" of the same ability ({len(abilities)} abilities)" if abilities else ""
    public, unseen = (
        sum(length_of(passage.text) for passage in side) / len(pairs)
        for side in ([pair.public for pair in pairs], [pair.unseen for pair in pairs])
    )
    return (
        f"{len(pairs)} pairs: each unseen text has the public one{same} that is nearest in length. Public texts have"
        f" {public:.0f} {words} on average, unseen ones {unseen:.0f}. For completion both of a pair are cut to the"
        " shorter one; for the order they are shown whole. Pairs are matched in nothing else."
    )


_SAMPLING = Sampling(temperature=0, top_p=1, max_tokens=1000)
_LETTERS = "ABCDEFGH"


class Recalled(Struct, frozen=True, omit_defaults=True):
    """The outcome of one question."""

    text: str = ""
    """What the subject wrote as the second half."""
    order: tuple[int, ...] = ()
    """The recalled order, as places in the item; empty if none could be read."""
    asked: Asked = Asked()


async def play(item: RecallItem, session: Session) -> Recalled:
    """Asks for the second half or for the order."""
    return await (_complete(item, session) if item.asked == "completion" else _order(item, session))


def score(item: RecallItem, outcome: Recalled) -> Score:
    """How much of the second half was recalled, or whether the order was."""
    right = {
        "completion": verbatim_share(outcome.text, item.hidden),
        "order": float(outcome.order == tuple(range(len(item.options)))),
    }
    return Score(
        values={item.asked: right[item.asked]} if item.asked in ASKED else {},  # an earlier version asked for answers
        facets={"items": item.origin} | ({"ability": item.ability} if item.ability else {}),
        unreadable=int(outcome.asked.kind is not ReplyKind.ANSWERED),
        replies=count_replies([outcome.asked]),
    )


RECALL: Task[Any, Any] = Task(TASK, RecallItem, Recalled, play=play, score=score, summarise=summarise)
"""The task of an instrument with public items."""


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
