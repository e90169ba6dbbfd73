"""Allocations that leave options out, correct themselves, or spell the options in words of their own."""

from __future__ import annotations

import pytest

from sociometer.reading import read_allocation

P = ["Relieved", "Guilty", "Proud", "Confused"]
Q = ["Sorry for him", "Left out", "Satisfied", "Hopeful"]
Z = ["松了口气", "受冷落", "自豪", "担心"]
LIST = "Relieved: 4\nGuilty: 3\nProud: 2\nConfused: 1\n\n"
ELEVEN = "Relieved: 4\nGuilty: 3\nProud: 2\nConfused: 2\n\n"


@pytest.mark.parametrize(
    ("reply", "options"),
    [
        ("Relieved: 4\nGuilty: 3\nProud: 3", P),
        ("Relieved 5, Guilty 5", P),
        ("松了口气：6分\n自豪：4分", Z),
        ("松了口气：4分\n受冷落：3分\n自豪：3分", Z),
    ],
)
def test_an_option_that_is_left_out_did_not_get_zero(reply: str, options: list[str]) -> None:
    assert read_allocation(reply, options).values is None


@pytest.mark.parametrize(
    ("reply", "options", "values"),
    [
        ("Relieved 5, Guilty 5, the other two 0", P, (5, 5, 0, 0)),
        ("Relieved gets 6 and Confused gets 4; nothing for the others.", P, (6, 0, 0, 4)),
        ("Relieved: 6\nProud: 4\nGuilty and Confused: none", P, (6, 0, 4, 0)),
        ("Relieved 6, Confused 4. Guilty and Proud don't fit at all.", P, (6, 0, 0, 4)),
        ("All ten points go to Proud.", P, (0, 0, 10, 0)),
        ("松了口气：6分\n自豪：4分\n其他两项：0分", Z, (6, 0, 4, 0)),
        ("松了口气6分，自豪4分，其余不给分", Z, (6, 0, 4, 0)),
    ],
)
def test_the_rest_is_zero_where_the_reply_says_so(reply: str, options: list[str], values: tuple[float, ...]) -> None:
    assert read_allocation(reply, options).values == values


@pytest.mark.parametrize(
    ("reply", "options", "values"),
    [
        ("Relieved: 4... actually 5, since he slept\nGuilty: 3\nProud: 1\nConfused: 1", P, (5, 3, 1, 1)),
        ("Relieved: 4 - no, 5\nGuilty: 3\nProud: 1\nConfused: 1", P, (5, 3, 1, 1)),
        ("Relieved: 4 (make that 5)\nGuilty: 3\nProud: 1\nConfused: 1", P, (5, 3, 1, 1)),
        ("Relieved: ~~4~~ 5\nGuilty: 3\nProud: 1\nConfused: 1", P, (5, 3, 1, 1)),
        ("Relieved: three, no, four. Guilty: three. Proud: two. Confused: one.", P, (4, 3, 2, 1)),
        ("松了口气：5（不对，这样就11分了，应为4）\n受冷落：3\n自豪：2\n担心：1", Z, (4, 3, 2, 1)),
        ("松了口气：3，不，4\n受冷落：3\n自豪：2\n担心：1", Z, (4, 3, 2, 1)),
    ],
)
def test_a_correction_in_the_line_counts(reply: str, options: list[str], values: tuple[float, ...]) -> None:
    assert read_allocation(reply, options).values == values


@pytest.mark.parametrize(
    ("reply", "values"),
    [
        (ELEVEN + "That is 11, so I'll take one away. I'll take it from Proud, which makes it 1.", (4, 3, 1, 2)),
        (ELEVEN + "That is 11. I'll drop Proud to 1.", (4, 3, 1, 2)),
        (ELEVEN + "Oops, that's 11. Let me subtract 1 from Guilty.", (4, 2, 2, 2)),
        (LIST + "Changing Relieved to 5 and Guilty to 2.", (5, 2, 2, 1)),
        (LIST + "Actually, I'd move one point from Guilty to Proud.", (4, 2, 3, 1)),
        (LIST + "On second thoughts, Relieved should be 5 and Guilty 2.", (5, 2, 2, 1)),
        (LIST + "Hmm, swap Relieved and Guilty.", (3, 4, 2, 1)),
        (LIST + "Actually, I'd swap the first two.", (3, 4, 2, 1)),
        (LIST + "I didn't change anything about Guilty since 3 seems right.", (4, 3, 2, 1)),
        (LIST + "Guilty is lower because he did nothing wrong. It takes 2 to quarrel.", (4, 3, 2, 1)),
        (LIST.replace("\n", ", ") + "No, 5, 3, 1, 1.", (5, 3, 1, 1)),
    ],
)
def test_a_change_behind_the_list_counts(reply: str, values: tuple[float, ...]) -> None:
    assert read_allocation(reply, P).values == values


@pytest.mark.parametrize(
    ("reply", "values"),
    [
        ("松了口气：5\n受冷落：3\n自豪：2\n担心：1\n加起来是11，所以把松了口气改成4。", (4, 3, 2, 1)),
        ("松了口气：5\n受冷落：3\n自豪：2\n担心：1\n\n总分超了1分，从松了口气里扣1分。", (4, 3, 2, 1)),
        ("松了口气：4\n受冷落：3\n自豪：2\n担心：0\n\n还差1分，给担心加1分。", (4, 3, 2, 1)),
        ("松了口气4，受冷落3，自豪2，担心1。再想想，松了口气和受冷落互换。", (3, 4, 2, 1)),
    ],
)
def test_a_change_behind_a_chinese_list_counts(reply: str, values: tuple[float, ...]) -> None:
    assert read_allocation(reply, Z).values == values


@pytest.mark.parametrize(
    ("reply", "options"),
    [
        ("Confusion – 1\nPride – 2\nGuilt – 3\nRelief – 4", P),
        ("Hope: 1\nSatisfaction: 2\nExcluded: 3\nPity: 4", Q),
        ("Hope: 1, Satisfaction: 2, Feeling left out: 3, Sorry for the boy: 4", Q),
        ('{"hope": 1, "satisfaction": 2, "left_out": 3, "sorry": 4}', Q),
        ("松口气：4\n冷落：3\n自豪：2\n担心：1", Z),
        ("担忧1 / 骄傲2 / 被冷落3 / 松了一口气4", Z),
        ("担忧 1\n自豪感 2\n受到冷落 3\n松口气 4", Z),
        ("擔心：1\n自豪：2\n受冷落：3\n鬆了口氣：4", Z),
        ("Worried: 1\nProud: 2\nNeglected: 3\nRelieved: 4", Z),
        ("思念：3；替她开心：4；内疚：2；轻松：1", ["替她高兴", "想念", "愧疚", "如释重负"]),
    ],
)
def test_names_in_other_words_are_matched_all_at_once(reply: str, options: list[str]) -> None:
    assert read_allocation(reply, options).values == (4, 3, 2, 1)


@pytest.mark.parametrize(
    ("reply", "options"),
    [
        ("Anger: 4\nLeft out: 3\nSatisfied: 2\nHopeful: 1", Q),
        ("Joy 4, Fear 3, Anger 2, Pride 1", Q),
        ("愤怒：4\n想念：3\n愧疚：2\n如释重负：1", ["替她高兴", "想念", "愧疚", "如释重负"]),
        ("Sadness: 4\nSorrow: 3\nCalm: 2\nHope: 1", ["Sad", "Angry", "Calm", "Hopeful"]),
    ],
)
def test_a_word_for_another_feeling_names_no_option(reply: str, options: list[str]) -> None:
    assert read_allocation(reply, options).values is None


def test_a_number_that_is_ruled_out_does_not_count() -> None:
    assert read_allocation("Relieved: 4, not 5\nGuilty: 3\nProud: 2\nConfused: 1", P).values == (4, 3, 2, 1)
