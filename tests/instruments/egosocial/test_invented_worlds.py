import json
from collections import Counter

from sociometer.instruments.egosocial.worlds import WORLDS, invented


def test_there_are_at_least_thirty_worlds_each_with_its_own_custom():
    rows = [json.loads(line) for line in WORLDS.read_text(encoding="utf-8").splitlines()]
    assert len(rows) >= 30
    assert len({row["custom"] for row in rows}) == len({row["story"] for row in rows}) == len(rows)
    assert all(60 <= len(row["story"].split()) <= 180 for row in rows)


def test_right_and_home_answers_stand_everywhere_alike(source):
    scenes = list(invented(source()))
    for place in ("answer", "home"):
        counts = Counter(getattr(scene.tellings[0], place) for scene in scenes)
        assert max(counts.values()) - min(counts.values()) <= 2
    assert all(scene.tellings[0].answer != scene.tellings[0].home for scene in scenes)


def test_length_gives_no_answer_away(source):
    """Picking the longest option must not do clearly better than guessing (one in four)."""
    tellings = [telling for scene in invented(source()) for telling in scene.tellings]
    longest = [max(range(4), key=lambda i: len(t.options[i])) for t in tellings]
    shortest = [min(range(4), key=lambda i: len(t.options[i])) for t in tellings]
    right = [t.answer for t in tellings]
    for rule in (longest, shortest):
        assert sum(a == b for a, b in zip(rule, right, strict=True)) / len(right) < 0.4
