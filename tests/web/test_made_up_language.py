"""A third language is added by files alone: a model and a person take SECEU in one that is made up for the test."""

import json
import re
import shutil
import tomllib
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from person import Person, plain
from serving import Client

import forked
import sociometer
from sociometer.cli.main import run_command

PACKAGE = Path(sociometer.__file__).parent
CODE = "qaa"
"""A code that no language will ever have."""
LANGUAGE = """
name = "Hsilgne"
english = "Backwards"
semicolon = " / "
numbered = "<{number}> {text}"
"""
RULES = """
[allocation]
gets = ["steg "]
"""
MODEL = r'''
import json, re, sys
import sociometer as sm

def subject(messages):
    """Says nothing at first; when asked again, shares points in a sentence of the made-up language."""
    if len(messages) == 1:
        return "?yhW"
    names = re.findall(r"<\d> ([^/\n]+?) *(?:/|$)", messages[0]["content"], re.MULTILINE)
    return ", ".join(f"{name} steg {points}" for name, points in zip(names, (4, 3, 2, 1)))

run = sm.run("seceu", model=subject, settings={"language": "qaa"}, limit=2, store=sys.argv[1])
print(json.dumps([
    {
        "rule": one.outcome.rule, "written": one.outcome.written, "options": one.item.options,
        "asked": [event.messages[-1].content for event in run.transcript(one.item.id) if hasattr(event, "reply")],
    }
    for one in run.episodes()
]))
'''


def mirrored(value):
    """A text with every word written backwards; what stands in braces stays as it is."""
    if isinstance(value, str):
        return re.sub(r"\{[^}]*\}|[A-Za-z]+", lambda part: part[0] if part[0][0] == "{" else part[0][::-1], value)
    return {key: mirrored(one) for key, one in value.items()} if isinstance(value, dict) else [*map(mirrored, value)]


def toml(table):
    """A table of texts, lists of texts and such tables, as TOML."""
    tables = {key: one for key, one in table.items() if isinstance(one, dict)}
    lines = [f"{json.dumps(key)} = {json.dumps(one)}" for key, one in table.items() if key not in tables]
    for key, one in tables.items():
        lines += [f"[{json.dumps(key)}]", toml(one)]
    return "\n".join(lines)


def write_language(package):
    """Adds the language to a copy of the package: new files only, and none of them is Python."""

    def add(path, text):
        assert not path.exists() and path.suffix != ".py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    add(package / "core/languages" / f"{CODE}.toml", LANGUAGE)
    add(package / "reading/rules" / f"{CODE}.toml", RULES)
    seceu = package / "instruments/seceu"
    for folder in (package / "core/shared_prompts", seceu / "prompts", seceu / "people"):
        for path in sorted((folder / "en").rglob("*.*")):
            text = path.read_text(encoding="utf-8")
            changed = toml(mirrored(tomllib.loads(text))) if path.suffix == ".toml" else mirrored(text)
            add(folder / CODE / path.relative_to(folder / "en"), changed)
    for folder in (package / "models/words", seceu / "words"):
        add(folder / f"{CODE}.toml", toml(mirrored(tomllib.loads((folder / "en.toml").read_text("utf-8")))))
    pages = package / "web/texts"
    for name in ("study", "errors"):
        add(
            pages / f"{name}.{CODE}.toml", toml(mirrored(tomllib.loads((pages / f"{name}.en.toml").read_text("utf-8"))))
        )
    for folder, name in ((pages, "owner."), (seceu / "texts", "")):
        english = tomllib.loads((folder / f"{name}zh.toml").read_text("utf-8"))
        add(folder / f"{name}{CODE}.toml", toml({text: mirrored(text) for text in english}))
    told = [
        {**one, "story": {CODE: mirrored(one["story"]["en"])}, "options": {CODE: mirrored(one["options"]["en"])}}
        for one in map(json.loads, (seceu / "data/scenarios.jsonl").read_text("utf-8").splitlines())
    ]
    add(seceu / "data" / f"scenarios.{CODE}.jsonl", "\n".join(map(json.dumps, told)))


@pytest.fixture(scope="module")
def speak(tmp_path_factory):
    """Runs Python where the package has the language."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(PACKAGE, folder / PACKAGE.name)  # with what is compiled: else each start compiles everything
    write_language(folder / PACKAGE.name)
    return lambda *command: forked.start(command, stdout=forked.PIPE, folder=folder)


def said_by(process):
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 0, said
    return said


def english(path):
    return (PACKAGE / path).read_text(encoding="utf-8").strip()


def test_a_model_is_asked_and_read_in_the_language(speak, tmp_path):
    (tmp_path / "play.py").write_text(MODEL, encoding="utf-8")
    found = json.loads(said_by(speak(str(tmp_path / "play.py"), str(tmp_path / "s.db"))))
    assert len(found) == 2
    last = english("instruments/seceu/prompts/en/direct.md").rpartition("\n")[2]
    for one in found:
        first, again = one["asked"]
        assert mirrored(last) in first and f"<1> {one['options'][0]} / <2> {one['options'][1]}" in first
        assert mirrored("I could not find points for every feeling in your reply.") in again
        assert (one["rule"], one["written"]) == ("named", [4, 3, 2, 1])
    listed = json.loads(said_by(speak("-m", "sociometer", "list", "--json")))
    assert {one["name"]: one["languages"] for one in listed}["seceu"] == ["en", CODE, "zh"]


def test_a_run_in_another_language_is_the_same_run_as_before(speak, tmp_path, capsys):
    """It is continued, and its exported file is checked, on a machine that has one language more."""
    store, file = ["--store", str(tmp_path / "s.db")], str(tmp_path / "run.sociometer")
    command = ["run", "seceu", "--model", "baseline/even", "--limit", "2", "--language", "zh", *store, "--json"]
    assert run_command(command) == 0
    (before,) = json.loads(capsys.readouterr().out)
    assert run_command(["export", before["run"], "--to", file, *store]) == 0
    (again,) = json.loads(said_by(speak("-m", "sociometer", *command)))
    assert again["run"] == before["run"]
    said_by(speak("-m", "sociometer", "check", file))


def test_a_person_takes_a_study_in_the_language(speak, tmp_path):
    store = ["--store", str(tmp_path / "s.db")]
    study = ["--name", "spring", "--language", CODE, "--limit", "2", "--shows", "score", "--ask", "ega"]
    said_by(speak("-m", "sociometer", "study", "create", "seceu", *study, *store))
    process = speak("-m", "sociometer", "study", "open", "spring", "--port", "0", "--json", *store)
    try:
        links = json.loads(process.stdout.readline())
        link = urlsplit(links["link"])
        person = Person(f"http://{link.netloc}", link.path)
        words = tomllib.loads(english("web/texts/study.en.toml"))
        assert f'<html lang="{CODE}">' in person.get(link.path).text
        assert mirrored(words["join"]) in plain(person.get(link.path).text)
        person.join(ega="41")
        question = plain(person.page().text)
        assert mirrored(english("instruments/seceu/people/en/direct.md").splitlines()[0]) in question
        assert mirrored(words["points help"].format(total="{total}")).format(total=10) in question
        assert person.answer_all() == 2
        end = plain(person.page().text)
        assert mirrored(words["done text"]) in end and mirrored("How far your points are") in end
        owner = Client(f"http://{link.netloc}")
        assert owner.post("/enter", {"token": parse_qs(urlsplit(links["owner"]).query)["token"][0]}).status == 303
        shown = owner.get("/owner", Accept_Language=f"{CODE},en;q=0.5").text
        assert mirrored("Exclusion rules") in shown and mirrored("Participants") in shown and "中文" in shown
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()
