"""Scripted people take every instrument to its end in a real browser, on a phone and a desk, in both languages."""

from itertools import cycle
from urllib.parse import urlsplit

import pytest

pytest.importorskip("selenium", reason="Selenium is not installed: make test-all")

from looking import look
from open_study import OpenStudy
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import sociometer as sm

pytestmark = pytest.mark.slow

NAMELESS = (
    "return [...document.querySelectorAll('input:not([type=hidden]), select, textarea, button, a')]"
    ".filter((e) => !(e.labels?.length || e.getAttribute('aria-label') || e.textContent.trim()))"
    ".map((e) => e.outerHTML)"
)
CASES = {
    "choice": (["sesi", "--limit", "2"], 390, "light"),
    "points": (["seceu", "--limit", "2", "--language", "zh", "--ask", "年龄", "--shows", "score"], 390, "dark"),
    "choice, wide": (["sesi", "--limit", "2", "--attention", "1", "--order", "random"], 1300, "dark"),
    "battery": (["sesi", "seceu", "--limit", "1", "--ask", "Tired?; scale 1..7 not at all|very; after"], 390, "light"),
    "points, wide": (["seceu", "--limit", "2", "--ask", "age"], 1300, "light"),
    "blackjack": (["egosocial", "--task", "blackjack", "--limit", "1"], 390, "light"),
    "numbers": (["egosocial", "--task", "numbers", "--limit", "1", "--set", "rounds=2"], 1300, "dark"),
    "holdem": (["egosocial", "--task", "holdem", "--limit", "1"], 1300, "light"),
    "tree": (["socialeval", "--task", "goals", "--limit", "1", "--language", "zh"], 1300, "dark"),
    "tree, narrow": (["socialeval", "--task", "goals", "--limit", "1"], 390, "light"),
}


def check(browser, width, language):
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script(NAMELESS) == []
    assert browser.execute_script("return document.documentElement.lang") == language
    assert len(browser.find_elements(By.TAG_NAME, "h1")) == 1


def send(browser, form):
    """Presses the button of a form and waits for the next page."""
    page = browser.find_element(By.TAG_NAME, "html")
    browser.find_element(By.CSS_SELECTOR, f"{form} button:not([disabled])").click()
    WebDriverWait(browser, 30).until(lambda b: b.find_element(By.TAG_NAME, "html") != page)


def fill(browser):
    numbers = browser.find_elements(By.CSS_SELECTOR, ".answer input[type=number]")
    for field, points in zip(numbers, cycle((4, 3, 2, 1)), strict=False):
        field.send_keys(str(max(points, int(float(field.get_attribute("min") or 0)))))
    for field in browser.find_elements(By.CSS_SELECTOR, ".answer textarea"):
        field.send_keys("I see.")
    options = browser.find_elements(By.CSS_SELECTOR, ".answer input[type=radio]")
    for option in {option.get_attribute("name"): option for option in reversed(options)}.values():
        option.send_keys(" ")


@pytest.mark.parametrize("case", CASES)
def test_a_person_takes_it_to_the_end(case, browser, tmp_path):
    options, width, mode = CASES[case]
    language = "zh" if "zh" in options else "en"
    with OpenStudy(tmp_path / "s.db", *options) as opened:
        browser.get_log("browser")
        browser.delete_all_cookies()
        look(browser, width, mode)
        browser.get(opened.served.url + opened.link)
        check(browser, width, language)
        for box in browser.find_elements(By.CSS_SELECTOR, "[type=checkbox]"):
            box.send_keys(" ")
        send(browser, "form")
        check(browser, width, language)
        browser.find_element(By.CSS_SELECTOR, "a.button").click()
        for _ in range(100):
            WebDriverWait(browser, 30).until(lambda b: b.find_elements(By.CSS_SELECTOR, ".answer, .narrow > h1"))
            check(browser, width, language)
            if urlsplit(browser.current_url).path == "/end" and "/after" not in browser.page_source:
                break
            fill(browser)
            send(browser, ".answer")
        assert urlsplit(browser.current_url).path == "/end"
        browser.find_element(By.CSS_SELECTOR, ".bar a").click()
        check(browser, width, language)
        assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
        runs = sm.runs(store=opened.path)
        assert len(runs) == 1 + (case == "battery")
        assert all(run.status == "finished" and not run.failures() for run in runs)
        # The browser's time is without the server's.
        assert all(0 < time.page_seconds <= time.seconds for time in opened.book.timings("spring"))


def test_the_points_that_are_left_are_counted_and_a_wrong_sum_is_said(browser, tmp_path):
    with OpenStudy(tmp_path / "s.db", "seceu", "--limit", "1") as opened:
        browser.delete_all_cookies()
        look(browser, 1300, "light")
        browser.get(opened.served.url + opened.link)
        browser.find_element(By.NAME, "agree").send_keys(" ")
        send(browser, "form")
        browser.find_element(By.CSS_SELECTOR, "a.button").click()
        fields = WebDriverWait(browser, 30).until(lambda b: b.find_elements(By.CSS_SELECTOR, ".answer [type=number]"))
        for field in fields:
            field.send_keys("2")
        left = browser.find_element(By.ID, "left")
        assert left.text.endswith(": 2")
        fields[0].send_keys("4")
        assert left.text.endswith("too many: 20")
        fields[0].send_keys("\b")
        for field, points in zip(fields, ("4", "3", "2", "1.3"), strict=True):
            field.clear()
            field.send_keys(points)
        assert left.text.endswith("too many: 0.3 (only whole and half points are accepted)"), "not 0.3000000000000007"
        for field in fields:
            field.clear()
            field.send_keys("2")
        send(browser, ".answer")
        # The browser answers a form that failed with the page of the same question.
        assert "must add up to 10" in browser.find_element(By.CSS_SELECTOR, "[role=alert]").text
        fields = browser.find_elements(By.CSS_SELECTOR, "[type=number]")
        assert [field.get_attribute("value") for field in fields] == ["2"] * 4


@pytest.mark.parametrize("options", [["sesi", "seceu"], ["egosocial", "--task", "blackjack"]])
def test_a_study_is_taken_with_the_keyboard_alone(browser, tmp_path, options):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    def press(*keys):
        ActionChains(browser).send_keys(*keys).perform()

    def go_to(selector):
        """Presses Tab until an element has the focus that the selector matches."""
        for _ in range(60):
            if browser.execute_script("return document.activeElement.matches(arguments[0])", selector):
                return
            press(Keys.TAB)
        raise AssertionError(f"Tab does not reach {selector}")

    def press_and_wait(key):
        page = browser.find_element(By.TAG_NAME, "html")
        press(key)
        WebDriverWait(browser, 30).until(lambda b: b.find_element(By.TAG_NAME, "html") != page)
        WebDriverWait(browser, 30).until(lambda b: b.find_elements(By.CSS_SELECTOR, "form, .narrow > h1"))

    def answer():
        points = cycle("4321")
        radios = set()
        for field in browser.find_elements(By.CSS_SELECTOR, ".answer :is(input:not([type=hidden]), textarea)"):
            name, kind = field.get_attribute("name"), field.get_attribute("type")
            if kind == "radio":
                radios.add(name)
                continue
            go_to(f"[name='{name}']")
            press((field.get_attribute("min") or "17") if len(options) > 2 else next(points))
        for name in radios:
            go_to(f"[name='{name}']")
            press(Keys.SPACE)
        go_to(".answer button:not([disabled])")
        press_and_wait(Keys.ENTER)

    with OpenStudy(tmp_path / "s.db", *options, "--limit", "1") as opened:
        browser.delete_all_cookies()
        look(browser, 1300, "light")
        browser.get(opened.served.url + opened.link)
        go_to("[name=agree]")
        press(Keys.SPACE)
        go_to("form button")
        press_and_wait(Keys.ENTER)
        go_to("a.button")
        press_and_wait(Keys.ENTER)
        for _ in range(40):
            if urlsplit(browser.current_url).path == "/end":
                break
            answer()
        assert urlsplit(browser.current_url).path == "/end"
        assert all(run.status == "finished" and not run.failures() for run in sm.runs(store=opened.path))
