"""The authors' prompts: four methods with their worked examples from `Prompts.docx`, and the direct question."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from sociometer.core.errors import DataError, UsageError
from sociometer.core.settings import PAPER, Settings
from sociometer.core.source import AuthorsPrompt
from sociometer.instruments.seceu.docx import read_paragraphs
from sociometer.instruments.seceu.items import asked_methods

FILE = "seceu/Prompts.docx"
_HEADINGS = {"zero-shot": 0, "zero-shot-steps": 1, "two-shot": 2, "two-shot-steps": 3}
"""The methods in the order of the headings of the file."""
_HEADING = re.compile(r"\s*(?:zero|two)[- ]shot\b[^.:]{0,60}", re.IGNORECASE)
_QUESTION = re.compile(r"(?P<before>Q:\s*).+?(?P<between>\s*\bOptions:\s*).+?(?P<after>\.\s.*|\.?\s*)", re.DOTALL)
_SHOWN = frozenset(("story", "options"))


def authors_prompts(settings: Settings, tasks: Sequence[str]) -> Iterator[AuthorsPrompt]:
    """Yield the prompts of the methods that the settings ask for."""
    if settings.text("language") != "en":
        raise UsageError("the authors' prompts are in English; --wording paper needs --language en.")
    if settings.whole("paraphrases") > 1:
        raise UsageError("the authors' paraphrases were not released; --wording paper needs --paraphrases 1.")
    for method in asked_methods(settings):
        name = f"{PAPER}/{method}"
        if method in _HEADINGS:
            yield AuthorsPrompt(name, _SHOWN, FILE, partial(read_method, method=method))
        else:
            yield AuthorsPrompt(name, _SHOWN, printed="the paper's methods, section 'The SECEU test for LLMs'")


def read_method(path: Path, *, method: str) -> str:
    """Return the text of one method with placeholders in place of the file's own question, which comes last."""
    sections: list[list[str]] = []
    for paragraph in read_paragraphs(path):
        if _HEADING.fullmatch(paragraph):
            sections.append([])
        elif sections and paragraph.strip():
            sections[-1].append(paragraph.strip())
    if len(sections) != len(_HEADINGS):
        raise DataError(
            f"expected {len(_HEADINGS)} prompting methods, found {len(sections)}; fetch the file again", path
        )
    lines = sections[_HEADINGS[method]]
    asked = [at for at, line in enumerate(lines) if line.startswith("Q:")]
    question = _QUESTION.fullmatch(lines[asked[-1]]) if asked else None
    if question is None:
        raise DataError(f"the method '{method}' has no question of the form 'Q: … Options: …'", path)
    shown = f"{question['before']}{{story}}{question['between']}{{options}}{question['after']}"
    return "\n".join([*lines[: asked[-1]], shown, *lines[asked[-1] + 1 :]])
