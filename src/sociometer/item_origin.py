"""Whose items a run was played on."""

from sociometer.instruments import card_of
from sociometer.store.records import RunRecord

OFFICIAL = "official"
BUNDLED = "bundled"


def whose_items(record: RunRecord) -> str:
    """Whose items a run is on: official (the paper's own, by their checksums), own (others in their place), bundled."""
    if record.manifest.imported:
        return OFFICIAL
    if not record.manifest.config.official:
        return BUNDLED
    pinned = {file.name: file.sha256 for file in card_of(record.instrument).file}
    used = record.manifest.data_files.items()
    return OFFICIAL if all(pinned.get(name) in (None, "", found) for name, found in used) else "own"


def is_official(record: RunRecord) -> bool:
    """Whether a run is on the paper's own items."""
    return whose_items(record) == OFFICIAL
