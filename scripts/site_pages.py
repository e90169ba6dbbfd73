"""Hooks of `mkdocs build`: pages from files outside docs/, and the help texts of all commands.

A page whose front matter says `source: FILE` shows that file of the repository. Links to READMEs of instruments and to
CONTRIBUTING.md become links to their pages. A line `<!-- help of all commands -->` is replaced by the help text of each
command.
"""

import re
import sys
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "src"))
HELP = "<!-- help of all commands -->"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The text of a page, with the parts that other files hold."""
    source = page.meta.get("source")
    text = (ROOT / source).read_text(encoding="utf-8") if source else markdown
    text = with_links_from(PurePosixPath(page.file.src_uri), text)
    return text.replace(HELP, help_of_all_commands()) if HELP in text else text


def with_links_from(page: PurePosixPath, text: str) -> str:
    """The text with its links to `docs/` and to READMEs of instruments rewritten for the place of the page."""
    up = "../" * (len(page.parts) - 1)
    text = re.sub(r"\]\((?:\.\./)*docs/", f"]({up}", text)
    text = re.sub(r"\]\((?:\.\./)*src/sociometer/instruments/(\w+)/README\.md", rf"]({up}instruments/\1.md", text)
    return re.sub(r"\]\((?:\.\./)*CONTRIBUTING\.md", f"]({up}contributing.md", text)


def help_of_all_commands() -> str:
    """A section for each command, in the order of `sociometer --help`."""
    import click

    from sociometer.cli.main import sociometer_command as group

    context = click.Context(group, info_name="sociometer", max_content_width=100)
    parts = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            inner = click.Context(command, info_name=name, parent=context, max_content_width=100)
            parts.append(f"## {name}\n\n```text\n{command.get_help(inner)}\n```\n")
    return "\n".join(parts)
