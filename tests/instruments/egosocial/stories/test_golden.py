"""First-person conversions pinned: 60 of ours as text, 200 of ToMi's as hashes (its text is not ours to ship).

Ours are told in English (48) and in Chinese (12).
Written anew by `python tests/instruments/egosocial/stories/test_golden.py`, so that any change is a readable diff.
"""

import hashlib
import os
from pathlib import Path

from sociometer.instruments.egosocial.stories.scenes import generated_scenes
from sociometer.instruments.egosocial.tomi import read_archive, tomi_scenes
from tests.instruments.egosocial.stories.names import names_left

GOLDEN = Path(__file__).parent / "golden"
COUNT = 200
OURS = 60


def written(scene):
    telling = scene.tellings[1]
    options = " | ".join(f"{'*' if n == telling.answer else ''}{o}" for n, o in enumerate(telling.options))
    head = f"# {scene.id}  you = {scene.ego}  measures {scene.facets['measures']}"
    return f"{head}\n{telling.story}\n? {telling.question}\n= {options}\n"


def ours():
    return [written(scene) for scene in (*generated_scenes(0, 8), *generated_scenes(0, 2, "zh"))]


def theirs(scenes):
    chosen = scenes[:: len(scenes) // COUNT][:COUNT]
    return [f"{scene.id} {hashlib.sha256(written(scene).encode()).hexdigest()}" for scene in chosen]


def test_conversions_of_ours_stand_as_pinned():
    pinned = (GOLDEN / "generated.txt").read_text(encoding="utf-8")
    assert pinned.count("# generated-") == OURS
    assert "\n".join(ours()) == pinned


def test_two_hundred_official_conversions_stand_as_pinned(official_scenes):
    pinned = (GOLDEN / "tomi.sha256").read_text(encoding="utf-8").splitlines()
    assert len(pinned) == COUNT
    assert theirs(official_scenes) == pinned


def test_no_official_conversion_keeps_the_name_and_every_answer_is_kept(official_scenes):
    names = set()
    for scene in official_scenes:
        third, first = scene.tellings
        names.add(scene.ego)
        assert not names_left(f"{first.story}\n{first.question}", scene.ego)
        assert names_left(f"{third.story}\n{third.question}", scene.ego)
        assert (third.options, third.answer, third.official) == (first.options, first.answer, first.official)
        assert len(third.story.splitlines()) == len(first.story.splitlines())
        others = {word for word in third.story.replace("\n", " ").split() if word.istitle()} - {scene.ego, "The"}
        assert all(first.story.count(name) == third.story.count(name) for name in others)
    assert len(names) == 30


def test_no_conversion_of_ours_keeps_the_name_or_breaks_the_grammar():
    for scene in generated_scenes(3, 12):
        text = f"{scene.tellings[1].story}\n{scene.tellings[1].question}"
        assert not names_left(text, scene.ego)
        for wrong in ("you thinks", "you searches", "does you", "You likes", "You hates", "you was", "You was", "{"):
            assert wrong not in text


if __name__ == "__main__":
    (GOLDEN / "generated.txt").write_text("\n".join(ours()), encoding="utf-8")
    archive = read_archive(Path(os.environ["SOCIOMETER_DATA"]) / "tomi" / "tomi_balanced_story_types.zip")
    hashes = theirs(list(tomi_scenes(archive, "all")))
    (GOLDEN / "tomi.sha256").write_text("\n".join(hashes) + "\n", encoding="utf-8")
