"""Regular expressions with a time limit: they run in a separate process, which can be ended.

A thread could not be ended: matching holds the interpreter, and a bad pattern on a long message takes years.
"""

import asyncio
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence

import msgspec

from sociometer.core.errors import MachineryError

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
                "sociometer.models.pattern",
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
