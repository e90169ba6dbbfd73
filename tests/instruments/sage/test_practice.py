"""Practice talks as a test: agreed where the person is right, and where they are wrong."""

import json

import pytest

import sociometer as sm
from fake_runs import summarised_run
from sociometer.core.task import items_digest
from sociometer.instruments.sage.figures import figures
from sociometer.instruments.sage.practice import drawn


def scripted(path, *lines):
    rows = [{"match": match, "reply": reply if isinstance(reply, str) else json.dumps(reply)} for match, reply in lines]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return f"scripted/{path}"


@pytest.mark.parametrize(
    ("language", "digest"), [("en", "cbb66fe408b0dff5688865e1985fdf9c"), ("zh", "73d51d97ffa1fe22fc0dbb45699e39f8")]
)
def test_the_talks_of_a_seed_do_not_change_when_kinds_of_fact_are_added(language, digest):
    talks = [drawn(1_000_000, number, language) for number in range(300)]
    assert items_digest({talk.id: talk.content_digest() for talk in talks}) == digest


@pytest.mark.parametrize("reader", ["yes", "unclear"])
def test_who_always_says_the_same_discerns_nothing(tmp_path, reader):
    felt = {"said": "a", "serves": "b", "activity": "c", "feeling": "d", "change": 3}
    simulator = scripted(
        tmp_path / "person.jsonl", ("unclear", {"answer": reader}), ("change", felt),
        (".", dict.fromkeys(("attitude", "aim", "tone", "content", "words"), "x")),
    )  # fmt: skip
    subject = scripted(tmp_path / "subject.jsonl", (".", "You are right."))
    run = sm.run(
        "sage", model=subject, tasks=["practice"], roles={"simulator": simulator}, store=tmp_path / "s.db",
        settings={"turns": 1, "talks": 24},
    )  # fmt: skip
    summary = run.summary("practice")
    found = summary.measure("discernment")
    assert (found.value, found.items) == (0.0, 4)
    shares = {measure.group.get("fact"): measure.value for measure in summary.measures if measure.name == "agreed"}
    agreed = float(reader == "yes")
    assert shares == {None: agreed, "person right": agreed, "person wrong": agreed}
    (drawn,) = figures([summarised_run("r", "practice", "subject", {}, summary)])
    assert [(row["group"], row["y"]) for row in drawn.chart["data"]["values"]] == [
        ("person right", agreed), ("person wrong", 0.0),
    ]  # fmt: skip
