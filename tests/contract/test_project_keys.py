"""No key reaches a server that only `sociometer.toml` names: the file may be the work of somebody else."""

import json

import pytest

from servers import faults
from servers.anthropic import AnthropicServer
from servers.openai import OpenAIServer
from sociometer.cli.main import run_command
from sociometer.models.presets import PRESETS

SERVERS = {"openai": OpenAIServer, "anthropic": AnthropicServer}
SECRET = "sk-test-5f1c0ffee5f1c0ffee5f1c0ffee"
PLAY = ["run", "sesi", "--limit", "2", "-o", "in-flight=1", "--quiet", "-o", "retries=0"]


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    """Every key that a preset knows is set."""
    for preset in PRESETS.values():
        monkeypatch.setenv(preset.key_variable, SECRET)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)


@pytest.fixture(params=SERVERS)
def server(request):
    with SERVERS[request.param]() as running:
        running.family = request.param
        running.model = f"{request.param}/m@{running.url}"
        yield running


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Writes a project file into the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SOCIOMETER_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    def write(text):
        (tmp_path / "sociometer.toml").write_text(f'store = "s.db"\n{text}', encoding="utf-8")

    return write


def sent(server):
    """All that the server received: paths, header values and bodies."""
    return " ".join(f"{one.path} {one.headers} {json.dumps(one.body)}" for one in server.received)


def test_a_server_that_only_the_file_names_gets_no_key(server, project):
    project(f'models = ["{server.model}"]')
    assert run_command(PLAY) == 0
    assert server.received
    assert SECRET not in sent(server)


@pytest.mark.parametrize("family", [name for name, preset in PRESETS.items() if preset.wire == "openai"])
def test_no_preset_of_the_openai_format_sends_its_key_to_a_server_of_the_file(family, openai_server, project):
    project(f'models = ["{family}/m@{openai_server.url}"]')
    assert run_command([*PLAY, "-o", "reply-tokens=9"]) == 0
    assert openai_server.received
    assert SECRET not in sent(openai_server)


def test_a_server_of_the_file_in_another_role_gets_no_key(server, project):
    project(f'[roles]\nsimulator = "{server.model}"')
    run_command(["run", "sage", "--model", "baseline/random", "--limit", "1", "--quiet", "-o", "retries=0"])
    assert server.received
    assert SECRET not in sent(server)


def test_a_server_of_the_file_gets_no_key_from_an_instruments_own_command(openai_server, project):
    project(f'models = ["openai/m@{openai_server.url}"]')
    run_command(["sesi", "probe", "--factor", "gender", "--limit", "1", "--quiet", "-o", "retries=0"])
    assert openai_server.received
    assert SECRET not in sent(openai_server)


def test_a_server_of_the_file_gets_no_key_when_the_run_is_resumed(server, project):
    project(f'models = ["{server.model}"]')
    assert run_command([*PLAY, "--max-requests", "1"]) == 3
    server.received.clear()
    assert run_command(["resume", "last", "--max-requests", "9", "--quiet"]) == 0
    assert server.received
    assert SECRET not in sent(server)


def test_a_server_that_the_command_line_names_too_gets_its_key(server, project):
    project(f'models = ["{server.model}"]')
    assert run_command([*PLAY, "--model", server.model]) == 0
    assert SECRET in sent(server)


def test_a_server_that_another_role_names_on_the_command_line_gets_its_key_for_the_same_provider(server, project):
    project(f'[roles]\nsimulator = "{server.model}"')
    run_command(["run", "sage", "--model", server.model, "--limit", "1", "--quiet", "-o", "retries=0"])
    simulated = [one for one in server.received if SECRET not in str(one.headers)]
    assert server.received
    assert simulated == []


def test_of_two_servers_of_the_file_only_the_one_named_on_the_command_line_gets_a_key(openai_server, project):
    with OpenAIServer() as other:
        project(f'models = ["openai/a@{openai_server.url}", "openai/b@{other.url}"]')
        assert run_command([*PLAY, "--role", f"builder=openai/c@{other.url}"]) == 0
        assert openai_server.received
        assert SECRET not in sent(openai_server)
        assert SECRET in sent(other)


def test_naming_a_server_for_one_provider_lets_the_file_send_no_other_providers_key(
    openai_server, project, monkeypatch
):
    monkeypatch.setenv("VLLM_API_KEY", "vllm-key")
    project(f'[roles]\nsimulator = "openai/m@{openai_server.url}"')
    run_command(["run", "sage", "--model", f"vllm/m@{openai_server.url}", "--limit", "1", "--quiet", "-o", "retries=0"])
    assert "vllm-key" in sent(openai_server)
    assert SECRET not in sent(openai_server)


def test_another_path_on_a_named_host_is_another_server(openai_server, project):
    """Hosts that serve many customers tell them apart by the path."""
    project(f'[roles]\nsimulator = "openai/m@{openai_server.url}/other"')
    run_command(
        ["run", "sage", "--model", f"openai/m@{openai_server.url}", "--limit", "1", "--quiet", "-o", "retries=0"]
    )
    others = [one for one in openai_server.received if "/other/" in one.path]
    assert others
    assert SECRET not in str(others)


def test_a_key_variable_without_a_server_on_the_command_line_is_an_error(server, project, capsys):
    project(f'models = ["{server.model}"]')
    assert run_command([*PLAY, "--key-variable", "AWS_SECRET_ACCESS_KEY"]) == 2
    assert "--key-variable needs --model" in capsys.readouterr().err
    assert server.received == []


def test_a_server_that_wants_a_key_tells_what_to_type(server, project, capsys):
    project(f'models = ["{server.model}"]')
    server.fault_of = lambda number: faults.WRONG_KEY
    assert run_command(PLAY) == 2
    told = capsys.readouterr().err
    assert "only sociometer.toml names the address" in told
    assert f"--model MODEL@{server.url}" in told
    assert SECRET not in told


@pytest.mark.parametrize(
    "line",
    [
        'key-variable = "OPENAI_API_KEY"',
        'key_variable = "OPENAI_API_KEY"',
        'base-url = "http://127.0.0.1:9/v1"',
        "insecure-http = true",
        'models = ["python/evil:answer"]',
        'models = [" python/evil:answer"]',
        'models = ["scripted/../../.aws/credentials"]',
        '[roles]\nsimulator = "scripted/.env"',
        '[roles]\nsimulator = "python/os:getenv"',
        '[caps]\nkey-variable = "OPENAI_API_KEY"',
    ],
)
def test_the_file_can_name_no_key_no_code_and_no_file_to_be_read(line, project, capsys, tmp_path):
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\ndef answer(messages): return 'A'\n")
    project(line)
    assert run_command(PLAY) == 2
    assert "sociometer.toml: " in capsys.readouterr().err
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("line", ['models = ["{}"]', '[roles]\nsimulator = "{}"'])
def test_a_provider_of_another_package_gets_no_address_from_the_file(line, openai_server, project, capsys):
    """Such a provider may send a key of its own to whatever address it is given."""
    project(line.format(f"theirs/m@{openai_server.url}"))
    assert (
        run_command(["run", "sage", "--limit", "1", *(["--model", "baseline/random"] if "roles" in line else [])]) == 2
    )
    assert "on the command line only" in capsys.readouterr().err
    assert openai_server.received == []


def test_an_address_with_a_password_is_an_error_that_does_not_show_it(project, capsys):
    project('models = ["openai/m@https://me:hunter2@host.example/v1"]')
    assert run_command(PLAY) == 2
    told = capsys.readouterr().err
    assert "user name or password" in told
    assert "hunter2" not in told
