"""A player that takes its replies from a script: in order, or by a pattern in the last message."""

import asyncio
import hashlib
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from sociometer.core.conversation import Identity, Reply, Request
from sociometer.core.errors import DataError, MachineryError
from sociometer.core.player import RulePlayer

_SECONDS = 5.0
_LARGEST_ANSWER = 1 << 20


class Patterns:
    """Finds which of several patterns occur in a text."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = tuple(dict.fromkeys(patterns))
        self._process: Process | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._turn: asyncio.Lock | None = None

    async def matching(self, text: str) -> frozenset[str]:
        """The patterns that are found in the text."""
        if not self._patterns:
            return frozenset()
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._turn, self._process = loop, asyncio.Lock(), None
        assert self._turn is not None
        async with self._turn:
            try:
                return await asyncio.wait_for(self._ask(text), _SECONDS)
            except TimeoutError:
                await self.close()
                raise MachineryError(
                    f"matching the script's patterns took more than {_SECONDS:g} s; simplify nested repetitions "
                    f"(patterns: {', '.join(self._patterns)[:200]}).",
                    "slow pattern",
                ) from None

    async def _ask(self, text: str) -> frozenset[str]:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "sociometer.models.scripted",
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                limit=_LARGEST_ANSWER,
            )
            self._process.stdin.write(msgspec.json.encode(self._patterns) + b"\n")  # type: ignore[union-attr]
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(msgspec.json.encode(text) + b"\n")
        await process.stdin.drain()
        found = msgspec.json.decode(await process.stdout.readline(), type=list[int])
        return frozenset(self._patterns[index] for index in found)

    async def close(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()


def serve() -> None:
    """Read the patterns, then one text per line; write the indexes of the patterns found in each."""
    patterns = [re.compile(pattern) for pattern in msgspec.json.decode(sys.stdin.buffer.readline(), type=list[str])]
    for line in sys.stdin.buffer:
        text = msgspec.json.decode(line, type=str)
        found = [index for index, pattern in enumerate(patterns) if pattern.search(text)]
        sys.stdout.buffer.write(msgspec.json.encode(found) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    serve()


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
        self._patterns = Patterns([line.match for line in self._lines if line.match])

    async def answer(self, request: Request) -> Reply:
        """The reply of the first matching line that is not used up, or else of the next line in order."""
        last = request.messages[-1].content if request.messages else ""
        matched = await self._patterns.matching(last)
        for index, line in enumerate(self._lines):
            if self._left[index] == 0 or (line.role and line.role != request.role):
                continue
            if line.match and line.match not in matched:
                continue
            left = self._left[index]
            self._left[index] = None if left is None else left - 1
            return Reply(line.reply, reasoning=line.reasoning)
        raise MachineryError(
            f"the script '{self.identity.name}' has no reply left for role '{request.role}' "
            f"({len(self._lines)} lines; last message begins '{last[:60]}'); add lines to it.",
            "script ran dry",
        )

    async def close(self) -> None:
        """Ends the process that matches patterns."""
        await self._patterns.close()


def read_script(path: Path) -> Scripted:
    """The script in a file: JSON lines (a string, or an object with `reply` and `match`) in `.jsonl`, else plain."""
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8")
    except OSError as error:
        raise DataError(f"cannot read the script: {error.strerror}; give --model scripted/FILE.", path) from None
    except UnicodeDecodeError as error:
        raise DataError(f"the script is not UTF-8 text: {error.reason} at byte {error.start}.", path) from None
    lines = _json_lines(text.splitlines(), path) if path.suffix in (".jsonl", ".json") else _plain_lines(text)
    if not lines:
        raise DataError("the script is empty; write one reply per line.", path)
    return Scripted(lines, str(path), hashlib.sha256(raw).hexdigest())


def _plain_lines(text: str) -> list[Line]:
    return [Line(line) for line in text.splitlines() if line.strip()]


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
        if isinstance(line, Line) and line.match:
            _check_pattern(line.match, path, number)
        lines.append(Line(line) if isinstance(line, str) else line)
    return lines


def _check_pattern(pattern: str, path: Path, number: int) -> None:
    import re

    try:
        re.compile(pattern)
    except re.error as error:
        raise DataError(f"'{pattern}' is not a regular expression: {error}.", path, number) from None
