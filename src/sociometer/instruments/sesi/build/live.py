"""Posts fetched live from Reddit through PRAW (the extra 'posts')."""

import os
from typing import Any

from sociometer.core.errors import MachineryError, UsageError
from sociometer.instruments.sesi.build.posts import Comment, RawPost

_GONE = {"[removed]", "[deleted]", ""}


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
        return [_raw(submission) for submission in client.subreddit(subreddit).top(time_filter="year", limit=count)]
    except Exception as error:  # PRAW raises several unrelated trees; all mean that Reddit gave no answer
        raise MachineryError(f"Reddit returned no posts from r/{subreddit}: {type(error).__name__}: {error}") from None


def _raw(submission: Any) -> RawPost:
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
