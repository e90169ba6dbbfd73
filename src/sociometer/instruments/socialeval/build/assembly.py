"""A finished draft -> the two trees in the official layout."""

from __future__ import annotations

import msgspec

from sociometer.instruments.socialeval.build.drafts import Draft, DraftNode, orientation_named, texts_of
from sociometer.instruments.socialeval.worldtree import Language

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
