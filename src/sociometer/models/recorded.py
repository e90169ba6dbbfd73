"""A recorded model: the replies of a real model in one small file, found by their request."""

import gzip
import hashlib
import zlib
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from sociometer.core.conversation import Identity, Message, Reply, Request
from sociometer.core.errors import DataError, FailureKind, MachineryError, hint, unknown
from sociometer.core.player import RulePlayer
from sociometer.core.settings import SettingValue

BUNDLED = Path(__file__).parent / "recordings"
ENDING = ".jsonl.gz"
_MOST_BYTES = 64 << 20
_FORMAT = 1
_encode = msgspec.msgpack.Encoder().encode


class RecordedModel(Struct, frozen=True, kw_only=True):
    """Which model was recorded, and when: the first line of the file."""

    model: str
    """The model's full name, for tables and pages."""
    sha256: str = ""
    """The digest of the weights; empty for a subject that answered by hand."""
    recorded: str
    """The day of the last reply, as 2026-11-15."""
    licence: str = ""
    sociometer: str = ""
    format: int = _FORMAT


class RecordedReply(Struct, frozen=True):
    """One reply, and the digest of the messages that it answers."""

    asked: str
    reply: Reply


class RecordedItem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An item as it was played to its end: a line of the file."""

    instrument: str
    task: str
    item: str
    settings: dict[str, SettingValue] = {}
    seed: int = 0
    replies: tuple[RecordedReply, ...] = ()


class ModelRecording(Struct, frozen=True):
    """The content of a recording."""

    name: str
    about: RecordedModel
    items: tuple[RecordedItem, ...] = ()

    def of(self, instrument: str) -> tuple[RecordedItem, ...]:
        return tuple(one for one in self.items if one.instrument == instrument)


class Recorded(RulePlayer):
    """Answers each request with the recorded reply to the same messages, each once."""

    def __init__(self, recording: ModelRecording) -> None:
        about = recording.about
        super().__init__(Identity("recorded", recording.name, revision=about.sha256 or about.recorded))
        self._title = f"the recording '{recording.name}' ({about.recorded})"
        self._replies: dict[str, deque[Reply]] = {}
        for item in recording.items:
            for one in item.replies:
                self._replies.setdefault(one.asked, deque()).append(one.reply)

    async def answer(self, request: Request) -> Reply:
        """The reply that was kept for these messages."""
        if left := self._replies.get(digest(request.messages)):
            return left.popleft()
        last = request.messages[-1].content if request.messages else ""
        raise MachineryError(
            f"{self._title} has no (further) reply of role '{request.role}' to this request (last message begins"
            f" '{last[:60]}'); it has only the items that '{hint('demo')}' plays, each once, as worded"
            " then.",
            FailureKind.NOT_RECORDED,
        )


def digest(messages: Sequence[Message]) -> str:
    """The digest of a request: its messages with their roles."""
    said = _encode([(message.role, message.content) for message in messages])
    return hashlib.blake2b(said, digest_size=16).hexdigest()


def bundled() -> tuple[str, ...]:
    """The names of the recordings that ship with Sociometer."""
    return tuple(sorted(path.name.removesuffix(ENDING) for path in BUNDLED.glob(f"*{ENDING}")))


def load_recording(name: str) -> ModelRecording:
    """The recording of that name, or in that file (`PATH.jsonl.gz`)."""
    if name.endswith(ENDING):
        return read_recording(Path(name).expanduser())
    if name not in bundled():
        raise unknown("recording", name, bundled(), f"Or give a file, as in recorded/PATH{ENDING}.")
    return read_recording(BUNDLED / f"{name}{ENDING}")


def read_recording(path: Path) -> ModelRecording:
    """The recording in a file; a DataError names the line that cannot be read."""
    number = 0
    try:
        with gzip.open(path) as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise DataError(f"the recording has more than {_MOST_BYTES >> 20} MB.", path)
        lines = content.splitlines()
        number = 1
        about = msgspec.json.decode(lines[0] if lines else b"", type=RecordedModel)
        items = []
        for line in lines[1:]:
            number += 1
            items.append(msgspec.json.decode(line, type=RecordedItem))
    except (OSError, EOFError, zlib.error) as error:
        said = getattr(error, "strerror", None) or error
        raise DataError(f"the recording cannot be read: {said}; tools/record.py writes one.", path) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"the recording cannot be read: {error}.", path, number) from None
    if about.format != _FORMAT:
        raise DataError(f"the recording has format {about.format}; this version reads {_FORMAT}.", path)
    return ModelRecording(path.name.removesuffix(ENDING), about, tuple(items))


def write_recording(path: Path, about: RecordedModel, items: Iterable[RecordedItem]) -> None:
    """Writes a recording, compressed; the same replies always make the same file."""
    lines = b"".join(msgspec.json.encode(record, order="deterministic") + b"\n" for record in (about, *items))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(lines, mtime=0))
