"""Servers whose TLS is wrong: a clear message, no long row of attempts, and no key sent."""

import os
import subprocess
import sys

import pytest

from servers.anthropic import AnthropicServer
from servers.loopback import CERTIFICATES
from servers.openai import OpenAIServer

SERVERS = {"openai": OpenAIServer, "anthropic": AnthropicServer}


def run(family, url, folder, *, trusted=True):
    """`sociometer run` in a process of its own: which certificates are trusted is decided when Python starts."""
    environment = {**os.environ, "SOCIOMETER_STORE": str(folder / "store.db"), "NO_COLOR": "1"}
    environment.pop("SSL_CERT_FILE", None)
    if trusted:
        environment["SSL_CERT_FILE"] = str(CERTIFICATES / "authority.pem")
    command = [sys.executable, "-m", "sociometer.cli.main", "run", "sesi", "--model", f"{family}/m@{url}"]
    command += ["--limit", "2", "-o", "in-flight=1", "--quiet"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("family", ["openai"])
def test_a_certificate_that_is_trusted_is_no_trouble(family, key, tmp_path):
    with SERVERS[family]("good") as server:
        done = run(family, server.url, tmp_path)
        assert done.returncode == 0, done.stderr
        assert any(key in value for value in server.last.headers.values())


@pytest.mark.parametrize(
    ("family", "certificate", "trusted", "said"),
    [
        ("openai", "self_signed", True, "self-signed"),
        pytest.param("anthropic", "self_signed", True, "self-signed", marks=pytest.mark.slow),
        ("openai", "good", False, "unable to get local issuer certificate"),
        ("openai", "wrong_host", True, "certificate is not valid for '127.0.0.1'"),
        ("openai", "expired", True, "expired"),
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


def test_https_to_a_server_without_tls_names_the_other_scheme(openai_server, key, tmp_path):
    done = run("openai", openai_server.url.replace("http:", "https:"), tmp_path)
    assert done.returncode == 2
    assert openai_server.received == []
    assert "without TLS, use http://" in done.stderr
