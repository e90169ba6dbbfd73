"""What leaves the machine is built from allowed fields: secrets and words of people are planted, and looked for."""

import csv
import gzip
import re

import msgspec
import pytest
from open_study import OpenStudy
from person import Form

import sociometer as sm
from servers.faults import Fault
from servers.openai import OpenAIServer
from sociometer.cli.main import run_command

PLAIN = "header header-two query query-two body-text body-list body-deep store-folder store-file prompts-folder"
"""What a user gives to a run: nothing of it is for strangers."""
SAID = "error-user error-password error-token error-secret error-api-key error-bearer"
"""What a server says in an error besides the user's own secrets."""
JUDGE = "judge-header judge-query judge-body judge-key"
PEOPLE = (
    "panel-0 panel-1 panel-2 session comment-0 comment-1 comment-2 later-0 later-1 later-2 answer-0 answer-1 answer-2"
)
OWNER = "reason contact consent title debriefing completion"
SECRETS = {name: f"Zwiebelturm{name.replace('-', '')}" for name in f"{PLAIN} {SAID} {JUDGE} {PEOPLE} {OWNER}".split()}
MADE_UP_KEYS = [
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln",
    "glpat-abcdefGHIJklmn",
    "AKIAIOSFODNNEXAMPLE",
    "sk-proj-abcdef1234567890",
]
KEY, VARIABLE, OTHER_KEY = (
    "Zwiebelturm-key-of-the-user",
    "PLANTED_ZWIEBELTURM_VARIABLE",
    "Zwiebelturm-of-another-provider",
)


def test_forty_secrets_are_planted():
    assert len({*SECRETS.values(), *MADE_UP_KEYS, KEY, VARIABLE, OTHER_KEY}) >= 40


def found_in(content, names):
    """Which of these secrets are in a text."""
    given = {**SECRETS, "key": KEY, "variable": VARIABLE, "other key": OTHER_KEY}
    given |= {key: key for key in MADE_UP_KEYS}
    return [name for name in names if given[name] in content]


MODEL_SECRETS = [*PLAIN.split(), *SAID.split(), *JUDGE.split(), "key", "variable", "other key", *MADE_UP_KEYS]
NEVER_PRINTED = [
    name for name in MODEL_SECRETS if name not in ("store-folder", "store-file", "prompts-folder", "variable")
]
"""The user's own terminal may name the user's own paths and variables, for example in a command to type next."""


def said_by(server):
    """An error that repeats what it was sent, and brings secrets of its own."""
    at = f"http://{SECRETS['error-user']}:{SECRETS['error-password']}@inside.example/path"
    given = {name: SECRETS[f"error-{name}"] for name in ("token", "secret", "api-key", "bearer")}
    return (
        f"upstream {at} with token={given['token']}, secret: {given['secret']}, api_key={given['api-key']} and"
        f" Bearer {given['bearer']} refused {KEY} {SECRETS['header']} {SECRETS['header-two']} {' '.join(MADE_UP_KEYS)}"
    )


FIELDS = {
    "header.X-Team": SECRETS["header"], "header.X-Lab": SECRETS["header-two"], "query.team": SECRETS["query"],
    "query.lab": SECRETS["query-two"], "body.user": SECRETS["body-text"], "body.top_k": 40,
    "body.more": {"list": [SECRETS["body-list"]], "deep": {"er": SECRETS["body-deep"]}},
}  # fmt: skip


@pytest.fixture
def played(tmp_path, monkeypatch, openai_server, capsys):
    """A finished run with everything planted: its folder, server, the words that name its store, what it printed."""
    monkeypatch.setenv(VARIABLE, KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", OTHER_KEY)
    folder = tmp_path / SECRETS["store-folder"]
    folder.mkdir()
    openai_server.fault_of = lambda number: Fault(500, message=said_by(openai_server)) if number == 3 else None
    openai_server.say = lambda body: f"B, said {KEY}."
    words = [word for name, value in FIELDS.items() for word in ("-o", f"{name}={option(value)}")]
    model = ["--model", f"vllm/m@{openai_server.url}#1", "--key-variable", VARIABLE, "--limit", "6"]
    conduct = ["-o", "in-flight=1", "-o", "retries=0"]
    store = ["--store", str(folder / f"{SECRETS['store-file']}.db")]
    assert run_command(["run", "sesi", *model, *words, *conduct, *store]) == 4
    assert run_command(["plan", "sesi", *model, *words, "--to", str(folder / "plan.json"), *store]) == 0
    return folder, openai_server, store, "".join(capsys.readouterr())


def option(value):
    return value if isinstance(value, str) and value in (FIELDS["header.X-Team"], FIELDS["header.X-Lab"],
        FIELDS["query.team"], FIELDS["query.lab"]) else msgspec.json.encode(value).decode()  # fmt: skip


def test_no_file_for_others_has_a_secret_of_a_run(played, capsys):
    folder, server, store, printed = played
    for name in ("run.sociometer", "run.csv", "run.jsonl", "page.html"):
        command = "report" if name.endswith("html") else "export"
        assert run_command([command, "last", "--to", str(folder / name), *store]) == 0
    for name in ("run.sociometer", "run.csv", "run.jsonl", "page.html", "plan.json"):
        content = (folder / name).read_bytes()
        content = gzip.decompress(content) if name.endswith("sociometer") else content
        text = content.decode()
        assert not found_in(text, MODEL_SECRETS), name
        assert server.url not in text and "inside.example" not in text, name
    assert "refused" in printed and not found_in(printed, NEVER_PRINTED)
    capsys.readouterr()
    assert run_command(["show", "last", "--items", *store]) == 0
    assert not found_in("".join(capsys.readouterr()), NEVER_PRINTED)


def test_the_store_has_no_key_and_no_header(played):
    folder, *_ = played
    for path in folder.glob("*.db*"):
        content = path.read_bytes().decode("latin-1") if path.is_file() else ""
        assert not found_in(content, ["key", "other key", "header", "header-two", *MADE_UP_KEYS]), path


def test_a_callback_hears_of_a_failure_only_its_kind(tmp_path, openai_server):
    events = []
    openai_server.fault_of = lambda number: Fault(500, message=said_by(openai_server)) if number == 3 else None
    model = f"vllm/m@{openai_server.url}#1"
    sm.run("sesi", model, limit=6, in_flight=1, retries=0, store=tmp_path / "s.db", callback=events.append)
    failed = [event.episode.failure for event in events if event.episode and event.episode.failure]
    assert [(failure.kind, failure.message) for failure in failed] == [("server error", "")]
    heard = msgspec.json.encode(events).decode()
    assert not found_in(heard, MODEL_SECRETS) and "inside.example" not in heard and openai_server.url not in heard


def test_each_server_gets_what_is_meant_for_it_and_nothing_else(tmp_path, monkeypatch, openai_server):
    monkeypatch.setenv(VARIABLE, KEY)
    monkeypatch.setenv("OPENAI_API_KEY", SECRETS["judge-key"])
    monkeypatch.setenv("ANTHROPIC_API_KEY", OTHER_KEY)
    fields = {f"simulator.{part}": value for part, value in {
        "header.X-Judge": SECRETS["judge-header"], "query.judge": SECRETS["judge-query"],
        "body.user": SECRETS["judge-body"],
    }.items()}  # fmt: skip
    with OpenAIServer() as simulator:
        given = [word for name, value in {**FIELDS, **fields}.items() for word in ("-o", f"{name}={own(name, value)}")]
        run_command([
            "run", "sage", "--model", f"vllm/m@{openai_server.url}#1",
            "--role", f"simulator=openai/s@{simulator.url}#1", "--key-variable", VARIABLE, "--limit", "2", *given,
            "-o", "retries=0", "--store", str(tmp_path / "s.db"),
        ])  # fmt: skip
        assert simulator.received
        for received in simulator.received:
            got = everything(received)
            mine = ["judge-header", "judge-query", "judge-body", "judge-key"]
            assert found_in(got, mine) == mine
            assert not found_in(got, [name for name in MODEL_SECRETS if name not in mine])
        for received in openai_server.received:
            got = everything(received)
            assert not found_in(got, [*JUDGE.split(), *SAID.split(), "other key", "variable", "store-folder"])
            assert found_in(got, ["header", "query", "body-text", "key"]) == ["header", "query", "body-text", "key"]


def own(name, value):
    return value if ".header." in f".{name}" or ".query." in f".{name}" else msgspec.json.encode(value).decode()


def everything(received):
    return repr((received.path, received.headers, received.body, received.query))


ASKS = ("--ask", "PANEL; panel", "--ask", "SESSION; hidden", "--ask", "comment; text", "--ask", "later; text; after")
TEXTS = [word for name in ("contact", "consent", "title", "debriefing", "completion") for word in (
    f"--{name}", SECRETS[name])]  # fmt: skip
IN_WORDS = ("egosocial", "--task", "blackjack", "--limit", "1")


def test_no_words_of_people_are_in_a_codebook_a_list_of_items_or_a_file_for_strangers(tmp_path, capsys):
    with OpenStudy(tmp_path / "s.db", *IN_WORDS, *ASKS, *TEXTS) as opened:
        codes, cookies = [], []
        for number in range(3):
            person = opened.person(words=f"{SECRETS[f'answer-{number}']}, tell me more.")
            link = f"{opened.link}?PANEL={SECRETS[f'panel-{number}']}&SESSION={SECRETS['session']}"
            form = Form(person.get(link).text, opened.link)
            about = {"agree": "yes", "about-2": SECRETS[f"comment-{number}"]}
            assert person.post(opened.link, {**form.hidden, **about}).status == 303
            codes.append(re.search(r"<code>([^<]+)</code>", person.get("/code").text)[1])
            cookies.append(person.cookie.partition("=")[2])
            person.answer_all()
            after = Form(person.page().text, "/after")
            assert person.post("/after", {**after.hidden, "about-3": SECRETS[f"later-{number}"]}).status == 303
        ids = [participant.id for participant in opened.book.participants("spring")]
        runs = [participant.run for participant in opened.book.participants("spring")]
        at = ["--store", str(opened.path)]
        assert run_command(["study", "change", "spring", "--exclude", ids[0], "--because", SECRETS["reason"], *at]) == 0
        assert run_command(["study", "export", "spring", "--to", str(tmp_path / "data"), *at]) == 0
        assert run_command(["export", runs[1], "--to", str(tmp_path / "one.sociometer"), *at]) == 2
        assert "answers of a person" in capsys.readouterr().err and not (tmp_path / "one.sociometer").exists()
        assert run_command(["report", "spring", "--to", str(tmp_path / "page.html"), *at]) == 0
    for name in ("data/codebook.csv", "data/items.csv"):
        content = (tmp_path / name).read_text()
        assert not found_in(content, [*PEOPLE.split(), *OWNER.split()]), name
        assert not [secret for secret in (*codes, *cookies, *ids) if secret in content], name
    page = (tmp_path / "page.html").read_text()
    assert not found_in(page, PEOPLE.split())
    assert not [secret for secret in (*codes, *cookies, *ids) if secret in page]
    with (tmp_path / "data/codebook.csv").open(encoding="utf-8-sig") as opened_book:
        columns = {row["column"]: row for row in csv.DictReader(opened_book)}
    assert columns["about_panel"]["values"] == "" and columns["status"]["values"] == "finished"
