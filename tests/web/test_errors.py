"""What visitors are told: one table from errors to statuses; guests read about no process, path or command."""

import json
import re
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from open_study import OpenStudy
from person import Person, plain
from serving import Client, Served

import forked
from sociometer.cli.main import run_command
from sociometer.core import errors
from sociometer.instruments import cards, load
from sociometer.store.store import Store
from sociometer.web.browsing import ViewedStore
from sociometer.web.errors import TOLD, told_of
from sociometer.web.guard import OWNER, TOKENS, everyone, only
from sociometer.web.rendering import texts
from sociometer.web.serving import guest_application
from sociometer.web.view import view_application

NOT_FOR_GUESTS = re.compile(r"process|进程|sociometer|\\.db|[/\\\\]|'|\\d{2,}|Traceback|Error", re.IGNORECASE)


def kinds(base):
    return {base}.union(*(kinds(one) for one in base.__subclasses__()))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_error_has_a_status_and_words_for_guests(language):
    for kind in kinds(errors.SociometerError):
        for guest in (True, False):
            status, words, retry = told_of(kind.__new__(kind), guest=guest)
            assert (status == 503) == bool(retry), kind
            assert not NOT_FOR_GUESTS.search(texts("errors", language)[words]), kind
            assert (status == 404) == issubclass(kind, errors.NotFound)
            assert status == 503 or not issubclass(kind, errors.Busy)
    assert {words for _, words, _ in TOLD.values()} == texts("errors", language).keys()


@pytest.mark.parametrize(
    ("raised", "status", "retry"),
    [
        (errors.Busy("run x is in progress in process 28185; resume the run."), 503, "60"),
        (errors.NotFound("unknown run 'x'; Run 'sociometer runs' to see all."), 404, None),
        (errors.UsageError("role 'judge' needs --role judge=MODEL."), 500, None),
        (errors.NoSpace("/home/owner/lab.db: the disk is full; run 'sociometer resume'."), 503, "60"),
        (errors.StoreError("/home/owner/lab.db: a stored record is damaged."), 500, None),
        (ZeroDivisionError("/home/owner/code.py"), 500, None),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_guest_reads_a_sentence_and_the_owner_finds_the_details_on_the_terminal(
    raised, status, retry, language, caplog
):
    @everyone
    async def page(request):
        raise raised

    app = guest_application(lambda cookie: None, language)
    app.router.add_get("/page", page)
    with Served(app) as served:
        got = Client(served.url).get("/page")
    assert (got.status, got.headers["Retry-After"]) == (status, retry)
    assert not NOT_FOR_GUESTS.search(plain(got.text)) and f'<html lang="{language}"' in got.text
    assert ((str(raised) in caplog.text) == (status >= 500) and "GET /page" in caplog.text) or status < 500
    assert ("Traceback" in caplog.text) == isinstance(raised, ZeroDivisionError)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_pages_of_view_name_what_failed_and_where_the_details_and_links_are(tmp_path, language, caplog):
    async def page(request):
        raise ZeroDivisionError("no <points>")

    Store(tmp_path / "s.db").close()
    app = view_application(ViewedStore(tmp_path / "s.db", load, cards()))
    app.router.add_get("/page", only(OWNER)(page))
    app.router.add_get("/open", everyone(page))
    with Served(app) as served:
        owner = Client(served.url)
        stranger, alone = (
            owner.get("/", Accept_Language=language).text,
            owner.get("/open", Accept_Language=language).text,
        )
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        failed = owner.get("/page", Accept_Language=language)
    assert failed.status == 500 and "ZeroDivisionError: no <points>" in plain(failed.text)
    assert "ZeroDivisionError" in alone and "points" not in alone, "only who has a session reads the error itself"
    assert "Traceback" in caplog.text
    for text, said in (
        (failed.text, "The terminal shows the details." if language == "en" else "详情见终端"),
        (stranger, "Open the newest link in the terminal; when it is used" if language == "en" else "终端中最新的链接"),
    ):
        assert said in plain(text) and "researchers" not in text and "code" not in plain(text)


def test_a_damaged_store_is_no_missing_page_and_only_the_owner_reads_its_path(tmp_path, caplog):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "2") as opened:
        person = opened.person().join()
        person.answer()
        run = opened.run_of(person)
    with Store(opened.path) as store, closing(store.database.connect()) as file:
        file.execute("UPDATE run SET manifest = X'00'")
    with opened:
        person.url = opened.served.url
        person.cookie = ""
        assert person.come_back().status == 303
        got = person.get("/take")
        assert got.status == 500 and not NOT_FOR_GUESTS.search(plain(got.text))
        assert run in caplog.text
    with Served(view_application(ViewedStore(opened.path, load, cards()))) as served:
        owner = Client(served.url)
        assert owner.post("/enter", {"token": served.app[TOKENS].make()}).status == 303
        got = owner.get(f"/run/{run}/")
        assert got.status == 500 and run in got.text


def test_the_terminal_of_an_open_study_has_what_guests_do_not_read(tmp_path):
    """A real server and a real second process that holds the run."""
    store = tmp_path / "s.db"
    assert run_command(["study", "create", "sesi", "--limit", "2", "--name", "spring", "--store", str(store)]) == 0
    command = ["-m", "sociometer.cli.main", "study", "open", "spring", "--store", store, "--port", "0", "--json"]
    hold = "import sys; from sociometer.store.store import Store\nwith Store(sys.argv[1]).hold(sys.argv[2]): "
    hold += "print(1, flush=True); sys.stdin.read()"
    server = forked.start(command, stdout=forked.PIPE, stderr=forked.PIPE)
    try:
        link = urlsplit(json.loads(server.stdout.readline())["link"])
        person = Person(f"http://{link.netloc}", link.path).join()
        person.answer_all()
        (run,) = (record.id for record in Store(store).runs.all())
        with forked.start(["-c", hold, store, run], stdin=forked.PIPE, stdout=forked.PIPE) as holder:
            holder.stdout.readline()
            got = person.withdraw()
            assert got.status == 503 and str(holder.pid) not in got.text
            holder.stdin.close()
    finally:
        server.terminate()
        _, told = server.communicate()
    assert f"run {run} is in progress in process {holder.pid}" in told and "POST /withdraw" in told
