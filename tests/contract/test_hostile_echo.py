"""A server that repeats the key it was sent: as it is, quoted or in base64, it does not reach store, export or page."""

import base64
import contextlib
import sqlite3
import string
import zlib
from itertools import chain
from urllib.parse import quote

import pytest

import sociometer as sm
from servers.anthropic import AnthropicServer
from servers.faults import Fault
from servers.openai import OpenAIServer
from sociometer.cli.main import run_command
from sociometer.core.errors import UsageError
from sociometer.engine.replies import RetryPolicy

SERVERS = {"openai": OpenAIServer, "anthropic": AnthropicServer}
FORMS = {
    "whole": lambda key: key,
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 of a header": lambda key: base64.b64encode(f"Bearer {key}".encode()).decode(),
    "base64 of a pair": lambda key: base64.urlsafe_b64encode(f"me:{key}".encode()).decode(),
    "quoted": lambda key: quote(key, safe=""),
}
OTHERS = bytes(range(128)).translate(None, (string.digits + string.ascii_lowercase).encode())
"""All characters of ASCII that `plain` leaves out."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(RetryPolicy, "wait_seconds", lambda self, attempt, retry_after: 0.0)


@pytest.fixture(params=SERVERS)
def server(request, key):
    with SERVERS[request.param]() as running:
        running.family = request.param
        yield running


def plain(text):
    return text.lower().encode("ascii", "ignore").translate(None, OTHERS).decode()


def traces(haystack, key):
    """Every run of eight characters of the key, or of its encodings, that is in the text."""
    forms = {plain(key), key.encode().hex(), plain(quote(key, safe=""))}
    for before in ("", "x", "xx"):
        forms.add(plain(base64.b64encode((before + key).encode()).decode())[4:-4])
    packed = plain(haystack)
    return sorted({form[at : at + 8] for form in forms for at in range(len(form) - 7) if form[at : at + 8] in packed})


def everything_stored(path):
    """All that a store's file holds: each value of each table, decompressed where it is compressed."""
    found = [path.read_bytes()]
    with sqlite3.connect(path) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            for row in connection.execute(f"SELECT * FROM {table}"):
                for value in row:
                    body = value if isinstance(value, bytes) else str(value).encode()
                    found.append(body)
                    # A hash may begin with the mark of compressed values too.
                    with contextlib.suppress(zlib.error):
                        found.append(zlib.decompress(body[1:]))
    connection.close()
    return b"\n".join(found).decode("latin-1")


def play(server, store, limit=2, **options):
    return sm.run(
        "sesi", f"{server.family}/m", base_url=server.url, limit=limit, retries=0, store=store, in_flight=1,
        reply_tokens=50, **options,
    )  # fmt: skip


def all_written(run, store, folder):
    """Store, exports and page in one text."""
    page = sm.report([run], folder / "page.html")
    for name in ("out.jsonl", "out.csv"):
        assert run_command(["export", run.id, "--to", str(folder / name), "--store", str(store)]) == 0
    texts = [everything_stored(store), page.read_text(encoding="utf-8")]
    texts += [path.read_text(encoding="utf-8") for path in folder.glob("out.*")]
    return "\n".join(texts)


def test_a_server_that_repeats_the_key_in_its_own_fields_leaves_no_trace(server, key, tmp_path, capsys):
    for place, form in enumerate(FORMS.values()):  # a run each: a server that changes its model's name stops it
        server.fault_of = lambda number, form=form: Fault(change="echo", echo=form)
        folder = tmp_path / f"{place}"
        folder.mkdir()
        run = play(server, folder / "store.db", limit=2)
        written = all_written(run, folder / "store.db", folder) + "".join(capsys.readouterr())
        assert run.status == "finished"
        assert "B, said [key]" in written, "what the model said is there, with a mark in the key's place"
        assert traces(written, key) == []


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
def test_a_server_that_repeats_the_key_in_errors_leaves_no_trace(server, key, status, tmp_path, capsys):
    store = tmp_path / "store.db"
    forms = iter(FORMS.values() if status == 400 else [FORMS["whole"]])
    echoed = (Fault(status, "Wrong key: {key}", code="{key}", option="{key}", echo=form) for form in forms)
    faults = chain([Fault()], echoed)
    server.fault_of = lambda number: next(faults, Fault())
    run = play(server, store, limit=1 + len(FORMS) if status == 400 else 2)
    written = all_written(run, store, tmp_path) + "".join(capsys.readouterr())
    assert "returned status" in written
    assert next(faults, None) is None, "every form was sent"
    assert traces(written, key) == []


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_first_error_is_shown_without_the_key(server, key, form, tmp_path):
    server.fault_of = lambda number: Fault(401, "Wrong key: {key}", code="{key}", echo=form)
    with pytest.raises(UsageError) as refused:
        play(server, tmp_path / "store.db")
    assert traces(str(refused.value), key) == []
    assert traces(everything_stored(tmp_path / "store.db"), key) == []


def test_a_redirect_that_repeats_the_key_leaves_no_trace(server, key, tmp_path):
    server.fault_of = lambda number: Fault(307, echo=str, headers={"Location": "https://{key}.example/?k={key}"})
    with pytest.raises(UsageError, match="redirects to") as refused:
        play(server, tmp_path / "store.db")
    assert traces(str(refused.value), key) == []
