"""The origin of the items of a run: official, bundled or the user's own."""

from sociometer.instruments import card_of
from sociometer.store.records import RunRecord

OFFICIAL = "official"
BUNDLED = "bundled"


def whose_items(record: RunRecord) -> str:
    """The origin of a run's items: official (the paper's, by checksum), own (other files in their place) or bundled."""
    if record.manifest.imported:
        return OFFICIAL
    if not record.manifest.config.official:
        return BUNDLED
    pinned = {file.name: file.sha256 for file in card_of(record.instrument).file}
    used = record.manifest.data_files.items()
    return OFFICIAL if all(pinned.get(name) in (None, "", found) for name, found in used) else "own"


def is_official(record: RunRecord) -> bool:
    """Whether a run uses the paper's own items."""
    return whose_items(record) == OFFICIAL
