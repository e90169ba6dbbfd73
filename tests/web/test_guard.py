"""Every way in that is not the printed link, tried."""

import pytest
from aiohttp import web
from serving import Client

from sociometer.core.errors import UsageError
from sociometer.web.browsing import ViewedStore
from sociometer.web.guard import TOKENS, Address, RateLimit, SessionsInMemory
from sociometer.web.serving import Place
from sociometer.web.view import view_application

PAGES = (
    "/",
    "/states",
    "/side-by-side",
    "/side-by-side/item",
    "/run/last/",
    "/study/spring/",
    "/study/spring/scores",
    "/run/last/figure/0",
    "/run/last/item",
    "/run/last/beside",
    "/run/last/download.csv",
    "/run/last/download.jsonl",
    "/run/last/download.sociometer",
)


def test_the_pages_tried_here_are_all_there_are(tmp_path):
    app = view_application(ViewedStore(tmp_path / "none.db", lambda name: None, {}))
    open_to_all = {"/enter", "/static/{name}", "/leave", "/language"}
    known = {resource.canonical for resource in app.router.resources()} - open_to_all
    names = {"{run}": "last", "{number}": "0", "{study}": "spring"}
    for name, value in names.items():
        known = {path.replace(name, value) for path in known}
    assert known == set(PAGES)


@pytest.mark.parametrize("path", PAGES)
def test_without_a_session_no_page_opens(stranger, path):
    got = stranger.get(path)
    assert got.status == 403
    assert "baseline" not in got.text


@pytest.mark.parametrize("cookie", ["x", "", "0" * 43, "../../etc/passwd"])
def test_a_cookie_that_nobody_was_given_opens_nothing(served, cookie):
    assert Client(served.url, f"{served.address.cookie}={cookie}").get("/").status == 403


def test_the_token_of_the_link_opens_one_session(served, tokens):
    token = tokens.make()
    first, second = Client(served.url), Client(served.url)
    got = first.post("/enter", {"token": token})
    assert got.status == 303
    kept = got.headers["Set-Cookie"]
    assert "HttpOnly" in kept and "SameSite=Strict" in kept and "Path=/" in kept
    assert token not in kept
    assert first.get("/").status == 200
    assert second.post("/enter", {"token": token}).status == 403
    assert second.get("/").status == 403


def test_looking_at_the_link_does_not_use_it_up(served, tokens):
    token, client = tokens.make(), Client(served.url)
    for _ in range(3):
        assert client.get(f"/enter?token={token}").status == 200
    assert client.post("/enter", {"token": token}).status == 303


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", "[::1]"])
def test_a_name_that_is_not_ours_is_not_answered(owner, host):
    assert owner.get("/", Host=host).status == 421
    assert owner.get("/enter", Host=host).status == 421
    assert owner.get("/static/style.css", Host=host).status == 421


@pytest.mark.parametrize("path", PAGES)
def test_another_site_can_neither_link_to_a_page_nor_load_it(owner, path):
    for mode, dest in (("navigate", "document"), ("no-cors", "image"), ("cors", "empty"), ("navigate", "iframe")):
        for site in ("cross-site", "same-site"):
            got = owner.get(path, Sec_Fetch_Site=site, Sec_Fetch_Mode=mode, Sec_Fetch_Dest=dest)
            assert got.status == 403, (site, mode)
    assert owner.get(path, Origin="https://evil.example").status == 403


def test_the_printed_link_may_come_from_a_mail_but_not_into_a_frame(stranger):
    from_mail = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert stranger.get("/enter?token=x", **from_mail, Sec_Fetch_Dest="document").status == 200
    assert stranger.get("/enter?token=x", **from_mail, Sec_Fetch_Dest="iframe").status == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": None},
        {"Origin": None, "Sec_Fetch_Site": "none"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_a_form_of_another_site_is_refused(owner, tokens, headers):
    csrf = owner.get("/").text.split('name="csrf" value="')[1].split('"')[0]
    assert owner.post("/leave", {"csrf": csrf}, **headers).status == 403
    assert owner.post("/enter", {"token": tokens.make()}, **headers).status == 403
    assert owner.get("/").status == 200


def test_a_change_needs_the_token_of_this_session(owner, served, tokens):
    other = Client(served.url)
    other.post("/enter", {"token": tokens.make()})
    theirs = other.get("/").text.split('name="csrf" value="')[1].split('"')[0]
    for fields in ({}, {"csrf": ""}, {"csrf": "x"}, {"csrf": theirs}, {"csrf": "\u00e9"}):
        assert owner.post("/leave", fields).status == 403, fields
    mine = owner.get("/").text.split('name="csrf" value="')[1].split('"')[0]
    assert owner.cookie.partition("=")[2] not in mine
    assert owner.post("/leave", {"csrf": mine}).status == 200
    assert other.get("/").status == 200


def test_an_ended_session_stays_ended(owner):
    cookie = owner.cookie
    csrf = owner.get("/").text.split('name="csrf" value="')[1].split('"')[0]
    owner.post("/leave", {"csrf": csrf})
    assert Client(owner.url, cookie).get("/").status == 403


@pytest.mark.parametrize("path", ["/", "/nowhere", "/static/style.css", "/run/last/", "/enter"])
def test_every_response_forbids_scripts_of_others_frames_and_caches(owner, path):
    headers = owner.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Cache-Control"] in ("no-store", "no-cache")


@pytest.mark.parametrize("name", ["..%2fguard.py", "%2e%2e%2fguard.py", "style.css%00", "/etc/passwd", "guard.py"])
def test_only_our_static_files_are_served(stranger, name):
    assert stranger.get(f"/static/{name}").status in (403, 404)


def test_guessing_tokens_is_slowed_down(stored):
    from serving import Served

    from sociometer.instruments import cards, load

    with Served(view_application(ViewedStore(stored, load, cards()))) as served:
        tokens = served.app[TOKENS]
        client = Client(served.url)
        answers = [client.post("/enter", {"token": "guess"}) for _ in range(12)]
        assert [got.status for got in answers[:10]] == [403] * 10
        assert answers[-1].status == 429
        assert answers[-1].headers["Retry-After"] == "60"
        assert client.post("/enter", {"token": tokens.make()}).status == 303, "the owner is never locked out"


def test_attempts_are_forgotten_after_their_time_and_counted_for_each_address():
    now = [0.0]
    limit = RateLimit(2, 60.0, clock=lambda: now[0], remembered=3)
    limit.check("a")
    limit.check("a")
    with pytest.raises(web.HTTPTooManyRequests):
        limit.check("a")
    for other in ("b", "c", "b"):
        limit.check(other)
    with pytest.raises(web.HTTPTooManyRequests):
        limit.check("a")
    now[0] = 61.0
    limit.check("a")


def test_a_large_body_is_refused(owner):
    assert owner.post("/leave", {"csrf": "x" * 300_000}).status == 413


def test_a_public_address_has_secure_cookies_and_its_own_origin():
    address = Address.at("127.0.0.1", 8765, "https://lab.example.org")
    assert address.secure and address.url == "https://lab.example.org"
    assert "lab.example.org" in address.hosts and "https://lab.example.org" in address.origins
    assert "http://lab.example.org" not in address.origins


def test_every_address_of_the_machine_needs_a_public_one():
    for host in ("0.0.0.0", "::"):
        with pytest.raises(UsageError, match="--public-url"):
            Place(host)
    for wrong in ("lab.example.org", "ftp://lab.example.org", "https://", "https:///x", "https://lab.example.org:x"):
        with pytest.raises(UsageError, match="https://"):
            Place(public_url=wrong)
    Place(public_url="HTTPS://[2001:db8::1]:8443/study")


def test_old_sessions_make_room():
    sessions = SessionsInMemory(most=2)
    cookies = [sessions.open("owner") for _ in range(3)]
    assert [sessions.find(cookie) is not None for cookie in cookies] == [False, True, True]
