"""Prints the changelog section of a release; fails when its tag does not name the package's version."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def package_version() -> str:
    """The version in the package's source."""
    source = (ROOT / "src/sociometer/core/version.py").read_text(encoding="utf-8")
    return source.partition('__version__ = "')[2].partition('"')[0]


def section(version: str) -> str:
    """The text under the changelog's heading for a version; empty when there is none."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    return found.group(1).strip() if found else ""


def main(tag: str) -> str:
    """The notes for a tag such as v0.1.0."""
    version = package_version()
    if tag != f"v{version}":
        sys.exit(f"the tag is {tag}, but the package's version is {version}; tag it v{version}.")
    notes = section(version)
    if not notes:
        sys.exit(f"CHANGELOG.md has no text under '## {version}'; write it before tagging the release.")
    return notes


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: release_notes.py TAG")
    sys.stdout.write(main(sys.argv[1]) + "\n")
