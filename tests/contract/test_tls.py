"""Servers whose TLS is wrong: a clear message, no long row of attempts, and no key sent."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack

import pytest

from servers.anthropic import AnthropicServer
from servers.loopback import CERTIFICATES
from servers.openai import OpenAIServer

SERVERS = {"openai": OpenAIServer, "anthropic": AnthropicServer}


KEY = "sk-test-5f1c0ffee5f1c0ffee5f1c0ffee"
WRONG = ("self_signed", "wrong_host", "expired", "without TLS")
SAID = {
    "self_signed": "self-signed",
    "wrong_host": "certificate is not valid for '127.0.0.1'",
    "expired": "expired",
    "without TLS": "without TLS, use http://",
}
PROGRAM = """
import contextlib, io, json, sys
from sociometer.cli.main import run_command
told = {}
for name, words in json.load(sys.stdin).items():
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as err:
        code = run_command(words)
    told[name] = code, err.getvalue()
print(json.dumps(told))
"""


def words(family, url, store):
    play = ["run", "sesi", "--model", f"{family}/m@{url}", "--store", str(store), "--limit", "2"]
    return [*play, "-o", "in-flight=1", "--quiet"]


def environment(*, trusted=True):
    """Which certificates are trusted is decided when Python starts."""
    known = {**os.environ, "NO_COLOR": "1"}
    known.pop("SSL_CERT_FILE", None)
    return known | ({"SSL_CERT_FILE": str(CERTIFICATES / "authority.pem")} if trusted else {})


def run(family, url, folder, *, trusted=True):
    """`sociometer run` in a process of its own."""
    command = [sys.executable, "-m", "sociometer.cli.main", *words(family, url, folder / "store.db")]
    known = environment(trusted=trusted)
    return subprocess.run(command, env=known, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def asked_by_one(tmp_path_factory):
    """A good and every wrong server, asked in turn by one process that trusts our authority: what each run said."""
    folder = tmp_path_factory.mktemp("tls")
    with ExitStack() as stack:
        servers = {name: stack.enter_context(OpenAIServer(name)) for name in ("good", *WRONG[:-1])}
        servers[WRONG[-1]] = stack.enter_context(OpenAIServer())
        asked = {
            name: words("openai", server.url.replace("http:", "https:"), folder / f"{place}.db")
            for place, (name, server) in enumerate(servers.items())
        }
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=environment() | {"OPENAI_API_KEY": KEY},
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return {name: (servers[name], *said) for name, said in json.loads(done.stdout).items()}


def test_a_certificate_that_is_trusted_is_no_trouble(asked_by_one):
    server, code, told = asked_by_one["good"]
    assert code == 0, told
    assert any(KEY in value for value in server.last.headers.values())


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_server_ends_the_run_before_the_key_is_sent(name, asked_by_one):
    server, code, told = asked_by_one[name]
    assert code == 2, told
    assert server.received == []
    if name != "without TLS":
        assert server.handshakes == 1, "nothing is tried again"
    assert SAID[name] in told
    assert f"127.0.0.1:{server.port}" in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("family", "certificate", "trusted", "said"),
    [
        pytest.param("anthropic", "self_signed", True, "self-signed", marks=pytest.mark.slow),
        ("openai", "good", False, "unable to get local issuer certificate"),
    ],
)
def test_a_wrong_certificate_ends_the_run_before_the_key_is_sent(family, certificate, trusted, said, key, tmp_path):
    with SERVERS[family](certificate) as server:
        done = run(family, server.url, tmp_path, trusted=trusted)
        assert done.returncode == 2, done.stderr
        assert server.received == []
        assert server.handshakes == 1, "nothing is tried again"
    assert said in done.stderr
    assert f"127.0.0.1:{server.port}" in done.stderr
    assert "Traceback" not in done.stderr
