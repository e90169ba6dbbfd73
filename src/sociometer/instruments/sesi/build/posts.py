"""Posts with their comments, from dumps or live, and the filters that reject some of them with a reason."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from sociometer.core.errors import DataError, MachineryError, UsageError
from sociometer.core.source import Source
from sociometer.core.task import Item

DEMO = Path(__file__).parent.parent / "data" / "posts.jsonl"
TOP = 5
"""The number of comments that make the right answer."""
MOST_LINE_BYTES = 1 << 26
MOST_EXPANSION = 200
"""The largest expansion of a compressed dump; dumps of Reddit unpack to about 15 times their size."""

_BLOCK = 1 << 20
# A block of zeros takes four bytes and unpacks to 128 KiB: this many bytes unpack to at most 32 MiB in one step.
_PACKED_BLOCK = 1 << 10
_ALWAYS_READ_BYTES = 1 << 24

_GONE = {"[removed]", "[deleted]", ""}
_LINK = re.compile(r"https?://|www\.", re.IGNORECASE)
_UPDATE = re.compile(r"\b(?:update|edit)\s*(?:#?\d+|:|-|\]|\))", re.IGNORECASE)
_TLDR = re.compile(r"\btl\s*[;:,/]?\s*dr\b[\s:;,.\-–—*]*", re.IGNORECASE)


class Comment(Struct, frozen=True):
    """One comment with the readers' votes."""

    id: str
    text: str
    votes: int


class Post(Item, frozen=True, kw_only=True):
    """One post with its top comments, best first."""

    title: str
    body: str
    tldr: str = ""
    link: str = ""
    comments: tuple[Comment, ...] = ()


class Rejection(Struct, frozen=True):
    """A post that gives no item, and why."""

    post: str
    reason: str


class RawPost(Struct, frozen=True):
    """A post in a dump, with all comments found for it."""

    id: str
    title: str
    body: str
    link: str
    is_text: bool
    comments: tuple[Comment, ...]


def demo_posts(source: Source) -> list[Post]:
    """The bundled posts that pass the filters."""
    return filter_posts(read_posts([DEMO]))[0]


def read_posts(paths: Iterable[Path]) -> list[RawPost]:
    """Posts from JSON-lines files, plain or .zst; comments are on separate lines or inside their post."""
    heads: dict[str, dict[str, Any]] = {}
    comments: dict[str, dict[str, Comment]] = {}
    for path in paths:
        for number, line in enumerate(_lines(path), 1):
            if not line.strip():
                continue
            record = _record(line, path, number)
            if "link_id" in record:
                _take_comment(record, str(record["link_id"]).removeprefix("t3_"), comments)
            else:
                if not record.get("id") or "title" not in record:
                    raise DataError("neither a post (id, title, selftext) nor a comment (link_id, body)", path, number)
                heads.setdefault(str(record["id"]), record)
                for inner in _inner_comments(record, path, number):
                    _take_comment(inner, str(record["id"]), comments)
    return [_raw(head, comments.get(name, {})) for name, head in heads.items()]


def filter_posts(found: Iterable[RawPost], least_comments: int = TOP) -> tuple[list[Post], list[Rejection]]:
    """The posts that pass every filter, with their five top comments, and the others with the reason."""
    posts, rejected, seen = [], [], set()
    for raw in found:
        reason = _reason(raw, least_comments)
        text = " ".join(raw.body.lower().split())
        if not reason and text in seen:
            reason = "the same text was posted before"
        seen.add(text)
        if reason:
            rejected.append(Rejection(raw.id, reason))
        else:
            body, tldr = split_tldr(raw.body)
            best = sorted(raw.comments, key=lambda comment: (-comment.votes, comment.id))[:TOP]
            posts.append(Post(id=raw.id, title=raw.title, body=body, tldr=tldr, link=raw.link, comments=tuple(best)))
    return posts, rejected


def split_tldr(body: str) -> tuple[str, str]:
    """The post without its short version, and the short version (empty if there is none)."""
    match = _TLDR.search(body)
    if match is None:
        return body.strip(), ""
    before, after = body[: match.start()].strip(" *_\n\t"), body[match.end() :].strip(" *_\n\t")
    if before:
        return before, after
    first, _, rest = after.partition("\n")
    return (rest.strip() or after), first.strip()


def _reason(raw: RawPost, least_comments: int) -> str:
    if raw.body.strip() in _GONE:
        return "the text was removed"
    if not raw.is_text or _LINK.search(raw.body):
        return "refers to an external link"
    updates = len(_UPDATE.findall(f"{raw.title}\n{raw.body}"))
    if updates > 1:
        return f"several updates ({updates})"
    if len(raw.comments) < least_comments:
        return f"too few comments ({len(raw.comments)} of {least_comments})"
    return ""


def _lines(path: Path) -> Iterator[bytes]:
    try:
        yield from _split(_zst_blocks(path) if path.suffix == ".zst" else _blocks(path, _BLOCK), path)
    except OSError as error:
        raise DataError(
            f"cannot be read ({error.strerror}); give --posts FILE (.jsonl or .zst), or 'demo'", path
        ) from None


def _split(blocks: Iterable[bytes], path: Path) -> Iterator[bytes]:
    """The lines of a stream, each within the limit."""
    rest: list[bytes] = []
    held = number = 0
    for block in blocks:
        lines = block.split(b"\n")
        rest.append(lines[0])
        held += len(lines[0])
        if held > MOST_LINE_BYTES:
            raise DataError(f"a line has more than {MOST_LINE_BYTES:,} bytes, which no post has", path, number + 1)
        if len(lines) > 1:
            lines[0], last = b"".join(rest), lines.pop()
            yield from lines
            number += len(lines)
            rest, held = [last], len(last)
    if held:
        yield b"".join(rest)


def _blocks(path: Path, size: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(size):
            yield block


def _zst_blocks(path: Path) -> Iterator[bytes]:
    """The unpacked blocks of a compressed dump; a truncated or too large one raises an error."""
    try:
        import zstandard
    except ImportError:
        raise DataError("reading .zst needs the extra 'posts': pip install 'sociometer[posts]'", path) from None
    # Reddit dumps are compressed with a long window, which the default decoder refuses.
    decoder = zstandard.ZstdDecompressor(max_window_size=2**31)
    frame, taken, expanded = decoder.decompressobj(), 0, 0
    try:
        for packed in _blocks(path, _PACKED_BLOCK):
            taken += len(packed)
            while packed:
                # A file can hold several frames, one after the other.
                frame = decoder.decompressobj() if frame.eof else frame
                block = frame.decompress(packed)
                packed = frame.unused_data if frame.eof else b""
                expanded += len(block)
                if expanded > max(MOST_EXPANSION * taken, _ALWAYS_READ_BYTES):
                    raise DataError(f"unpacks to more than {MOST_EXPANSION} times its size, as no dump does", path)
                yield block
    except (zstandard.ZstdError, MemoryError) as error:
        raise DataError(f"not a readable .zst file: {error}", path) from None
    if not frame.eof:
        raise DataError("the .zst file ends too early; fetch it again", path)


def _record(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(str(error), path, number) from None
    if not isinstance(record, dict):
        raise DataError("a line must be a JSON object", path, number)
    return record


def _inner_comments(record: dict[str, Any], path: Path, number: int) -> list[dict[str, Any]]:
    found = record.get("comments") or []
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise DataError("'comments' must be a list of JSON objects", path, number)
    return found


def _take_comment(record: dict[str, Any], post: str, comments: dict[str, dict[str, Comment]]) -> None:
    """Keeps a top-level comment by a person that was not removed."""
    text = str(record.get("body") or "").strip()
    parent = str(record.get("parent_id") or f"t3_{post}")
    if text in _GONE or record.get("stickied") or record.get("author") == "AutoModerator":
        return
    if not parent.startswith("t3_"):
        return
    votes = record.get("score")
    name = str(record.get("id") or f"{post}-{len(comments.get(post, {})) + 1}")
    entry = Comment(name, text, votes if isinstance(votes, int) else 0)
    comments.setdefault(post, {})[entry.id] = entry


def _raw(head: dict[str, Any], comments: dict[str, Comment]) -> RawPost:
    name = str(head["id"])
    return RawPost(
        id=name,
        title=str(head.get("title") or "").strip(),
        body=str(head.get("selftext") or "").strip(),
        link=str(head.get("permalink") or ""),
        is_text=head.get("is_self", True) is not False,
        comments=tuple(comments.values()),
    )


def reddit(site: str = "") -> Any:
    """A read-only PRAW client with the keys of the environment; `site` replaces reddit.com."""
    try:
        import praw
    except ImportError:
        raise UsageError(
            "--subreddit needs the extra 'posts': pip install 'sociometer[posts]' (or read a dump with --posts FILE)."
        ) from None
    keys = {name: os.environ.get(name, "") for name in ("REDDIT_CLIENT_ID", "REDDIT_CLIENT_SECRET")}
    missing = [name for name, value in keys.items() if not value]
    if missing:
        raise UsageError(f"set {' and '.join(missing)} in the environment (an app of type 'script' on reddit.com).")
    site = site or os.environ.get("SOCIOMETER_REDDIT_URL", "")
    places: dict[str, Any] = {"reddit_url": site, "oauth_url": site} if site else {}
    return praw.Reddit(
        client_id=keys["REDDIT_CLIENT_ID"],
        client_secret=keys["REDDIT_CLIENT_SECRET"],
        user_agent="sociometer (research; read-only)",
        check_for_updates=False,
        **places,
    )


def fetch_posts(subreddit: str, count: int, site: str = "") -> list[RawPost]:
    """The year's top posts of a subreddit with their top-level comments."""
    client = reddit(site)
    try:
        return [_fetched(submission) for submission in client.subreddit(subreddit).top(time_filter="year", limit=count)]
    except Exception as error:  # PRAW raises several unrelated trees; all mean that Reddit gave no answer
        raise MachineryError(f"Reddit returned no posts from r/{subreddit}: {type(error).__name__}: {error}") from None


def _fetched(submission: Any) -> RawPost:
    submission.comment_sort = "top"
    submission.comments.replace_more(limit=0)
    comments = [
        Comment(str(comment.id), str(comment.body).strip(), int(comment.score))
        for comment in submission.comments
        if not comment.stickied and str(comment.author) != "AutoModerator" and str(comment.body).strip() not in _GONE
    ]
    return RawPost(
        id=str(submission.id),
        title=str(submission.title),
        body=str(submission.selftext),
        link=str(submission.permalink),
        is_text=bool(submission.is_self),
        comments=tuple(comments),
    )
