"""Posts and their comments from dumps, and the filters that a post must pass."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.core.source import Source
from sociometer.core.task import Item
from sociometer.reading import read_lines

DEMO = Path(__file__).parents[1] / "data" / "posts.jsonl"
TOP = 5
"""The number of comments that make the right answer."""
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
    """Posts from JSON-lines files; comments are on separate lines or inside their post."""
    heads: dict[str, dict[str, Any]] = {}
    comments: dict[str, dict[str, Comment]] = {}
    for path in paths:
        for number, record in read_lines(path, dict[str, Any]):
            if "link_id" in record:
                _take_comment(record, str(record["link_id"]).removeprefix("t3_"), comments)
            else:
                if not record.get("id") or "title" not in record:
                    raise DataError("neither a post (id, title, selftext) nor a comment (link_id, body)", path, number)
                heads.setdefault(str(record["id"]), record)
                for inner in _inner_comments(record, path, number):
                    _take_comment(inner, str(record["id"]), comments)
    return [_raw(head, comments.get(name, {})) for name, head in heads.items()]


def filter_posts(found: Iterable[RawPost]) -> tuple[list[Post], list[Rejection]]:
    """The posts that pass every filter, with their five top comments, and the others with the reason."""
    posts, rejected, seen = [], [], set()
    for raw in found:
        reason = _reason(raw)
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


def _reason(raw: RawPost) -> str:
    if raw.body.strip() in _GONE:
        return "the text was removed"
    if not raw.is_text or _LINK.search(raw.body):
        return "refers to an external link"
    updates = len(_UPDATE.findall(f"{raw.title}\n{raw.body}"))
    if updates > 1:
        return f"several updates ({updates})"
    if len(raw.comments) < TOP:
        return f"too few comments ({len(raw.comments)} of {TOP})"
    return ""


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
