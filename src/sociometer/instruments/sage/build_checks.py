"""What is wrong with a part of a new scenario, in words that the builder is told. Pure."""

import re
from collections.abc import Sequence
from itertools import pairwise

from sociometer.instruments.sage.cues import tokens
from sociometer.instruments.sage.leaks import find_leak

_SAME = 0.5
"""A goal that shares this much of its word pairs with the hidden hope states the hope."""
_ENDING = re.compile(r"(?<=[a-z]{3})(?:['’]s|ing|ed|es|s|e)\Z")
_SPEECH = re.compile(
    r"\"[^\"]*\"|“[^”]*”|‘[^’]*’|「[^」]*」|『[^』]*』"
    r"|(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w))*'(?!\w)"  # single quotes, with apostrophes within words
    r"|[:：][^。！？.!?\n]*"  # what follows a colon is what somebody says
    r"|[说问道讲喊答劝][^，。！？；\n]*"  # and in Chinese also what follows a verb of saying
)
_OTHER_PERSON = re.compile(
    r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|us|[Oo]urs?|[Yy]ou|[Yy]ours?|[Yy]ourself)\b|[我你您咱]"
)


def person_problem(*texts: str) -> str:
    """What is wrong if a text about the person speaks as the person, or to the person; reported speech is free."""
    for text in texts:
        found = _OTHER_PERSON.search(_SPEECH.sub(" ", text))
        if found:
            return f"'{found[0]}' is not the third person; write about the person as he, she or they (zh: 他、她)"
    return ""


def scene_problem(persona: str, background: str, goal: str, details: Sequence[str], hidden: str) -> str:
    """What is wrong with a scene: its grammatical person, a goal that gives the hope away, details from nowhere."""
    wrong = person_problem(background, goal)
    if wrong:
        return wrong
    if states(goal, hidden):
        return "the goal states the hidden hope; say why the person writes without it"
    absent = [detail for detail in details if not mentions(f"{persona}\n{background}", detail)]
    if absent:
        return f"details that the story does not contain: {', '.join(absent)}; take them from the story"
    return ""


def opening_problem(first_words: str, hidden: str, intention: str) -> str:
    """What is wrong with the first words: they give the hidden hope away."""
    leak = find_leak(first_words, hidden, intention)
    return f"the first words give the hidden hope away ({leak}); open the subject without it" if leak else ""


def states(goal: str, hidden: str) -> bool:
    """Whether a goal says what the hidden hope says."""
    mine, theirs = (set(pairwise(tokens(text))) for text in (goal, hidden))
    return bool(mine and theirs) and len(mine & theirs) >= _SAME * min(len(mine), len(theirs))


def mentions(story: str, detail: str) -> bool:
    """Whether a detail occurs in a story: as it is, or each of its words with any ending."""
    if detail.casefold() in story.casefold():
        return True
    words, told = tokens(detail), tokens(story)
    return bool(words) and {_stem(word) for word in words} <= {_stem(word) for word in told}


def _stem(word: str) -> str:
    """An English word without its ending: smiled, smiles and smiling are one word."""
    return _ENDING.sub("", word)
