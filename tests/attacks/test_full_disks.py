"""An open study on a full disk says so, stores nothing false, and goes on when there is space again."""

import contextlib
import json
import resource
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from person import Form, Person, plain

import forked
import sociometer as sm
from sociometer.cli.main import run_command

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux changes the limits of another process")
ITEMS = 4


class Server:
    """`study open` in a process of its own, whose disk can be filled and freed."""

    def __init__(self, store):
        create = ["study", "create", "sesi", "--limit", str(ITEMS), "--name", "spring", "--store", str(store)]
        assert run_command(create) == 0
        command = ["study", "open", "spring", "--store", str(store), "--json"]
        self.process = forked.start(["-m", "sociometer.cli.main", *command], stdout=forked.PIPE)
        link = urlsplit(json.loads(self.process.stdout.readline())["link"])
        self.url, self.link = f"http://{link.netloc}", link.path
        self.before = resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE)

    def fill(self):
        """The process can write no more, as on a full disk."""
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (1, self.before[1]))

    def free(self):
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, self.before)

    def person(self):
        return Person(self.url, self.link)


class ServerOnADisk(Server):
    """The same on a disk of its own."""

    def __init__(self, store):
        super().__init__(store)
        self.filling = store.with_name("filling")

    def fill(self):
        with self.filling.open("ab", buffering=0) as opened, contextlib.suppress(OSError):
            while True:
                opened.write(b"x" * 4096)

    def free(self):
        self.filling.unlink(missing_ok=True)


@pytest.fixture(params=[Server, ServerOnADisk])
def server(request, tmp_path):
    is_disk = request.param is ServerOnADisk
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(tmp_path)]
    if is_disk and subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        started = request.param(tmp_path / "s.db")
        yield started
        started.free()
        started.process.terminate()
        assert started.process.wait(60) == 0
        started.process.stdout.close()
    finally:
        if is_disk:
            subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def answered(person):
    """Sends the answer to the current question; its number, and the status."""
    form = Form(person.page().text, "/take")
    return form.hidden.get("number"), person.post("/take", person.filled(form))


def test_a_study_goes_on_when_there_is_space_again(server, tmp_path):
    people = [server.person().join() for _ in range(3)]
    for person in people:
        assert answered(person)[1].status == 303
    forms = [person.filled(Form(person.page().text, "/take")) for person in people]
    server.fill()
    for person, form in zip(people, forms, strict=True):
        got = person.post("/take", form)
        assert got.status == 503 and got.headers["Retry-After"] == "60", plain(got.text)
        assert "what you have just sent is not stored" in got.text
    late = server.person()
    form = Form(late.get(server.link).text, server.link)
    assert late.post(server.link, {**form.hidden, "agree": "yes"}).status == 503
    server.free()
    for person in people:
        number, got = answered(person)
        assert (number, got.status) == ("1", 303), plain(got.text)
        person.answer_all()
        assert "Thank you" in person.page().text
    late.join().answer_all()
    runs = [run for run in sm.runs(store=tmp_path / "s.db") if run.record.name.startswith("spring.")]
    assert [(run.status, len(list(run.episodes()))) for run in runs] == [("finished", ITEMS)] * 4


def test_a_withdrawal_on_a_full_disk_is_not_said_to_be_stored_and_is_not_lost_later(server, tmp_path):
    person, other = server.person().join(), server.person().join()
    person.answer()
    other.answer()
    asked = Form(person.post("/withdraw", Form(person.get("/stored").text, "/withdraw").hidden).text, "/withdraw")
    server.fill()
    got = person.post("/withdraw", asked.hidden)
    assert got.status == 503 and ("is not stored" in got.text or "withdrawal is in progress" in got.text)
    server.free()
    assert person.post("/withdraw", asked.hidden).status == 200
    assert person.get("/take").status == 403
    assert len(sm.runs(store=tmp_path / "s.db")) == 1
    assert answered(other)[1].status == 303


def test_filling_and_freeing_again_and_again_loses_and_repeats_nothing(server, tmp_path):
    person = server.person().join()
    accepted = []
    for attempt in range(200):
        if attempt % 3:
            server.fill()
        else:
            server.free()
        page = person.get("/take")
        form = Form(page.text, "/take")
        if page.status != 200 or not form.hidden:
            continue
        if person.post("/take", person.filled(form)).status == 303:
            accepted.append(form.hidden["number"])
    server.free()
    person.answer_all()
    assert sorted(set(accepted)) == sorted(accepted), "no question is accepted twice"
    (run,) = [run for run in sm.runs(store=tmp_path / "s.db") if run.record.name.startswith("spring.")]
    assert run.status == "finished" and len(list(run.episodes())) == ITEMS
