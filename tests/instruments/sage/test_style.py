"""The style of simulated people beside that of people: features, distance, and no text."""

import msgspec
import pytest

from sociometer.instruments.sage.passport.people import PersonAnswer, PersonProbe
from sociometer.instruments.sage.passport.style import compare_style, table

WRITTEN = ("ok", "no idea what to do", "and then?", "thanks", "He left.", "why me?", "hm...", "I slept badly again")


def rows(say):
    found = []
    for number in range(40):
        written = WRITTEN[number % len(WRITTEN)]
        probe = PersonProbe(
            id=f"{number}", cluster=f"p{number}", asks="words", report="stars", study="s", of_talk=f"r/{number}",
            matter="", talk=(("subject", "Hello"),), turn=1, written=written,
        )  # fmt: skip
        found.append((probe, PersonAnswer(words=say(written))))
    return found


def test_one_who_writes_as_people_do_has_no_distance():
    style = compare_style("same", rows(lambda written: written))
    assert style.distance == 0 and style.texts == style.people == 40
    assert style.features["asks something"][:2] == (0.25, 0.25)


def test_a_polite_and_long_one_is_far_from_people_and_a_refusal_is_counted():
    polite = compare_style("polite", rows(lambda _: "Thank you so much for your kind help! " * 5 + "What else?"))
    theirs, mine, interval = polite.features["thanks"]
    assert (theirs, mine) == (0.125, 1.0) and interval.low > 0.5
    assert polite.distance > 2
    refusing = compare_style("refusing", rows(lambda _: "I'm sorry, but I can't assist with that."))
    assert refusing.features["refuses to speak as the person"][1] == 1.0


def test_unreadable_words_are_counted_and_no_text_is_shown():
    found = rows(lambda written: "" if written == "ok" else written)
    style = compare_style("mute", found)
    assert (style.texts, style.unreadable) == (35, 5)
    shown = table([style])
    assert "5 unreadable" in shown.note
    assert not any(text in str(shown.rows) for text in WRITTEN if text != "thanks")
    assert compare_style("none", []) is None


@pytest.mark.parametrize(("text", "asks", "thanks"), [("你有什么建议吗", 1, 0), ("谢谢你", 0, 1), ("就这样", 0, 0)])
def test_chinese_questions_and_thanks_are_read(text, asks, thanks):
    probe, _ = rows(lambda written: written)[0]

    probe = msgspec.structs.replace(probe, language="zh", written=text)
    style = compare_style("zh", [(probe, PersonAnswer(words=text))])
    assert style.features["asks something"][0] == asks and style.features["thanks"][0] == thanks
