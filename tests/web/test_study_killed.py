"""People take a study at once; the server is killed in the middle; everyone goes on."""

import json
import os
import random
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
from person import Form, Person
from serving import Client

import forked
import sociometer as sm
from sociometer.cli.main import run_command

PEOPLE, SCENARIOS = 5, 6


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def start(store, port, *options):
    process = opened(store, port, "--json", *options)
    return process, urlsplit(json.loads(process.stdout.readline())["link"])


def opened(store, port, *options):
    command = ["study", "open", "spring", "--store", str(store), "--port", str(port), *options]
    return forked.start(["-m", "sociometer.cli.main", *command], stdout=forked.PIPE)


class Patient(Person):
    """Somebody who reloads the page when the server is away, and remembers what was accepted."""

    def __init__(self, *arguments, seed):
        super().__init__(*arguments)
        self.lots = random.Random(seed)
        self.accepted = {}

    def send(self, *arguments):
        for _ in range(600):
            try:
                return super().send(*arguments)
            except (ConnectionError, OSError):
                time.sleep(0.05)
        raise TimeoutError

    def take(self):
        while True:
            form = Form(self.page().text, "/take")
            if not form.hidden:
                return self
            number = int(form.hidden["number"])
            # What was accepted is never asked for again.
            assert number not in self.accepted
            cuts = sorted(self.lots.randrange(11) for _ in range(3))
            self.points = [b - a for a, b in zip([0, *cuts], [*cuts, 10], strict=True)]
            if self.post("/take", self.filled(form)).status == 303:
                self.accepted[number] = tuple(map(float, self.points))


def test_a_killed_study_goes_on_and_has_every_answer_that_it_took(tmp_path):
    store, port = tmp_path / "s.db", free_port()
    create = ["study", "create", "seceu", "--limit", str(SCENARIOS), "--name", "spring", "--store", str(store)]
    assert run_command(create) == 0
    process, link = start(store, port)
    people = [Patient(f"http://127.0.0.1:{port}", link.path, seed=number) for number in range(PEOPLE)]
    with ThreadPoolExecutor(PEOPLE) as pool:
        for person in people:
            person.join()
        taking = [pool.submit(person.take) for person in people]
        while sum(len(person.accepted) for person in people) < PEOPLE * SCENARIOS // 3:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        process, _ = start(store, port)
        for one in taking:
            one.result(120)
    process.terminate()
    assert process.wait(60) == 0
    process.stdout.close()

    assert all(len(person.accepted) == SCENARIOS for person in people)
    runs = [run for run in sm.runs(store=store) if run.record.name.startswith("spring.")]
    assert len(runs) == PEOPLE and all(run.status == "finished" and not run.failures() for run in runs)
    stored = sorted(tuple(episode.outcome.points for episode in run.episodes()) for run in runs)
    assert stored == sorted(tuple(person.accepted[n] for n in range(SCENARIOS)) for person in people)


def test_a_preview_is_the_same_study_and_stores_nothing(tmp_path, capsys):
    store = tmp_path / "s.db"
    assert run_command(["study", "create", "seceu", "--limit", "2", "--name", "spring", "--store", str(store)]) == 0
    process, link = start(store, 0, "--preview")
    try:
        person = Person(f"http://{link.netloc}", link.path).join()
        person.answer_all()
        assert "You have answered everything. This was a preview: nothing is stored." in person.page().text
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
    capsys.readouterr()
    assert run_command(["study", "show", "spring", "--json", "--store", str(store)]) == 0
    assert json.loads(capsys.readouterr().out) == [] and sm.runs(store=store) == []


@pytest.mark.parametrize("preview", [True, False])
def test_a_study_that_closes_says_who_took_part_and_its_preview_says_what_it_is(preview, tmp_path):
    store = tmp_path / "s.db"
    create = ["study", "create", "seceu", "--limit", "1", "--name", "spring", "--ask", "Age; number 1..99; only 18..65"]
    assert run_command([*create, "--store", str(store)]) == 0
    process = opened(store, 0, *["--preview"] * preview)
    link, mine = (urlsplit(process.stdout.readline().split()[-1]) for _ in range(2))
    try:
        for leaves in (False, True):
            person = Person(f"http://{link.netloc}", link.path).join(**{"about-0": "30"})
            assert leaves or person.answer_all() == 1
        Person(f"http://{link.netloc}", link.path).join(**{"about-0": "17"})  # is screened out
        owner = Client(f"http://{mine.netloc}")
        assert owner.post("/enter", {"token": mine.query.removeprefix("token=")}).status == 303
        assert ("This is a preview: nothing is stored." in owner.get("/owner").text) == preview
    finally:
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(60) == 0
    said = process.stdout.read()
    process.stdout.close()
    show, again = (f"sociometer study {verb} spring --store {store}" for verb in ("show", "open"))
    ended = f"The preview has ended; nothing was stored. Next: {again}"
    assert (ended if preview else f"Study spring is closed; 2 people have joined so far. Next: {show}") in said


def test_a_study_that_is_not_there_is_an_error(tmp_path, capsys):
    sm.run("sesi", model="baseline/random", limit=1, store=tmp_path / "s.db")
    assert run_command(["study", "open", "winter", "--store", str(tmp_path / "s.db")]) == 2
    assert "unknown study 'winter'" in capsys.readouterr().err
    assert run_command(["study", "norms", "winter", "--to", "n.json", "--store", str(tmp_path / "s.db")]) == 2
