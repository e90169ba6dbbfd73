"""The store that version 0.3.0 made: its runs, its two files, and the numbers that it showed."""

import json
import lzma
from pathlib import Path

FOLDER = Path(__file__).parent / "fixtures" / "version_0_3"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
"""Of each run: its id, instrument, status and, for each task, the primary measure with its value and interval."""


def unpack(folder):
    """The store as files in a folder; the path of its database."""
    for packed in FOLDER.glob("store.db*.xz"):
        (folder / packed.stem).write_bytes(lzma.decompress(packed.read_bytes()))
    return folder / "store.db"
