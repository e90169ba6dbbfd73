"""The sources of each part of a draft, so that an edit shows which parts are outdated."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from sociometer.core.errors import DataError
from sociometer.instruments.socialeval.build.drafts import STAGES, Draft, StageName, parts_of
from sociometer.instruments.socialeval.build.parts import inputs_of
from sociometer.instruments.socialeval.build.stages import missing_parts, stage_parts, wrong_parts


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
