"""The page in a real browser: silent, self-contained, drawn, filtered, and deaf to a hostile model."""

import json
from urllib.parse import urlsplit

import pytest

pytest.importorskip("selenium", reason="Selenium is not installed: make test-all")

from fake_stored_runs import HOSTILE, VALUES, FakeStoredRun, changed
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

from sociometer.reporting.page import write_report

pytestmark = pytest.mark.slow
DRAW = """const done = arguments[0];
sociometer.unfoldAll(true);
sociometer.drawAll().then(() => done(''), (error) => done(String(error)))"""


@pytest.fixture
def shown(browser, page):
    browser.get_log("browser")
    browser.get_log("performance")
    _width(browser, 1300)
    browser.get(page.as_uri())
    WebDriverWait(browser, 30).until(lambda b: b.find_elements(By.CSS_SELECTOR, "#episodes button"))
    browser.execute_script("document.querySelector('#evidence > details').open = true")
    return browser


def _width(browser, width):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
    )


def _entries(browser):
    return browser.find_elements(By.CSS_SELECTOR, "#episodes button")


def _choose(browser, control, value):
    Select(browser.find_element(By.ID, control)).select_by_value(value)


def test_nothing_is_asked_of_the_network_and_the_console_holds_no_error(shown):
    assert shown.execute_async_script(DRAW) == ""
    asked: set[str] = set()
    for entry in shown.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.add(urlsplit(message["params"]["request"]["url"]).scheme)
    assert not asked & {"http", "https", "ws", "wss", "ftp"}
    assert [entry for entry in shown.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []


def test_every_chart_is_drawn_and_drawn_anew_in_the_other_theme(shown):
    shown.execute_async_script(DRAW)
    charts = shown.find_elements(By.CSS_SELECTOR, "figure .chart")
    assert len(charts) >= 2
    for chart in charts:
        assert len(chart.find_elements(By.CSS_SELECTOR, "svg path, svg text")) > 5
    before = shown.execute_script("return getComputedStyle(document.body).backgroundColor")
    first = charts[0].get_attribute("data-drawn")
    shown.find_element(By.ID, "theme").click()
    WebDriverWait(shown, 20).until(lambda b: charts[0].get_attribute("data-drawn") != first)
    assert shown.execute_script("return getComputedStyle(document.body).backgroundColor") != before
    assert charts[0].find_elements(By.CSS_SELECTOR, "svg path")


def test_filters_narrow_the_transcripts(shown):
    everything = len(_entries(shown))
    _choose(shown, "by-kind", "failed")
    failed = _entries(shown)
    assert 0 < len(failed) < everything
    assert "failed" in failed[0].text
    assert "timeout: no answer" in shown.find_element(By.ID, "transcript").text
    _choose(shown, "by-kind", "")
    _choose(shown, "by-subject", "plain")
    assert all("plain" in entry.text for entry in _entries(shown))
    shown.find_element(By.ID, "by-words").send_keys("question q03")
    assert {entry.text.split("\n")[0] for entry in _entries(shown)} <= {"q03"}
    shown.find_element(By.ID, "by-words").send_keys(" nowhere")
    assert _entries(shown) == []
    assert "No transcript matches" in shown.find_element(By.ID, "transcript").text


def test_a_hostile_transcript_stays_text(shown):
    shown.execute_async_script(DRAW)
    select = Select(shown.find_element(By.ID, "by-subject"))
    select.select_by_index(3)
    transcript = shown.find_element(By.ID, "transcript")
    for entry in _entries(shown)[:4]:
        shown.execute_script("arguments[0].click()", entry)
        text = shown.execute_script("return arguments[0].textContent", transcript)
        assert HOSTILE in text
        assert transcript.find_elements(By.CSS_SELECTOR, "img, script, a, iframe") == []
    assert shown.execute_script("return window.hacked") is None
    name = HOSTILE.replace("\u2028", " ")
    assert name in shown.execute_script("return document.querySelector('.matrix').textContent")
    links = shown.execute_script("return [...document.links].map((link) => link.getAttribute('href'))")
    assert all(link.startswith("#") for link in links)
    assert shown.find_elements(By.CSS_SELECTOR, "main img, main iframe, main script") == []


def test_what_stands_beside_a_transcript_is_drawn(shown):
    _choose(shown, "by-subject", "plain")
    seen = set()
    for entry in _entries(shown):
        shown.execute_script("arguments[0].click()", entry)
        for kind in ("table", ".chart"):
            if shown.find_elements(By.CSS_SELECTOR, f"#transcript .beside {kind}"):
                seen.add(kind)
    assert seen == {"table", ".chart"}


def test_on_a_phone_nothing_overflows_sideways(shown):
    _width(shown, 375)
    shown.refresh()
    shown.execute_async_script(DRAW)
    wide = shown.execute_script("return document.documentElement.scrollWidth")
    assert wide <= 375


def test_on_a_phone_the_contents_stay_at_hand(shown):
    _width(shown, 375)
    shown.refresh()
    links = shown.find_elements(By.CSS_SELECTOR, ".contents a")
    assert links and links[0].is_displayed()
    shown.execute_script("document.querySelector('#method').scrollIntoView()")
    top = shown.execute_script("return document.querySelector('.contents').getBoundingClientRect().top")
    assert top == 0


@pytest.mark.parametrize("width", [375, 1300])
def test_every_lane_names_its_subject(shown, width):
    _width(shown, width)
    names = shown.find_elements(By.CSS_SELECTOR, "#tact .lane .name")
    assert [name.text.split()[0] for name in names[:2]] == ["better", "plain"]
    assert all(name.is_displayed() and name.location["x"] > 0 for name in names)


def test_the_page_prints(shown):
    printed = shown.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert len(printed["data"]) > 20_000


def test_the_page_is_a_few_screens_high_until_it_is_unfolded(shown):
    shown.refresh()
    high = "return document.documentElement.scrollHeight"
    folded = shown.execute_script(high)
    assert folded < 3 * 900
    assert shown.find_elements(By.CSS_SELECTOR, "figure .chart svg") == [], "what is folded is not drawn"
    shown.find_element(By.ID, "unfold").click()
    WebDriverWait(shown, 20).until(lambda b: b.find_elements(By.CSS_SELECTOR, "figure .chart svg"))
    assert shown.execute_script(high) > folded + 900
    assert shown.find_element(By.ID, "unfold").text == "Collapse all"


def test_a_link_of_the_contents_opens_what_it_leads_to(shown):
    shown.refresh()
    fold = shown.find_element(By.CSS_SELECTOR, "#method > details")
    assert fold.get_attribute("open") is None
    shown.find_element(By.CSS_SELECTOR, ".contents a[href='#method']").click()
    assert fold.get_attribute("open") is not None


def test_without_script_the_page_has_its_numbers_and_no_dead_controls(shown, page):
    shown.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        shown.get(page.as_uri())
        assert shown.find_element(By.CSS_SELECTOR, ".panel .value").is_displayed()
        assert not shown.find_element(By.ID, "theme").is_displayed()
        assert not shown.find_element(By.ID, "by-words").is_displayed()
        shown.execute_script("for (const fold of document.querySelectorAll('details')) fold.open = true")
        assert "This chart needs JavaScript" in shown.find_element(By.CSS_SELECTOR, "figure .chart").text
        assert "sociometer show RUN ITEM" in shown.find_element(By.ID, "evidence").text
    finally:
        shown.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_paper_shows_what_is_open_and_no_controls(shown):
    shown.refresh()
    shown.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert not shown.find_element(By.CSS_SELECTOR, ".contents").is_displayed()
        assert not shown.find_element(By.CSS_SELECTOR, "#method summary").is_displayed()
        assert shown.find_element(By.CSS_SELECTOR, ".panel").is_displayed()
        shown.execute_script("document.querySelector('#method > details').open = true")
        assert shown.find_element(By.CSS_SELECTOR, "#method .run").is_displayed()
    finally:
        shown.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("width", [420, 1300])
def test_no_text_of_a_chart_is_cut_off_at_its_edges(shown, width):
    _width(shown, width)
    shown.refresh()
    shown.execute_async_script(DRAW)
    outside = shown.execute_script(
        "const found = [];"
        "for (const chart of document.querySelectorAll('figure .chart')) {"
        "  const box = chart.getBoundingClientRect();"
        "  for (const text of chart.querySelectorAll('svg text')) {"
        "    const { left, right, top, bottom, width } = text.getBoundingClientRect();"
        "    const out = left < box.left - 1 || right > box.right + 1 || top < box.top - 1 || bottom > box.bottom + 1;"
        "    if (width && out) found.push(text.textContent);"
        "  }"
        "}"
        "return found;"
    )
    assert outside == []


@pytest.mark.parametrize(("width", "columns"), [(420, 1), (700, 2), (1300, 4)])
def test_a_legend_has_as_many_columns_as_there_is_room_for(browser, tmp_path, width, columns):
    names = [f"a-model-of-a-laboratory-{number}" for number in range(5)]
    runs = [changed(FakeStoredRun(name, name, VALUES["plain"]), stand_ins=()) for name in names]
    page = write_report(runs, tmp_path / "p.html", made="now", version="9")
    _width(browser, width)
    browser.get(page.as_uri())
    browser.execute_async_script(DRAW)
    places = browser.execute_script(
        "const chart = document.querySelector('figure .chart');"
        "const { left, right } = chart.getBoundingClientRect();"
        "const texts = [...chart.querySelectorAll('.mark-text.role-legend-label text')];"
        "return texts.map((text) => [text.textContent, Math.round(text.getBoundingClientRect().left),"
        "  text.getBoundingClientRect().left > left && text.getBoundingClientRect().right < right]);"
    )
    assert [name for name, _, _ in places] == names and all(inside for _, _, inside in places)
    assert len({left for _, left, _ in places}) == columns
