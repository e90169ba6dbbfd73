"""One part of a new tree: the request to the builder, and the checks of its reply."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from sociometer.core.conversation import Message, Sampling, Schema, assistant, user
from sociometer.core.errors import DataError
from sociometer.core.measure import Summary
from sociometer.core.session import Session
from sociometer.core.task import Item, RunView, Score
from sociometer.instruments.socialeval.abilities import ABILITIES
from sociometer.instruments.socialeval.build.drafts import (
    DISTRACTORS,
    PART_TYPES,
    PEOPLE,
    STAGES,
    Brief,
    Draft,
    DraftNode,
    StageName,
    glossary,
    node_of,
    orientation_named,
    parts_of,
    problems,
    schema_of,
    texts_of,
    utterance,
)
from sociometer.instruments.socialeval.worldtree import (
    Language,
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


_MANY: tuple[StageName, ...] = ("dialogue", "choices", "distractors", "translation")


class Accepted(msgspec.Struct, frozen=True):
    """The draft with the accepted parts of a run; the problems of the others, and their last drafts."""

    draft: Draft
    problems: tuple[str, ...]
    refused: dict[str, Any]


def stage_file(folder: Path, stage: StageName) -> Path:
    """The file a stage is kept in, numbered in the order of the stages."""
    return folder / f"{STAGES.index(stage) + 1}-{stage}.json"


def refused_file(folder: Path, stage: StageName) -> Path:
    """The file that keeps the last drafts of a stage's rejected parts."""
    return stage_file(folder, stage).with_suffix(".refused.json")


def load_draft(brief: Brief, folder: Path) -> Draft:
    """The draft in the stage files, including edits; a file with an invalid format raises an error."""
    found: dict[str, Any] = {"brief": brief}
    for stage in STAGES:
        path = stage_file(folder, stage)
        if not path.exists():
            continue
        kind = PART_TYPES[stage]
        try:
            parts = msgspec.json.decode(path.read_bytes(), type=dict[str, kind])  # type: ignore[valid-type]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise DataError(f"has an invalid format: {error}; fix it or delete it", path) from None
        found[stage] = parts if stage in _MANY else parts.get("all")
    return Draft(**found)


def stage_parts(stage: StageName, draft: Draft) -> dict[str, Any]:
    """The existing parts of a stage."""
    given = getattr(draft, stage)
    if stage in _MANY:
        return dict(given)
    return {} if given is None else {"all": given}


def stage_text(parts: dict[str, Any]) -> str:
    """A stage's parts as the text of its file."""
    return msgspec.json.format(msgspec.json.encode(parts), indent=2).decode() + "\n"


def missing_parts(stage: StageName, draft: Draft) -> list[BuildPart]:
    """The parts of a stage to be written next; the translation begins with the names, which its other parts use."""
    there = stage_parts(stage, draft)
    wanted = [key for key in parts_of(stage, draft) if key not in there]
    if stage == "translation" and PEOPLE in wanted:
        wanted = [PEOPLE]
    return [
        BuildPart(
            id=f"{draft.brief.name}/{stage}/{key}",
            cluster=draft.brief.name,
            stage=stage,
            key=key,
            draft=_until(draft, stage),
        )
        for key in wanted
    ]


def _until(draft: Draft, stage: StageName) -> Draft:
    """The draft without this stage and later ones, so that a part's request stays the same while others arrive.

    The names stay: every other part of the translation uses them.
    """
    keep = {name: getattr(draft, name) for name in STAGES[: STAGES.index(stage)]}
    if stage == "translation" and PEOPLE in draft.translation:
        keep["translation"] = {PEOPLE: draft.translation[PEOPLE]}
    return Draft(brief=draft.brief, **keep)


def wrong_parts(stage: StageName, draft: Draft) -> list[str]:
    """The problems of the existing parts, also after an author's edits."""
    return [
        f"{stage} {key}: {problem}"
        for key, part in stage_parts(stage, draft).items()
        for problem in (
            problems(stage, key, part, draft) if key in parts_of(stage, draft) else ["belongs to no node or choice"]
        )
    ]


def without(stage: StageName, draft: Draft, keys: list[str]) -> Draft:
    """The draft without some parts of a stage."""
    return _with(stage, draft, {key: part for key, part in stage_parts(stage, draft).items() if key not in keys})


def accept(stage: StageName, draft: Draft, run: RunView[BuildPart, Built]) -> Accepted:
    """Adds the accepted parts of a run to the draft."""
    parts, found, refused = stage_parts(stage, draft), list[str](), dict[str, Any]()
    for episode in run.episodes():
        key = episode.item.key
        if episode.outcome is None:
            reason = episode.failure.message if episode.failure else "no outcome"
            found.append(f"{stage} {key}: {reason}")
        elif episode.outcome.problems:
            found += [f"{stage} {key}: {problem}" for problem in episode.outcome.problems]
            if episode.outcome.text:
                refused[key] = msgspec.json.decode(episode.outcome.text)
        else:
            parts[key] = msgspec.json.decode(episode.outcome.text, type=PART_TYPES[stage])
    return Accepted(_with(stage, draft, parts), tuple(found), refused)


def _with(stage: StageName, draft: Draft, parts: dict[str, Any]) -> Draft:
    return msgspec.structs.replace(draft, **{stage: parts if stage in _MANY else parts.get("all")})


_CODES: dict[Language, str] = {"en": "en", "zh": "cn"}
_PARTS = {"en": ("Protagonist", "Supporting Character"), "zh": ("主角", "配角")}


def documents(draft: Draft) -> dict[str, str]:
    """File names with their contents: the tree in the brief's language and in the other."""
    own: Language = draft.brief.language
    other: Language = "zh" if own == "en" else "en"
    orientation = orientation_named(draft.brief.orientation)
    pair = f"[{orientation.self_interest},{orientation.altruism}]"
    return {
        f"{pair}_{_CODES[language]}_{draft.brief.name}.json": document(draft, language, translated)
        for language, translated in ((own, False), (other, True))
    }


def document(draft: Draft, language: Language, translated: bool) -> str:
    """One tree as JSON text."""
    frame = _words(draft, "people", translated)
    names = {person.name: frame[4 * i] for i, person in enumerate(draft.people)}
    orientation = orientation_named(draft.brief.orientation)
    profiles = [
        {
            "identity": _PARTS[language][0 if i == 0 else 1],
            "name": frame[4 * i],
            "alias": "",
            "public profile": frame[4 * i + 1],
            "private profile": frame[4 * i + 2] if person.private else "",
            "goal": frame[4 * i + 3] if person.goal else "",
            "orientation": [orientation.self_interest, orientation.altruism] if i == 0 else [],
        }
        for i, person in enumerate(draft.people)
    ]
    plot = [
        _node(draft, node, _words(draft, str(node.id), translated), names)
        for node in sorted(draft.nodes, key=lambda node: node.id)
    ]
    whole = {"predefined_profiles": profiles, "scenario": frame[-1], "interactive_plot": plot}
    return msgspec.json.format(msgspec.json.encode(whole), indent=1).decode() + "\n"


def _words(draft: Draft, key: str, translated: bool) -> list[str]:
    return list(draft.translation[key].texts if translated else texts_of(draft, key))


def _node(draft: Draft, node: DraftNode, words: list[str], names: dict[str, str]) -> dict[str, object]:
    lines = draft.dialogue[str(node.id)].lines
    dialog = [
        {"role": names[line.speaker] if line.speaker else "description", "content": words[i]}
        for i, line in enumerate(lines)
    ]
    me = names[draft.people[0].name]
    texts = words[len(lines) :]
    count = len(node.choices)
    choices = []
    for i, choice in enumerate(node.choices):
        asked = texts[count + 4 * i : count + 4 * i + 4]
        confusion: list[dict[str, object]] = [
            {"type": "skill question", "question": [f"#question# {asked[0]}"], "skill": [choice.ability]}
        ]
        confusion += [{"type": "skill confusion", "content": {"role": me, "content": text}} for text in asked[1:]]
        choices.append(
            {
                "cid": choice.to,
                "type": "skill choice",
                "skill": [choice.ability],
                "social state": [choice.self_interest, choice.altruism],
                "content": {"role": me, "content": texts[i]},
                "confusion": confusion,
            }
        )
    kind = "ending" if not node.choices else "beginning" if node.id == 0 else "choice"
    made: dict[str, object] = {"cid": node.id, "type": kind, "dialog": dialog, "choices": choices}
    return made if node.choices else made | {"goal achievement": node.goal}


class Origin(msgspec.Struct, frozen=True):
    """Digests of a part's sources, and of the part itself, when the two last matched."""

    inputs: str
    part: str


Origins = Mapping[str, Mapping[str, Origin]]
"""The origin of every part, by stage."""


def origins_file(folder: Path) -> Path:
    """The file next to the stages that stores the origins."""
    return folder / "origins.json"


def read_origins(folder: Path) -> Origins:
    """The stored origins; without the file there are none, and every part counts as up to date."""
    path = origins_file(folder)
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, dict[str, Origin]])
    except FileNotFoundError:
        return {}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"has an invalid format: {error}; delete it to treat every part as up to date", path) from None


def origins_text(origins: Origins) -> str:
    """The origins as the text of their file."""
    return msgspec.json.format(msgspec.json.encode(origins), indent=1).decode() + "\n"


def settled(draft: Draft, origins: Origins) -> Origins:
    """The origins of a loaded draft: what its author wrote or edited counts as up to date."""
    found: dict[str, dict[str, Origin]] = {}
    for stage in STAGES:
        known = origins.get(stage, {})
        now = {key: origin_of(stage, key, draft) for key in stage_parts(stage, draft)}
        kept = {key: known[key] for key, origin in now.items() if key in known and known[key].part == origin.part}
        found[stage] = {**known, **now, **kept}
    return found


def outdated(stage: StageName, draft: Draft, origins: Origins) -> list[str]:
    """The parts of a stage whose sources have changed, or that are no longer needed."""
    known = origins.get(stage, {})
    return [
        key
        for key in stage_parts(stage, draft)
        if key in known and known[key].inputs != origin_of(stage, key, draft).inputs
    ]


def all_outdated(first: StageName, draft: Draft, origins: Origins) -> list[str]:
    """The outdated parts from a stage on, as far as the stages are complete."""
    found: list[str] = []
    for stage in STAGES[STAGES.index(first) :]:
        found += [f"{stage} {key}" for key in outdated(stage, draft, origins)]
        if missing_parts(stage, draft) or wrong_parts(stage, draft):
            break
    return found


def in_step(stage: StageName, draft: Draft, origins: Origins) -> Origins:
    """The origins with a stage's current parts; a missing part keeps its last origin."""
    there, known = stage_parts(stage, draft), origins.get(stage, {})
    now = {
        key: origin_of(stage, key, draft) if key in there else known[key]
        for key in parts_of(stage, draft)
        if key in there or key in known
    }
    return {**origins, stage: now}


def origin_of(stage: StageName, key: str, draft: Draft) -> Origin:
    """The origin of a part in the draft; no inputs if some of them are missing."""
    part = _digest(stage_parts(stage, draft)[key])
    if key not in parts_of(stage, draft):
        return Origin("", part)
    try:
        inputs = inputs_of(stage, key, draft)
    except LookupError:
        return Origin("", part)
    return Origin(_digest({**inputs, "language": draft.brief.language}), part)


def _digest(value: object) -> str:
    return hashlib.blake2b(msgspec.json.encode(value, order="deterministic"), digest_size=8).hexdigest()
