import asyncio
import json

import pytest

from rehearsal import Rehearsal
from sociometer.core.conversation import Identity, Reply
from sociometer.core.errors import DataError
from sociometer.core.player import RulePlayer
from sociometer.instruments import load
from sociometer.instruments.egosocial.tombench.convert import failures, read_conversions
from sociometer.instruments.egosocial.tombench.release import Order, Wording, naming, orders, read_folder

THIRD = Wording(
    "Oto gives Meifen 3 plums. Meifen thanks Oto, and he blushes.",
    "Why does Oto blush?",
    ("Oto is fond of Meifen", "The plums are sour", "He is hot", "Meifen scolds Oto"),
)
FIRST = Wording(
    "You give Meifen 3 plums. Meifen thanks you, and you blush.",
    "Why do you blush?",
    ("I am fond of Meifen", "The plums are sour", "I am hot", "Meifen scolds me"),
)
ORDER = Order(
    id="x", language="en", ego="Oto", order=1, measures="socialization", others=("Meifen",), third=THIRD, answer=0
)


def changed(**fields):
    return Wording(**{"story": FIRST.story, "question": FIRST.question, "options": FIRST.options, **fields})


def test_a_good_conversion_passes_every_check():
    assert list(failures(ORDER, FIRST)) == []


@pytest.mark.parametrize(
    ("first", "failed"),
    [
        (changed(question="Why does Oto blush?"), "name still there"),
        (changed(story=FIRST.story.replace("Meifen thanks", "She thanks")), "story: words changed"),
        (changed(options=FIRST.options[:3]), "number of options"),
        (changed(options=(*FIRST.options[:3], FIRST.options[2])), "options alike"),
        (changed(options=(FIRST.options[3], *FIRST.options[1:3], FIRST.options[0])), "options moved"),
        (
            changed(options=(FIRST.options[0], "The plums are rotten", *FIRST.options[2:])),
            "option: words changed",
        ),
        (changed(story=FIRST.story.replace("3", "4")), "story: words changed"),
        (changed(story=FIRST.story * 20), "story shortened or padded"),
        (
            changed(story="I give Meifen 3 plums. Meifen thanks me, and I blush.", question="Why blush?"),
            "nobody is you",
        ),
        (changed(options=("You are fond of Meifen", *FIRST.options[1:])), "option does not say I"),
        (changed(options=(*FIRST.options[:3], "Meifen scolds you")), "option does not say I"),
        (changed(options=("Fond of Meifen", *FIRST.options[1:])), "option does not say I"),
        (changed(story=FIRST.story.replace("You give", "You gives")), "verb left in the third person"),
        (changed(options=("I is fond of Meifen", *FIRST.options[1:])), "verb left in the third person"),
        (changed(question="Why does you blush?"), "verb left in the third person"),
        (changed(question="Does you blush?"), "verb left in the third person"),
        (changed(question="Why do you's cheeks redden?"), "verb left in the third person"),
    ],
)
def test_each_fault_is_found_and_named(first, failed):
    assert failed in list(failures(ORDER, first))


def test_a_name_that_is_part_of_yours_is_not_held_against_the_conversion():
    order = Order(
        id="x", language="en", ego="Oto Berg", order=1, measures="", others=("Berg", "Meifen"), answer=0,
        third=Wording("Oto Berg waves to Meifen.", "Why does Oto Berg wave?", ("a", "b")),
    )  # fmt: skip
    assert list(failures(order, Wording("You wave to Meifen.", "Why do you wave?", ("a", "b")))) == []


def test_chinese_conversions_are_checked_too():
    third = Wording("小欧给梅芬三个李子，梅芬谢谢小欧。", "小欧为什么脸红？", ("小欧喜欢梅芬", "李子很酸"))
    order = Order(id="x", language="zh", ego="小欧", order=1, measures="", others=("梅芬",), third=third, answer=0)
    good = Wording("你给梅芬三个李子，梅芬谢谢你。", "你为什么脸红？", ("我喜欢梅芬", "李子很酸"))
    assert list(failures(order, good)) == []
    assert "name still there" in list(failures(order, third))
    assert "option does not say I" in list(
        failures(order, Wording(good.story, good.question, ("你喜欢梅芬", "李子很酸")))
    )


def replaced(order, you, i):
    name = naming(order.ego, order.language)
    third = order.third
    options = tuple(name.sub(i, option) for option in third.options)
    return Wording(name.sub(you, third.story), name.sub(you, third.question), options)


@pytest.mark.slow
@pytest.mark.parametrize(("i", "most"), [("you", 7), ("I", 18)])
def test_putting_a_pronoun_for_the_name_is_no_conversion_of_an_official_item(official, i, most):
    wanted = list(orders(read_folder(official / "tombench"), "en"))
    assert len(wanted) == 2150
    assert sum(not list(failures(order, replaced(order, "you", i))) for order in wanted) <= most


def test_in_chinese_it_is_one_only_where_the_name_stands_in_no_option(official):
    for order in orders(read_folder(official / "tombench"), "zh"):
        if any(order.ego in option for option in order.third.options):
            assert list(failures(order, replaced(order, "你", "你")))


class Builder(RulePlayer):
    identity = Identity("test", "builder")

    def __init__(self, text):
        self.text = text
        self.seen = []

    async def answer(self, request):
        self.seen.append(request)
        return Reply(self.text)


def play(text):
    builder = Builder(text)
    show = Rehearsal(load("egosocial"), {"builder": builder})
    return builder, asyncio.run(show.play("convert", ORDER)).episode


def test_the_builder_is_told_who_becomes_you_and_its_reply_is_read():
    reply = {"story": FIRST.story, "question": FIRST.question, "options": FIRST.options}
    builder, episode = play(f"Here it is:\n```json\n{json.dumps(reply)}\n```")
    prompt = builder.seen[0].messages[0].content
    assert "told to Oto" in prompt
    assert THIRD.story in prompt
    assert "{" not in prompt
    assert builder.seen[0].role == "builder"
    assert episode.outcome.first == FIRST
    assert episode.score.values == {"passed": 1.0}


@pytest.mark.parametrize("text", ["", "I cannot.", '{"story": "x"}'])
def test_an_unreadable_reply_is_an_outcome_that_fails(text):
    _, episode = play(text)
    assert episode.outcome.first is None
    assert episode.score.values == {"passed": 0.0}
    assert episode.score.unreadable == 1


def test_a_bad_line_of_conversions_is_refused(tmp_path):
    (tmp_path / "c.jsonl").write_text('{"id": "x"}\n')
    with pytest.raises(DataError, match=r"c\.jsonl:1"):
        read_conversions(tmp_path / "c.jsonl")
