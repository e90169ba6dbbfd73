"""Whose items a run was played on."""

from sociometer.instruments import card_of
from sociometer.store.records import RunRecord

OFFICIAL = "official"
BUNDLED = "bundled"
ELSEWHERE = "imported"
RELEASED = "imported"
"""The wire of subjects whose episodes were read from a paper's released files."""


def whose_items(record: RunRecord) -> str:
    """Whose items a run is on.

    Official (the paper's own, by their checksums), own (others in their place), bundled, or those of a benchmark that
    another tool ran.
    """
    if record.manifest.card is not None:
        return ELSEWHERE
    subject = record.manifest.roles.get("subject")
    if record.manifest.imported and (subject is None or subject.identity.wire == RELEASED):
        return OFFICIAL
    if not record.manifest.config.official:
        return BUNDLED
    pinned = {file.name: file.sha256 for file in card_of(record.instrument).file}
    used = record.manifest.data_files.items()
    return OFFICIAL if all(pinned.get(name) in (None, "", found) for name, found in used) else "own"


def is_official(record: RunRecord) -> bool:
    """Whether a run is on the paper's own items."""
    return whose_items(record) == OFFICIAL
