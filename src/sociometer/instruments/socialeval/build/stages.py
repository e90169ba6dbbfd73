"""The stages of a tree in progress as files: read with an author's edits, checked, and filled as parts are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from sociometer.core.errors import DataError
from sociometer.core.task import RunView
from sociometer.instruments.socialeval.build.drafts import (
    PART_TYPES,
    PEOPLE,
    STAGES,
    Brief,
    Draft,
    StageName,
    parts_of,
    problems,
)
from sociometer.instruments.socialeval.build.parts import BuildPart, Built

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
