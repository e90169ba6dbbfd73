"""Ray starts the workers; leases and journal are in the store as ever."""

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import psutil
import pytest

from engine.teams import CountingServer, command, end_all, finish, numbers, start, wait_for, workers
from sociometer.engine.workers.ray_crew import _shares

pytest.importorskip("ray", reason="the extra 'ray' is not installed")


@pytest.fixture
def server():
    with CountingServer() as running:
        yield running
    end_all()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "s.db"
    with CountingServer(0) as server:
        finish(start(command(server), path))
    return numbers(path)


def test_ray_starts_workers_and_the_numbers_are_the_same(server, postgres, undisturbed):
    finish(
        start(command(server, "--workers", 2, "--on", "ray", "--worker-resources", "num_cpus=0.5"), postgres),
        timeout=240,
    )
    assert numbers(postgres) == undisturbed
    assert len(server.received) == 90


@pytest.mark.scale
def test_ray_starts_a_worker_again_whose_process_is_gone(server, postgres, undisturbed):
    server.delay_seconds = 0.3
    words = command(server, "--workers", 2, "--on", "ray", "--worker-resources", "num_cpus=0.5")
    process = start(words, postgres)
    wait_for(lambda: len(server.received) > 20, 120)
    os.kill(workers(postgres)[0], signal.SIGKILL)
    finish(process, timeout=240)
    assert numbers(postgres) == undisturbed
    assert len(server.received) <= 90 + 8


@pytest.mark.scale
def test_ctrl_c_drains_workers_of_ray(server, postgres, undisturbed):
    server.delay_seconds = 0.5
    process = start(command(server, "--workers", 2, "--on", "ray", "--worker-resources", "num_cpus=0.5"), postgres)
    wait_for(lambda: len(server.received) > 20, 120)
    process.send_signal(signal.SIGINT)
    finish(process, 130, timeout=240)
    assert workers(postgres) == []
    server.delay_seconds = 0
    finish(start(["resume", "last", "--quiet"], postgres))
    assert numbers(postgres) == undisturbed
    assert len(server.received) == 90


@pytest.mark.parametrize("models", [1, 2, 3, 5])
@pytest.mark.parametrize("resources", [{"CPU": 1.0}, {"CPU": 2.0}, {"CPU": 16.0, "GPU": 1.0}, {"CPU": 8.0, "GPU": 4.0}])
def test_all_models_fit_at_once_and_leave_room_for_workers(resources, models):
    count, each = _shares(resources, models)
    assert count >= 1
    asked = {name.removeprefix("num_").removesuffix("s").upper(): share for name, share in each.items()}
    assert all(count * models * share <= resources[name] + 1e-9 for name, share in asked.items())
    assert asked.get("CPU", 0) * count * models <= resources["CPU"] / 2


@pytest.fixture
def cluster(monkeypatch):
    """The address of a cluster that was started apart from any command, as `ray start` does it."""
    pytest.importorskip("grpc", reason="ray:// needs ray[client]")
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        ports = one.getsockname()[1], two.getsockname()[1]
    folder = tempfile.mkdtemp(prefix="ray-")
    # A cluster may ask for a token. Without the last, grpc 1.8x ends the server whenever it starts another process.
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
    monkeypatch.setenv("GRPC_ENABLE_FORK_SUPPORT", "0")
    ray = [sys.executable, "-m", "ray.scripts.scripts"]
    head = [*ray, "start", "--head", "--port", str(ports[0]), "--ray-client-server-port", str(ports[1])]
    subprocess.run(
        [*head, "--num-cpus", "2", "--include-dashboard=false", "--temp-dir", folder],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    try:
        yield f"ray://127.0.0.1:{ports[1]}"
    finally:
        subprocess.run([*ray, "stop", "--force"], check=False, capture_output=True, timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.scale
def test_a_command_joins_a_cluster_and_leaves_it_running(server, postgres, undisturbed, cluster):
    words = command(server, "--workers", 2, "--on", cluster, "--worker-resources", "num_cpus=0.5")
    finish(start(words, postgres), timeout=240)
    assert numbers(postgres) == undisturbed
    assert len(server.received) == 90


def test_a_cluster_that_nobody_runs_is_a_clear_error(server, postgres):
    pytest.importorskip("grpc", reason="ray:// needs ray[client]")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = f"ray://127.0.0.1:{closed.getsockname()[1]}"
    process = start(command(server, "--workers", 2, "--on", nobody), postgres)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 2
    assert "cannot reach" in out + err and nobody in out + err
    assert "Traceback" not in err


@pytest.mark.scale
def test_two_models_in_process_answer_from_probabilities(postgres, embedded_model):
    words = ["run", "sesi", "--model", "local/smollm2-135m", "--limit", "2", "--quiet", "--workers", "1"]
    finish(start([*words, "--on", "ray", "--answer", "probability"], postgres), timeout=280)
    assert len(numbers(postgres)[0]) == 2


@pytest.mark.scale
def test_a_model_in_process_is_loaded_once_and_asked_by_all_workers(postgres, embedded_model):
    words = ["run", "sesi", "--model", "local/smollm2-135m", "--limit", "2", "--quiet", "--workers", "2", "--on", "ray"]
    process = start(words, postgres)
    most = 0
    while process.poll() is None:
        with contextlib.suppress(psutil.NoSuchProcess):
            children = psutil.Process(process.pid).children(recursive=True)
            most = max(most, sum(" ".join(child.cmdline()).startswith("ray::PlayerActor") for child in children))
        if most > 1:
            break
        time.sleep(0.3)
    finish(process, timeout=280)
    assert most == 1
    assert len(numbers(postgres)[0]) == 2
