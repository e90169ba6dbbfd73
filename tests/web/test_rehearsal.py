"""A whole study over HTTP, with every number of it worked out again from the forms that were sent."""

import csv
import random
import re
import stat
from collections import defaultdict

import pytest
from open_study import OpenStudy
from person import Form, plain
from scipy.stats import norm, t

import sociometer as sm
from sociometer.cli.main import run_command

ITEMS, COUNT = 12, 10


class Taker:
    """A participant who notes what they choose; the options are read off the page."""

    def __init__(self, opened, seed, skill, attentive=True):
        self.person = opened.person().join(**{"about-0": f"age-{seed}-of-{seed + 100}"})
        self.lots, self.skill, self.attentive, self.chosen = random.Random(seed), skill, attentive, {}

    def take(self, keys, most=ITEMS):
        while len(self.chosen) < most or most == ITEMS:
            text = self.person.page().text
            if 'action="/check"' in text:
                form, named = Form(text, "/check"), re.search("choose “([^”]+)”", plain(text)).group(1)
                others = [one for one in form.radios["answer"] if one != named]
                said = named if self.attentive else others[0]
                assert self.person.post("/check", {**form.hidden, "answer": said}).status == 303
                continue
            shown, form = plain(text), Form(text, "/take")
            if not form.hidden:
                break
            (item,) = [one for one in keys.values() if one.situation in shown and one.question in shown]
            letters = {option: letter for letter, option in _options(text)}
            wrong = [place for place in range(len(item.options)) if place != item.answer]
            place = item.answer if self.lots.random() < self.skill else self.lots.choice(wrong)
            self.chosen[item.id] = place
            fields = {**form.hidden, "answer": letters[item.options[place]]}
            assert self.person.post("/take", fields).status == 303
        return self

    def withdraw(self):
        assert self.person.withdraw().status == 200


def _options(text):
    found = re.findall(r'<input type="radio" name="answer" value="(\w)"[^>]*> <span[^>]*>(.*?)</span>', text)
    return [(letter, plain(option)) for letter, option in found]


def two_way_interval(right, share=0.95):
    """The interval over people and stories, written from the formula: right[person][item] is 0 or 1."""
    people, items = list(right), list(next(iter(right.values())))
    count = len(people) * len(items)
    mean = sum(right[who][item] for who in people for item in items) / count
    moved = {(who, item): (right[who][item] - mean) / count for who in people for item in items}
    by_person, by_story = defaultdict(float), defaultdict(float)
    for (who, item), value in moved.items():
        by_person[who] += value
        by_story[item[:-1]] += value  # twins share a story
    spread = [len(sums) / (len(sums) - 1) * sum(value**2 for value in sums.values()) for sums in (by_story, by_person)]
    variance = max(spread[0] + max(0.0, spread[1] - sum(value**2 for value in moved.values())), spread[1])
    z = norm.ppf(0.5 + share / 2)
    size = mean * (1 - mean) / variance * (z / t.ppf(0.5 + share / 2, min(len(by_person), len(by_story)) - 1)) ** 2
    centre = (mean + z * z / 2 / size) / (1 + z * z / size)
    half = z / (1 + z * z / size) * (mean * (1 - mean) / size + z * z / 4 / size**2) ** 0.5
    return mean, centre - half, centre + half


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory):
    """Ten people who count, two who leave, one who does not read, one who stops half-way; and a model."""
    path = tmp_path_factory.mktemp("rehearsal") / "s.db"
    options = ("sesi", "--limit", str(ITEMS), "--ask", "age", "--attention", "2", "--order", "random")
    options += ("--fastest", "0", "--exclude-flagged")
    with OpenStudy(path, *options) as opened:
        model = sm.run("sesi", "baseline/random", limit=ITEMS, settings={"orders": 1}, store=path)
        keys = {episode.item.id: episode.item for episode in model.episodes()}
        takers = [Taker(opened, seed, 0.3 + seed / 20) for seed in range(COUNT)]
        leaver, early, careless, slow = (Taker(opened, seed, 0.5, seed != 12) for seed in range(COUNT, COUNT + 4))
        for one in (*takers, leaver, careless):
            one.take(keys)
        early.take(keys, 4)
        slow.take(keys, 6)
        leaver.withdraw()
        early.withdraw()
        page = plain(opened.owner().get("/owner").text)
    return path, model, keys, takers, careless, slow, page


def test_every_number_of_a_study_follows_from_the_forms(rehearsed):
    path, model, keys, takers, *_, page = rehearsed
    right = {
        place: {item: float(said == keys[item].answer) for item, said in one.chosen.items()}
        for place, one in enumerate(takers)
    }
    people = sm.get_run("spring", store=path)
    assert people.subject == f"people (spring, n = {COUNT}, 2 excluded)" and people.people == COUNT
    accuracy = people.summary().measure("accuracy")
    mean, low, high = two_way_interval(right)
    assert accuracy.value == pytest.approx(mean) and accuracy.items == ITEMS
    assert (accuracy.interval.low, accuracy.interval.high) == pytest.approx((low, high), abs=1e-6)
    own = {episode.item.id: episode.score.values["correct"] for episode in model.episodes()}
    (compared,) = sm.compare(model, "spring", store=path)
    row = next(one for one in compared.measures if one.primary and not one.group)
    assert row.paired.difference == pytest.approx(mean - sum(own.values()) / ITEMS)
    beaten = [sum(own.values()) - sum(mine.values()) for mine in right.values()]
    ahead = sum(1.0 if one > 0 else 0.5 if one == 0 else 0.0 for one in beaten)
    assert any(f"better than {ahead:g} of {COUNT} people" in note for note in compared.notes), compared.notes
    # The one who stopped half-way might still come back.
    assert "excluded 1" in page and "withdrawn 2" in page and f"participants {COUNT + 2} have started" in page


def test_the_export_has_every_choice_and_only_its_owner_can_read_it(rehearsed, tmp_path):
    path, _, keys, takers, careless, slow, _ = rehearsed
    folder = tmp_path / "s"
    assert run_command(["study", "export", "spring", "--to", str(folder), "--store", str(path)]) == 0
    to = folder / "sesi_questions.csv"
    assert stat.S_IMODE(to.stat().st_mode) == 0o600
    found = defaultdict(dict)
    for row in csv.DictReader(to.read_text().splitlines()):
        found[row["about_age"]][row["item"]] = float(row["score_correct"])
        assert bool(row["excluded"]) == (row["about_age"] in ("age-12-of-112", "age-13-of-113"))
        assert "code" not in row
    said = {
        f"age-{seed}-of-{seed + 100}": {item: float(place == keys[item].answer) for item, place in one.chosen.items()}
        for seed, one in [*enumerate(takers), (12, careless), (13, slow)]
    }
    assert found == said
    one = sm.get_run("spring", store=path)
    alone = tmp_path / "one.jsonl"
    assert run_command(["export", next(iter(one._members)).id, "--to", str(alone), "--store", str(path)]) == 0
    assert stat.S_IMODE(alone.stat().st_mode) == 0o600


def test_nothing_of_those_who_left_is_in_any_file(rehearsed):
    path = rehearsed[0]
    bodies = {one: one.read_bytes() for one in path.parent.rglob("*") if one.is_file()}
    assert any(b"age-3-of-103" in body for body in bodies.values())
    for name, body in bodies.items():
        assert b"age-10-of-110" not in body and b"age-11-of-111" not in body, name
