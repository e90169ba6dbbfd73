"""The files for Slurm and Kubernetes do what they say."""

import os
import subprocess
import sys
from pathlib import Path

import yaml

from engine.teams import CountingServer, command, end_all, finish, numbers, start
from sociometer.cli.main import sociometer_command

HOW_TO = Path(__file__).parent.parent / "docs" / "how-to"


def program(folder, name, body):
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


def test_the_slurm_script_plays_a_prepared_run_as_an_array(postgres, tmp_path):
    """`srun` is a stand-in that runs its command here, as Slurm does on a node."""
    program(tmp_path, "srun", 'echo "$SLURM_ARRAY_TASK_ID" >> "$0.log"; exec "$@"')
    program(tmp_path, "sociometer", f'exec {sys.executable} -m sociometer.cli.main "$@"')
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "SOCIOMETER_STORE": postgres}
    with CountingServer(0.1) as server:
        run = finish(start([word for word in command(server, "--prepare") if word != "--json"], postgres)).strip()
        assert run.startswith("sesi-")
        assert server.received == []
        jobs = [
            subprocess.Popen(
                ["bash", HOW_TO / "workers.slurm", run, "--lease", "5"],
                env={**environment, "SLURM_ARRAY_TASK_ID": str(number)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            for number in (1, 2)
        ]
        for job in jobs:
            _, said = job.communicate(timeout=120)
            assert job.returncode == 0, said
        assert len(server.received) == len(numbers(postgres)[0]) == 90
    assert sorted((tmp_path / "srun.log").read_text().split()) == ["1", "2"]
    end_all()


def test_the_slurm_script_says_what_is_missing():
    environment = {name: value for name, value in os.environ.items() if name != "SOCIOMETER_STORE"}
    done = subprocess.run(["bash", HOW_TO / "workers.slurm", "x"], env=environment, capture_output=True, text=True)
    assert done.returncode != 0
    assert "postgresql://USER@HOST/DATABASE" in done.stderr


def test_the_kubernetes_manifest_calls_a_command_that_exists():
    job = yaml.safe_load((HOW_TO / "workers.yaml").read_text(encoding="utf-8"))
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    name, *words = container["command"]
    assert name == "sociometer"
    with sociometer_command.make_context("sociometer", words) as context:
        sociometer_command.get_command(context, words[0]).make_context(words[0], words[1:])
    assert job["kind"] == "Job"
    assert pod["restartPolicy"] == "Never", "a policy for exit codes needs it"
    assert "SOCIOMETER_STORE" in {one["name"] for one in container["env"]}
