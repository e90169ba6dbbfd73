"""Every page in both themes and both widths has no serious finding of axe-core, on the owner's side and on people's."""

import pytest

pytest.importorskip("selenium", reason="Selenium is not installed: make test-all")

from accessibility import axe_source, findings
from looking import MODES, WIDTHS, look
from open_study import OpenStudy
from selenium.webdriver.common.by import By
from test_study_in_browser import fill, send
from test_view_in_browser import pages, shown_page  # noqa: F401  (a fixture)

pytestmark = pytest.mark.slow

LOOKS = [(width, mode) for width in WIDTHS for mode in MODES]


@pytest.fixture(scope="session")
def axe():
    return axe_source()


def check(browser, axe, place):
    """Looks at the page in every theme and width; the page is not loaded again."""
    found = {}
    for width, mode in LOOKS:
        look(browser, width, mode)
        if said := findings(browser, axe):
            found[place, width, mode] = said
    assert found == {}


def test_axe_sees_what_is_wrong(browser, axe):
    browser.get("data:text/html,<title>x</title><html><body><img src=x><input><p style='color:%23ddd'>pale</p>")
    found = " ".join(findings(browser, axe))
    assert "image-alt" in found and "label" in found and "color-contrast" in found


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_pages_of_view(shown_page, served, stored, axe, language):  # noqa: F811
    shown_page.add_cookie({"name": "sociometer-language", "value": language})
    every = pages(stored)[: 6 if language == "zh" else None]
    item = next(path for path in every if "/item?" in path and "sesi" in path)
    runs = every[1].partition("?")[2]
    every.append(f"/side-by-side/item?{runs}&{item.partition('?')[2]}")
    for path in (*every, "/nowhere/", "/enter?token=x"):
        shown_page.get(served.url + path)
        for details in shown_page.find_elements(By.TAG_NAME, "details"):
            shown_page.execute_script("arguments[0].open = true", details)
        check(shown_page, axe, path)


CASES = {
    "points": ["seceu", "--limit", "2", "--language", "zh", "--ask", "年龄", "--shows", "score", "--attention", "1"],
    "choice": ["sesi", "--limit", "1", "--consent", "Agree to this."],
    "blackjack": ["egosocial", "--task", "blackjack", "--limit", "1"],
    "battery": [
        "sesi",
        "seceu",
        "--limit",
        "1",
        "--ask",
        "Age; number 18..99; required",
        "--ask",
        "Sex; choice f|m",
        "--ask",
        "Tired?; scale 1..7 not at all|very; after",
        "--ask",
        "Comments; text; after",
        "--completion",
        "DONE no-consent=NO1",
        "--language",
        "zh",
    ],
    "numbers": ["egosocial", "--task", "numbers", "--limit", "1", "--set", "rounds=2"],
}


@pytest.mark.parametrize("case", CASES)
def test_the_pages_of_a_study(browser, axe, tmp_path, case):
    with OpenStudy(tmp_path / "s.db", *CASES[case]) as study:
        browser.delete_all_cookies()
        browser.get(study.served.url + study.link)
        check(browser, axe, "welcome")
        if case == "battery":
            send(browser, "form")
            check(browser, axe, "something is missing")
            browser.find_element(By.NAME, "about-0").send_keys("30")
        for box in browser.find_elements(By.CSS_SELECTOR, "[type=checkbox]"):
            box.send_keys(" ")
        send(browser, "form")
        check(browser, axe, "code")
        browser.find_element(By.CSS_SELECTOR, "a.button").click()
        for number in range(40):
            if "/end" in browser.current_url and "/after" not in browser.page_source:
                break
            if number < 4 or "check" in browser.page_source or "/after" in browser.page_source:
                check(browser, axe, f"question {number}")
            fill(browser)
            send(browser, ".answer")
        check(browser, axe, "end")
        browser.get(study.served.url + "/stored")
        check(browser, axe, "stored")
        for place in ("asked once more", "withdrawn"):
            send(browser, "form[action='/withdraw']")
            check(browser, axe, place)
        browser.delete_all_cookies()
        browser.get(f"{study.served.url}/enter?token={study.tokens.make()}")
        check(browser, axe, "owner")
