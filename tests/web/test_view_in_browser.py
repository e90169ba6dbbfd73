"""The pages of `sociometer view` in a real browser: on a phone and a desk, in both themes, deaf to a hostile model."""

import json
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

pytest.importorskip("selenium", reason="Selenium is not installed: make test-all")

from hostile_subject import HOSTILE
from looking import look
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import sociometer as sm
from sociometer.store.store import Store

pytestmark = pytest.mark.slow


@pytest.fixture
def shown_page(browser, served, tokens):
    browser.get_log("browser")
    browser.get_log("performance")
    browser.delete_all_cookies()
    look(browser, 1300, "light")
    browser.get(f"{served.url}/enter?token={tokens.make()}")
    WebDriverWait(browser, 30).until(lambda b: b.find_elements(By.CSS_SELECTOR, "[data-run]"))
    return browser


def pages(stored):
    found = {}
    for run in sm.runs(store=stored):
        found.setdefault(run.instrument, []).append(run)
    made = ["/", "/side-by-side?" + "&".join(f"run={run.id}" for run in found["sesi"][:2])]
    for run, *_ in found.values():
        episode = next(run.episodes())
        task = next(task for task in run.tasks if any(run.episodes(task, episode.item.id)))
        made += [f"/run/{run.id}/", f"/run/{run.id}/item?task={task}&item={episode.item.id}"]
    return made


def test_the_link_opens_the_list_and_ends_with_no_token_in_the_address(shown_page, served):
    assert shown_page.current_url == f"{served.url}/"
    cookie = shown_page.get_cookies()[0]
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
    assert shown_page.execute_script("return document.cookie") == ""


@pytest.mark.parametrize("width", [390, 1300])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_page_fits_and_prints_no_error(shown_page, served, stored, width, mode):
    look(shown_page, width, mode)
    for path in pages(stored):
        shown_page.get(served.url + path)
        assert shown_page.execute_script("return document.documentElement.scrollWidth") <= width, path
        dark = shown_page.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 28)"
        assert dark == (mode == "dark")
        WebDriverWait(shown_page, 30).until(
            lambda b: b.execute_script(
                "return [...document.images].filter((i) => i.getBoundingClientRect().top < innerHeight)"
                ".every((image) => image.complete && image.naturalWidth > 0)"
            )
        )
    assert [entry for entry in shown_page.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    hosts = set()
    for entry in shown_page.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            hosts.add(urlsplit(message["params"]["request"]["url"]).netloc)
    assert hosts <= {urlsplit(served.url).netloc, ""}


def test_a_hostile_subject_runs_nothing(shown_page, served, stored):
    run = next(run for run in sm.runs(store=stored) if run.subject == HOSTILE)
    item = next(run.episodes()).item.id
    for path in ("/", f"/run/{run.id}/", f"/run/{run.id}/item?item={item}"):
        shown_page.get(served.url + path)
        assert shown_page.execute_script("return window.hacked") is None
        assert shown_page.find_elements(By.CSS_SELECTOR, "main img[src=x], main script, main iframe") == []
    said = shown_page.find_element(By.CSS_SELECTOR, ".reply .text")
    assert shown_page.execute_script("return arguments[0].textContent", said) == HOSTILE


def test_runs_are_chosen_with_the_keyboard_and_shown_side_by_side(shown_page, stored):
    every, compare = (
        shown_page.find_elements(By.NAME, "run"),
        shown_page.find_element(By.CSS_SELECTOR, ".chosen button"),
    )
    boxes = [box for box in every if box.get_attribute("value").startswith("sesi")]
    assert not compare.is_enabled() and all(box.is_enabled() for box in every)
    for box in boxes[-2:]:
        box.send_keys(" ")
    assert [box for box in every if box.is_enabled()] == boxes, "only runs of one instrument can be compared"
    compare.send_keys("\n")
    WebDriverWait(shown_page, 30).until(lambda b: b.find_elements(By.CSS_SELECTOR, ".sentence"))
    assert "side-by-side?run=" in shown_page.current_url
    shown_page.find_element(By.CSS_SELECTOR, "a[href*='/side-by-side/item?']").click()
    WebDriverWait(shown_page, 30).until(lambda b: len(b.find_elements(By.CSS_SELECTOR, ".columns section")) == 2)


def test_a_click_on_a_column_sorts_the_runs_and_a_reload_keeps_the_order(shown_page, stored):
    def shown():
        return [row.get_attribute("data-run") for row in shown_page.find_elements(By.CSS_SELECTOR, "tr[data-run]")]

    newest = shown()
    shown_page.find_element(By.CSS_SELECTOR, "th[data-sort=score] button").click()
    sesi = [run for run in shown() if run.startswith("sesi")]
    best = next(run.id for run in sm.runs(store=stored) if run.instrument == "sesi" and "oracle" in run.subject)
    assert sesi[0] == best and sorted(shown()) == sorted(newest)
    shown_page.refresh()
    assert [run for run in shown() if run.startswith("sesi")] == sesi
    shown_page.find_element(By.CSS_SELECTOR, "th[data-sort=time] button").click()
    assert shown() == newest


def test_every_control_has_a_name_and_every_page_a_heading_and_a_language(shown_page, served, stored):
    for path in pages(stored):
        shown_page.get(served.url + path)
        nameless = shown_page.execute_script(
            "return [...document.querySelectorAll('input:not([type=hidden]), select, textarea, button, a, img')]"
            ".filter((e) => !(e.labels?.length || e.getAttribute('aria-label') || e.textContent.trim() || e.alt"
            " || e.querySelector('img')?.alt))"
            ".map((e) => e.outerHTML)"
        )
        assert nameless == []
        assert shown_page.execute_script("return document.documentElement.lang") == "en"
        assert len(shown_page.find_elements(By.TAG_NAME, "h1")) == 1


def test_pages_that_are_open_while_a_run_plays_show_what_comes(shown_page, served, stored, openai_server):
    from servers.faults import slow

    openai_server.fault_of = lambda number: slow(0.6)
    command = ["run", "sesi", "--model", f"vllm/m@{openai_server.url}", "--limit", "14", "-o", "in-flight=1"]
    command += ["--name", "live", "--quiet", "--store", str(stored)]
    process = subprocess.Popen([sys.executable, "-m", "sociometer.cli.main", *command], stdout=subprocess.DEVNULL)
    try:
        wait = WebDriverWait(shown_page, 60, ignored_exceptions=[StaleElementReferenceException])
        wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, "[data-status=playing]"))
        row = shown_page.find_element(By.CSS_SELECTOR, "[data-status=playing]").get_attribute("data-run")
        shown_page.get(f"{served.url}/run/{row}/")
        before = len(shown_page.find_elements(By.CSS_SELECTOR, "a[href*='/item?']"))
        wait.until(lambda b: len(b.find_elements(By.CSS_SELECTOR, "a[href*='/item?']")) > before)
        shown_page.get(f"{served.url}/")
        process.wait()
        wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, f"[data-run={row}][data-status=finished] .score .under"))
    finally:
        process.terminate()
        process.wait()
        with Store(stored) as store:
            store.runs.delete(row)
