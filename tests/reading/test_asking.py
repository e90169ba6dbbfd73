"""A question whose reply holds no answer is asked about once more; kinds of reply are counted for all forms alike."""

import asyncio

import pytest

from sociometer.core.conversation import Choice, Exchange, Identity, Message, Reply, Request, Sampling, user
from sociometer.core.player import RulePlayer
from sociometer.core.prompts import Prompts
from sociometer.core.reply_kind import Asked, ReplyKind, count_replies, cut_off, cut_off_limit
from sociometer.core.session import DirectReplies, Draw, RoleBinding, Session
from sociometer.core.settings import Settings
from sociometer.instruments import load
from sociometer.reading import ask_choice, render_options, with_room
from sociometer.reading.vote import ChoiceAnswer

CHOICE = Choice(("stay", "go", "ask"))


class Talker(RulePlayer):
    """A subject that says one thing after the other."""

    def __init__(self, *replies: Reply | str) -> None:
        super().__init__(Identity("test", "talker"))
        self.replies = [reply if isinstance(reply, Reply) else Reply(reply) for reply in replies]
        self.requests: list[Request] = []

    async def answer(self, request: Request) -> Reply:
        self.requests.append(request)
        return self.replies.pop(0)


def session(talker: Talker, **options) -> Session:
    bindings = {"subject": RoleBinding(talker, "subject", "subject")}
    prompts: Prompts = load("sesi").prompts()
    return Session(DirectReplies(), bindings, Draw("sesi", "1", "questions", "i"), Settings({}), prompts, **options)


def messages(choice: Choice) -> list[Message]:
    return [user(f"What now?\n{render_options(choice)}")]


def vote(on: Session, **options):
    return asyncio.run(ask_choice(on, messages, CHOICE.options, **options))


def test_a_reply_without_an_answer_is_asked_about_in_the_same_conversation():
    talker = Talker("It depends on many things.", "B")
    found = vote(session(talker))
    assert (found.picked, found.asked) == (1, Asked(ReplyKind.ANSWERED, ReplyKind.UNREADABLE))
    said = [(message.role, message.content) for message in talker.requests[1].messages]
    assert said[1:] == [
        ("assistant", "It depends on many things."),
        ("user", "Which letter is your final answer? Reply with the letter only."),
    ]
    assert found.first.picked is None


def test_it_asks_in_the_language_of_the_item():
    talker = Talker("看情况。", "答案：C")
    assert vote(session(talker), language="zh").picked == 2
    assert talker.requests[1].messages[-1].content == "你的最终答案是哪个字母？只回复字母。"


def test_it_asks_once_only_and_not_where_the_run_has_no_second_question():
    talker = Talker("Hm.", "Hm.", "B")
    assert vote(session(talker)).asked == Asked(ReplyKind.UNREADABLE, ReplyKind.UNREADABLE)
    assert len(talker.requests) == 2
    assert vote(session(Talker("Hm.", "B"), official=True, second_question=True)).picked == 1
    assert vote(session(Talker("Hm.", "B"), second_question=False)).picked is None


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(""), ReplyKind.SILENT),
        (Reply("  \n"), ReplyKind.SILENT),
        (Reply("", finish="content_filter"), ReplyKind.FILTERED),
        (Reply("Let me weigh A against B:", finish="length"), ReplyKind.CUT_OFF),
        (Reply("", finish="length"), ReplyKind.CUT_OFF),
        (Reply("A or B, both are fine."), ReplyKind.TWO_ANSWERS),
        (Reply("I would rather talk about trains."), ReplyKind.UNREADABLE),
        (Reply("", finish="tool_calls"), ReplyKind.UNREADABLE),
        (Reply("B", finish="length"), ReplyKind.ANSWERED),
    ],
)
def test_every_reply_has_a_kind(reply, kind):
    assert vote(session(Talker(reply), second_question=False)).asked.kind is kind


def test_a_cut_off_reply_names_the_limit_that_was_sent():
    on = session(Talker(Reply("Let me weigh", finish="length"), "B"))
    found = vote(on, sampling=Sampling(max_tokens=17))
    assert found.asked.limit == 17
    assert [event.limit for event in on.events if isinstance(event, Exchange)] == [17, 0]


def test_counts_name_first_replies_and_what_the_second_question_brought():
    counts = count_replies(
        [
            Asked(),
            Asked(ReplyKind.ANSWERED, ReplyKind.CUT_OFF, 60),
            Asked(ReplyKind.SILENT, ReplyKind.SILENT),
            Asked(ReplyKind.UNREADABLE),
        ]
    )
    assert counts == {"cut off at 60 tokens": 1, "silent": 1, "unreadable": 1, "asked again": 2, "answered then": 1}
    assert (cut_off(counts), cut_off_limit(counts)) == (1, 60)
    assert count_replies([Asked(), Asked()]) == {}


def test_the_answer_of_the_first_replies_is_decided_anew():
    on = session(Talker("Hm.", "B", "A", "B"))
    votes = tuple(vote(on) for _ in range(3))
    answer = ChoiceAnswer(votes, 1)
    assert answer.first_replies().picked is None  # one vote for A, one for B


def test_own_forms_leave_room_for_reasons_and_official_ones_keep_the_papers_limit():
    paper = Sampling(max_tokens=200)
    assert with_room(session(Talker()), paper).max_tokens == 1000
    assert with_room(session(Talker(), official=True), paper) == paper
    assert with_room(session(Talker()), Sampling(max_tokens=2048)).max_tokens == 2048
