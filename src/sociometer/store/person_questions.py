"""Questions about the person: how an owner writes them, and which answers they allow.

Age; number 18..99; required; only 18..65
Sex; choice female|male|other
How tired are you?; scale 1..7 not at all|very; after
PROLIFIC_PID; panel
"""

import re
from contextlib import suppress

from msgspec import Struct

from sociometer.core.errors import UsageError

_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)")
_JOINED = re.compile(r"([^;]+?)[\s:,]+((?:number|scale|choice|text|required|hidden|panel)(?: -?\d.*| .*\|.*)?)")
"""A kind that no semicolon keeps apart from the name: “age number”, “sex: choice f|m”."""
_LISTED = re.compile(
    r"(?!.*;\s*(?:text|hidden|panel|scale|number|only|choice[^;]*\|))([^;:(]+?)\s*[;:(]\s*"
    r"(?:choice\s+)?((?P<low>\d+)\s*(?:-|–|to)\s*(?P<high>\d+)|[^;:()/|,]+(?:[/|,][^;:()/|,]+)+)\)?(;.*)?"
)
"""Answers without a kind, or in another form: “sex: male/female”, “age; 18-99”."""
_MOST_STEPS = 20
_HOW = (
    "NAME, then any of '; number 18..99', '; choice a|b|c', '; scale 1..7 not at all|very', '; text', '; required',"
    " '; after', '; only 18..65', '; only a|b', '; hidden', '; panel'"
)


class PersonQuestion(Struct, frozen=True):
    """One question: text, number or choice; `hidden` and `panel` come with the link instead."""

    name: str
    kind: str = "text"
    options: tuple[tuple[str, str], ...] = ()
    """Value and text of each option."""
    low: float | None = None
    high: float | None = None
    required: bool = False
    after: bool = False
    """Whether it is asked after the items."""
    only: str = ""
    """The answers of people who can take part; all others are screened out."""

    def __str__(self) -> str:
        """The question as its owner reads it: “age (number 18 to 99, required)”."""
        kind = "from the link" if self.kind in ("hidden", "panel") else self.kind
        values = " | ".join(text for _, text in self.options)
        values += f"{self.low:g} to {self.high:g}" if self.low is not None else ""
        more = ["required"] * self.required + ["after the items"] * self.after + [f"only {self.only}"] * bool(self.only)
        return f"{self.name} ({', '.join((f'{kind} {values}'.strip(), *more))})"

    def admits(self, said: str) -> bool:
        """Whether somebody with this answer can take part."""
        if found := _RANGE.fullmatch(self.only):
            with suppress(ValueError):
                return float(found[1]) <= float(said) <= float(found[2])
        return not self.only or said in self.only.split("|")

    @property
    def admits_nobody(self) -> bool:
        """Whether no answer that the question allows is one of people who can take part."""
        if self.low is None or self.high is None or not (ends := _RANGE.fullmatch(self.only)):
            return bool(self.options) and not any(map(self.admits, dict(self.options)))
        return self.high < float(ends[1]) or float(ends[2]) < self.low


def checked_question(written: str) -> str:
    """A new question as written; a UsageError if its kind is in its name or it admits nobody, as stored ones may be."""
    if (found := _JOINED.fullmatch(written) or _LISTED.fullmatch(written)) is not None:
        kind = found[2]
        if found.re is _LISTED:
            ends = f"number {found['low']}..{found['high']}" if found["low"] else ""
            kind = (ends or f"choice {'|'.join(map(str.strip, re.split('[/|,]', kind)))}") + (found[5] or "")
        text = "" if ";" in written else f", or '{written}; text' for a line of text with this name"
        raise UsageError(f"--ask '{written}' is not understood; write '{found[1]}; {kind}'{text}.")
    if (question := person_question(written)).admits_nobody:
        raise UsageError(f"--ask '{written}' screens everybody out: no allowed answer is '{question.only}'.")
    return written


def person_question(written: str) -> PersonQuestion:
    """The question that an owner has written."""
    name, *parts = (part.strip() for part in written.split(";"))
    given: dict[str, object] = {"name": name}
    for word, _, rest in (part.partition(" ") for part in parts):
        ends = _RANGE.match(rest)
        low, high = (float(ends[1]), float(ends[2])) if ends else (None, None)
        if low is not None and high is not None and low > high:
            raise UsageError(f"--ask '{written}': a range begins with its lowest number, not '{rest}'.")
        if word in ("hidden", "panel", "text") and not rest:
            given |= {"kind": word, "required": given.get("required", False) or word != "text"}
        elif word in ("required", "after") and not rest:
            given[word] = True
        elif word == "choice" and "|" in rest:
            given |= {"kind": word, "options": tuple((one.strip(), one.strip()) for one in rest.split("|"))}
        elif word == "number" and (not rest or (ends and ends[0] == rest)):
            given |= {"kind": word, "low": low, "high": high}
        elif word == "scale" and ends and low is not None and high is not None and 0 < high - low <= _MOST_STEPS:
            first, _, last = rest[ends.end() :].strip().partition("|")
            steps = [f"{low + step:g}" for step in range(int(high - low) + 1)]
            texts = [f"{steps[0]} {first}".strip(), *steps[1:-1], f"{steps[-1]} {last}".strip()]
            given |= {"kind": "choice", "options": tuple(zip(steps, texts, strict=True))}
        elif word == "only" and rest:
            given |= {"only": rest, "required": True}
        else:
            raise UsageError(f"--ask '{written}': '{' '.join((word, rest)).strip()}' is not understood; write {_HOW}.")
    if not name or (given.get("after") and (given.get("only") or given.get("kind") in ("hidden", "panel"))):
        raise UsageError(f"--ask '{written}' cannot be asked: it needs a name, and who takes part is asked before.")
    return PersonQuestion(**given)  # type: ignore[arg-type]
