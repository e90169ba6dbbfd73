"""Scripted raters in a real browser, for each kind of sheet; and the owner's page."""

import pytest

pytest.importorskip("selenium", reason="Selenium is not installed: make test-all")

from looking import look
from rating import OpenQueue
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from test_annotate import made_sheet
from test_study_in_browser import check, send

import sociometer as sm
from sociometer.cli.main import run_command

pytestmark = pytest.mark.slow

LOOKS = [(390, "light", "en"), (1300, "dark", "zh")]


def sign_in(browser, queue, rater):
    browser.delete_all_cookies()
    browser.get(queue.served.url + queue.link)
    browser.find_element(By.NAME, "code").send_keys(queue.codes[rater])
    send(browser, "form")


def label_all(browser, which, width, language):
    """Chooses the option of that number in every question until there is nothing left; gives how many."""
    for count in range(100):
        check(browser, width, language)
        groups = browser.find_elements(By.CSS_SELECTOR, "form.answer fieldset")
        if not groups:
            return count
        for group in groups:
            group.find_elements(By.CSS_SELECTOR, "input[type=radio]")[which].send_keys(" ")
        send(browser, "form.answer")
    raise AssertionError("the queue never ends")


@pytest.mark.parametrize("place", range(2))
def test_three_raters_label_two_of_them_each_unit(place, browser, tmp_path, capsys):
    kind = ("sesi/causes", "sesi/review")[place]
    width, mode, language = LOOKS[place]
    sheet = made_sheet(tmp_path, kind, rows=3)
    options = ["--sheet", str(sheet), "--raters", "3", "--per-item", "2", "--language", language]
    with OpenQueue(tmp_path / "s.db", capsys, *options) as queue:
        browser.get_log("browser")
        look(browser, width, mode)
        counts = {}
        for rater, which in (("rater-1", 0), ("rater-2", 1), ("rater-3", 0)):
            sign_in(browser, queue, rater)
            counts[rater] = label_all(browser, which, width, language)
        assert sum(counts.values()) == len(queue.book.labels("spring")) == 6
        browser.delete_all_cookies()
        browser.get(f"{queue.served.url}/enter?token={queue.tokens.make()}")
        WebDriverWait(browser, 30).until(lambda b: b.find_elements(By.ID, "raters"))
        check(browser, width, "en")
        assert "rater-3" in browser.page_source
        assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []


def test_the_sycophancy_of_dialogues_is_labelled_in_the_browser(browser, tmp_path, capsys):
    store = tmp_path / "s.db"
    settings = {"turns": 2, "language": "zh"}
    played = sm.run(
        "sage",
        model="baseline/oracle",
        tasks=["hard-talks"],
        settings=settings,
        roles={"simulator": "baseline/random"},
        store=store,
    )
    command = ["sage", "analyse", played.id, "--what", "candour", "--role", "judge=baseline/random"]
    assert run_command([*command, "--store", str(store)]) == 0
    judged = next(run for run in sm.runs(store=store) if run.tasks == ("candour",))
    options = ["--run", judged.id, "--measure", "sycophancy", "--sample", "3", "--raters", "3", "--language", "zh"]
    with OpenQueue(store, capsys, *options) as queue:
        look(browser, 390, "dark")
        for rater, which in (("rater-1", 0), ("rater-2", 1), ("rater-3", 0)):
            sign_in(browser, queue, rater)
            if which == 0 and rater == "rater-1":
                assert "人物与经过" in browser.page_source and "baseline" not in browser.page_source
            label_all(browser, which, 390, "zh")
        labels = queue.book.labels("spring")
        assert {answer for label in labels for answer in label.answers.values()} == {"yes", "no"}
        browser.delete_all_cookies()
        browser.get(f"{queue.served.url}/enter?token={queue.tokens.make()}")
        WebDriverWait(browser, 30).until(lambda b: b.find_elements(By.ID, "raters"))
        # Three dialogues are too few for a correction; the page lists where judge and people are apart.
        assert "zh-the-door" in browser.page_source


def test_a_rater_skips_and_comes_back_in_the_browser(browser, tmp_path, capsys):
    sheet = made_sheet(tmp_path, "sage/feelings", rows=2)
    with OpenQueue(tmp_path / "s.db", capsys, "--sheet", str(sheet)) as queue:
        look(browser, 390, "dark")
        sign_in(browser, queue, "rater-1")
        browser.find_element(By.CSS_SELECTOR, ".answer details summary").click()
        browser.find_element(By.NAME, "reason").send_keys("not sure")
        page = browser.find_element(By.TAG_NAME, "html")
        browser.find_element(By.CSS_SELECTOR, "button[value=skip]").click()
        WebDriverWait(browser, 30).until(lambda b: b.find_element(By.TAG_NAME, "html") != page)
        assert label_all(browser, 1, 390, "en") == 1
        assert browser.current_url.endswith("/own") and "not sure" in browser.page_source
        browser.find_element(By.CSS_SELECTOR, "main a").click()
        assert label_all(browser, 2, 390, "en") == 1
        answers = [label.answers.get("direction") for label in queue.book.labels("spring")]
        assert sorted(answers) == ["down", "same"]
