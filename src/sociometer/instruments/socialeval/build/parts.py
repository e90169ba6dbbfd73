"""One part of a new tree: the request to the builder, and the checks of its reply."""

from __future__ import annotations

import msgspec

from sociometer.core.conversation import Message, Sampling, Schema, assistant, user
from sociometer.core.measure import Summary
from sociometer.core.session import Session
from sociometer.core.task import Item, RunView, Score
from sociometer.instruments.socialeval.abilities import ABILITIES
from sociometer.instruments.socialeval.build.drafts import (
    DISTRACTORS,
    PART_TYPES,
    PEOPLE,
    Draft,
    StageName,
    glossary,
    node_of,
    orientation_named,
    problems,
    schema_of,
    texts_of,
    utterance,
)
from sociometer.reading import read_json
from sociometer.statistics.measures import grouped_measures

WRITING = Sampling(temperature=0.8, max_tokens=4000)
MOST_ROADS = 24
"""The maximum number of paths to a node in a prompt."""
_SHOWN: dict[StageName, tuple[str, ...]] = {
    "characters": ("orientation", "self_interest", "altruism", "setting", "goal"),
    "scene": ("people", "setting", "goal"),
    "skeleton": ("people", "scene", "goal", "abilities", "inventory"),
    "dialogue": ("people", "scene", "before", "summary"),
    "choices": ("people", "before", "dialogue", "choices"),
    "distractors": ("people", "scene", "dialogue", "utterance", "ability", "siblings"),
    "translation": ("glossary", "texts"),
}
"""The part of the draft that the prompt of each stage shows."""


class BuildPart(Item, frozen=True, kw_only=True):
    """One part of one stage, with the results of the stages before it."""

    stage: StageName
    key: str
    draft: Draft


class Built(msgspec.Struct, frozen=True):
    """The builder's part as JSON text (empty if unreadable), and its problems."""

    text: str
    attempts: int
    problems: tuple[str, ...]


async def write_part(item: BuildPart, session: Session) -> Built:
    """Asks for a part, checks it, and asks again with its problems, as often as the setting allows."""
    most = session.settings.whole("attempts")
    count = expected_texts(item)
    answer_format = Schema(schema_of(item.stage, count), name=item.stage)
    messages: list[Message] = [user(prompt_for(item, session))]
    kept, found = "", ["nothing that fits the schema was given"]
    for attempt in range(1, most + 1):
        reply = await session.ask("builder", messages, answer_format, sampling=WRITING)
        reading = read_json(reply.text, PART_TYPES[item.stage])
        if reading.value is None:
            found = [f"the reply does not fit the schema ({reading.rule})"]
        else:
            kept = msgspec.json.encode(reading.value).decode()
            found = problems(item.stage, item.key, reading.value, item.draft)
        session.note("checked", stage=item.stage, part=item.key, attempt=attempt, problems=found)
        if not found:
            return Built(kept, attempt, ())
        again = session.prompts.render("build/again", item.draft.brief.language, problems=_bullets(found))
        messages = [messages[0], assistant(reply.text or "{}"), user(again)]
    return Built(kept, most, tuple(found))


def expected_texts(item: BuildPart) -> int:
    """The number of texts that a part must have if it is known in advance, else zero."""
    match item.stage:
        case "choices":
            return len(node_of(item.draft, item.key).choices)
        case "distractors":
            return DISTRACTORS
        case "translation":
            return len(texts_of(item.draft, item.key))
        case _:
            return 0


def prompt_for(item: BuildPart, session: Session) -> str:
    """The prompt of a part."""
    values = inputs_of(item.stage, item.key, item.draft)
    return session.prompts.render(f"build/{item.stage}", item.draft.brief.language, **values)


def inputs_of(stage: StageName, key: str, draft: Draft) -> dict[str, object]:
    """All sources of a part, by their names in its prompt."""
    values = _frame(draft)
    if stage in ("dialogue", "choices", "distractors"):
        node = node_of(draft, key)
        values["summary"] = node.summary
        values["before"] = _roads_to(draft, node.id)
        values["dialogue"] = _dialogue_text(draft, str(node.id))
        values["choices"] = _bullets([f"{choice.ability}: {choice.gist}" for choice in node.choices])
    if stage == "distractors":
        number = int(key.partition(".")[2])
        values["ability"] = node_of(draft, key).choices[number - 1].ability
        values["utterance"] = utterance(draft, key)
        texts = draft.choices[str(node.id)].texts
        values["siblings"] = _bullets([text for i, text in enumerate(texts, start=1) if i != number]) or "-"
    if stage == "translation":
        pairs = glossary(draft) if key != PEOPLE else {}
        values["glossary"] = _bullets([f"{own} → {other}" for own, other in pairs.items()]) or "-"
        values["texts"] = "\n".join(f"{i + 1}. {text}" for i, text in enumerate(texts_of(draft, key)))
    return {name: values[name] for name in _SHOWN[stage]}


def _frame(draft: Draft) -> dict[str, object]:
    brief = draft.brief
    orientation = orientation_named(brief.orientation)
    return {
        "orientation": brief.orientation,
        "self_interest": orientation.self_interest,
        "altruism": orientation.altruism,
        "setting": brief.setting,
        "goal": brief.goal,
        "abilities": ", ".join(brief.abilities) or ", ".join(ABILITIES),
        "inventory": ", ".join(ABILITIES),
        "people": _bullets([f"{p.name}: {p.public} ({p.private}) → {p.goal}" for p in draft.people]),
        "scene": draft.scene.scene if draft.scene else "",
    }


def _roads_to(draft: Draft, target: int) -> str:
    """Every path from the beginning to a node, one per line: a node where paths join is written for all of them."""
    nodes = {node.id: node for node in draft.nodes}
    roads: list[str] = []
    waiting: list[tuple[int, tuple[int, ...], str]] = [(0, (), "")]
    while waiting and 0 in nodes:
        id_, passed, told = waiting.pop(0)
        if id_ == target:
            roads.append(told.removesuffix(" → "))
            continue
        for choice in nodes[id_].choices:
            if choice.to in nodes and choice.to not in (*passed, id_):
                step = f"{told}{nodes[id_].summary} → ({choice.gist}) → "
                waiting.append((choice.to, (*passed, id_), step))
    shown = [road for road in dict.fromkeys(roads) if road]
    more = [f"({len(shown) - MOST_ROADS} more)"] if len(shown) > MOST_ROADS else []
    return _bullets([*shown[:MOST_ROADS], *more]) or "-"


def _dialogue_text(draft: Draft, key: str) -> str:
    found = draft.dialogue.get(key)
    return "\n".join(f"{line.speaker or '-'}: {line.text}" for line in found.lines) if found else "-"


def _bullets(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def score_part(item: BuildPart, outcome: Built) -> Score:
    """Whether the part passed its checks, and after how many attempts."""
    values = {"accepted": float(not outcome.problems), "attempts": float(outcome.attempts)}
    return Score(values=values, facets={"stage": item.stage}, unreadable=int(not outcome.text))


def summarise_parts(run: RunView[BuildPart, Built]) -> Summary:
    """How many parts were accepted, by stage."""
    return Summary(grouped_measures(run, "accepted", by=["stage"]))
