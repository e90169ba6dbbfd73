"""Fidelity of simulators, on dialogues worked by hand and on the released ones."""

import json

import pytest

from sociometer.instruments.sage.dialogue import Dialogue, Judgement, Turn, read_dialogues
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.simulators.fidelity import Told, compare_traits, traits

from .test_commands import OTHER, TALK, cli, imported, released, tables  # noqa: F401


def scenario(name="one"):
    return Scenario(
        id=name, language="en", intention="listening", hidden="wants to be heard", persona="Ola, a baker",
        background="The old oven broke on Monday and the dough was lost.", goal="To tell.",
        first_words="The old oven. Of all days.",
    )  # fmt: skip


def told(*moves, name="one", subject="a"):
    """A dialogue of (the person's words, the change before them)."""
    turns, level = [], 40
    for words, change in moves:
        turns.append(Turn("reply", Judgement("", "", "", "", change, level, level + change), None, words))
        level += change
    return Told(scenario(name), subject, Dialogue("The old oven. Of all days.", 40, tuple(turns), "turns"))


def test_the_traits_of_a_dialogue_by_hand():
    found = traits(told(("The dough was lost.", 10), ("Why me?", 10), ("Is that so?", 10), ("Fine.", -4)))
    assert found["length"] == pytest.approx((4 + 2 + 3 + 1) / 4)
    assert found["questions"] == pytest.approx(1 / 2)
    # the dough, dough was, was lost: three pairs of the background; "old oven" was in the first words
    assert found["disclosure"] == pytest.approx(3 / 4)
    assert found["swing"] == pytest.approx(34 / 4)
    assert found["reversals"] == pytest.approx(1 / 3)
    assert found["pleased"] == 3
    assert found["leaves"] == 0


def test_a_person_that_is_never_pleased_takes_the_whole_dialogue():
    assert traits(told(("No.", -3), ("No.", -3)))["pleased"] == 10


@pytest.mark.parametrize(
    ("words", "leaves"),
    [
        ("As an AI, I do not feel that.", True),
        ("I'm just an assistant, how can I help you?", True),
        ("作为一个AI，我没有感受。", True),
        ("请问有什么可以帮您？", True),
        ("You are only an AI, you cannot know.", False),
        ("你就是个AI，懂什么。", False),
        ("My assistant left on Monday.", False),
        ("I am an assistant baker.", False),
    ],
)
def test_leaving_the_role_is_told_by_what_the_person_says_of_itself(words, leaves):
    assert traits(told((words, 0)))["leaves"] == float(leaves)


def test_a_talkative_simulator_differs_and_a_copy_is_alike():
    plain = [told(("Yes I see that now.", 5), ("No, I do not think so.", -2), name=f"s{n}") for n in range(12)]
    wordy = [
        told((f"{'and then ' * (20 + n)}it broke.", 5), (f"{'so ' * 30}I left.", -2), name=f"s{n}") for n in range(12)
    ]
    same = {each.trait: each.verdict for each in compare_traits(plain, plain)}
    assert set(same.values()) == {"alike"}
    found = {each.trait: each for each in compare_traits(wordy, plain)}
    assert found["length"].verdict == "differs" and found["length"].difference > 20 and found["length"].paired
    assert found["swing"].verdict == "alike"


def test_other_scenarios_are_compared_without_pairs():
    one = [told(("Yes.", 5), ("No no no.", 5), name=f"a{n}") for n in range(5)]
    two = [told((f"Yes{' and' * n}.", 5), ("No.", 5), name=f"b{n}") for n in range(5)]
    assert not next(each for each in compare_traits(one, two) if each.trait == "length").paired


def test_the_command_compares(cli, imported):  # noqa: F811
    first, second, _ = imported
    found = cli("sage", "fidelity", first, "--against", second, "--json")
    shown = {each["trait"]: each for each in tables(found)["traits"]}
    assert shown["swing"]["difference"] != 0
    assert "different simulators" in cli("sage", "fidelity", *imported, code=2)


def test_real_dialogues_without_feelings_are_a_reference_too(cli, imported, tmp_path):  # noqa: F811
    talk = [("user", "最近好累。"), ("assistant", "怎么了？"), ("user", "加班。你呢？"), ("assistant", "我也是。")]
    path = tmp_path / "people.jsonl"
    line = json.dumps({"history": [{"role": role, "content": words} for role, words in talk]}, ensure_ascii=False)
    path.write_text(f"{line}\n{line}\n", encoding="utf-8")
    shown = tables(cli("sage", "fidelity", imported[0], "--against", path, "--json"))["traits"]
    assert {each["trait"] for each in shown} == {"length", "questions", "leaves"}, "feelings are not known"
    assert shown[0]["reference"] == 4
    path.write_text('{"history": [{"role": "assistant", "content": "x"}]}\n')
    assert "must begin with the role 'user'" in cli("sage", "fidelity", imported[0], "--against", path, code=2)
    path.write_text('{"talk": []}\n')
    assert "history" in cli("sage", "fidelity", imported[0], "--against", path, code=2)


def test_another_language_is_no_reference(cli, imported, tmp_path):  # noqa: F811
    path = tmp_path / "people.jsonl"
    talk = [("user", "So tired lately."), ("assistant", "Why?"), ("user", "Overtime.")]
    path.write_text(json.dumps({"history": [{"role": role, "content": words} for role, words in talk]}))
    assert "in a different language" in cli("sage", "fidelity", imported[0], "--against", path, code=2)


def test_the_released_dialogues_are_the_default_reference(cli, imported, official, monkeypatch):  # noqa: F811
    found = cli("sage", "fidelity", imported[0], "--data", official.parent, "--json")
    assert len(tables(found)["traits"]) == 7
    monkeypatch.setenv("SOCIOMETER_DATA", str(official / "profiles"))
    assert "get data sage --dialogues" in cli("sage", "fidelity", imported[0], code=2)


def test_the_released_simulators_differ_as_their_dialogues_do(official):
    def of(folder):
        path = official / folder / "openai-o1_result.jsonl"
        return [Told(scene, "openai-o1", dialogue) for scene, dialogue in read_dialogues(path)]

    found = {each.trait: each for each in compare_traits(of("transcripts-judge-gpt-4o"), of("transcripts"))}
    assert found["length"].verdict == "differs" and found["length"].difference < -5, "GPT-4o's person says less"
    assert found["pleased"].difference < 0, "and is pleased sooner"
    assert found["leaves"].verdict == "alike"
