"""A player that takes its replies from a script: in order, or by a pattern in the last message."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from sociometer.core.conversation import Identity, Reply, Request
from sociometer.core.errors import DataError, FailureKind, MachineryError
from sociometer.core.player import RulePlayer


class Line(Struct, frozen=True, forbid_unknown_fields=True):
    """One scripted reply.

    With `match` (a regular expression for the last message) it answers every message that matches, up to `times`
    times; without, it is used once, in order. With `role` it answers only that role.
    """

    reply: str
    match: str = ""
    role: str = ""
    reasoning: str = ""
    times: int | None = None


class Scripted(RulePlayer):
    """Answers from lines; journaled, because a reply given in order does not follow from the request alone."""

    journaled = True

    def __init__(self, lines: Iterable[Line | str], name: str = "lines", revision: str = "") -> None:
        super().__init__(Identity("scripted", name, revision=revision, certain=bool(revision), stand_in=True))
        self._lines = [Line(line) if isinstance(line, str) else line for line in lines]
        self._left = [line.times if line.match else 1 for line in self._lines]

    async def answer(self, request: Request) -> Reply:
        """The reply of the first matching line that is not used up, or else of the next line in order."""
        last = request.messages[-1].content if request.messages else ""
        for index, line in enumerate(self._lines):
            if self._left[index] == 0 or (line.role and line.role != request.role):
                continue
            if line.match and not re.search(line.match, last):
                continue
            left = self._left[index]
            self._left[index] = None if left is None else left - 1
            return Reply(line.reply, reasoning=line.reasoning)
        raise MachineryError(
            f"the script '{self.identity.name}' has no reply left for role '{request.role}' "
            f"({len(self._lines)} lines; last message begins '{last[:60]}'); add lines to it.",
            FailureKind.SCRIPT_RAN_DRY,
        )


def read_script(path: Path) -> Scripted:
    """The script in a file: JSON lines (a string, or an object with `reply` and `match`) in `.jsonl`, else plain."""
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8")
    except OSError as error:
        raise DataError(f"cannot read the script: {error.strerror}; give --model scripted/FILE.", path) from None
    except UnicodeDecodeError as error:
        raise DataError(f"the script is not UTF-8 text: {error.reason} at byte {error.start}.", path) from None
    rows = text.splitlines()
    plain = path.suffix not in (".jsonl", ".json")
    lines = [Line(row) for row in rows if row.strip()] if plain else _json_lines(rows, path)
    if not lines:
        raise DataError("the script is empty; write one reply per line.", path)
    return Scripted(lines, path.name, hashlib.sha256(raw).hexdigest())


def _json_lines(rows: Sequence[str], path: Path) -> list[Line]:
    decoder = msgspec.json.Decoder(str | Line)
    lines = []
    for number, row in enumerate(rows, 1):
        if not row.strip():
            continue
        try:
            line = decoder.decode(row)
        except (msgspec.DecodeError, RecursionError) as error:
            raise DataError(
                f"{error}; each line must be a string, or an object with reply, match, role and times.", path, number
            ) from None
        lines.append(Line(line) if isinstance(line, str) else line)
        try:
            re.compile(lines[-1].match)
        except re.error as error:
            raise DataError(f"'{lines[-1].match}' is not a regular expression: {error}.", path, number) from None
    return lines
