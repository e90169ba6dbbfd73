"""Every page tried by every role: each opens only its own pages, whatever the method."""

import pytest
from open_study import OpenStudy
from person import Form
from serving import Client, Served

from sociometer.instruments import cards, load
from sociometer.web.browsing import ViewedStore
from sociometer.web.guard import OWNER, OWNERS, PARTICIPANT, ROLES, SessionsInMemory, csrf_token, roles_of
from sociometer.web.serving import application
from sociometer.web.view import view_application

NAMES = {
    "{store}": "lab",
    "{run}": "last",
    "{study}": "spring",
    "{number}": "0",
    "{name}": "style.css",
    "{secret}": "x",
}
OPEN_TO_ALL = {"/enter", "/static/{name}", "/join/{secret}", "/join/{secret}/code"}


def routes_of(app):
    """Method, path and handler of every page that is not open to all."""
    found = []
    for route in app.router.routes():
        path = route.resource.canonical
        if path not in OPEN_TO_ALL and route.method in ("GET", "POST"):
            found.append((route.method, path, route.handler))
    return found


def filled(path):
    for name, value in NAMES.items():
        path = path.replace(name, value)
    return path


def ask(client, method, path):
    csrf = csrf_token(client.cookie.partition("=")[2])
    return client.get(path) if method == "GET" else client.post(path, {"csrf": csrf})


def test_every_page_names_the_roles_that_may_open_it(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1") as opened:
        apps = [view_application(ViewedStore(tmp_path / "none.db", load, cards())), opened.served.app]
        for app in apps:
            for method, path, handler in routes_of(app):
                assert roles_of(handler) and roles_of(handler) <= set(ROLES), (method, path)


@pytest.mark.parametrize("role", [role for role in ROLES if role != OWNER])
def test_the_pages_of_view_open_only_to_the_owner(stored, role):
    app = view_application(ViewedStore(stored, load, cards()))
    with Served(app) as served:
        client = Client(served.url, f"{served.address.cookie}={app[OWNERS].open(role, 'x')}")
        for method, path, _ in routes_of(app):
            got = ask(client, method, filled(path))
            assert got.status == 403 and "You do not have access" in got.text, (role, method, path)


def test_a_participant_opens_no_page_of_the_owner_and_the_owner_none_of_a_participant(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1") as opened:
        person, owner = opened.person().join(), opened.owner()
        person.page()
        tried = 0
        for method, path, handler in routes_of(opened.served.app):
            for client, role in ((person, PARTICIPANT), (owner, OWNER)):
                if role not in roles_of(handler):
                    got = ask(client, method, filled(path))
                    assert got.status == 403, (role, method, path)
                    tried += 1
        assert tried >= 9
        # Nothing of it has changed anything.
        assert Form(person.page().text, "/take").hidden["number"] == "0"
        assert owner.get("/owner").status == 200


def test_a_page_without_a_mark_opens_to_nobody(tmp_path):
    async def forgotten(request):
        raise AssertionError("this must not run")

    sessions = SessionsInMemory()
    app = application(sessions.find)
    app.router.add_get("/forgotten", forgotten)
    with Served(app) as served:
        for role in ROLES:
            client = Client(served.url, f"{served.address.cookie}={sessions.open(role)}")
            assert client.get("/forgotten").status == 403


def test_the_owners_link_of_a_study_works_once(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1") as opened:
        token = opened.tokens.make()
        first, second = Client(opened.served.url), Client(opened.served.url)
        assert first.post("/enter", {"token": token}).headers["Location"] == "/owner"
        assert second.post("/enter", {"token": token}).status == 403
        assert second.get("/owner").status == 403
        assert opened.person().join().get("/owner").status == 403
