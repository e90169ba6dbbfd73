import re

import pytest

from sociometer.instruments.egosocial.tombench.release import (
    TomBenchQuestion,
    Wording,
    names_in,
    naming,
    read_folder,
    role_of,
)


def question(story, asked, chinese=("", ""), aspects=()):
    return TomBenchQuestion(
        "x", "x", "test", "belief", aspects, Wording(story, asked, ("a", "b")), Wording(*chinese, ("甲", "乙")), 0
    )


def test_you_are_the_first_person_of_the_story_whom_the_question_names():
    role = role_of(
        question("Meifen waits. After lunch Mr. Tran calls Oto Berg.", "Why does Oto Berg call Mr. Tran?"), "en"
    )
    assert role.ego == "Oto Berg"
    assert "Mr. Tran" in role.others
    assert (role.order, role.measures) == (1, "socialization")


@pytest.mark.parametrize("asked", ["Where does Oto think Meifen looks?", "Does Oto know that Meifen is sad?"])
def test_a_verb_of_the_mind_that_runs_into_somebody_else_makes_a_higher_order(asked):
    role = role_of(question("Oto and Meifen hide a ball.", asked), "en")
    assert (role.ego, role.order, role.measures) == ("Oto", 2, "theory of mind")


def test_both_spellings_of_a_name_are_one_person():
    role = role_of(question("Xiao Min and Xiaogang hide a ball. Xiaomin leaves.", "Where does Xiao Gang look?"), "en")
    assert (role.ego, role.others) == ("Xiaogang", ("Xiao Min",))


def test_a_feeling_about_an_event_with_somebody_else_is_first_order():
    role = role_of(question("Oto and Meifen race.", "How does Oto feel when he hears of Meifen's prize?"), "en")
    assert role.order == 1


def test_the_release_may_call_a_question_second_order():
    role = role_of(question("Oto leaves.", "Where is the ball for Oto?", aspects=("second-order beliefs",)), "en")
    assert role.order == 2


@pytest.mark.parametrize(
    ("asked", "ego", "order"),
    [
        ("After Oto returns to the shed, where does Meifen look for the ball?", "Meifen", 1),
        ("After Oto returns to the shed, where does Meifen think Oto looks for the ball?", "Meifen", 2),
        ("After Oto returns to the shed, where does Oto think Meifen looks for the ball?", "Oto", 2),
        ("Facing Oto's invitation, what does Meifen most likely choose?", "Meifen", 1),
        ("Before Oto counts, how many balls does he guess there are?", "Oto", 1),
        ("Oto should be glad, but why does Meifen see him cry?", "Oto", 1),
    ],
)
def test_you_are_looked_for_in_the_main_clause(asked, ego, order):
    role = role_of(question("Oto and Meifen hide a ball.", asked), "en")
    assert (role.ego, role.order) == (ego, order)


@pytest.mark.parametrize(
    ("asked", "ego", "order"),
    [
        ("在李雷返回院子之后, 韩梅梅会在哪里寻找风筝？", "韩梅梅", 1),
        ("在李雷返回院子之后，韩梅梅认为李雷会在哪里寻找风筝？", "韩梅梅", 2),
        ("李雷打开盒子之后，悠悠期望在盒子里面找到什么？", "悠悠", 1),
        ("当李雷说这句话时，他真正想说的是什么？", "李雷", 1),
        ("为什么李雷看到悠悠时，会提醒韩梅梅？", "李雷", 1),
    ],
)
def test_you_are_looked_for_in_the_chinese_main_clause(asked, ego, order):
    story = "韩梅梅和李雷在院子里放风筝，悠悠看见李雷走了，韩梅梅留下。"
    role = role_of(question("", "", (story, asked)), "zh")
    assert (role.ego, role.order) == (ego, order)


def test_in_every_official_false_belief_you_are_the_outermost_mind(official):
    seen = 0
    for asked in read_folder(official / "tombench"):
        if asked.test == "False Belief Task" and (ego := role_of(asked, "en").ego):
            seen += 1
            after_the_verb = re.split(r"\b(?:where|what) does ", asked.english.question, flags=re.IGNORECASE)[1]
            assert naming(ego, "en").match(after_the_verb)
    assert seen == 394


def test_a_question_that_names_nobody_has_no_you():
    assert role_of(question("Oto leaves.", "What is in the box?"), "en").ego == ""


def test_chinese_names_are_found_with_their_whole_length():
    story = "韩梅梅和李雷在院子里，韩梅梅看见李雷走了。"
    assert names_in(story, "zh") == ("韩梅梅", "李雷")
    role = role_of(question("", "", (story, "李雷觉得韩梅梅会去哪里？")), "zh")
    assert (role.ego, role.order) == ("李雷", 2)


def test_words_that_only_look_like_names_are_none():
    assert names_in("After lunch, However, Monday came.", "en") == ()
    assert names_in("胡萝卜在篮子里，胡萝卜不见了，高兴，高兴。", "zh") == ()


def test_a_chinese_name_without_a_known_surname_is_found_where_the_question_opens_with_it():
    assert role_of(question("", "", ("琪琪把风筝借给了表妹。", "琪琪会有怎样的心情？")), "zh").ego == "琪琪"
    assert role_of(question("", "", ("Otto把风筝借给了表妹。", "当Otto说这句话时，他想说什么？")), "zh").ego == "Otto"
    assert role_of(question("", "", ("篮子里面有风筝。", "篮子里面会有什么？")), "zh").ego == ""


def test_how_many_official_items_name_somebody(official):
    questions = list(read_folder(official / "tombench"))
    unnamed = {language: sum(not role_of(q, language).ego for q in questions) for language in ("en", "zh")}
    assert unnamed == {"en": 710, "zh": 787}
