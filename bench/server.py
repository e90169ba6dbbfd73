"""A mock chat-completions server that is not the bottleneck: a bare protocol, ready-made bytes, its own processes.

Run: python bench/server.py PORT DELAY_SECONDS [PROCESSES]. GET /stats gives requests served and CPU seconds used.
"""

import asyncio
import json
import multiprocessing
import resource
import socket
import sys

import uvloop

from work import MODEL, REPLY

_ANSWER = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": MODEL,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": REPLY}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 60, "completion_tokens": 1, "total_tokens": 61},
    }
).encode()


def _response(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body


_READY = _response(_ANSWER)


class Chat(asyncio.Protocol):
    """Answers every POST after the delay; requests on one connection come one after another."""

    served = 0
    delay_seconds = 0.05

    def __init__(self) -> None:
        self._buffer = b""
        self._transport: asyncio.BaseTransport | None = None
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        raw = transport.get_extra_info("socket")
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while True:
            head, mark, rest = self._buffer.partition(b"\r\n\r\n")
            if not mark:
                return
            at = head.lower().find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(rest) < length:
                return
            self._buffer = rest[length:]
            if head.startswith(b"POST"):
                self._loop.call_later(self.delay_seconds, self._answer)
            else:
                usage = resource.getrusage(resource.RUSAGE_SELF)
                self._write(
                    _response(json.dumps({"served": Chat.served, "cpu": usage.ru_utime + usage.ru_stime}).encode())
                )

    def _answer(self) -> None:
        Chat.served += 1
        self._write(_READY)

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)


def serve(port: int, delay_seconds: float) -> None:
    """Serves until the process is ended."""

    async def forever() -> None:
        Chat.delay_seconds = delay_seconds
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listening.bind(("127.0.0.1", port))
        server = await asyncio.get_running_loop().create_server(Chat, sock=listening, backlog=4096)
        print(listening.getsockname()[1], flush=True)
        await server.serve_forever()

    uvloop.run(forever())


if __name__ == "__main__":
    port, delay_seconds, processes = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    for _ in range(processes - 1):
        multiprocessing.Process(target=serve, args=(port, delay_seconds), daemon=True).start()
    serve(port, delay_seconds)
