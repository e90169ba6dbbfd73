"""The pages of `sociometer view`, over HTTP."""

import json
import os
import re
import shutil
import sqlite3
import threading
import time
from contextlib import closing
from html import unescape
from importlib.resources import files

import pytest
from hostile_subject import HOSTILE
from looking import runs_of
from open_study import OpenStudy
from person import plain
from serving import Client, Served

import forked
import sociometer as sm
from servers.faults import SERVER_ERROR, TOO_LONG
from sociometer.cli.main import run_command
from sociometer.core.words import plural
from sociometer.instruments import card_texts, cards, load
from sociometer.results.comparison_tables import row_values
from sociometer.results.export import rows
from sociometer.statistics.formatting import common_decimals, estimate, interval_text, number
from sociometer.store.copying import copy_store
from sociometer.store.records import RunStatus
from sociometer.store.runs import RunSearch
from sociometer.store.store import Store
from sociometer.web.browsing import ORDERS, ViewedStore, run_row
from sociometer.web.guard import TOKENS
from sociometer.web.people import read_results
from sociometer.web.rendering import Words, texts, tongue
from sociometer.web.view import SHOWN, view_application


def links(text, part):
    return [unescape(link) for link in re.findall(r'href="([^"]+)"', text) if part in link]


def test_the_list_shows_every_run_with_its_progress(owner, stored):
    text = owner.get("/").text
    for run in sm.runs(store=stored):
        assert f'data-run="{run.id}"' in text
    assert "12 / 12" in plain(text)


def test_an_empty_store_says_what_to_type(tmp_path, capsys):
    path = tmp_path / "s.db"
    Store(path).close()
    with Served(view_application(ViewedStore(path, load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        text = owner.get("/").text
        (first, *_) = re.findall(r"<code>sociometer (run [^<]+)</code>", text)
        assert run_command([*first.split(), "--store", str(path), "--quiet"]) == 0
        text = owner.get("/").text
    assert text.count("<tr data-run=") == 1 and "Compare the chosen runs" not in text
    assert "run another model with the same options: sociometer run sesi --model MODEL --limit 20" in plain(text)


@pytest.mark.parametrize(
    ("query", "count"),
    [("q=oracle", 2), ("q=oracle+sesi", 1), ("instrument=sesi", 3), ("status=finished", 6), ("status=playing", 0),
     ("q=100%25", 0), ("q=_", 0), ("page=7", 6), ("page=-1", 6), ("page=%00", 6)],
)  # fmt: skip
def test_the_list_is_searched_and_filtered(owner, query, count):
    got = owner.get(f"/?{query}")
    assert got.status == 200
    assert f"{count} run" in plain(got.text)


def test_the_list_and_the_page_of_a_run_say_that_its_items_are_official(tmp_path, official_data):
    asked = ["run", "sesi", "--model", "baseline/random", "--limit", "4", "--quiet", "--store", str(tmp_path / "s.db")]
    assert run_command([*asked, "--official", "--data", str(official_data)]) == 0
    with Served(view_application(ViewedStore(tmp_path / "s.db", load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        (run,) = sm.runs(store=tmp_path / "s.db")
        assert "official items</span>" in owner.get("/").text and "EQ" not in owner.get("/").text
        assert run_command([*asked[:1], "seceu", *asked[2:], "--official", "--data", str(official_data)]) == 0
        assert re.search(r"lower is better</span><span class=\"under\">EQ −?\d+", owner.get("/").text)
        page = owner.get(f"/run/{run.id}/").text
        assert "official items</span></h1>" in page
        assert "<dt>wording</dt>" not in page and "<dt>orders</dt>" not in page, "defaults are not shown"
        item = owner.get(links(page, "/item?")[0]).text
        assert '<th scope="col">right</th>' in item and '<th scope="col">kind</th>' not in item, "it would be empty"


def test_a_check_of_contamination_is_its_verdict_in_the_list_and_no_score(tmp_path, official_data, capsys):
    assert os.environ["SOCIOMETER_DATA"] == str(official_data)
    path = tmp_path / "s.db"
    model = ["--model", "baseline/random", "--official", "--store", str(path)]
    assert run_command(["seceu", "contamination", "--limit", "3", *model]) == 0
    assert run_command(["run", "seceu", "--limit", "3", *model]) == 0
    with Served(view_application(ViewedStore(path, load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        check = next(run for run in sm.runs(store=path) if run.tasks == ("recall",))
        (row,) = re.findall(rf'<tr data-run="{check.id}".*?</tr>', owner.get("/").text, flags=re.S)
        assert "Contamination: 3 pairs are too few to tell" in row and " %" not in row
        assert '<span class="under">contamination check, ' in row
        capsys.readouterr()
        assert run_command(["runs", "--store", str(path), "--json"]) == 0
        listed = {one["run"]: one for one in json.loads(capsys.readouterr().out)}
        assert listed[check.id]["score"] == "" and listed[check.id]["value"] is None
        assert run_command(["runs", "--store", str(path), "--format", "wide"]) == 0
        assert "contamination check, official items" in capsys.readouterr().out
        assert "download.sociometer" not in owner.get(f"/run/{check.id}/").text
        scored = next(run for run in sm.runs(store=path) if run.tasks == ("feelings",))
        got = owner.get(f"/side-by-side?run={scored.id}&run={check.id}")
        said = plain(got.text)
        assert "these runs have no task in common: " in said
        assert f"{scored.id} has feelings" in said and f"{check.id} has recall" in said
        assert got.status == 400 and 'class="wordmark" href="/"' in got.text and "End session" in got.text


def test_runs_side_by_side_that_cannot_be_compared_have_no_counts(tmp_path):
    path = tmp_path / "s.db"
    for language in ("en", "zh"):
        sm.run("seceu", model="baseline/even", limit=4, settings={"language": language}, store=path)
    with Served(view_application(ViewedStore(path, load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        text = plain(owner.get("/side-by-side?" + "&".join(f"run={run.id}" for run in sm.runs(store=path))).text)
        assert "cannot be compared" in text and "Ahead: " not in text


def test_a_run_that_a_stopping_rule_ended_has_the_status_of_the_terminal(tmp_path):
    path = tmp_path / "s.db"
    sm.run("sesi", model="baseline/oracle", limit=80, store=path, name="old")
    run = sm.run("sesi", model="baseline/random", limit=80, against="old", store=path)
    assert re.fullmatch(r"worse after \d+ of \d+", run.state)
    with Served(view_application(ViewedStore(path, load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        for page in ("/", f"/run/{run.id}/"):
            assert f'data-of="status">{run.state}</span>' in owner.get(page).text
        assert json.loads(owner.get(f"/states?run={run.id}").text)["runs"][0]["shown"] == run.state
    used, planned = re.findall(r"\d+", run.state)
    assert Words("zh").state(run.state) == f"更差（{used} / {planned} 题）"


def test_a_run_that_a_stopping_rule_ended_has_one_number_of_episodes(tmp_path, openai_server):
    path = tmp_path / "s.db"
    other = sm.run("sesi", model="baseline/oracle", limit=80, store=path, name="old")
    run = sm.run("sesi", model=f"vllm/m@{openai_server.url}", limit=80, against="old", store=path)
    used, planned = map(int, re.findall(r"\d+", run.state))
    played = len(list(run.episodes()))
    assert used < played, "the server was answering other items when the rule decided"
    with Served(view_application(ViewedStore(path, load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        assert f"{used} / {planned} " in plain(owner.get("/").text)
        page = owner.get(f"/run/{run.id}/").text
        both = plain(owner.get(f"/side-by-side?run={run.id}&run={other.id}").text)
    assert f"{used} / {planned} episodes" in plain(page) and f"{played} / {planned}" not in plain(page)
    assert f"{played - used} more were being played and are in no number" in plain(page)
    assert f"share {used} items" in both


def test_the_filters_of_items_leave_out_those_that_do_not_count(tmp_path, openai_server):
    path = tmp_path / "s.db"
    sm.run("sesi", model="baseline/oracle", limit=80, store=path, name="old")
    run = sm.run("sesi", model=f"vllm/m@{openai_server.url}", limit=80, against="old", in_flight=16, store=path)
    wrong = {one.item.id for one in run.view().episodes() if not one.score.values["correct"]}
    assert wrong < {one.item.id for one in run.episodes() if not one.score.values["correct"]}
    with Served(view_application(ViewedStore(path, load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        page = owner.get(f"/run/{run.id}/?shown=wrong").text
        listed = links(page, "/item?")
        around = {link for one in listed for link in links(owner.get(one).text, "shown=wrong") if "/item?" in link}
        everything = plain(owner.get(f"/run/{run.id}/").text)
    assert f"{len(wrong)} episodes · Download" in plain(page)
    assert {re.search("item=([^&]+)", link)[1] for link in (*listed, *around)} == wrong
    assert f"{len(list(run.episodes()))} episodes · Download" in everything
    assert "are in no number; the filters of the items leave them out" in everything


def test_failures_of_items_that_a_stopping_rule_did_not_need_are_nowhere(tmp_path, openai_server, capsys):
    path = tmp_path / "s.db"
    sm.run("sesi", model="baseline/oracle", store=path, name="old")
    words = ["run", "sesi", "--model", f"vllm/m@{openai_server.url}#1", "--against", "old"]
    words += ["--name", "new", "-o", "retries=0", "--store", str(path), "--quiet"]
    openai_server.fault_of = lambda number: SERVER_ERROR if 5 < number < 180 else None
    assert run_command(words) == 4
    openai_server.fault_of = None
    assert run_command(words) == 0
    run = sm.get_run("new", store=path)
    (used, planned), played = run.part("questions"), len(run.finished("questions"))
    assert used < played < len(list(run.episodes())), "items after the last look have answers and failures"
    asked = len(openai_server.received)
    capsys.readouterr()
    assert run_command(words) == 0 and len(openai_server.received) == asked
    assert run_command(["show", "new", "--store", str(path)]) == 0
    assert f"{played - used} played ahead of the order, not counted" in " ".join(capsys.readouterr().out.split())
    assert run_command(["runs", "--store", str(path)]) == 0
    assert f"worse after {used} of {planned}\t" in capsys.readouterr().out
    with Served(view_application(ViewedStore(path, load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        page, listed = plain(owner.get(f"/run/{run.id}/").text), plain(owner.get("/").text)
        assert "0 runs found" in plain(owner.get("/?status=failed").text)
    assert f"{played - used} more were being played and are in no number" in page
    assert " 0 failed" in page and "To retry" not in page
    assert " failed" not in listed.split("Started")[-1]
    assert not run.failures()


def test_a_run_that_its_rule_found_worse_says_so_and_is_not_green(tmp_path):
    path = tmp_path / "s.db"
    sm.run("sesi", model="baseline/oracle", store=path, name="old")
    new = sm.run("sesi", model="baseline/first", store=path, against="old")
    assert re.fullmatch(r"worse after \d+ of 192", new.state)
    with Served(view_application(ViewedStore(path, load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        assert f'<span class="status worse" data-of="status">{new.state}</span>' in owner.get("/").text
        style = owner.get(re.search(r'href="(/[^"]+\.css[^"]*)"', owner.get("/").text)[1]).text
        (green,) = re.findall(r"\n([^\n]+) \{ color: var\(--good\); \}", style)
        assert ".status.better" in green and ".worse" not in green
        page = plain(owner.get(f"/run/{new.id}/").text)
        assert re.search(r"Notes Accuracy against old until decided: worse after .* points lower \[−", page)


def test_a_killed_run_is_found_among_the_stopped_ones(stored, tmp_path):
    with Store(tmp_path / "s.db") as store, Store(stored) as other:
        record = next(iter(other.runs.all()))
        made = store.runs.create(record.manifest, "hash")
        assert [run.id for run in store.runs.found(RunSearch(status="stopped"))] == [made.id]
        assert store.runs.count(RunSearch(status="playing")) == 0


def test_a_run_with_failed_items_is_found_among_the_failed_ones(tmp_path, openai_server):
    path = tmp_path / "s.db"
    sm.run("sesi", model="baseline/first", limit=6, store=path)
    openai_server.fault_of = lambda number: TOO_LONG if number == 2 else None
    part = sm.run("sesi", model=f"vllm/m@{openai_server.url}", limit=6, store=path)
    assert (part.status, sum(part.failures().values())) == ("finished", 1)
    with Served(view_application(ViewedStore(path, load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        found = owner.get("/?status=failed").text
        assert "1 run found" in plain(found) and re.findall(r'<tr data-run="([^"]+)"', found) == [part.id]
        assert "No run matches" in plain(owner.get("/?status=failed&instrument=seceu").text)
        with closing(sqlite3.connect(path)) as file:
            file.execute("UPDATE score SET body = x'00' WHERE run = ?", (part.id,))
            file.commit()
        listed = owner.get(f"/run/{part.id}/?shown=failed").text
        assert len(links(listed, "/item?")) == 1, "the scores of the others are not read to find the failed one"


def test_a_run_that_ended_early_says_why_wherever_its_status_is(tmp_path, openai_server, capsys):
    path = tmp_path / "s.db"
    model = f"openai/m@{openai_server.url}"
    capped = sm.run("sesi", model=model, limit=12, max_requests=3, store=path)
    killed = sm.run("sesi", model="baseline/first", limit=12, store=path)
    with Store(path) as store:
        store.runs.set_status(killed.id, RunStatus.PLAYING)
        store.flush()
    assert run_command(["runs", "--store", str(path)]) == 0
    said = capsys.readouterr().out
    again = f"To continue it: sociometer resume {capped.id} --max-requests MORE"
    assert f"{capped.id} ended early: --max-requests 3 is reached. {again}" in said
    told = "ended early: its process was killed before its summary"
    assert f"{killed.id} {told}. To continue it: sociometer resume {killed.id}" in said
    assert "stopped before its summary" in said and "100 %" not in said, "all was played; what is missing is said"
    assert run_command(["show", capped.id, "--store", str(path)]) == 0
    assert "(--max-requests 3 is reached): its scores cover only" in " ".join(capsys.readouterr().out.split())
    assert run_command(["report", capped.id, "--store", str(path), "--to", str(tmp_path / "r.html")]) == 0
    assert "is stopped (--max-requests 3 is reached); the numbers" in (tmp_path / "r.html").read_text("utf-8")
    with Served(view_application(ViewedStore(path, load, cards()))) as running:
        client = Client(running.url)
        client.post("/enter", {"token": running.app[TOKENS].make()})
        listed = plain(client.get("/").text)
        assert (
            "stopped --max-requests 3 is reached" in listed
            and re.search(r"cost unknown 3 requests \d+ tokens", listed)
            and "stopped its process was killed before its summary" in listed
        )
        page = plain(client.get(f"/run/{capped.id}/").text)
        assert f"It ended early: --max-requests 3 is reached. To continue it: sociometer resume {capped.id}" in page
        assert "--max-requests MORE" in page
        with Store(path) as store:
            store.runs.set_status(capped.id, RunStatus.STOPPED, why="<b>{hostile} {0}</b>")
        assert "&lt;b&gt;{hostile} {0}&lt;/b&gt;" in client.get("/").text


def test_a_run_shows_its_numbers_items_and_figures(owner, stored):
    run = runs_of(stored, "sesi")[0]
    text = owner.get(f"/run/{run}/").text
    shown = sm.get_run(run, store=stored).summary().measure("accuracy")
    assert number(shown.value, "share", interval=shown.interval) in text
    assert len(links(text, "/item?")) == 12
    assert f"/run/{run}/figure/0?" in text


def test_orders_of_items_say_which_end_is_the_better_one(tmp_path):
    path = tmp_path / "s.db"
    run = sm.run("seceu", model="baseline/random", limit=4, store=path)
    with Served(view_application(ViewedStore(path, load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        text = owner.get(f"/run/{run.id}/").text
    assert re.search(r'shown=lowest#items">best first<', text) and re.search(r'shown=highest#items">worst first<', text)


def test_the_reply_to_an_item_comes_right_after_its_question_and_then_the_options(owner, stored):
    run = runs_of(stored, "sesi")[0]
    item = next(iter(rows(sm.get_run(run, store=stored))))["item"]
    text = owner.get(f"/run/{run}/item?task=questions&item={item}").text
    places = [text.index(mark) for mark in ('class="line user', 'class="line reply', 'class="letter"')]
    assert places == sorted(places)


def test_a_download_of_official_items_has_the_warning_of_export(tmp_path, official_data):
    path = tmp_path / "s.db"
    run = sm.run("seceu", model="baseline/even", official=True, limit=4, store=path)
    with Served(view_application(ViewedStore(path, load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        assert "official items word for word, with their keys; CSV has none." in owner.get(f"/run/{run.id}/").text


def test_items_are_sorted_and_filtered(owner, stored):
    run = runs_of(stored, "sesi")[0]
    scores = [row["score.correct"] for row in rows(sm.get_run(run, store=stored))]
    for order, wanted in (("lowest", sorted(scores)), ("highest", sorted(scores, reverse=True))):
        text = owner.get(f"/run/{run}/?shown={order}").text
        body = text[text.index('aria-label="Items"') :]
        found = re.findall(r'<td class="n(?: warn)?">(right|wrong)</td>', body)
        assert [float(word == "right") for word in found] == wanted
    wrong = links(owner.get(f"/run/{run}/?shown=wrong").text, "/item?")
    assert len(wrong) == scores.count(0.0) > 1
    assert f"{wrong[1]}".split("&")[1] in re.search(r'rel="next" href="([^"]+)"', owner.get(wrong[0]).text)[1]
    empty = owner.get(f"/run/{run}/?shown=failed").text
    assert links(empty, "/item?") == [] and "No item matches." in empty
    assert len(links(owner.get(f"/run/{run}/?q=emp").text, "/item?")) < 12


def test_an_option_in_a_note_is_code_that_no_line_breaks(tmp_path, official_data):
    sm.run("seceu", model="baseline/even", limit=2, data=official_data, store=tmp_path / "s.db")
    with Served(view_application(ViewedStore(tmp_path / "s.db", load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        (run,) = sm.runs(store=tmp_path / "s.db")
        assert '<code class="typed">--shuffle</code> prevents this.' in owner.get(f"/run/{run.id}/").text


def test_the_numbers_of_a_run_come_before_the_notes(owner, stored):
    text = plain(owner.get(f"/run/{runs_of(stored, 'sesi')[0]}/").text)
    assert text.index("95 % interval") < text.index("Bundled items of this project")


def test_times_name_their_zone_for_a_script_that_shows_the_readers(owner, stored):
    text = owner.get(f"/run/{runs_of(stored, 'sesi')[0]}/").text
    assert re.search(r'<time datetime="\d{4}-\d\d-\d\dT\d\d:\d\dZ" title="([\d: -]+ UTC)">\1</time>', text)
    assert "/static/local_time.js" in text and owner.get("/static/local_time.js").status == 200


def test_an_item_shows_the_options_with_the_letters_that_the_subject_saw(owner, stored):
    run = sm.get_run(runs_of(stored, "sesi")[0], store=stored)
    for episode in run.episodes():
        text = owner.get(f"/run/{run.id}/item?item={episode.item.id}").text
        table = dict(re.findall(r'<td class="letter">(\w)</td><td>(.*?)</td>', text))
        asked = plain(run.transcript(episode.item.id)[0].messages[-1].content)
        assert len(table) == 4
        assert all(f"{letter}. {unescape(option)}" in asked for letter, option in table.items())


def test_an_item_marks_the_right_and_the_picked_option_and_names_no_label_of_an_analysis(owner, stored):
    random = runs_of(stored, "sesi")[0]
    answers = {row["item"]: row["score.correct"] for row in rows(sm.get_run(random, store=stored))}
    for item, correct in answers.items():
        text = owner.get(f"/run/{random}/item?task=questions&item={item}").text
        marked = re.findall(r'<tr class="((?:is-\w+ )+)">', text)
        assert sorted(marked) == (["is-right is-picked "] if correct else ["is-picked ", "is-right "])
        assert re.search(rf"<dt>Answer</dt><dd>{'right' if correct else 'wrong'}</dd>", text)
        assert "<dt>picked</dt>" not in text
    assert "picked: " not in owner.get(f"/run/{random}/").text


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    """A store with a model and a study of twelve people: one always gives the same answer, one leaves."""
    path = tmp_path_factory.mktemp("studied") / "s.db"
    sm.run("seceu", model="baseline/random", limit=12, name="guesser", store=path)
    with OpenStudy(path, "seceu", "--limit", "12", "--fastest", "0") as opened:
        for place in range(12):
            person = opened.person()
            ways = [(4, 3, 2, 1)] if place == 1 else [(1, 2, 3, 4), (4, 3, 2, 1), (2, 2, 3, 3)]
            person.join()
            for number in range(4 if place == 0 else 12):
                person.points = ways[(place + number) % len(ways)]
                person.answer()
    return path


def test_the_row_of_a_study_has_the_numbers_of_compare(studied):
    people = sm.get_run("spring", store=studied)
    shown = people.summary().measure("distance")
    with Served(view_application(ViewedStore(studied, load, cards()))) as running:
        client = Client(running.url)
        client.post("/enter", {"token": running.app[TOKENS].make()})
        row = plain(client.get("/").text.split('<tr class="study">')[1].split("</tr>")[0])
    assert people.subject == "people (spring, n = 11, 1 flagged, 1 excluded)"
    assert people.subject in row and "over people and items" in row
    assert re.search(r"12 people, 11 finished \d{4}-\d\d-\d\d \d\d:\d\d UTC$", row)
    assert f"{number(shown.value, 'number', interval=shown.interval)} {interval_text(shown.interval, 'number')}" in row
    assert "chance 5; lower is better" in row and f"{cards()['seceu'].title} limit 12 " in row


def test_a_study_that_nobody_has_joined_is_listed_and_says_how_to_open_it(tmp_path):
    path = tmp_path / "s.db"
    command = ["study", "create", "sesi", "--name", "later", "--limit", "5", "--store", str(path)]
    assert run_command(command) == 0
    sm.run("sesi", model="baseline/random", limit=5, store=path)
    with Served(view_application(ViewedStore(path, load, cards()))) as running:
        client = Client(running.url)
        client.post("/enter", {"token": running.app[TOKENS].make()})
        listed, page = (plain(client.get(at).text) for at in ("/", "/study/later/"))
        assert "later" not in plain(client.get("/?instrument=seceu").text)
    assert re.search(r"People of the study later SESI\b.* Nobody has joined yet\.", listed)
    assert "participants 0 " in page and "Nobody has joined yet. sociometer study open later" in page


def test_a_study_and_a_model_are_side_by_side_with_the_verdict_of_compare(studied):
    verdict = sm.compare("spring", "guesser", store=studied).comparisons[0]
    with Served(view_application(ViewedStore(studied, load, cards()))) as running:
        client = Client(running.url)
        client.post("/enter", {"token": running.app[TOKENS].make()})
        assert 'type="checkbox" name="run" value="spring"' in client.get("/").text
        text = client.get("/side-by-side?run=guesser&run=spring").text
        people = verdict.second if verdict.second.startswith("people") else verdict.first
        assert f"Ahead: {people} on " in plain(text) and people.replace("n = ", "n\u00a0=\u00a0") in text
        assert verdict.sentence in plain(text) and "share 12 items" in plain(text)
        page = plain(client.get(links(text, "/side-by-side/item?")[0]).text)
    assert "11 people: the page of each of them has their answer." in page and "asked of subject" in page


def test_a_study_and_several_models_side_by_side_have_the_verdicts_of_the_command_that_the_page_prints(
    studied, tmp_path, capsys
):
    path = tmp_path / "copy.db"
    assert run_command(["store", "copy", str(studied), str(path)]) == 0
    sm.run("seceu", model="baseline/even", limit=12, name="even", store=path)
    with Served(view_application(ViewedStore(path, load, cards()))) as running:
        client = Client(running.url)
        client.post("/enter", {"token": running.app[TOKENS].make()})
        text = client.get("/side-by-side?run=guesser&run=spring&run=even").text
        study = plain(client.get("/study/spring/").text)
    (command,) = re.findall(r"<code>sociometer ([^<]+)</code>", text)
    capsys.readouterr()
    assert run_command([*command.split(), "--store", str(path)]) == 0
    *verdicts, adjusted = " ".join(capsys.readouterr().out.partition("\n\n")[0].split("\n")).split(". ")
    assert len(verdicts) == 2 and adjusted == "Intervals of differences are adjusted for 2 comparisons."
    assert all(verdict in plain(text) for verdict in verdicts) and plain(text).count(adjusted) == 2
    assert "Each verdict is about one model alone." in study, "and there its interval is that of two runs"


def test_a_passport_says_what_it_is_and_whose(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    path = tmp_path / "s.db"
    command = ["sage", "passport", "--role", "simulator=baseline/random", "--turns", "0"]
    assert run_command([*command, "--to", str(tmp_path / "p.md"), "--store", str(path)]) == 0
    with Served(view_application(ViewedStore(path, load, cards()))) as running:
        client = Client(running.url)
        client.post("/enter", {"token": running.app[TOKENS].make()})
        listed = plain(client.get("/").text)
    assert "(nobody)" not in listed and "Passport of a simulator" in listed
    assert re.search(r"baseline/random sage-\w+ SAGE", listed)


def test_the_people_of_a_study_are_one_row_that_leads_to_their_page(tmp_path):
    path = tmp_path / "s.db"
    sm.run("seceu", model="baseline/even", limit=4, store=path)
    with OpenStudy(path, "seceu", "--limit", "4") as opened:
        people = [opened.person(), opened.person()]
        for person in people:
            person.join()
            person.answer_all()
        runs = [opened.run_of(person) for person in people]
    with Served(view_application(ViewedStore(path, load, cards()))) as running:
        client = Client(running.url)
        client.post("/enter", {"token": running.app[TOKENS].make()})
        text = client.get("/").text
        assert text.count('<tr class="study">') == 1 and text.count("<tr data-run=") == 1
        assert f"People of the study spring people (spring, n = 2, 2 flagged) {cards()['seceu'].title}" in plain(text)
        assert "2 people, 2 finished" in plain(text) and "1 run , 1 study" in plain(text)
        (page,) = links(text, "/study/")
        listed = {link.partition("?")[0] for link in links(client.get(page).text, "/run/")}
        assert {f"/run/{run}/" for run in runs} <= listed
        assert json.loads(client.get("/states").text)["count"] == 1
        assert client.get("/?q=spring.").text.count("<tr data-run=") == len(runs)
        assert client.get("/?instrument=sesi").text.count('<tr class="study">') == 0


def pages_of(path, *wanted):
    """Pages of a store, as its owner sees them."""
    with Served(view_application(ViewedStore(path, load, cards()))) as running:
        client = Client(running.url)
        client.post("/enter", {"token": running.app[TOKENS].make()})
        return [client.get(one).text for one in wanted]


def test_the_page_of_a_study_of_several_tests_is_that_of_the_first_and_leads_to_the_others(tmp_path):
    path = tmp_path / "s.db"
    with OpenStudy(path, "sesi", "seceu", "--limit", "3") as opened:
        for choice in (0, 1):
            opened.person(choose=lambda values, choice=choice: values[choice % len(values)]).join().answer_all()
        owners = opened.owner().get("/owner").text
    listed, whole, first, second = pages_of(path, "/", *(f"/study/spring{part}/" for part in ("", ".sesi", ".seceu")))
    assert "which need ten scenes;" in first and "which need ten scenarios;" in second
    assert "0 runs , 1 study " in plain(listed) and listed.count('<tr class="study">') == 2
    assert "Study spring.sesi on SESI" in plain(whole) and "Study spring.sesi on SESI" in plain(first)
    assert links(whole, "/study/spring.") == ["/study/spring.sesi/", "/study/spring.seceu/"]
    assert "Study spring.seceu on SECEU" in plain(second)
    sesi, seceu = (cards()[name].title for name in ("sesi", "seceu"))
    assert f"Study spring on {sesi}; {seceu}" in plain(owners)
    here, there = re.findall(r'class="n">([\d.]+ %)<', first), re.findall(r">([\d.]+ %)</td>", owners)
    assert here[-2:] == there and len({len(one.partition(".")[2]) for one in there}) == 1, "as many digits for each"


def test_who_was_screened_out_did_not_take_part(tmp_path):
    path = tmp_path / "s.db"
    with OpenStudy(path, "sesi", "--limit", "3", "--ask", "Age; number 1..99; only 18..65") as opened:
        opened.person().join(**{"about-0": "30"}).answer_all()
        opened.person().join(**{"about-0": "17"})
        opened.person().join(**{"about-0": "31"})
    listed, page = pages_of(path, "/", "/study/spring/")
    assert re.search(r"participants 2 finished 1 counted 1 flagged \d excluded 0 ", said := plain(page)), said[:900]
    assert "screened out" in said, "the row stays"
    assert "2 people, 1 finished" in plain(listed), "who joined and has not begun is in both numbers"


def test_a_person_who_left_is_no_crash_and_the_study_can_be_opened_again(tmp_path, capsys):
    path = tmp_path / "s.db"
    with OpenStudy(path, "seceu", "--limit", "4") as opened:
        person = opened.person().join()
        assert person.answer() and person.answer() and person.page().status == 200
        run = opened.run_of(person)
    capsys.readouterr()
    name = sm.get_run(run, store=path).reference
    assert run_command(["runs", "--store", str(path)]) == 0
    said, again = " ".join(capsys.readouterr().out.split()), "To continue it: sociometer study open spring"
    assert f"{name} ended early: left after 2 of 4 items. {again}" in said and "internal error" not in said
    assert run_command(["show", name, "--store", str(path)]) == 0
    assert f"{name} is stopped, 50 % (left after 2 of 4 items)" in " ".join(capsys.readouterr().out.split())
    assert run_command(["resume", name, "--store", str(path)]) == 2
    assert "people go on in the browser: sociometer study open spring" in " ".join(capsys.readouterr().err.split())
    (page,) = pages_of(path, f"/run/{run}/")
    assert f"It ended early: left after 2 of 4 items. {again}" in plain(page) and 'class="failure">It' not in page
    assert Words("zh").state("left after 2 of 4 items") == "答完 2 题（共 4 题）后离开"
    with Store(path) as store:
        store.runs.set_status(run, RunStatus.STOPPED, why="--max-requests 2 is reached")
    assert run_command(["runs", "--store", str(path)]) == 0
    said = capsys.readouterr().out
    assert "--max-requests 2 is reached." in said and "To continue" not in said, "the caps of a study are fixed"


def test_an_official_item_shows_the_first_reply_that_counts_and_not_the_second_as_the_outcome(
    tmp_path, official_data, capsys
):
    def late(messages):
        return "4, 3, 2, 1" if any(one["role"] == "assistant" for one in messages) else "That is hard to say."

    path = tmp_path / "s.db"
    given = {"model": late, "limit": 3, "store": path}
    official, bundled = (sm.run("seceu", **given, **more) for more in ({"data": official_data / "seceu"}, {}))
    items = [next(run.episodes()).item.id for run in (official, bundled)]
    first, second = pages_of(
        path, *(f"/run/{run.id}/item?item={item}" for run, item in zip((official, bundled), items, strict=True))
    )
    told = "Points for each feeling: the first reply, which counts; the second does not"
    assert told in first and told not in second
    shown = [plain(text[text.index("Points for each feeling") : text.index("As stored")]) for text in (first, second)]
    assert " 0 " in shown[0] and " 4 4 " not in shown[0] and " 4 4 " in shown[1]
    assert "no points could be read" in shown[0] and "&#34;rule&#34;: &#34;in order&#34;" in first, "as stored below"
    capsys.readouterr()
    assert run_command(["show", official.id, items[0], "--store", str(path)]) == 0
    assert told in capsys.readouterr().out


def test_a_subject_with_a_name_has_its_model_among_the_facts(tmp_path):
    run = sm.run("sesi", model="baseline/random", limit=3, name="Ada", store=tmp_path / "s.db")
    (page,) = pages_of(tmp_path / "s.db", f"/run/{run.id}/")
    assert "<h1>Ada " in page and "<dt>subject</dt><dd>baseline/random</dd>" in page


def test_the_page_of_a_study_has_its_people_their_scores_alpha_and_the_models_verdict(studied):
    verdict = sm.compare("spring", "guesser", store=studied).comparisons[0].sentence
    guesser = sm.get_run("guesser", store=studied).summary().measure("distance")
    with Served(view_application(ViewedStore(studied, load, cards()))) as running:
        client = Client(running.url)
        client.post("/enter", {"token": running.app[TOKENS].make()})
        text = client.get("/study/spring/").text
        said = plain(text)
        assert verdict in said and "sociometer compare spring guesser" in said
        assert estimate(guesser.value, "number", guesser.interval) in said, "with its interval"
        assert "Cronbach's alpha" in said and "participants 12 finished 11 counted 11 flagged 1 excluded 1" in said
        moments = r"mean of the scores [\d.]+, standard deviation [\d.]+, from [\d.]+ to [\d.]+\. How consistently"
        assert "seconds per question (median), all tests" in said and "seconds per item" not in said
        assert re.search(moments, said) and "single pe" in said and "tandard error of measurement" in said
        rows = re.findall(r"<tr(?: class=\"left-out\")?><td><a href=\"/run/.*?</tr>", text.partition('id="people"')[2])
        assert len(rows) == 12
        assert ["answered 4 of 12 items" in row for row in rows].count(True) == 1
        assert ["12 of 12 answers the same" in row for row in rows].count(True) == 1
        for row in rows:
            run = sm.get_run(re.search(r"/run/([^/]+)/", row)[1], store=studied)
            assert f">{number(run.summary().measure('distance').value, 'number')}</td>" in row
        page = client.get(re.search(r'href="(/run/[^"]+)"', rows[0])[1]).text
        assert '<a href="/study/spring/">' in page
        (head,) = re.findall(r"<h1>.*?</div>", page, re.DOTALL)
        assert re.search(r"p-\w+ \(a person of study spring\) on SECEU", plain(head))
        assert re.search(r" 0 failed, \d+\.\d minutes ", plain(head)) and "human" not in page.partition("<dl")[2][:900]
        picture = client.get(unescape(re.search(r'src="(/study/[^"]+)"', text)[1]))
        assert picture.status == 200 and "mean of 11 people" in picture.text and "guesser" in picture.text
        assert client.get("/study/nothing/").status == 404
    found = read_results(ViewedStore(studied, load, cards()), "spring", "feelings")
    area, _, rows = found["figure"].chart["layer"]
    columns = area["data"]["values"]  # a histogram of those who count, from the lowest score to the highest
    assert area["mark"]["type"] == "bar" and area["encoding"]["y"]["axis"]["title"] == "people"
    people = sm.get_run("spring", store=studied)
    scores = [sm.get_run(run, store=studied).summary().measure("distance").value for run in people.members]
    assert (columns[0]["x"], columns[-1]["end"]) == (min(scores), max(scores))
    assert sum(column["density"] for column in columns) == 11
    drawn = {one["label"]: (one["low"], one["high"]) for row in rows["layer"] for one in row["data"]["values"]}
    runs = {"mean of 11 people": people, "guesser": sm.get_run("guesser", store=studied)}
    known = {label: run.summary().measure("distance").interval for label, run in runs.items()}
    assert drawn == {label: (one.low, one.high) for label, one in known.items()}
    ((*_, score),) = found["models"]
    assert score == estimate(runs["guesser"].summary().measure("distance").value, "number", known["guesser"])
    assert "Bars are 95 % intervals of each score alone, which need ten scenarios; that of the people also" in said


def test_a_study_says_how_a_model_plays_the_same_items_and_its_people_cost_nothing(tmp_path, capsys):
    options = ("--language", "zh", "--limit", "2", "--set", "shuffle=true", "--fastest", "0")
    with OpenStudy(tmp_path / "s.db", "seceu", *options) as opened:
        opened.person().join().answer_all()
    play = "sociometer run seceu --model MODEL --shuffle --limit 2 --language zh"
    with Served(view_application(ViewedStore(tmp_path / "s.db", load, cards()))) as running:
        client = Client(running.url)
        client.post("/enter", {"token": running.app[TOKENS].make()})
        assert f"To place one among these people: {play} " in plain(client.get("/study/spring/").text)
        assert f"run another model with the same options: {play} " in (row := plain(client.get("/").text))
        assert "too few (1 person)" in row and "and 95 % interval" not in row
        assert "$" not in (people := client.get("/?q=spring").text), "a person has no cost"
        assert "<tr data-run=" in people and "tokens" not in people, "and no tokens"
    assert run_command(["runs", "--store", str(tmp_path / "s.db")]) == 0
    assert "spring.p-" in (said := capsys.readouterr().out) and "$" not in said


def test_beside_people_is_every_result_of_a_model_and_it_says_who_is_left_out(studied, tmp_path):
    store = tmp_path / "s.db"
    for made in studied.parent.glob("s.db*"):
        if made.is_file():
            shutil.copy(made, tmp_path / made.name)
    sm.study("spring", store=store).norm(tmp_path / "norm.json")
    part = sm.run("seceu", model="baseline/random", limit=11, store=store)
    sm.run("seceu", model="baseline/even", limit=11, name="partial-even", store=store)
    sm.run("seceu", model="baseline/even", limit=12, settings={"norm": tmp_path / "norm.json"}, store=store)
    sm.run("seceu", model="baseline/refuse", limit=12, name="silent", store=store)
    sm.run("seceu", model="baseline/first", limit=20, name="more items", store=store)
    with Served(view_application(ViewedStore(store, load, cards()))) as running:
        client = Client(running.url)
        client.post("/enter", {"token": running.app[TOKENS].make()})
        text = client.get("/study/spring/").text
        narrow = client.get("/study/spring/scores?task=feelings&mode=light&width=340").text
    rows = plain(text[text.index("Models on the same items") : text.index('id="people"')])
    whole = sm.get_run("guesser", store=store)
    assert whole.members[-1] == part.id, "both commands are one result"
    assert re.search(rf"guesser {re.escape(whole.id)} [\d.]+ .* 12 items ", rows) and rows.count(part.id) == 1
    assert re.search(
        r"partial-even [^ ]* [\d.]+ \[[^]]+\] 11 items .*1 scored item of people .* left out: no score of partial", rows
    )
    assert re.search(r"silent [^ ]+ – Most of its answers cannot be read, so it has no score\.", rows)
    assert "(the norm of partial-even has another key than the study; play the model without --norm)." in rows
    assert re.search(r'<img src="/study/spring/scores[^>]*loading="eager"', text)
    found = read_results(ViewedStore(store, load, cards()), "spring", "feelings")
    marks = [one for row in found["figure"].chart["layer"][2]["layer"] for one in row["data"]["values"]]
    labels = {one["label"] for one in marks}
    assert all(one["low"] < one["x"] < one["high"] for one in marks), "a run with other items too has its own bar"
    assert re.search(r'<svg [^>]*width="340"', narrow), "letters on a phone are as large as drawn"
    assert labels == {"mean of 11 people", "guesser", "partial-even", "more items"}, "a score without answers has none"


@pytest.mark.parametrize("instrument", ["sesi", "sage", "socialeval", "egosocial"])
def test_every_link_and_picture_of_a_run_opens(owner, stored, instrument):
    page = f"/run/{runs_of(stored, instrument)[0]}/"
    text = owner.get(page).text
    pictures = [unescape(source) for source in re.findall(r'src="(/run/[^"]+)"', text)][:2]
    assert pictures
    for source in pictures:
        got = owner.get(source)
        assert got.status == 200 and got.headers["Content-Type"].startswith("image/svg+xml")
        assert "sandbox" in got.headers["Content-Security-Policy"]
        assert got.text.lstrip().startswith("<svg")
    for link in [*links(text, "task=")[:4], *links(text, "/item?")[:2]]:
        assert owner.get(link).status == 200


def test_a_transcript_shows_every_turn_the_thoughts_and_what_stands_beside(owner, stored):
    run = sm.get_run(runs_of(stored, "sage")[0], store=stored)
    item = next(run.episodes()).item.id
    text = plain(owner.get(f"/run/{run.id}/item?item={item}").text)
    for event in run.transcript(item):
        if hasattr(event, "reply"):
            assert " ".join(event.reply.text.split()) in text
    assert "Emotion" in text


def test_a_hostile_subject_stays_text_everywhere(owner, stored):
    run = next(run for run in sm.runs(store=stored) if run.subject == HOSTILE)
    other = runs_of(stored, "sesi")[0]
    item = next(run.episodes()).item.id
    for path in (
        "/",
        f"/run/{run.id}/",
        f"/run/{run.id}/item?item={item}",
        f"/side-by-side?run={run.id}&run={other}",
        f"/side-by-side/item?run={run.id}&run={other}&item={item}",
    ):
        text = owner.get(path).text
        assert "&lt;script&gt;window.hacked" in text, path
        assert "<script>window" not in text and "<img src=x" not in text


@pytest.mark.parametrize(
    ("status", "path"),
    [(404, "/nowhere/"), (404, "/nowhere"), (404, "/run/nowhere/"), (404, "/run/last/?task=nothing"),
     (404, "/run/last/figure/x"), (404, "/run/last/item?item=%3Cscript%3E"), (404, "/run/sesi/item?item=%3Cscript%3E"),
     (400, "/side-by-side?run=x"), (400, "/run/last/?shown=nothing"), (400, "/run/last/figure/0?mode=pink"),
     (404, "/study/nothing/"), (400, "/study/nothing/scores")],
)  # fmt: skip
def test_a_wrong_link_is_an_error_that_says_so(owner, path, status):
    got = owner.get(path)
    assert got.status == status
    assert "Traceback" not in got.text and "<script>" not in got.text


def test_side_by_side_shows_the_verdict_of_compare_and_sorts_the_items(owner, stored):
    random, oracle = runs_of(stored, "sesi")[:2]
    got = owner.get(f"/side-by-side?run={oracle}&run={random}&order=second")
    (typed,) = re.findall(r"<code>sociometer compare ([^<]+)</code>", got.text)
    assert typed.split() == [random, oracle], "the list has the newest first, `compare` the reference"
    verdict = sm.compare(random, oracle, store=stored).sentence
    assert " ".join(verdict.split()) in plain(got.text)
    row = sm.compare(random, oracle, store=stored).comparisons[0].measure()
    first = got.text[: got.text.index("<details")]
    scores = [sm.get_run(run, store=stored).summary().measure("accuracy") for run in (random, oracle)]
    for score in scores:
        assert estimate(score.value, "share", score.interval) in first, "both scores with intervals are not folded"
    assert row_values(row)[2] in first
    pair = r'<td class="n(?: warn)?">(right|wrong)</td><td class="n(?: warn)?">(right|wrong)</td>'
    leads = [(second == "right") - (first == "right") for first, second in re.findall(pair, got.text)]
    assert len(leads) == 12
    assert leads == sorted(leads, reverse=True) and leads[0] == 1
    other = owner.get(f"/side-by-side?run={oracle}&run={random}&order=first").text
    assert [(b == "right") - (a == "right") for a, b in re.findall(pair, other)] == sorted(leads)
    nowhere = owner.get(f"/side-by-side/item?run={oracle}&run={random}&item=nothing")
    assert nowhere.status == 200 and "has no episode of item" in nowhere.text


def test_items_side_by_side_begin_where_the_runs_differ_and_lead_to_the_next(owner, stored):
    random, oracle = runs_of(stored, "sesi")[:2]
    text = owner.get(f"/side-by-side?run={random}&run={oracle}").text
    every = links(text, "/side-by-side/item?")
    differ = [wrong == "wrong" for wrong in re.findall(r'<td class="n(?: warn)?">(right|wrong)</td><td', text)]
    assert len(every) == 12 and differ == sorted(differ, reverse=True) and True in differ
    page = owner.get(every[0]).text
    assert 'rel="prev"' not in page
    following = unescape(re.search(r'rel="next" href="([^"]+)"', page)[1])
    item = re.search(r"item=([^&]+)", every[1])[1]
    assert f"item={item}&" in following and "order=difference" in following
    back = owner.get(following).text
    assert re.search(r"item=([^&]+)", every[0])[1] in re.search(r'rel="prev" href="([^"]+)"', back)[1]


def test_items_side_by_side_have_the_question_once_and_then_the_replies(owner, stored):
    random, oracle = runs_of(stored, "sesi")[:2]
    item = next(sm.get_run(random, store=stored).episodes()).item
    page = plain(owner.get(f"/side-by-side/item?run={random}&run={oracle}&item={item.id}").text)
    shown = page.split("Item as played")[0]
    assert shown.count(f"Situation: {' '.join(item.situation.split())}") == 1
    assert shown.index("Situation: ") < page.index("Options") < shown.index("Answer ") < shown.index("subject · ")
    assert page.count("Options") == page.count("picked by") == 1, "one table says who picked what"


def test_items_side_by_side_show_the_question_and_fold_only_what_is_stored(owner, stored):
    random, oracle = runs_of(stored, "sesi")[:2]
    item = next(sm.get_run(random, store=stored).episodes()).item
    text = owner.get(f"/side-by-side/item?run={random}&run={oracle}&item={item.id}").text
    first, *folded = text.split("<details")
    assert "Situation: " in plain(first) and len(folded) == 2, "one for each run"
    for one in folded:
        inside = plain(f"<details{one.split('</details>')[0]}")
        assert one.startswith(' class="raw"><summary>As stored')
        assert all(word in inside for word in ("read", "rule", "Score as stored", "Item as played"))
        assert "Item as played" not in plain(one.split("</details>")[1])
    own = owner.get(f"/run/{random}/item?item={item.id}").text
    kinds = [kind.replace(":", ": ") for kind in item.kinds]
    assert all(f"<td>{kind}</td>" in own for kind in kinds) and any(": " in kind for kind in kinds)


def test_the_question_is_shown_beside_a_run_without_the_item(owner, stored):
    played = {run: {one.item.id for one in sm.get_run(run, store=stored).episodes()} for run in runs_of(stored, "sesi")}
    short, *_, long = sorted(played, key=lambda run: len(played[run]))
    item = min(played[long] - played[short])
    text = owner.get(f"/side-by-side/item?run={long}&run={short}&item={item}").text
    assert "has no episode of item" in text and "Situation: " in plain(text.split('<div class="columns">')[0])


def test_an_undecided_run_and_a_function_are_shown_as_such(tmp_path):
    path = tmp_path / "s.db"
    sm.run("sesi", model=lambda messages: "A", limit=150, store=path, name="old")
    new = sm.run("sesi", model=lambda messages: "A", limit=150, store=path, against="old")
    assert new.state.startswith("cannot be decided after ")
    with Served(view_application(ViewedStore(path, load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        for page in ("/", f"/run/{new.id}/"):
            text = owner.get(page).text
            assert '<span class="status cannot"' in text, "green is for finished and decided runs"
            assert " tokens" not in plain(text) and "unknown" not in plain(text)
        assert json.loads(owner.get(f"/states?run={new.id}").text)["runs"][0]["state"] == new.state
        first = owner.get("/").text
        assert first.index("Tick 2 to 6 runs of one instrument.") < first.index('<table class="runs">')


def test_three_runs_side_by_side_have_the_verdict_of_the_command_that_the_page_prints(tmp_path, capsys):
    path = tmp_path / "s.db"
    for model in ("random", "oracle", "first"):
        sm.run("sesi", model=f"baseline/{model}", limit=12, store=path)
    with Served(view_application(ViewedStore(path, load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        text = owner.get("/side-by-side?" + "&".join(f"run={run.id}" for run in sm.runs(store=path))).text
    (command,) = re.findall(r"<code>sociometer ([^<]+)</code>", text)
    assert run_command([*command.split(), "--store", str(path)]) == 0
    verdict = capsys.readouterr().out.splitlines()[0]
    assert "is first of 3" in verdict and verdict in plain(text)
    first, second, _ = re.findall(r'<th scope="col" class="n">([^<]+)</th>', text)[-3:]
    assert f"{first} and {second} share 12 items." in text and "compare only these two runs." in text
    assert f">{first} ahead of {second}</option>" in text and f">{second} ahead of {first}</option>" in text


def test_side_by_side_has_the_scores_on_the_items_that_both_runs_have(tmp_path):
    path = tmp_path / "s.db"
    short = sm.run("sesi", model="baseline/random", limit=12, store=path)
    long = sm.run("sesi", model="baseline/longest", limit=40, store=path)
    row = sm.compare(short, long, store=path).comparisons[0].measure()
    with Served(view_application(ViewedStore(path, load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        text = plain(owner.get(f"/side-by-side?run={short.id}&run={long.id}").text)
    whole = long.summary().measure("accuracy")
    assert estimate(whole.value, "share", whole.interval) not in text, "that is a score on 40 items"
    assert f" {row_values(row)[2]} {row.verdict} 12 " in text
    first, second = sm.compare(short, long, store=path).ranking().boards[0].standings
    digits = common_decimals("share", [first.interval, second.interval])
    for one in (first, second):
        assert f" {estimate(one.value, 'share', one.interval, digits)} " in text, "both with intervals, as in a ranking"


def test_two_commands_of_a_subject_are_one_result_side_by_side(tmp_path):
    path = tmp_path / "s.db"
    for limit in (12, 30):
        sm.run("sesi", model="baseline/oracle", limit=limit, name="old", store=path)
    old = sm.get_run("old", store=path)
    new = sm.run("sesi", model="baseline/first", limit=30, against="old", store=path)
    with Served(view_application(ViewedStore(path, load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        text = owner.get(f"/side-by-side?run={new.id}&run=old").text
        items = links(text, "/side-by-side/item?")
        beside = plain(owner.get(items[-1]).text)
        page = owner.get(f"/run/{new.id}/").text
    assert len(old.members) == 2 and "share 30 items" in plain(text) and len(items) == 30
    assert "sociometer compare old baseline/first" in text
    assert "several runs fit" not in beside and "Question asked of subject" in beside
    assert f'<dt>against</dt><dd><a href="/run/{old.members[-1]}/">old</a>' in page


def test_side_by_side_refuses_runs_of_different_instruments(owner, stored):
    got = owner.get(f"/side-by-side?run={runs_of(stored, 'sesi')[0]}&run={runs_of(stored, 'sage')[0]}")
    assert got.status == 400 and "is a run of sesi" in plain(got.text)


def test_progress_arrives_while_a_run_is_played(owner, stored, openai_server):
    answers = threading.Semaphore(3)
    openai_server.fault_of = lambda number: answers.acquire() and None
    command = ["run", "sesi", "--model", f"vllm/m@{openai_server.url}", "--limit", "14", "-o", "in-flight=1"]
    command += ["--name", "live", "--quiet", "--store", str(stored)]
    process = forked.start(["-m", "sociometer.cli.main", *command])
    try:
        while "1 run found" not in plain(owner.get("/?q=live").text):
            time.sleep(0.1)
        run = sm.get_run("live", store=stored).id
        first = state = json.loads(owner.get(f"/states?run={run}").text)["runs"][0]
        answers.release(4)
        while state["done"] <= first["done"]:
            time.sleep(0.1)
            state = json.loads(owner.get(f"/states?run={run}").text)["runs"][0]
        assert state["status"] == "playing" and state["done"] < 14
    finally:
        process.terminate()
        answers.release(14)
        process.wait()
        with Store(stored) as store:
            store.runs.delete(run)


def test_the_command_prints_a_link_that_opens_the_pages(stored):
    command = ["-m", "sociometer.cli.main", "view", "--store", stored, "--port", "0", "--json"]
    process = forked.start(command, stdout=forked.PIPE)
    try:
        link = json.loads(process.stdout.readline())["link"]
        client = Client(link.partition("/enter")[0])
        assert client.post("/enter", {"token": link.partition("token=")[2]}).status == 303
        assert client.get("/").status == 200
        random, oracle = runs_of(stored, "sesi")[:2]
        assert f"--store {stored}</code>" in client.get(f"/side-by-side?run={random}&run={oracle}").text
        again = json.loads(process.stdout.readline())["link"]
        assert again != link and again.startswith(client.url)
    finally:
        process.terminate()
        assert process.wait(20) == 0
        process.stdout.close()


def test_a_store_that_is_not_there_and_a_port_in_use_are_said(tmp_path, stored, served, capsys):
    for options, said in (
        (["--store", str(tmp_path / "none.db")], "there is no store here"),
        (["--store", str(stored), "--port", str(served.port)], "this port is free: --port "),
    ):
        assert run_command(["view", *options]) == 2
        assert said in capsys.readouterr().err


def test_the_list_has_the_score_with_its_interval_and_chance_and_the_simulator(owner, stored):
    said = plain(owner.get("/").text)
    run = next(run for run in sm.runs(store=stored) if run.instrument == "sesi" and "random" in run.subject)
    measure = run.summary().measure("accuracy")
    row = said[said.index(run.id) :]
    assert re.search(rf"{round(100 * measure.value)} % \d+ to \d+ % Accuracy, chance 25 %", row[:200]), row[:200]
    assert re.search(r"Sentient score simulator \S+ \(stand-in\)", said), "the mark is next to the number"
    assert len(re.findall(r"\(stand-in\)", said)) == len(runs_of(stored, "sage")), "and there only once"


def test_a_damaged_summary_is_said_in_the_list_of_runs_and_hides_no_other_run(stored, tmp_path, capsys):
    copy_store(stored, tmp_path / "damaged.db")
    with closing(sqlite3.connect(tmp_path / "damaged.db")) as file:
        file.execute("UPDATE summary SET body = x'00' WHERE run = (SELECT min(run) FROM summary)")
        file.commit()
    with Store(tmp_path / "damaged.db") as store:
        viewed = ViewedStore(tmp_path / "damaged.db", load, cards())
        assert [run_row(viewed, store, one).score for one in store.runs.all()].count("damaged") == 1
    assert run_command(["runs", "--store", str(tmp_path / "damaged.db")]) == 0
    assert "damaged" in capsys.readouterr().out


def test_a_damaged_summary_of_a_run_that_stopped_early_hides_no_other_run(stored, tmp_path, capsys):
    copy_store(stored, tmp_path / "early.db")
    store = ["--store", str(tmp_path / "early.db")]
    for words in (["oracle"], ["first", "--name", "early", "--against", "baseline/oracle"]):
        assert run_command(["run", "sesi", "--model", f"baseline/{words[0]}", *words[1:], *store, "--quiet"]) == 0
    capsys.readouterr()
    with closing(sqlite3.connect(tmp_path / "early.db")) as file:
        file.execute("UPDATE summary SET body = x'00' WHERE run = (SELECT id FROM run WHERE name = 'early')")
        file.commit()
    assert run_command(["runs", *store]) == 0
    shown = capsys.readouterr().out
    assert "damaged" in shown
    assert "oracle" in shown


def test_items_have_words_and_neighbours_and_can_be_searched_and_downloaded(owner, stored):
    run = next(run for run in sm.runs(store=stored) if run.instrument == "sesi" and "oracle" in run.subject)
    episodes = list(run.episodes())
    words, asked = (" ".join(text.split()[:5]) for text in (episodes[0].item.situation, episodes[0].item.question))
    shown = plain(owner.get(f"/run/{run.id}/").text)
    assert words in shown or asked in shown
    first, second = (one.item.id for one in episodes[:2])
    page = owner.get(f"/run/{run.id}/item?task=questions&item={first}").text
    assert 'rel="prev"' not in page and re.search(rf'rel="next" href="[^"]*item={second}[&"]', page)
    found = plain(owner.get(f"/run/{run.id}/?q={words.replace(' ', '+')}").text)
    assert "1 episode" in found and first in found
    spoken = run.transcript(first)[0].reply.text.split()[0]
    assert "12 episodes" in plain(owner.get(f"/run/{run.id}/?q={spoken}").text)
    got = owner.get(f"/run/{run.id}/download.csv")
    assert len(got.text.splitlines()) == 13 and "attachment" in got.headers["Content-Disposition"]
    assert len(owner.get(f"/run/{run.id}/download.jsonl").text.splitlines()) == 12
    checked = owner.get(f"/run/{run.id}/download.sociometer")
    assert checked.status == 200 and checked.headers["Content-Disposition"].endswith('.sociometer"')
    assert "download.sociometer" in owner.get(f"/run/{run.id}/").text


def test_a_chinese_text_says_so():
    assert (tongue("他说：你好。"), tongue("He said: hello."), tongue("")) == ("zh", "en", "en")


def test_a_wrong_repeat_gets_a_sentence(owner, stored):
    run = runs_of(stored, "sesi")[0]
    got = owner.get(f"/run/{run}/beside?repeat=abc")
    assert got.status == 400 and "whole number" in got.text


# In Chinese


def texts_of_the_templates():
    for path in (files("sociometer.web") / "templates").iterdir():
        for call in re.findall(
            r"\bt(?:\.counted)?\(((?:[^()\"']|\"[^\"]*\"|'[^']*'|\([^()]*\))*)\)", path.read_text("utf-8")
        ):
            for double, single in re.findall(r"(?:^|, )(?:\"([^\"]*)\"|'([^']*)')(?=,|$)", call):
                yield path.name, double or single


def test_every_text_of_the_templates_is_there_in_chinese_with_the_same_placeholders():
    found, known = list(texts_of_the_templates()), {**card_texts("zh"), **texts("owner", "zh")}
    assert len(found) > 80
    for name, text in found:
        assert text in known, (name, text)
    for english, chinese in ((texts("owner", "en").get(key, key), text) for key, text in known.items()):
        assert sorted(re.findall(r"{(\w+)}", english)) == sorted(re.findall(r"{(\w+)}", chinese)), english
    titles = {*ORDERS.values(), *SHOWN.values(), "letter", *map(str, RunStatus)}
    for card in cards().values():
        titles |= {card.title, *(role.name for role in card.role), *(card.task_title(task.name) for task in card.task)}
        titles |= {f"ten {plural(card.cluster_of(task.name))}" for task in card.task}
        titles |= {measure.title for task in card.task for measure in card.measures_of(task.name)}
    assert not titles - set(known)


def test_the_pages_are_in_the_language_of_the_browser_or_in_the_one_chosen(owner, stored):
    run = runs_of(stored, "sesi")[0]
    for path in ("/", f"/run/{run}/"):
        assert 'lang="en"' in owner.get(path).text
        text = owner.get(path, Accept_Language="zh-CN,zh;q=0.9,en;q=0.5").text
        assert '<html lang="zh">' in text and "已完成" in text and "End session" not in text
    csrf = owner.get("/").text.split('name="csrf" value="')[1].split('"')[0]
    session = owner.cookie
    got = owner.post("/language", {"csrf": csrf, "language": "zh", "back": f"/run/{run}/"})
    assert got.status == 303 and got.headers["Location"] == f"/run/{run}/"
    chosen = Client(owner.url, f"{session}; {got.cookie}")
    assert '<html lang="zh">' in chosen.get("/", Accept_Language="en").text
    assert "返回首页" in chosen.get("/nowhere/").text


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"])
def test_choosing_a_language_leads_to_no_other_site(owner, back):
    csrf = owner.get("/").text.split('name="csrf" value="')[1].split('"')[0]
    got = owner.post("/language", {"csrf": csrf, "language": "zh", "back": back})
    assert got.headers["Location"] == "/"


def test_failed_items_are_no_ties_side_by_side(tmp_path):
    path, asked = tmp_path / "s.db", []

    def flaky(messages):
        asked.append(messages)
        if len(asked) <= 2:
            raise RuntimeError("no memory")
        return "A"

    sm.run("sesi", model=lambda messages: "A", limit=6, store=path)
    sm.run("sesi", model=flaky, limit=6, in_flight=1, store=path)
    with Served(view_application(ViewedStore(path, load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        text = plain(owner.get("/side-by-side?" + "&".join(f"run={run.id}" for run in sm.runs(store=path))).text)
    assert "share 4 items." in text and "; 4 are equal." in text
