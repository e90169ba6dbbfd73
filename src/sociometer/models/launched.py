"""A vLLM server that is started for a run, asked over loopback, and stopped afterwards: one for each replica on Ray."""

import asyncio
import ctypes
import shutil
import signal
import socket
import sys
import tempfile
from pathlib import Path

from msgspec import structs

from sociometer.core.conversation import Identity, Reply, Request
from sociometer.core.errors import FailureKind, MachineryError, UsageError
from sociometer.core.player import Abilities, Player
from sociometer.models.keys import Key
from sociometer.models.openai import OpenAIPlayer
from sociometer.models.presets import ModelOptions, presets

_POLL_SECONDS = 0.25


class LaunchedServer(Player):
    """A model that a server of its own serves; the server starts with the first request."""

    def __init__(self, name: str, options: ModelOptions) -> None:
        if shutil.which("vllm") is None:
            raise UsageError("vLLM is not installed where the model would run; install it with: pip install vllm.")
        self.identity = Identity("vllm", name, revision=options.revision, certain=bool(options.revision))
        self.abilities = Abilities(continues_text=True)
        self._options = options
        self._at = ("--revision", options.revision) if options.revision and not Path(name).exists() else ()
        self._starting = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._player: Player | None = None

    parallel = True

    async def answer(self, request: Request) -> Reply:
        """One attempt at a reply; a server that ended is started again."""
        async with self._starting:
            if self._player is None or self._process is None or self._process.returncode is not None:
                self._player = await self._start()
        return await self._player.answer(request)

    async def close(self) -> None:
        if self._player is not None:
            await self._player.close()
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()
            await self._process.wait()

    async def _start(self) -> Player:
        name = self.identity.name
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        words = ("vllm", "serve", name, "--host", "127.0.0.1", "--port", str(port), *self._at)
        with tempfile.TemporaryFile() as said:
            process = self._process = await asyncio.create_subprocess_exec(
                *words, stdin=asyncio.subprocess.DEVNULL, stdout=said, stderr=said, preexec_fn=_end_with_parent
            )
            while process.returncode is None:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(_POLL_SECONDS)
                    continue
                writer.close()
                url = f"http://127.0.0.1:{port}/v1"
                options = structs.replace(self._options, base_url=url)
                return OpenAIPlayer(name, url, Key(""), options, presets()["vllm"], certain=True)
            said.seek(0)
            lines = said.read().decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
        why = f"vLLM did not start with '{name}': {lines[-1][:200]}"
        raise MachineryError(why, FailureKind.LOCAL_MODEL, fatal=True)


def _end_with_parent() -> None:
    """Let the kernel end the server with the process that started it; else it would keep its GPU."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
