"""Ray starts the workers; leases and journal are in the store as ever."""

import contextlib
import os
import signal
import time

import psutil
import pytest

from engine.teams import CountingServer, command, end_all, finish, numbers, start, wait_for, workers

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
