"""The origin of the items of a run: official, bundled or the user's own."""

from sociometer.instruments import card_of
from sociometer.store.records import RunRecord
from sociometer.store.run_form import has_official_files

OFFICIAL = "official"
BUNDLED = "bundled"
ELSEWHERE = "imported"
RELEASED = "imported"
"""The wire of subjects whose episodes were read from a paper's released files."""


def whose_items(record: RunRecord) -> str:
    """The origin of a run's items.

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
    return OFFICIAL if has_official_files(record.manifest, card_of(record.instrument)) else "own"


def is_official(record: RunRecord) -> bool:
    """Whether a run uses the paper's own items."""
    return whose_items(record) == OFFICIAL
