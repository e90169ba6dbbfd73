"""Hooks of `mkdocs build`: pages from files outside docs/, such as the READMEs of the instruments, and reference texts.

Pages in docs/ link to those files, so that the links also work in a checkout; here they become links to the pages.
"""

import re
from pathlib import Path, PurePosixPath
from typing import Any

import reference
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
INSTRUMENTS = sorted((ROOT / "src/sociometer/instruments").glob("[!_]*/README.md"))
PAGES = {
    "contributing.md": ROOT / "CONTRIBUTING.md",
    "changelog.md": ROOT / "CHANGELOG.md",
    "CITATION.cff": ROOT / "CITATION.cff",
    **{f"instruments/{readme.parent.name}.md": readme for readme in INSTRUMENTS},
}
"""The file that each page shows."""


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """The files of docs/, and a page for each of the others."""
    for page, source in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The text of a page, with its links rewritten for its place on the site, and the reference below it."""
    if page.file.src_uri in reference.TEXTS:
        markdown += reference.TEXTS[page.file.src_uri]()
    up = "../" * (len(PurePosixPath(page.file.src_uri).parts) - 1)
    text = re.sub(r"\]\((?:\.\./)*docs/", f"]({up}", markdown)
    text = re.sub(r"\]\((?:\.\./)*CITATION\.cff", f"]({up}CITATION.cff", text)
    text = re.sub(r"\]\((?:\.\./)*src/sociometer/instruments/(\w+)/README\.md", rf"]({up}instruments/\1.md", text)
    return re.sub(r"\]\((?:\.\./)*(CONTRIBUTING|CHANGELOG)\.md", lambda link: f"]({up}{link[1].lower()}.md", text)
