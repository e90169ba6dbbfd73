"""Posts come live through PRAW from a loopback server that speaks Reddit's API."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sociometer.core.errors import MachineryError, UsageError
from sociometer.instruments.sesi.build import posts

praw = pytest.importorskip("praw", reason="the extra 'posts' is not installed")


def thing(kind, **data):
    return {"kind": kind, "data": data}


def submission(name, comments):
    return {
        "id": name, "name": f"t3_{name}", "title": f"Title of {name}", "selftext": f"Text of {name}. TL;DR: short.",
        "is_self": True, "permalink": f"/r/relationships/comments/{name}/", "num_comments": comments, "score": 5,
        "author": "somebody", "subreddit": "relationships", "url": "", "stickied": False,
    }  # fmt: skip


def comment(post, number, body, author="reader"):
    name = f"{post}c{number}"
    return thing(
        "t1", id=name, name=f"t1_{name}", body=body, score=100 - number, author=author, link_id=f"t3_{post}",
        parent_id=f"t3_{post}", stickied=author == "AutoModerator", replies="", depth=0, subreddit_id="t5_x",
    )  # fmt: skip


class Reddit(BaseHTTPRequestHandler):
    """Token, top posts, and one post's comments."""

    broken = False

    def reply(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.reply({"access_token": "t", "token_type": "bearer", "expires_in": 3600, "scope": "*"})

    def do_GET(self):
        if Reddit.broken:
            self.reply({"message": "gone"}, 404)
        elif "/top" in self.path:
            children = [thing("t3", **submission(name, 6)) for name in ("aa1", "bb2")]
            self.reply(thing("Listing", children=children, after=None, before=None, dist=2))
        else:
            name = self.path.split("/comments/")[1].split("/")[0].split("?")[0]
            said = [comment(name, n, f"Advice {n}") for n in range(1, 6)]
            said += [comment(name, 6, "[deleted]"), comment(name, 7, "Rules", "AutoModerator")]
            head = thing("Listing", children=[thing("t3", **submission(name, 7))], after=None, before=None)
            self.reply([head, thing("Listing", children=said, after=None, before=None)])

    def log_message(self, *args):
        pass


@pytest.fixture
def site(monkeypatch):
    monkeypatch.setenv("REDDIT_CLIENT_ID", "id")
    monkeypatch.setenv("REDDIT_CLIENT_SECRET", "secret")
    Reddit.broken = False
    server = ThreadingHTTPServer(("127.0.0.1", 0), Reddit)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_top_posts_come_with_the_comments_of_people(site):
    found = posts.fetch_posts("relationships", 2, site)
    assert [post.id for post in found] == ["aa1", "bb2"]
    assert [entry.text for entry in found[0].comments] == [f"Advice {n}" for n in range(1, 6)]
    kept, rejected = posts.filter_posts(found)
    assert not rejected
    assert kept[0].tldr == "short."
    assert kept[0].comments[0].votes == 99


def test_a_server_that_refuses_is_a_failure_of_the_machinery(site):
    Reddit.broken = True
    with pytest.raises(MachineryError, match="relationships"):
        posts.fetch_posts("relationships", 2, site)


def test_missing_keys_are_named(monkeypatch):
    monkeypatch.delenv("REDDIT_CLIENT_ID", raising=False)
    monkeypatch.delenv("REDDIT_CLIENT_SECRET", raising=False)
    with pytest.raises(UsageError, match="REDDIT_CLIENT_ID and REDDIT_CLIENT_SECRET"):
        posts.reddit()
