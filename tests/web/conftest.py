"""A store with a few runs, one of them with hostile texts, and the pages that show it."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hostile_subject import HOSTILE, hostile
from serving import Client, Served

import sociometer as sm
from sociometer.instruments import cards, load
from sociometer.store.store import Store
from sociometer.web.browsing import ViewedStore
from sociometer.web.guard import TOKENS
from sociometer.web.view import view_application


@pytest.fixture(scope="session")
def stored(tmp_path_factory):
    """The path of a store with two baselines on SESI, one on each other instrument, and a hostile subject."""
    path = tmp_path_factory.mktemp("web") / "lab.db"
    for model in ("baseline/random", "baseline/oracle"):
        sm.run("sesi", model=model, limit=12, store=path)
    sm.run("sage", model="baseline/oracle", limit=1, roles={"simulator": "baseline/random"}, store=path)
    sm.run("socialeval", model="baseline/random", limit=1, repeats=2, store=path)
    small = {"settings": {"stories": 1}, "tasks": ("generated", "blackjack", "numbers")}
    sm.run("egosocial", model="baseline/random", limit=2, store=path, **small)
    sm.run("sesi", model=hostile, limit=4, name="hostile", store=path)
    with Store(path) as store:  # nobody may choose such a name, and a store may come from somebody else
        store.runs.rename_subject("hostile", HOSTILE)
    return path


@pytest.fixture(scope="session")
def served(stored):
    with Served(view_application(ViewedStore(stored, load, cards()))) as running:
        yield running


@pytest.fixture(scope="session")
def tokens(served):
    return served.app[TOKENS]


@pytest.fixture
def stranger(served):
    """Somebody without a session."""
    return Client(served.url)


@pytest.fixture
def owner(served, tokens):
    client = Client(served.url)
    assert client.post("/enter", {"token": tokens.make()}).status == 303
    return client


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Chromium with an empty profile, logging what it prints and what it asks for."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("no Chromium here: install Debian's chromium and chromium-driver to test the pages in a browser")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    quiet = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
    for argument in (*quiet, "--disable-sync", f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(driver))
    opened.set_script_timeout(60)
    yield opened
    opened.quit()
