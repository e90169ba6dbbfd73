"""New trees: the brief, the stages with their schemas and checks, the requests to the builder, and the files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from sociometer.core.conversation import Message, Sampling, Schema, assistant, user
from sociometer.core.errors import DataError
from sociometer.core.measure import Summary
from sociometer.core.session import Session
from sociometer.core.task import Item, RunView, Score
from sociometer.instruments.socialeval.abilities import ABILITIES
from sociometer.instruments.socialeval.lint import cyclic, reachable
from sociometer.instruments.socialeval.worldtree import (
    GOAL_FULL,
    GOAL_OPEN,
    ORIENTATIONS,
    Choice,
    Language,
    Line,
    Node,
    Orientation,
    Person,
    Tree,
    solve,
)
from sociometer.reading import read_json
from sociometer.statistics.measures import grouped_measures

StageName = Literal["characters", "scene", "skeleton", "dialogue", "choices", "distractors", "translation"]
STAGES: tuple[StageName, ...] = (
    "characters", "scene", "skeleton", "dialogue", "choices", "distractors", "translation",
)  # fmt: skip
MOST_RANDOM = 0.30
EPISODES = (5, 8)
CHOICES = (2, 3)
DISTRACTORS = 3
PEOPLE = "people"
"""The part of the translation that comes first: the people and the scene, whose names all others use."""
LENGTHS = {"en": ("words", 8), "zh": ("characters", 14)}
"""How the length of a choice is counted, and how much the longest may always exceed the shortest."""
_LONGER = 2.0
_MOST_NODES = 100
_CHINESE = re.compile(r"[一-鿿]")


class Brief(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The author's request."""

    name: str
    orientation: str
    setting: str
    goal: str
    abilities: tuple[str, ...] = ()
    language: Language = "en"


class Characters(msgspec.Struct, frozen=True):
    """The people; the first is the protagonist."""

    people: tuple[Person, ...]


class Scene(msgspec.Struct, frozen=True):
    """Where and when the story begins."""

    scene: str


class DraftChoice(msgspec.Struct, frozen=True):
    """A choice of an episode: its target, the ability it shows, its meaning, and its stance."""

    to: int
    ability: str
    gist: str
    self_interest: int = 0
    altruism: int = 0


class DraftNode(msgspec.Struct, frozen=True):
    """An episode with its choices, or an ending with its goal level."""

    id: int
    summary: str
    choices: tuple[DraftChoice, ...] = ()
    goal: int | None = None


class Skeleton(msgspec.Struct, frozen=True):
    """The tree without its texts."""

    nodes: tuple[DraftNode, ...]


class Dialogue(msgspec.Struct, frozen=True):
    """What is said in one episode or ending."""

    lines: tuple[Line, ...]


class Utterances(msgspec.Struct, frozen=True):
    """The words of one episode's choices, in order."""

    texts: tuple[str, ...]


class Exchange(msgspec.Struct, frozen=True):
    """The ability question of one choice and its distractors."""

    question: str
    distractors: tuple[str, ...]


class Translated(msgspec.Struct, frozen=True):
    """Texts in the other language, in the order they were given."""

    texts: tuple[str, ...]


Part = Characters | Scene | Skeleton | Dialogue | Utterances | Exchange | Translated
PART_TYPES: dict[StageName, type[Any]] = {
    "characters": Characters,
    "scene": Scene,
    "skeleton": Skeleton,
    "dialogue": Dialogue,
    "choices": Utterances,
    "distractors": Exchange,
    "translation": Translated,
}


class Draft(msgspec.Struct, frozen=True):
    """The results of the stages so far; each of the last four has one part for each node or choice."""

    brief: Brief
    characters: Characters | None = None
    scene: Scene | None = None
    skeleton: Skeleton | None = None
    dialogue: dict[str, Dialogue] = {}
    choices: dict[str, Utterances] = {}
    distractors: dict[str, Exchange] = {}
    translation: dict[str, Translated] = {}

    @property
    def people(self) -> tuple[Person, ...]:
        """The people, if there are any."""
        return self.characters.people if self.characters else ()

    @property
    def nodes(self) -> tuple[DraftNode, ...]:
        """The nodes, if there is a skeleton."""
        return self.skeleton.nodes if self.skeleton else ()


def read_brief(path: Path) -> Brief:
    """The brief in a TOML file; an unknown orientation or ability raises an error with the allowed ones."""
    try:
        brief = msgspec.toml.decode(path.read_bytes(), type=Brief)
    except FileNotFoundError:
        raise DataError("no such brief; give a TOML file with name, orientation, setting and goal", path) from None
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise DataError(f"not a brief: {error}; needed: name, orientation, setting, goal", path) from None
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", brief.name):
        raise DataError(
            f"name {brief.name!r} may contain only lower-case letters, digits and hyphens, such as night-market", path
        )
    orientation_named(brief.orientation, path)
    for ability in brief.abilities:
        if ability not in ABILITIES:
            raise DataError(f"ability {ability!r} is not one of the 32: {', '.join(ABILITIES)}", path)
    return brief


def orientation_named(name: str, path: Path | str = "") -> Orientation:
    """The orientation of that name."""
    for orientation in ORIENTATIONS:
        if orientation.name == name:
            return orientation
    known = ", ".join(orientation.name for orientation in ORIENTATIONS)
    raise DataError(f"orientation {name!r} is not one of {known}", path)


def schema_of(stage: StageName, count: int = 0) -> dict[str, Any]:
    """The JSON schema of a stage; `count` is the number of texts if it is known in advance."""
    text: dict[str, Any] = {"type": "string"}
    texts = _array(text, count, count) if count else _array(text, 1, 400)
    person = _object(name=text, public=text, private=text, goal=text)
    way = _object(
        to={"type": "integer"},
        ability={"type": "string", "enum": list(ABILITIES)},
        gist=text,
        self_interest={"type": "integer", "enum": [-1, 0, 1]},
        altruism={"type": "integer", "enum": [-1, 0, 1]},
    )
    node = _object(
        id={"type": "integer"}, summary=text, choices=_array(way, 0, CHOICES[1]), goal={"enum": [0, 1, 2, None]}
    )
    forms: dict[StageName, dict[str, Any]] = {
        "characters": _object(people=_array(person, 2, 4)),
        "scene": _object(scene=text),
        "skeleton": _object(nodes=_array(node, EPISODES[0] + 2, 30)),
        "dialogue": _object(lines=_array(_object(speaker=text, text=text), 1, 10)),
        "choices": _object(texts=texts),
        "distractors": _object(question=text, distractors=texts),
        "translation": _object(texts=texts),
    }
    return forms[stage]


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _array(items: dict[str, Any], least: int, most: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def parts_of(stage: StageName, draft: Draft) -> tuple[str, ...]:
    """The parts a stage consists of: one, or one for each node, episode or choice."""
    match stage:
        case "dialogue":
            return tuple(str(node.id) for node in draft.nodes)
        case "choices":
            return tuple(str(node.id) for node in draft.nodes if node.choices)
        case "distractors":
            return tuple(f"{node.id}.{i + 1}" for node in draft.nodes for i in range(len(node.choices)))
        case "translation":
            return (PEOPLE, *(str(node.id) for node in draft.nodes))
        case _:
            return ("all",)


def problems(stage: StageName, key: str, part: Part, draft: Draft) -> list[str]:
    """The problems of a part, as sentences its author can act on; none if it is acceptable."""
    match part:
        case Characters():
            return list(_people(part))
        case Scene():
            return [] if part.scene.strip() else ["the scene is empty"]
        case Skeleton():
            return list(_skeleton(part, draft.brief))
        case Dialogue():
            return list(_dialogue(part, draft))
        case Utterances():
            found = list(_texts(part.texts, len(node_of(draft, key).choices), "utterances"))
            return [*found, *_lengths(part.texts, draft.brief.language)]
        case Exchange():
            own = utterance(draft, key)
            found = list(_texts((own, *part.distractors), DISTRACTORS + 1, "utterances with the right one"))
            found += _lengths((own, *part.distractors), draft.brief.language)
            return found if part.question.strip() else ["the question is empty", *found]
        case Translated():
            names = glossary(draft) if key != PEOPLE else {}
            return list(_translated(part, texts_of(draft, key), draft.brief, names))


def node_of(draft: Draft, key: str) -> DraftNode:
    """The node a part belongs to."""
    number = int(key.split(".")[0])
    return next(node for node in draft.nodes if node.id == number)


def utterance(draft: Draft, key: str) -> str:
    """The words of the choice a part belongs to."""
    node, _, number = key.partition(".")
    return draft.choices[node].texts[int(number) - 1]


def _people(part: Characters) -> Iterator[str]:
    names = [person.name.strip() for person in part.people]
    if not 2 <= len(names) <= 4:
        yield f"there are {len(names)} people; two to four are needed, the protagonist first"
    if len(set(names)) != len(names) or not all(names):
        yield "every person needs a name of their own"
    if part.people and not (part.people[0].goal.strip() and part.people[0].private.strip()):
        yield "the protagonist (the first) needs a goal and something that only they know"


def _texts(texts: tuple[str, ...], count: int, what: str) -> Iterator[str]:
    if len(texts) != count:
        yield f"there are {len(texts)} {what}; exactly {count} are needed"
    if not all(text.strip() for text in texts):
        yield "a text is empty"
    if len({text.strip() for text in texts}) != len(texts):
        yield "two texts are the same"


def _lengths(texts: tuple[str, ...], language: Language) -> Iterator[str]:
    """A reader must not find the right choice by its length: none may be far longer than another."""
    unit, slack = LENGTHS[language]
    counts = [len(re.findall(r"[一-鿿]|[A-Za-z0-9]+", text) if language == "zh" else text.split()) for text in texts]
    if counts and max(counts) > max(_LONGER * min(counts), min(counts) + slack):
        yield (
            f"the utterances have {min(counts)} to {max(counts)} {unit}; the longest may have at most twice as many as "
            f"the shortest, or {slack} more"
        )


def glossary(draft: Draft) -> dict[str, str]:
    """The people's names and their translations, once the people are translated."""
    done = draft.translation.get(PEOPLE)
    texts = done.texts if done else ()
    return {person.name: texts[4 * i] for i, person in enumerate(draft.people) if 4 * i < len(texts)}


def _dialogue(part: Dialogue, draft: Draft) -> Iterator[str]:
    names = {person.name for person in draft.people} | {""}
    strangers = sorted({line.speaker for line in part.lines} - names)
    if strangers:
        allowed = ", ".join(sorted(names - {""}))
        yield f"unknown speakers {', '.join(strangers)}; allowed: {allowed}, or empty to narrate"
    if not any(line.text.strip() for line in part.lines):
        yield "nothing is said or narrated"


def _translated(part: Translated, originals: tuple[str, ...], brief: Brief, names: Mapping[str, str]) -> Iterator[str]:
    if len(part.texts) != len(originals):
        yield f"there are {len(part.texts)} texts; exactly {len(originals)} are needed, in the same order"
    wanted = "en" if brief.language == "zh" else "zh"
    for text in part.texts:
        chinese = bool(_CHINESE.search(text))
        if not text.strip() or chinese != (wanted == "zh"):
            yield f"not {'Chinese' if wanted == 'zh' else 'English'}: {text[:40]!r}"
            return
    for own, other in names.items():
        if any(own in text for text in originals) and not any(other in text for text in part.texts):
            yield f"{own!r} is called {other!r} in this translation; use that name"


def _skeleton(part: Skeleton, brief: Brief) -> Iterator[str]:
    if len(part.nodes) > _MOST_NODES:
        yield f"there are {len(part.nodes)} nodes; {EPISODES[0]} to {EPISODES[1]} episodes and their endings are needed"
        return
    ids = [node.id for node in part.nodes]
    if len(set(ids)) != len(ids) or 0 not in ids:
        yield "every node needs a number of its own, and the story begins at node 0"
        return
    episodes = [node for node in part.nodes if node.choices]
    if not EPISODES[0] <= len(episodes) <= EPISODES[1]:
        yield f"there are {len(episodes)} episodes with choices; {EPISODES[0]} to {EPISODES[1]} are needed"
    for node in part.nodes:
        if node.choices and not CHOICES[0] <= len(node.choices) <= CHOICES[1]:
            yield f"node {node.id} has {len(node.choices)} choices; two or three are needed"
        if len(node.choices) > 1 and len({choice.to for choice in node.choices}) == 1:
            yield f"all choices of node {node.id} lead to node {node.choices[0].to}; at least two targets are needed"
        if not node.choices and node.goal not in (0, 1, 2):
            yield f"node {node.id} is an ending without a goal level; 0, 1 or 2 is needed"
        for choice in node.choices:
            if choice.to not in ids:
                yield f"node {node.id} leads to {choice.to}, which is not there"
            if choice.ability not in ABILITIES:
                yield f"node {node.id}: {choice.ability!r} is none of the 32 abilities"
    missing = [name for name in brief.abilities if name not in {c.ability for n in part.nodes for c in n.choices}]
    if missing:
        yield f"no choice shows {', '.join(missing)}, which the brief asks for"
    yield from _decision_process(skeleton_tree(part, brief))


def skeleton_tree(part: Skeleton, brief: Brief) -> Tree:
    """The skeleton as a tree without words, for the structural checks and the exact solution."""
    nodes = tuple(
        Node(
            id=node.id,
            kind="ending" if not node.choices else "beginning" if node.id == 0 else "choice",
            choices=tuple(Choice(target=choice.to, text=choice.gist) for choice in node.choices),
            goal=GOAL_OPEN if node.choices or node.goal is None else node.goal,
        )
        for node in sorted(part.nodes, key=lambda node: node.id)
    )
    return Tree(brief.name, brief.name, brief.language, brief.name, brief.orientation, (), "", nodes)


def _decision_process(tree: Tree) -> Iterator[str]:
    """The guarantees: no unreachable node, no cycle, and a success that exists, is not certain and is not luck."""
    lost = [node.id for node in tree.nodes if node.id not in reachable(tree)]
    if lost:
        yield f"no walk comes to {', '.join(map(str, lost))}"
    circles = cyclic(tree)
    if circles:
        yield f"a walk can come back to {', '.join(map(str, circles))}"
        return
    solution = solve(tree)
    if solution.best < GOAL_FULL:
        yield "no walk reaches an ending with goal 2"
    elif solution.random >= 1:
        yield "every walk reaches the goal; some must fail"
    elif solution.random >= MOST_RANDOM:
        yield f"a random walk succeeds in {solution.random:.0%}; it must stay below {MOST_RANDOM:.0%}"


def texts_of(draft: Draft, key: str) -> tuple[str, ...]:
    """The texts of one part of the translation, in a fixed order."""
    if key == "people":
        people = [text for p in draft.people for text in (p.name, p.public, p.private or p.public, p.goal or p.public)]
        return (*people, draft.scene.scene if draft.scene else "")
    node = node_of(draft, key)
    texts = [line.text for line in draft.dialogue[key].lines]
    if node.choices:
        texts += draft.choices[key].texts
        for number in range(1, len(node.choices) + 1):
            asked = draft.distractors[f"{key}.{number}"]
            texts += [asked.question, *asked.distractors]
    return tuple(texts)


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
    shown = inputs_of(item.stage, item.key, item.draft)
    messages: list[Message] = [user(session.prompts.render(f"build/{item.stage}", item.draft.brief.language, **shown))]
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
