"""What a draft is held to, part by part, and how a builder's faults are sent back to it."""

import asyncio

import msgspec
import pytest

from rehearsal import Rehearsal
from sociometer.core.conversation import Identity, Reply
from sociometer.core.player import RulePlayer
from sociometer.core.prompts import Prompts
from sociometer.instruments import FOLDER, load
from sociometer.instruments.socialeval.build import (
    STAGES,
    Brief,
    BuildPart,
    Characters,
    Dialogue,
    Draft,
    DraftChoice,
    DraftNode,
    Exchange,
    Line,
    Scene,
    Skeleton,
    Translated,
    Utterances,
    inputs_of,
    missing_parts,
    parts_of,
    problems,
    schema_of,
    texts_of,
)
from sociometer.instruments.socialeval.worldtree import Person

BRIEF = Brief("last-ferry", "cooperation", "a pier", "both get home", ("teamwork skill",))
PEOPLE = Characters((Person("Ida", "rows", "has a key", "get home"), Person("Tom", "waits", "is late", "get home")))


def skeleton(goals=(0, 1, 0, 0, 1, 2), **changed):
    """Five episodes in a row, each with a way on and a way out; the last way on leads to the last ending."""
    nodes = [
        DraftNode(
            number,
            f"episode {number}",
            (
                DraftChoice(number + 1 if number < 4 else 15, "teamwork skill", "on"),
                DraftChoice(changed.get("out", 10 + number), changed.get("ability", "capacity for trust"), "out"),
            ),
        )
        for number in range(changed.get("episodes", 5))
    ]
    return Skeleton((*nodes, *(DraftNode(10 + i, f"end {i}", goal=goal) for i, goal in enumerate(goals))))


@pytest.fixture
def draft():
    whole = Draft(BRIEF, PEOPLE, Scene("A pier."), skeleton())
    said = Dialogue((Line("", "Rain."), Line("Tom", "What now?")))
    return msgspec.structs.replace(
        whole,
        dialogue=dict.fromkeys(parts_of("dialogue", whole), said),
        choices={key: Utterances(("Row!", "Wait.")) for key in parts_of("choices", whole)},
        distractors={key: Exchange("Which?", ("a", "b", "c")) for key in parts_of("distractors", whole)},
    )


BEGUN = Draft(BRIEF, PEOPLE)


def found(part, draft=BEGUN):
    return problems("skeleton", "all", part, draft)


def test_a_sound_skeleton_may_stand():
    assert found(skeleton()) == []


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        (skeleton((2, 0, 0, 0, 0, 2)), "a random walk succeeds in 53%; it must stay below 30%"),
        (skeleton((0, 1, 0, 0, 1, 1)), "no walk reaches an ending with goal 2"),
        (skeleton((2, 2, 2, 2, 2, 2)), "every walk reaches the goal; some must fail"),
        (skeleton((0, 1, 0, 0, None, 2)), "node 14 is an ending without a goal level"),
        (skeleton(out=77), "node 0 leads to 77, which is not there"),
        (skeleton(out=0), "a walk can come back to 0"),
        (skeleton(out=10), "no walk comes to 11, 12, 13, 14"),
        (skeleton(out=2), "all choices of node 1 lead to node 2; at least two targets are needed"),
        (skeleton(ability="charm"), "'charm' is none of the 32 abilities"),
        (skeleton(episodes=4), "there are 4 episodes with choices; 5 to 8 are needed"),
        (Skeleton(()), "the story begins at node 0"),
    ],
)
def test_a_faulty_skeleton_is_told_its_fault(part, problem):
    assert any(problem in sentence for sentence in found(part)), found(part)


def test_abilities_the_brief_wants_must_be_shown():
    wanting = Draft(msgspec.structs.replace(BRIEF, abilities=("artistic skill",)), PEOPLE)
    assert "no choice shows artistic skill, which the brief asks for" in found(skeleton(), wanting)


@pytest.mark.parametrize(
    ("stage", "key", "part", "problem"),
    [
        ("characters", "all", Characters((Person("Ida"),)), "two to four are needed"),
        ("characters", "all", Characters((Person("Ida"), Person("Ida"))), "a name of their own"),
        ("characters", "all", Characters((Person("Ida"), Person("Tom"))), "needs a goal and something that only they"),
        ("scene", "all", Scene("  "), "the scene is empty"),
        ("dialogue", "0", Dialogue((Line("Zed", "Hi"),)), "unknown speakers Zed; allowed: Ida, Tom"),
        ("dialogue", "0", Dialogue(()), "nothing is said"),
        ("choices", "0", Utterances(("Row!",)), "exactly 2 are needed"),
        ("choices", "0", Utterances(("Row!", "Row! ")), "two texts are the same"),
        ("distractors", "0.1", Exchange("Which?", ("a", "b", "Row!")), "two texts are the same"),
        ("distractors", "0.1", Exchange(" ", ("a", "b", "c")), "the question is empty"),
        ("choices", "0", Utterances(("Row " * 50, "Wait for me.")), "have 3 to 50 words; the longest may have at most"),
        ("distractors", "0.1", Exchange("Which?", ("a", "b", "c " * 30)), "the utterances have 1 to 30 words"),
        ("translation", "10", Translated(("下雨了。",)), "exactly 2 are needed"),
        ("translation", "10", Translated(("下雨了。", "What now?")), "not Chinese: 'What now?'"),
    ],
)
def test_a_faulty_part_is_told_its_fault(draft, stage, key, part, problem):
    assert any(problem in sentence for sentence in problems(stage, key, part, draft))


def test_sound_parts_may_stand(draft):
    assert problems("characters", "all", PEOPLE, draft) == []
    for stage in ("dialogue", "choices", "distractors"):
        for key, part in getattr(draft, stage).items():
            assert problems(stage, key, part, draft) == []
    assert len(texts_of(draft, "people")) == 9
    assert len(texts_of(draft, "0")) == 2 + 2 + 2 * 4
    assert problems("translation", "10", Translated(("下雨了。", "怎么办？")), draft) == []


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_has_a_closed_schema(stage):
    schema = schema_of(stage, 3)
    assert schema["required"]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("stage", STAGES)
def test_every_prompt_shows_what_its_part_is_written_from(draft, stage, language):
    key = parts_of(stage, draft)[0]
    shown = inputs_of(stage, key, draft)
    prompt = Prompts(FOLDER / "socialeval" / "prompts").render(f"build/{stage}", language, **shown)
    assert all(str(value) in prompt for value in shown.values())


def joined():
    """Node 3 is reached by two paths; node 1 and node 2 lead there."""
    ways = {0: (1, 2), 1: (3, 10), 2: (3, 11), 3: (12, 13)}
    nodes = [
        DraftNode(id_, f"part {id_}", tuple(DraftChoice(to, "teamwork skill", f"go to {to}") for to in targets))
        for id_, targets in ways.items()
    ]
    return Skeleton((*nodes, *(DraftNode(10 + i, f"end {i}", goal=0) for i in range(4))))


def test_a_node_where_paths_join_is_written_for_all_of_them(draft):
    whole = msgspec.structs.replace(draft, skeleton=joined())
    before = inputs_of("dialogue", "3", whole)["before"]
    assert before == (
        "- part 0 → (go to 1) → part 1 → (go to 3)\n"
        "- part 0 → (go to 2) → part 2 → (go to 3)"
    )  # fmt: skip
    assert inputs_of("dialogue", "0", whole)["before"] == "-"


def test_a_skeleton_that_circles_ends_its_paths(draft):
    circle = Skeleton((
        DraftNode(0, "a", (DraftChoice(1, "teamwork skill", "x"),)),
        DraftNode(1, "b", (DraftChoice(0, "teamwork skill", "y"), DraftChoice(2, "teamwork skill", "z"))),
        DraftNode(2, "c", goal=0),
    ))  # fmt: skip
    assert inputs_of("dialogue", "2", msgspec.structs.replace(draft, skeleton=circle))["before"].count("\n") == 0


def test_a_distractor_is_written_with_people_scene_and_the_other_choices(draft):
    shown = inputs_of("distractors", "0.1", draft)
    assert shown["siblings"] == "- Wait."
    assert "Ida: rows" in shown["people"]
    assert shown["scene"] == "A pier."


def test_names_are_translated_first_and_used_by_the_rest(draft):
    assert [part.key for part in missing_parts("translation", draft)] == ["people"]
    names = Translated(("艾达", "划船", "有钥匙", "回家", "汤姆", "等人", "迟到", "回家", "码头。"))
    named = msgspec.structs.replace(draft, translation={"people": names})
    rest = missing_parts("translation", named)
    assert "people" not in {part.key for part in rest}
    assert inputs_of("translation", "10", rest[0].draft)["glossary"] == "- Ida → 艾达\n- Tom → 汤姆"
    said = Dialogue((Line("", "Tom waits."),))
    told = msgspec.structs.replace(named, dialogue={**named.dialogue, "10": said})
    assert problems("translation", "10", Translated(("汤姆在等。",)), told) == []
    assert problems("translation", "10", Translated(("托马斯在等。",)), told) == [
        "'Tom' is called '汤姆' in this translation; use that name"
    ]


class Builder(RulePlayer):
    """Gives its replies one after the other and remembers what it was asked."""

    identity = Identity("test", "builder")

    def __init__(self, *replies):
        self.replies = list(replies)
        self.seen = []

    async def answer(self, request):
        self.seen.append(request.messages)
        return Reply(self.replies.pop(0))

    async def embed(self, texts):
        return ()

    async def close(self):
        pass


def write(builder, attempts=3):
    part = BuildPart(id="x", stage="skeleton", key="all", draft=Draft(BRIEF, PEOPLE, Scene("A pier.")))
    show = Rehearsal(load("socialeval"), {"builder": builder}, {"attempts": attempts})
    return asyncio.run(show.play("build", part)).episode


def as_text(part):
    return msgspec.json.encode(part).decode()


def test_a_fault_is_sent_back_with_its_sentence_and_the_mended_part_is_taken():
    builder = Builder(
        "Once upon a time", as_text(skeleton((2, 2, 2, 2, 2, 2))), "```json\n" + as_text(skeleton()) + "```"
    )
    episode = write(builder)
    assert (episode.outcome.attempts, episode.outcome.problems) == (3, ())
    assert msgspec.json.decode(episode.outcome.text, type=Skeleton) == skeleton()
    assert episode.score.values["accepted"] == 1.0
    assert "does not fit the schema" in builder.seen[1][-1].content
    assert "every walk reaches the goal" in builder.seen[2][-1].content


def test_after_the_last_attempt_the_problems_stand_in_the_outcome():
    episode = write(Builder(*[as_text(skeleton((2, 2, 2, 2, 2, 2)))] * 2), attempts=2)
    assert episode.outcome.problems == ("every walk reaches the goal; some must fail",)
    assert episode.score.values == {"accepted": 0.0, "attempts": 2.0}
