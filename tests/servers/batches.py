"""Servers with the batch endpoints of OpenAI and Anthropic, which count what is paid for."""

import json
import re
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from servers.anthropic import AnthropicServer
from servers.faults import Fault
from servers.openai import OpenAIServer

ANSWERED, ERROR, EXPIRED = "answered", "error", "expired"


class Batch:
    """A batch at the provider."""

    def __init__(self, number: int, label: str, requests: dict[str, dict]) -> None:
        self.number = number
        self.label = label
        self.requests = requests
        self.created = time.time()
        self.polls = 0
        self.cancelled = False
        self.fates: dict[str, str] = {}
        self.ended = False


class BatchMixin:
    """What the three have in common; `polls` says how often a batch is asked for before it has ended."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[Batch] = []
        self.files: dict[str, bytes] = {}
        self.paid: Counter[str] = Counter()
        """How often each request was answered in a batch."""
        self.polls = 2
        self.fate: Callable[[Batch, str], str] = lambda batch, name: ANSWERED
        self.before_create: Callable[[], bool] = lambda: False
        """Called when a batch is to be created; true breaks the connection before anything happens."""
        self.after_create: Callable[[], bool] = lambda: False
        """Called when a batch was created; true breaks the connection before the answer."""
        self.whole_failure: dict | None = None
        self.hidden = 0
        """How many lists do not show a new batch yet."""
        self.faults_of_polls: list[int] = []
        """The statuses with which the next questions about a batch are answered."""

    def create(self, request: web.Request, label: str, requests: dict[str, dict]) -> Batch | None:
        if self.before_create():
            request.transport.close()
            return None
        batch = Batch(len(self.batches) + 1, label, requests)
        self.batches.append(batch)
        if self.after_create():
            request.transport.close()
            return None
        return batch

    def look_at(self, batch: Batch) -> None:
        batch.polls += 1
        if not batch.ended and (batch.polls >= self.polls or batch.cancelled):
            batch.ended = True
            for name in batch.requests:
                batch.fates[name] = EXPIRED if batch.cancelled else self.fate(batch, name)
                self.paid[name] += batch.fates[name] == ANSWERED

    def listed(self) -> list[Batch]:
        if self.hidden:
            self.hidden -= 1
            return []
        return self.batches[::-1]

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        answer = await self.batch_answer(request)
        if answer is None:
            return await super()._handle(request)
        return answer

    def broken_poll(self) -> web.Response | None:
        return (
            web.json_response({"error": {"message": "no"}}, status=self.faults_of_polls.pop(0))
            if self.faults_of_polls
            else None
        )

    async def batch_answer(self, request: web.Request) -> web.StreamResponse | None:
        raise NotImplementedError


def lines(rows: list[dict]) -> web.Response:
    return web.Response(
        body="".join(json.dumps(row) + "\n" for row in rows).encode(), content_type="application/x-jsonl"
    )


class OpenAIBatchServer(BatchMixin, OpenAIServer):
    async def batch_answer(self, request):
        path = request.path.removeprefix("/v1")
        if path == "/files":
            form = await request.post()
            assert form["purpose"] == "batch"
            self.files[name := f"file-{len(self.files) + 1}"] = form["file"].file.read()
            return web.json_response({"id": name, "object": "file", "purpose": "batch"})
        if path == "/batches" and request.method == "POST":
            return await self._create(request)
        if path == "/batches":
            assert request.query["limit"] == "100"
            return web.json_response(
                {"object": "list", "data": [self._shown(one) for one in self.listed()], "has_more": False}
            )
        if found := re.fullmatch(r"/batches/batch_(\d+)(/cancel)?", path):
            return self.broken_poll() or self._one(self.batches[int(found[1]) - 1], bool(found[2]))
        if found := re.fullmatch(r"/files/(out|err)-(\d+)/content", path):
            return self._file(self.batches[int(found[2]) - 1], found[1] == "out")
        return None

    async def _create(self, request):
        body = await request.json()
        assert (body["endpoint"], body["completion_window"]) == ("/v1/chat/completions", "24h")
        rows = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        assert all((row["method"], row["url"]) == ("POST", "/v1/chat/completions") for row in rows)
        made = self.create(request, body["metadata"]["sociometer"], {row["custom_id"]: row["body"] for row in rows})
        return web.json_response(self._shown(made)) if made else web.Response()

    def _one(self, batch, cancel):
        if cancel:
            batch.cancelled = True
        else:
            self.look_at(batch)
        return web.json_response(self._shown(batch))

    def _shown(self, batch):
        fates = set(batch.fates.values())
        status = (
            "in_progress"
            if not batch.ended
            else "cancelled"
            if batch.cancelled
            else "expired"
            if EXPIRED in fates
            else "completed"
        )
        shown = {"id": f"batch_{batch.number}", "object": "batch", "status": status, "created_at": int(batch.created)}
        shown["metadata"] = {"sociometer": batch.label} if batch.label else None
        shown["request_counts"] = {"total": len(batch.requests), "completed": 0, "failed": 0}
        if self.whole_failure:
            shown |= {"status": "failed", "errors": {"object": "list", "data": [self.whole_failure]}}
        elif batch.ended:
            shown["output_file_id"] = f"out-{batch.number}" if ANSWERED in fates else None
            shown["error_file_id"] = f"err-{batch.number}" if fates - {ANSWERED} else None
        return shown

    def _file(self, batch, good):
        rows = []
        for name, fate in batch.fates.items():
            row: dict[str, Any] = {"id": f"r-{name}", "custom_id": name, "response": None, "error": None}
            if fate == ANSWERED and good:
                body = self.good("/chat/completions", batch.requests[name], Fault())
                rows.append(row | {"response": {"status_code": 200, "request_id": "x", "body": body}})
            elif fate == ERROR and not good:
                error = {"error": {"message": "The server had an error", "type": "server_error"}}
                rows.append(row | {"response": {"status_code": 500, "request_id": "x", "body": error}})
            elif fate == EXPIRED and not good:
                expired = {"code": "batch_expired", "message": "This request could not be executed in time."}
                rows.append(row | {"error": expired})
        return lines(rows)


class AnthropicBatchServer(BatchMixin, AnthropicServer):
    async def batch_answer(self, request):
        path = request.path.removeprefix("/v1/messages/batches")
        if path == request.path:
            return None
        assert request.headers["anthropic-version"]
        if path == "" and request.method == "POST":
            body = await request.json()
            assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", one["custom_id"]) for one in body["requests"])
            made = self.create(request, "", {one["custom_id"]: one["params"] for one in body["requests"]})
            return web.json_response(self._shown(made)) if made else web.Response()
        if path == "":
            return web.json_response({"data": [self._shown(one) for one in self.listed()], "has_more": False})
        found = re.fullmatch(r"/msgbatch_(\d+)(/cancel|/results)?", path)
        batch = self.batches[int(found[1]) - 1]
        if found[2] == "/results":
            return lines([{"custom_id": name, "result": self._result(batch, name)} for name in batch.fates])
        if found[2]:
            batch.cancelled = True
        elif (broken := self.broken_poll()) is not None:
            return broken
        else:
            self.look_at(batch)
        return web.json_response(self._shown(batch))

    def _shown(self, batch):
        counts = Counter(batch.fates.values())
        shown = {"id": f"msgbatch_{batch.number}", "type": "message_batch"}
        shown["created_at"] = datetime.fromtimestamp(batch.created, UTC).isoformat()
        shown["processing_status"] = "ended" if batch.ended else "canceling" if batch.cancelled else "in_progress"
        shown["request_counts"] = {
            "processing": 0 if batch.ended else len(batch.requests), "succeeded": counts[ANSWERED],
            "errored": counts[ERROR], "canceled": 0, "expired": counts[EXPIRED],
        }  # fmt: skip
        shown["results_url"] = "https://elsewhere.invalid/results" if batch.ended else None
        return shown

    def _result(self, batch, name):
        match batch.fates[name]:
            case "answered":
                return {"type": "succeeded", "message": self.good("", batch.requests[name], Fault())}
            case "error":
                error = {"type": "error", "error": {"type": "api_error", "message": "Internal server error"}}
                return {"type": "errored", "error": error}
        return {"type": "canceled" if batch.cancelled else "expired"}


SERVERS = {"openai": OpenAIBatchServer, "anthropic": AnthropicBatchServer}
