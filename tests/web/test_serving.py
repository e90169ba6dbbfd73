"""The servers against clients that do not behave, and the addresses that people give."""

import re
import socket
import time

import pytest
from aiohttp import web
from open_study import OpenStudy
from serving import Client, Served

from sociometer.core.errors import UsageError
from sociometer.web import serving
from sociometer.web.guard import Address
from sociometer.web.serving import Place, Server


def half(served, text):
    opened = socket.create_connection(("127.0.0.1", served.port))
    opened.sendall(text.encode())
    return opened


@pytest.mark.parametrize("sent", ["", "GET / HT", "GET / HTTP/1.1\r\nHost: x\r\n", "POST"])
def test_a_request_that_never_ends_is_dropped(tmp_path, monkeypatch, sent):
    monkeypatch.setattr(serving, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(serving, "BODY_SECONDS", 0.3)
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1") as opened:
        if sent == "POST":
            host = f"Host: 127.0.0.1:{opened.served.port}\r\nOrigin: {opened.served.url}\r\n"
            form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 50\r\n\r\nagree"
            sent = f"POST {opened.link} HTTP/1.1\r\n{host}{form}"
        waiting = half(opened.served, sent)
        waiting.settimeout(10)
        received = b"".join(iter(lambda: waiting.recv(4096), b""))
        assert not received or b" 408 " in received
        waiting.close()
        assert opened.person().get(opened.link).status == 200


def test_many_open_connections_leave_room_for_others(tmp_path, monkeypatch):
    monkeypatch.setattr(serving, "most_connections", lambda: 8)
    monkeypatch.setattr(serving, "HEAD_SECONDS", 0.5)
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1") as opened:
        held = [half(opened.served, "GET") for _ in range(40)]
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                if opened.person().get(opened.link).status == 200:
                    break
            except OSError:
                time.sleep(0.1)
        else:
            pytest.fail("the server did not answer")
        for one in held:
            one.close()


def test_whether_only_this_machine_reaches_the_pages():
    assert Place().is_local and Place("localhost").is_local
    assert not Place("10.0.0.1").is_local and not Place(public_url="https://study.example.org").is_local


@pytest.mark.parametrize("port", [-1, 65_536, 99_999])
def test_a_port_that_does_not_exist_gets_a_sentence(port):
    with pytest.raises(UsageError, match="65535"):
        Place(port=port)


@pytest.mark.parametrize(
    ("given", "host", "origin"),
    [
        ("https://Study.Example.ORG", "study.example.org", "https://study.example.org"),
        ("https://study.example.org:443/", "study.example.org", "https://study.example.org"),
        ("https://bücher.example", "xn--bcher-kva.example", "https://xn--bcher-kva.example"),
        ("https://study.example.org:8443/a", "study.example.org:8443", "https://study.example.org:8443"),
        ("http://study.example.org:80", "study.example.org", "http://study.example.org"),
    ],
)
def test_a_public_address_is_what_browsers_send(given, host, origin):
    address = Address.at("127.0.0.1", 1234, given)
    assert host in address.hosts and origin in address.origins


def test_a_public_address_with_a_path_is_before_every_link(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1", place=Place(public_url="https://x.org/s")) as opened:
        client = Client(opened.served.url)
        page = client.get(opened.link, Host="x.org")
        assert page.status == 200
        links = re.findall(r'(?:href|action|src)="(/[^"]*)"', page.text)
        assert links and all(one.startswith("/s/") for one in links)
        assert opened.served.address.url == "https://x.org/s"


def test_an_error_page_leads_somewhere(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1") as opened:
        person = opened.person().join()
        lost = person.get("/nowhere")
        link = re.search(r'<p><a href="([^"]+)"', lost.text).group(1)
        assert lost.status == 404 and person.get(link).status == 200
        assert "<a href" not in opened.person().get("/nowhere").text.split("<main")[1]


def test_text_direction_cannot_be_changed_by_a_name(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1", "--title", "abc\u202edef") as opened:
        said = opened.person().get(opened.link).text
        assert "\u202e" not in said and "abc" in said


def test_a_server_needs_no_more_than_its_port():
    with Served(serving.application(type("None_", (), {"find": lambda self, cookie: None})()), Place()) as served:
        assert Client(served.url).get("/").status == 404
    assert Server


def test_a_port_that_is_taken_is_answered_with_one_that_is_free():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=r"\(Address already in use\); this port is free: --port \d+\.$") as told:
            Server(web.Application(), Place("127.0.0.1", port))
    assert f"--port {port}." not in str(told.value)
