"""The file of a run that a stranger can check: rows of JSON, each with its digest, under one root digest.

The file is gzipped JSON lines: the run, its episodes in the order of the plan, a summary for each task, and the root.
It has replies in full, but items, requests and outcomes only as digests: whoever has the instrument has the items, and
playing them again with the replies gives the others.
"""

import gzip
import hashlib
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct, structs

from sociometer.core.card import Card
from sociometer.core.config import FieldContext
from sociometer.core.conversation import Message, Reply
from sociometer.core.errors import ExitCode, SociometerError, UsageError, hint
from sociometer.core.measure import Summary
from sociometer.core.task import Failure, Score
from sociometer.store.records import Manifest, read_manifest

ENDING = ".sociometer"
FORMAT = "sociometer-run"
SCHEMA = 1
_MOST_BYTES = 4 << 30
_MOST_LINE = 64 << 20
_MOST_ROWS = 2_000_000
"""More than any run has; what is larger is not read."""
_encode = msgspec.json.Encoder(order="deterministic").encode


class BundleError(UsageError):
    """The file cannot be checked: damaged, too large, foreign, of another version, or its data is missing here."""

    exit_code = ExitCode.NOT_CHECKED


class Difference(SociometerError):
    """The file was changed, or a number in it does not follow from its replies."""

    exit_code = ExitCode.GATE_FAILED

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(f"{path}: {message}")


class BundledRun(Struct, frozen=True, kw_only=True, tag_field="row", tag="run"):
    """The first row: which run it is, and what was decided before the first request."""

    format: str = FORMAT
    schema: int = SCHEMA
    id: str
    created: float
    finished: float | None
    manifest: Manifest
    plan: str
    """The digest of the plan, see `plan_digest`."""


class BundledReply(Struct, frozen=True, omit_defaults=True):
    """One reply or list of vectors, and the digest of the messages that it answers."""

    role: str
    asked: str
    reply: Reply | None = None
    branch: str = ""
    vectors: tuple[tuple[float, ...], ...] = ()


class BundledEpisode(Struct, frozen=True, omit_defaults=True, tag_field="row", tag="episode"):
    """One play of an item."""

    task: str
    item: str
    repeat: int
    content: str
    """The digest of the item."""
    replies: tuple[BundledReply, ...]
    outcome: str = ""
    """The digest of the outcome; empty for a failure."""
    score: Score | None = None
    failure: Failure | None = None

    @property
    def name(self) -> str:
        """How messages name the row."""
        return f"{self.task}/{self.item}" + (f", repeat {self.repeat}" if self.repeat else "")


class BundledSummary(Struct, frozen=True, tag_field="row", tag="summary"):
    """The summary of a task."""

    task: str
    summary: Summary


BundledRow = BundledRun | BundledEpisode | BundledSummary


class _Line(Struct, frozen=True, forbid_unknown_fields=True):
    digest: str
    content: Raw


class _End(Struct, frozen=True, forbid_unknown_fields=True):
    """The last line: the number of rows and the root digest."""

    rows: int
    root: str


class _RawRun(Struct, frozen=True):
    manifest: Raw


class _Head(Struct, frozen=True):
    format: str
    schema: int


class Bundle(Struct, frozen=True):
    """A file whose digests match."""

    path: Path
    run: BundledRun
    summaries: dict[str, Summary]
    episodes: int
    root: str

    def rows(self) -> Iterator[BundledEpisode]:
        """The episodes, read from the file again."""
        for row in _rows(self.path):
            if isinstance(row, BundledEpisode):
                yield row


def digest(value: object) -> str:
    """The SHA-256 of a value as JSON."""
    return hashlib.sha256(_encode(value)).hexdigest()


def asked_digest(messages: Sequence[Message]) -> str:
    """The digest of a request: who says what."""
    return digest([(message.role, message.content) for message in messages])


def public_manifest(manifest: Manifest, card: Card) -> Manifest:
    """The manifest without paths, addresses of servers, names of keys and the command line."""
    roles = {
        name: structs.replace(one, spec=one.label, identity=structs.replace(one.identity, base_url="", fields=""))
        for name, one in manifest.roles.items()
    }
    context = FieldContext(card.setting, {name: one.label for name, one in roles.items()})
    config, norms = manifest.config.only("published", context), public_norms(manifest)
    # the key has a digest of the server's address, and the scope is a run of the same store
    return structs.replace(manifest, config=config, roles=roles, norms=norms, key="", scope="")


def public_norms(manifest: Manifest) -> dict[str, Any]:
    """The norms of a run; of the official one, what it says about each item, such as its key, is only a digest."""
    if manifest.whose_items != "official" or manifest.config.settings.get("norm"):
        return manifest.norms
    return {
        task: {name: digest(one) if isinstance(one, dict) else one for name, one in norm.items()}
        for task, norm in manifest.norms.items()
        if isinstance(norm, dict)
    }


def plan_text(manifest: Manifest) -> str:
    """What was decided before the first request, as JSON: items, models, prompts, settings, seeds and limits.

    It follows from the public manifest, without the name of the subject and the machine: everyone can compute it.
    """
    config, machine = manifest.config.only("planned"), {"python_version": "", "platform": ""}
    names = {"subject": "", "key": "", "scope": "", "served": ""}  # known when the run has begun
    roles = {role: structs.replace(one, later_code=()) for role, one in manifest.roles.items()}
    written = _encode(structs.replace(manifest, config=config, roles=roles, later_caps=None, **machine, **names))
    # as whoever reads the file writes it: msgspec leaves out a default only if it is the same object
    return _encode(msgspec.json.decode(written, type=Manifest)).decode()


def plan_digest(manifest: Manifest) -> str:
    """The SHA-256 of `plan_text`."""
    return hashlib.sha256(plan_text(manifest).encode()).hexdigest()


def write_bundle(path: Path, rows: Iterable[BundledRow]) -> str:
    """Write the rows and return the root digest."""
    digests: list[str] = []
    with path.open("wb") as raw, gzip.GzipFile(fileobj=raw, filename="", mode="wb", compresslevel=6, mtime=0) as stream:
        for row in rows:
            body = _encode(row)
            digests.append(hashlib.sha256(body).hexdigest())
            stream.write(_encode(_Line(digests[-1], Raw(body))) + b"\n")
        root = digest(digests)
        stream.write(_encode(_End(len(digests), root)) + b"\n")
    return root


def read_bundle(path: Path) -> Bundle:
    """What the file holds, after all digests were compared; a BundleError if it cannot be checked.

    A row or a root whose digest does not match is a Difference.
    """
    runs: list[BundledRun] = []
    summaries: dict[str, Summary] = {}
    episodes, root = 0, ""
    for row in _rows(path):
        if isinstance(row, BundledRun):
            runs.append(row)
        elif isinstance(row, BundledEpisode):
            episodes += 1
        elif isinstance(row, _End):
            root = row.root
        elif row.task in summaries:
            raise Difference(path, f"it has two summaries of {row.task}.")
        else:
            summaries[row.task] = row.summary
    if len(runs) != 1:
        raise Difference(path, f"it has {len(runs)} rows about a run instead of one.")
    return Bundle(path, runs[0], summaries, episodes, root)


def _rows(path: Path) -> Iterator[BundledRow | _End]:
    """The rows in order, and the last line; what is wrong with the file is an error."""
    number, digests, last = 0, list[str](), None
    try:
        for number, line in enumerate(_lines(path), 1):
            if last is not None:
                raise Difference(path, "it has lines after its last one.")
            if line.startswith(b'{"rows":'):
                last = msgspec.json.decode(line, type=_End)
                continue
            found = msgspec.json.decode(line, type=_Line)
            if number == 1:
                _refuse_foreign(path, found.content)
            row = msgspec.json.decode(found.content, type=BundledRow)
            if isinstance(row, BundledRun):
                row = structs.replace(row, manifest=read_manifest(_manifest_in(found.content)))
            digests.append(hashlib.sha256(found.content).hexdigest())
            if digests[-1] != found.digest:
                raise Difference(path, f"{_named(row)} was changed: its digest does not match. Ask for the original.")
            yield row
    except (BundleError, Difference):
        raise
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, UsageError) as error:
        why = f"line {number} cannot be read ({error})" if number > 1 else "it is another file"
        raise _unreadable(path, why) from None
    if last is None:
        raise _unreadable(path, "its end is missing")
    if (last.rows, last.root) != (len(digests), digest(digests)):
        counts = f" (it has {len(digests)}, and its last line says {last.rows})" * (len(digests) != last.rows)
        said = f"rows were added, removed or moved{counts}"
        raise Difference(path, f"{said}: the root digest does not match.")
    yield last


def lacks_fields(path: Path) -> bool:
    """Whether the manifest of a file has fields that this version does not have, so that its plan is another text."""
    line = next(_lines(path))
    body = _manifest_in(msgspec.json.decode(line, type=_Line).content)
    written = msgspec.json.decode(body)
    return _lacks(written, msgspec.to_builtins(msgspec.json.decode(body, type=Manifest)))


def _manifest_in(content: Raw) -> Raw:
    return msgspec.json.decode(content, type=_RawRun).manifest


def _lacks(written: dict[str, Any], read: dict[str, Any]) -> bool:
    for name, value in written.items():
        if name not in read:
            return True
        if isinstance(value, dict) and isinstance(read[name], dict) and _lacks(value, read[name]):
            return True
    return False


def _named(row: BundledRow) -> str:
    if isinstance(row, BundledRun):
        return "the manifest"
    return f"the row {row.name}" if isinstance(row, BundledEpisode) else f"the summary of {row.task}"


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of the file within the limits."""
    read = count = 0
    if not path.is_file():
        raise _unreadable(path, "there is no such file")
    try:
        with gzip.open(path) as stream:
            while line := stream.readline(_MOST_LINE + 1):
                read, count = read + len(line), count + 1
                if len(line) > _MOST_LINE or read > _MOST_BYTES or count > _MOST_ROWS:
                    most = f"{_MOST_BYTES >> 30} GB, {_MOST_ROWS:,} rows, or {_MOST_LINE >> 20} MB in a row"
                    raise _unreadable(path, f"it is larger than {most}")
                if not line.endswith(b"\n"):
                    raise _unreadable(path, "its end is missing")
                yield line
    except (OSError, EOFError, zlib.error) as error:
        said = "its end is missing" if isinstance(error, EOFError) else getattr(error, "strerror", None) or str(error)
        raise _unreadable(path, "it is another file" if said.startswith("Not a gzip") else said) from None


def _refuse_foreign(path: Path, content: Raw) -> None:
    head = msgspec.json.decode(content, type=_Head)
    if head.format != FORMAT:
        raise _unreadable(path, "it is another file")
    if head.schema != SCHEMA:
        raise BundleError(f"{path}: has layout {head.schema}; this version of Sociometer reads layout {SCHEMA}.")


def _unreadable(path: Path, why: str) -> BundleError:
    wrote = f"is not a whole file of '{hint('export RUN --to', f'FILE{ENDING}')}'"
    return BundleError(f"{path}: {wrote}: {why}. Get it again from whoever wrote it.")
