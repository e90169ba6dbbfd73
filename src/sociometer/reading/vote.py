"""A multiple-choice question asked once or in several option orders, and the option that the replies add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from string import ascii_uppercase

from msgspec import Struct, structs

from sociometer.core.conversation import SUBJECT, Choice, Message, Reply, Sampling
from sociometer.core.reply_kind import Asked, ReplyKind, count_replies
from sociometer.core.session import Session
from sociometer.core.task import Score
from sociometer.reading.asking import Reading, ask, shared_prompt
from sociometer.reading.choice import read_choice
from sociometer.reading.order import arrange, unshuffled


def majority(picks: Iterable[int | None]) -> int | None:
    """Return the option with most votes, None on a tie; unreadable votes (None) do not count."""
    counts = Counter(pick for pick in picks if pick is not None).most_common(2)
    if not counts or (len(counts) == 2 and counts[0][1] == counts[1][1]):
        return None
    return counts[0][0]


def most_votes(picks: Iterable[int | None]) -> int | None:
    """Return the option with most votes, on a tie the one that was voted for first; None without a readable vote."""
    counts = Counter(pick for pick in picks if pick is not None).most_common(1)
    return counts[0][0] if counts else None


class Vote(Struct, frozen=True, omit_defaults=True):
    """One reply to a choice: the option order it was shown, the option it picked (None: unreadable) and the rule."""

    order: tuple[int, ...]
    """Entry i is the original index of the option shown at place i."""
    picked: int | None
    rule: str
    """The rule that read the reply, or why none could."""
    asked: Asked = Asked()

    @property
    def how(self) -> Asked:
        """How the vote was obtained; of a vote stored before kinds were, only whether it could be read."""
        old = self.picked is None and self.asked.kind is ReplyKind.ANSWERED
        return Asked(ReplyKind.UNREADABLE) if old else self.asked

    @property
    def first(self) -> Vote:
        """The vote without what a second question brought."""
        return structs.replace(self, picked=None) if self.asked.again else self

    @property
    def position(self) -> int | None:
        """The place, from zero, at which the picked option was shown."""
        return None if self.picked is None else self.order.index(self.picked)


class ChoiceAnswer(Struct, frozen=True):
    """The outcome of a multiple-choice item: one vote for each order, and the option they add up to (None: none)."""

    votes: tuple[Vote, ...]
    picked: int | None

    @property
    def tied(self) -> bool:
        """Whether some votes could be read, but no option won."""
        return self.picked is None and any(vote.picked is not None for vote in self.votes)

    @property
    def unreadable(self) -> int:
        return sum(vote.picked is None for vote in self.votes)

    def letters(self, option: int) -> str:
        """The letters that an option had in the orders it was shown in: `B`, or `B, D`."""
        places = (vote.order.index(option) for vote in self.votes if option in vote.order)
        return ", ".join(dict.fromkeys(ascii_uppercase[place] for place in places))

    def first_replies(self, decide: Callable[[Iterable[int | None]], int | None] = majority) -> ChoiceAnswer:
        """The answer without what second questions brought."""
        votes = tuple(vote.first for vote in self.votes)
        return ChoiceAnswer(votes, decide(vote.picked for vote in votes))


async def ask_choice(
    session: Session,
    messages: Callable[[Choice], Sequence[Message]],
    options: Sequence[str],
    *,
    order: Sequence[int] | None = None,
    key: int | None = None,
    role: str = SUBJECT,
    sampling: Sampling | None = None,
    language: str = "en",
    **noted: str,
) -> Vote:
    """Ask a choice once, in one order of its options, and return the vote that its reply is read as.

    `messages` gives the messages for the options as they are shown; it usually renders a prompt with
    `render_options(choice)`. `order` and `key` use the original indexes of `options`; without `order` the options are
    shown as they are. A reply without an answer is asked about once more, in `language`. `noted` are facts for the
    transcript, beside the rule that read the reply.
    """
    order = unshuffled(len(options)) if order is None else tuple(order)
    choice = Choice(arrange(options, order), key=None if key is None else order.index(key))
    answer = await ask(
        session,
        role,
        messages(choice),
        choice,
        lambda reply: choice_reading(reply, choice, language),
        lambda reading: shared_prompt(session, "again-choice", language),
        sampling=sampling,
        facts=noted,
    )
    return Vote(order, None if answer.value is None else order[answer.value], answer.rule, answer.asked)


def choice_reading(reply: Reply, choice: Choice, language: str = "en") -> Reading[int]:
    """Return the place of the option that a reply chose."""
    reading = read_choice(reply.text, choice.options, choice.labels, finish=reply.finish, language=language)
    kind = ReplyKind.TWO_ANSWERS if reading.rule == "two answers" else ReplyKind.UNREADABLE
    return Reading(reading.index, reading.rule, kind=kind)


def answer_line(session: Session, language: str = "en", **values: object) -> str:
    """Return how the answer is to be given: by a letter for official items, elsewhere in a marked last line."""
    return shared_prompt(session, "answer-letter" if session.official else "answer-line", language, **values)


async def ask_votes(
    session: Session,
    messages: Callable[[Choice], Sequence[Message]],
    options: Sequence[str],
    orders: Iterable[Sequence[int]],
    *,
    key: int | None = None,
    sampling: Sampling | None = None,
    language: str = "en",
    decide: Callable[[Iterable[int | None]], int | None] = majority,
) -> ChoiceAnswer:
    """Ask a choice once in each order, one after the other, and let `decide` make one pick of the votes."""
    votes = [
        await ask_choice(session, messages, options, order=order, key=key, sampling=sampling, language=language)
        for order in orders
    ]
    return ChoiceAnswer(tuple(votes), decide(vote.picked for vote in votes))


def check_key(key: int, options: Sequence[str]) -> None:
    """Raise ValueError where the right answer is not the index of an option; for an item's `__post_init__`."""
    if not 0 <= key < len(options):
        raise ValueError(f"answer {key} is not an option; allowed: 0 to {len(options) - 1}")


def vote_counts(votes: Iterable[Vote]) -> dict[str, int]:
    """Return the counts of replies for a score."""
    return count_replies(vote.how for vote in votes)


def score_choice(answer: ChoiceAnswer, key: int, **facets: str) -> Score:
    """Return `correct` as 1 or 0; a tie or an unreadable answer is wrong, and every unreadable reply is counted."""
    return Score(
        values={"correct": float(answer.picked == key)},
        facets=facets,
        unreadable=answer.unreadable,
        replies=vote_counts(answer.votes),
    )
