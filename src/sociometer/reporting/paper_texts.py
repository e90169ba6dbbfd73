"""Texts of a paper pack that are not HTML: their templates, and names as LaTeX and Markdown show them."""

import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from sociometer.core.language import read_texts
from sociometer.core.paper import remarks_on
from sociometer.core.words import in_one_line

_SPECIAL: dict[str, str] = read_texts(Path(__file__).parent / "templates" / "latex.toml")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&])")


@cache
def text_template(name: str) -> Template:
    """A template of a text that is not HTML."""
    loader = PackageLoader("sociometer.reporting", "templates")
    made = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)  # noqa: S701
    made.filters |= {"plain": plain, "escaped": escaped, "remarks": remarks_on}
    return made.get_template(name)


def escaped(text: str) -> str:
    """A text as LaTeX shows it: special characters are escaped, line ends and control characters become spaces."""
    plain = in_one_line(text)
    # Two hyphens would become a dash and a bracket after a line end would be read as its argument.
    return "".join(_SPECIAL.get(letter, letter) for letter in plain).replace("--", "{-}{-}").replace("[", "{[}")


def plain(text: str) -> str:
    """A text that Markdown shows as it is, on one line."""
    return _MARKUP.sub(r"\\\1", " ".join(in_one_line(text).split()))
