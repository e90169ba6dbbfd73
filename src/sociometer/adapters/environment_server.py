"""A training environment for trainers in other processes, by OpenEnv and by the Open Reward Standard (ORS).

OpenEnv's clients keep a WebSocket (`/ws`) for each rollout; `/reset` and `/step` do the same with an `episode_id`. ORS
lists tasks, and a session has one tool, `say`. Both play the rollouts of one gym: OpenEnv's seed and the index of a
task of ORS count its items, none of which is in a test.
"""

import asyncio
import hmac
import logging
import re
import time
import uuid
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from aiohttp import WSMsgType, web

from sociometer.adapters.alarm import Eavesdropper
from sociometer.adapters.gym import Action, Gym, Playing, Reason, Step, new_text
from sociometer.core.errors import SociometerError
from sociometer.core.version import __version__

IDLE_SECONDS = 900.0
"""After so long without a word of its trainer a rollout is given up."""
MOST_SESSIONS, MOST_BYTES = 4096, 2**22
_PING_SECONDS = 10.0
_SPLIT = "train"
_PIECES = re.compile(r"[^ ].{0,16383} *", re.DOTALL)
"""Parts of a long event; ORS's client strips the spaces that a part begins with, and reads no line of 128 KB."""
_INPUT = {"type": "object", "properties": {"reply": {"type": "string"}}, "required": ["reply"]}
_SAY = {"name": "say", "description": "Say this to the other, and hear what they answer.", "input_schema": _INPUT}


class _Refused(SociometerError):
    """A request that cannot be answered; `status` is HTTP's, `code` OpenEnv's."""

    def __init__(self, message: str, status: int = 400, code: str = "EXECUTION_ERROR") -> None:
        super().__init__(message)
        self.status, self.code = status, code


class _Seat:
    """The rollout that one trainer plays now."""

    def __init__(self, playing: Playing, number: int) -> None:
        self.playing, self.number, self.used = playing, number, time.monotonic()
        self.busy = asyncio.Lock()
        self.call: tuple[str, asyncio.Task[bytes]] | None = None
        """The last call of ORS: a client asks again for its answer after a lost connection."""

    def told(self, step: Step) -> dict[str, Any]:
        """What no field of the protocols has; at the end the whole rollout."""
        if step.observation is None and step.reward is None:
            logging.getLogger(__name__).warning("rollout %d %s: %s", self.number, step.reason, step.failure)
        told = {name: getattr(step, name) for name in ("part", "facts", "terminated", "truncated", "reason", "failure")}
        return told | ({"rollout": self.playing.rollout} if step.observation is None else {})

    def result(self, step: Step, **more: str) -> dict[str, Any]:
        """A step as OpenEnv's clients read it."""
        told, done = {**self.told(step), **more}, step.observation is None
        return {"observation": step.observation or {}, "reward": step.reward, "done": done, "metadata": told}


class EnvironmentServer:
    """The rollouts of one gym for any number of clients; `eavesdropper` hears each that ended."""

    def __init__(
        self, gym: Gym, *, token: str = "", eavesdropper: Eavesdropper | None = None, idle_seconds: float = IDLE_SECONDS
    ) -> None:
        self._gym, self._token, self._eavesdropper, self._idle = gym, token.encode(), eavesdropper, idle_seconds
        self._seats: dict[str, _Seat] = {}
        self._hearing: set[asyncio.Task[None]] = set()
        self._next = 0
        about = {"name": gym.environment.name, "description": gym.environment.help, "version": __version__}
        tools = {"tools": [_SAY], "message_block_types": ["text"]}
        self._facts: dict[str, object] = {
            "health": {"status": "healthy"},
            "metadata": about,
            "version": {"version": __version__},
            "tools": tools,
            "schema": {"action": msgspec.json.schema(Action), "observation": {}, "state": {}},
            "task_tools": tools,
            "list_environments": [about["name"]],
            "splits": [{"name": _SPLIT, "type": _SPLIT}],
            "num_tasks": {"num_tasks": gym.count},
        }

    def application(self) -> web.Application:
        """The server; it gives up idle rollouts while it runs, and all of them at its end."""
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_route("*", "/{path:.*}", self._answer)
        app.cleanup_ctx.append(self._living)
        return app

    async def _living(self, app: web.Application) -> AsyncIterator[None]:
        reaper = asyncio.create_task(self._reap())
        yield
        reaper.cancel()
        await asyncio.gather(reaper, *self._hearing, return_exceptions=True)
        await self._gym.close()
        if self._eavesdropper is not None:
            await self._eavesdropper.gym.close()

    async def _reap(self) -> None:
        while True:
            await asyncio.sleep(self._idle / 4)
            for name, seat in tuple(self._seats.items()):
                idle = 0.0 if seat.busy.locked() else time.monotonic() - seat.used
                if idle > self._idle:
                    seat.playing.close(Reason.IDLE)
                if idle > 2 * self._idle:
                    del self._seats[name]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        """Browsers, who send an origin, and clients without the token get no answer but an error."""
        given = request.headers.get("X-API-Key") or request.headers.get("Authorization", "").removeprefix("Bearer ")
        environment, _, name = request.match_info["path"].rpartition("/")
        try:
            if "Origin" in request.headers:
                raise _Refused("this server is for trainers, not for browsers.", 403)
            if self._token and not hmac.compare_digest(given.encode("utf-8", "replace"), self._token):
                raise _Refused("the token is missing or wrong; send 'Authorization: Bearer TOKEN'.", 401)
            if environment.lower() not in ("", self._gym.environment.name):
                raise _Refused(f"there is no environment '{environment}' here.", 404)
            if name == "ws":
                return await self._websocket(request)
            session = request.headers.get("X-Session-ID", "").strip()
            asked = msgspec.json.decode(await request.read() or b"{}", type=dict[str, Any])
            if asked.get("split", _SPLIT) != _SPLIT:
                raise _Refused(f"there is no split '{asked['split']}'; the only one is '{_SPLIT}'.")
            if name == "create_session":
                return await _stream(request, uuid.uuid4().hex)
            if name == "call":
                return await _stream(request, *self._call(asked, session))
            return _json(self._facts[name] if name in self._facts else await self._done(name, asked, session))
        except SociometerError as error:
            return _json({"detail": str(error)}, error.status if isinstance(error, _Refused) else 400)
        except msgspec.MsgspecError as error:
            return _json({"detail": f"the request cannot be read: {error}."}, 422)

    async def _begin(self, session: str, number: object) -> _Seat:
        """Begin the rollout of a number, or of the next in turn, in a session of a name."""
        if number is None:
            number, self._next = self._next, self._next + 1
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise _Refused(f"a seed or an index is a whole number from 0, not {number!r}; it counts the items.")
        if len(self._seats) >= MOST_SESSIONS:
            raise _Refused(f"{MOST_SESSIONS} sessions are open; try again later.", 503, "CAPACITY_REACHED")
        playing = await self._gym.reset(self._gym.item(number))
        self._leave(session)
        self._seats[session] = seat = _Seat(playing, number)
        return seat

    def _seat(self, session: str) -> _Seat:
        if session not in self._seats:
            raise _Refused("there is no rollout in this session: it never began, or the server was started again.", 410)
        self._seats[session].used = time.monotonic()
        return self._seats[session]

    def _leave(self, session: str) -> None:
        if (seat := self._seats.pop(session, None)) is not None:
            seat.playing.close()

    async def _spoken(self, seat: _Seat, said: object) -> Step:
        """Hand in a reply; a rollout that was idle for too long has an end without a reward."""
        action = msgspec.convert(said, Action)
        async with seat.busy:
            playing = seat.playing
            if playing.last.observation is None:
                raise _Refused("this rollout is over; begin another.")
            if playing.request is None:
                return playing.ended()
            step = await playing.step(action)
            seat.used = time.monotonic()
        if self._eavesdropper is not None and step.observation is None and step.reward is not None:
            hearing = asyncio.create_task(self._eavesdropper.hear(self._gym.item(seat.number), playing.rollout))
            self._hearing.add(hearing)
            hearing.add_done_callback(self._hearing.discard)
        return step

    async def _done(self, name: str, asked: dict[str, Any], session: str) -> object:
        """The answer to a request: the first two are OpenEnv's, the others those of ORS."""
        match name:
            case "reset":
                return await self._reset(str(asked.get("episode_id") or uuid.uuid4().hex), asked)
            case "step":
                seat = self._seat(str(asked.get("episode_id")))
                return seat.result(await self._spoken(seat, asked.get("action")))
            case "task":
                return {"task": {"index": asked.get("index")}, "env_name": self._gym.environment.name}
            case "tasks" | "task_range":
                chosen = range(self._gym.count)[asked.get("start") : asked.get("stop")]
                return {"tasks": [{"index": number} for number in chosen], "env_name": self._gym.environment.name}
            case "create":
                if not session or session in self._seats:
                    raise _Refused("give a session of its own in the header X-Session-ID.")
                await self._begin(session, (asked.get("task_spec") or asked).get("index", -1))
            case "delete" | "delete_session":
                self._leave(session)
            case "ping":
                self._seat(session)
            case "messages":
                said = self._seat(session).playing.messages
                return [{"role": one.role, "blocks": [_block(one.content)]} for one in said]
            case "prompt":
                return [_block("\n\n".join(one.content for one in self._seat(session).playing.messages))]
            case _:
                raise _Refused(f"there is no '/{name}' here.", 404)
        return {"sid": session}

    async def _reset(self, session: str, asked: dict[str, Any]) -> dict[str, Any]:
        seat = await self._begin(session, asked.get("seed"))
        return seat.result(seat.playing.last, episode_id=session)

    async def _websocket(self, request: web.Request) -> web.WebSocketResponse:
        socket, session = web.WebSocketResponse(max_msg_size=MOST_BYTES), uuid.uuid4().hex
        await socket.prepare(request)
        frames: asyncio.Queue[str] = asyncio.Queue()

        async def answer() -> None:
            while (said := await self._framed(session, await frames.get())) is not None:
                await socket.send_str(msgspec.json.encode(said).decode())
            await socket.close()

        answering = asyncio.create_task(answer())
        try:
            # Frames are read while a step is played: the client's pings are answered only then.
            async for frame in socket:
                if frame.type is WSMsgType.TEXT:
                    frames.put_nowait(frame.data)
        finally:
            answering.cancel()
            await asyncio.gather(answering, return_exceptions=True)
            self._leave(session)
        return socket

    async def _framed(self, session: str, frame: str) -> dict[str, Any] | None:
        """The answer to one message; None if it says goodbye."""
        try:
            message = msgspec.json.decode(frame, type=dict[str, Any])
            match message.get("type"):
                case "reset":
                    return {"type": "observation", "data": await self._reset(session, message.get("data", {}))}
                case "step":
                    seat = self._seat(session)
                    return {"type": "observation", "data": seat.result(await self._spoken(seat, message.get("data")))}
                case "state":
                    seat = self._seat(session)
                    state = {"episode_id": str(seat.number), "step_count": len(seat.playing.rollout.turns)}
                    return {"type": "state", "data": state}
                case "close":
                    return None
            raise _Refused(f"unknown message type '{message.get('type')}'.", code="UNKNOWN_TYPE")
        except (SociometerError, msgspec.MsgspecError) as error:
            code = error.code if isinstance(error, _Refused) else "VALIDATION_ERROR"
            return {"type": "error", "data": {"message": str(error), "code": code}}

    def _call(self, asked: dict[str, Any], session: str) -> tuple[str, "asyncio.Task[bytes]"]:
        seat = self._seat(session)
        if "task_id" not in asked:
            seat.call = uuid.uuid4().hex, asyncio.create_task(self._say(seat, asked))
        if seat.call is None or seat.call[0] != asked.get("task_id", seat.call[0]):
            raise _Refused("this call is not known here.", 410)
        return seat.call

    async def _say(self, seat: _Seat, asked: dict[str, Any]) -> bytes:
        """The result of a call of the tool, as JSON."""
        before, failed = seat.playing.last.observation, {"ok": False, "reason": "episode_finished"}
        if asked.get("name") != "say":
            wrong = f"unknown tool '{asked.get('name')}'; the only one is 'say'."
            return msgspec.json.encode({**failed, "error": wrong, "reason": "not_found"})
        try:
            step = await self._spoken(seat, asked.get("input"))
        except msgspec.ValidationError as error:
            return msgspec.json.encode({**failed, "error": str(error), "reason": "input_validation"})
        except _Refused as error:
            return msgspec.json.encode({**failed, "error": str(error)})
        heard = [_block(new_text(before, step.observation))] if step.observation is not None else []
        done = step.observation is None
        output = {"blocks": heard, "metadata": seat.told(step), "reward": step.reward, "finished": done}
        return msgspec.json.encode({"ok": True, "output": output})


def _block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _json(content: object, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(content), status=status, content_type="application/json")


async def _stream(request: web.Request, name: str, task: "asyncio.Task[bytes] | None" = None) -> web.StreamResponse:
    """The name of a task and its result as server-sent events; comments keep the connection open."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
    await response.prepare(request)
    await response.write(f"event: task_id\ndata: {name}\n\n".encode())
    while task is not None and not (await asyncio.wait((task,), timeout=_PING_SECONDS))[0]:
        await response.write(b": still playing\n\n")
    pieces = _PIECES.findall(task.result().decode()) if task is not None else [""]
    events = [f"event: chunk\ndata: {piece}\n\n" for piece in pieces[:-1]] + [f"event: end\ndata: {pieces[-1]}\n\n"]
    await response.write("".join(events).encode())
    return response
