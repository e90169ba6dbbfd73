"""A key travels over plain HTTP only to this machine, unless the user allows it in the same command."""

import pytest

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.errors import UsageError
from sociometer.models import keys
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve

ELSEWHERE = [
    "http://10.0.0.5:8000/v1",
    "http://gpu.example/v1",
    "http://127.0.0.1.evil.example/v1",
    "http://[fe80::1]/v1",
]
HERE = ["http://localhost:8000/v1", "http://127.0.0.1/v1", "http://127.8.8.8:1/v1", "http://[::1]:8000/v1"]


@pytest.fixture(autouse=True)
def keys_set(key, monkeypatch):
    monkeypatch.setenv("VLLM_API_KEY", key)


@pytest.fixture
def far_server(openai_server, monkeypatch):
    """A server on loopback that counts as another machine."""
    monkeypatch.setattr(keys, "is_loopback", lambda host: False)
    return openai_server


@pytest.mark.parametrize("spec", ["vllm/m", "openai/m", "anthropic/m"])
@pytest.mark.parametrize("url", ELSEWHERE)
def test_a_key_to_another_machine_needs_https_or_the_users_word(spec, url, key):
    with pytest.raises(UsageError) as refused:
        resolve(spec, ModelOptions(base_url=url))
    assert "-o insecure-http" in str(refused.value)
    assert keys.origin(url) in str(refused.value)
    assert key not in str(refused.value)
    assert resolve(spec, ModelOptions(base_url=url, keys=keys.KeyPolicy(insecure_http=True))).identity.base_url == url
    assert resolve(spec, ModelOptions(base_url=url.replace("http:", "https:")))


@pytest.mark.parametrize("url", HERE)
def test_this_machine_is_asked_over_plain_http(url):
    assert resolve("vllm/m", ModelOptions(base_url=url)).identity.base_url == url


@pytest.mark.parametrize("url", ELSEWHERE)
def test_a_server_without_a_key_is_unaffected(url, monkeypatch):
    monkeypatch.delenv("VLLM_API_KEY")
    assert resolve("vllm/m", ModelOptions(base_url=url)).identity.base_url == url


def test_the_word_is_given_in_every_command_and_never_stored(far_server, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    base = ["run", "sesi", "--model", f"vllm/m@{far_server.url}#1", "-o", "in-flight=1"]
    base += ["--limit", "3", "--max-requests", "1", "--quiet"]
    assert run_command(base) == 2
    assert "-o insecure-http" in capsys.readouterr().err
    assert far_server.received == []
    assert run_command([*base, "-o", "insecure-http"]) == 3
    assert far_server.received
    config = sm.get_run("last", store=tmp_path / "store.db").manifest.config
    assert config.insecure_http is False
    far_server.received.clear()
    again = ["resume", "last", "--max-requests", "9", "--key-variable", "VLLM_API_KEY"]
    assert run_command(again) == 2
    assert "-o insecure-http" in capsys.readouterr().err
    assert far_server.received == []
    assert run_command([*again, "-o", "insecure-http"]) == 0
    assert far_server.received


def test_python_takes_the_same_option(far_server, tmp_path, key):
    options = {"base_url": far_server.url, "revision": "1", "limit": 1, "store": tmp_path / "store.db"}
    with pytest.raises(UsageError, match="insecure_http=True"):
        sm.run("sesi", "vllm/m", **options)
    run = sm.run("sesi", "vllm/m", insecure_http=True, **options)
    with pytest.raises(UsageError, match="insecure_http=True"):
        sm.resume(run, key_variable="VLLM_API_KEY", store=options["store"])
    assert sm.resume(run, key_variable="VLLM_API_KEY", insecure_http=True, store=options["store"]).status == "finished"
