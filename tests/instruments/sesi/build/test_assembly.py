"""Wrong answers are the least entailed ones, right ones are in every position equally often."""

from random import Random

from sociometer.instruments.sesi import items
from sociometer.instruments.sesi.build.assembly import assemble, least_entailed, official_csv
from sociometer.instruments.sesi.build.draft import Candidate, Draft
from sociometer.instruments.sesi.build.posts import Post, Rejection
from sociometer.reading import read_items

BUNDLED = list(read_items(items.BUNDLED, items.Question))


def test_the_three_least_entailed_candidates_are_chosen():
    candidates = [
        Candidate(t, "reversed", e)
        for t, e in (("a", 0.9), ("b", 0.1), ("c", None), ("d", 0.3), ("b", 0.1), ("e", 0.2), ("R", 0.0))
    ]
    assert [entry.text for entry in least_entailed(candidates, "r", Random(0))] == ["b", "e", "d"]


def test_equally_entailed_candidates_are_drawn_by_seed_and_favour_no_kind():
    kinds = ["switched:empathy", "switched:concern", "switched:influence", "switched:social-cognition", "reversed"]
    candidates = tuple(Candidate(f"answer {n}", kind, 0.2) for n, kind in enumerate([*kinds, "reversed"]))
    draft = Draft("S.", "Q?", "self-presentation", "right", candidates)
    drafts = [(Post(id=f"p{n}", title="", body=""), draft) for n in range(60)]

    def built(seed):
        return assemble(drafts, builder="b", prompts="p", seed=seed)[0]

    reversed_ones = sum(kind == "reversed" for entry in built(0) for kind in entry.item.kinds)
    assert 40 < reversed_ones < 80, "a third of the candidates is reversed, and so should be a third of the drawn"
    assert built(0) == built(0)
    assert built(1) != built(0)


def test_positions_are_balanced_and_failed_drafts_rejected():
    wrong = tuple(Candidate(t, "reversed", 0.1) for t in "xyz")
    good = Draft("S.", "Q?", "empathy", "right", wrong)
    drafts = [(Post(id=f"p{n}", title="", body=""), good) for n in range(8)]
    drafts.append((Post(id="bad", title="", body=""), Draft(problem="ability unreadable")))
    built, rejected = assemble(drafts, builder="b", prompts="p", seed=0)
    assert sorted(entry.item.answer for entry in built) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert all(entry.item.options[entry.item.answer] == "right" for entry in built)
    assert rejected == [Rejection("bad", "ability unreadable")]


def test_built_items_read_back_through_the_official_layout(tmp_path):
    path = tmp_path / "sesi.csv"
    path.write_text(official_csv(BUNDLED), encoding="utf-8")
    again = list(items.read_official(path))
    assert [(q.id, q.ability, q.options, q.answer) for q in again] == [
        (q.id, q.ability, q.options, q.answer) for q in BUNDLED
    ]
