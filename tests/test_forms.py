"""Frozen forms: they stay as they were, whatever becomes of items and prompts, and say what a new one changes."""

import asyncio
import json
import lzma
import shutil

import msgspec
import pytest
from msgspec import structs

from sociometer.cli.forms import changed_since_frozen
from sociometer.cli.main import run_command
from sociometer.cli.opening import open_engine
from sociometer.core.conversation import Exchange
from sociometer.core.errors import DataError, UsageError
from sociometer.core.task import Instrument
from sociometer.engine.episode import play_episode
from sociometer.engine.forms import (
    Form,
    FormItems,
    differences,
    form_file,
    freeze,
    load_form,
    read_form,
    reader_version,
    write_form,
)
from sociometer.engine.plan import make_plan
from sociometer.engine.run_options import make_config
from sociometer.instruments import load
from sociometer.models.recorded import RecordedModel, write_recording
from sociometer.recordings import recorded_items
from sociometer.store.place import parse_place

ITEMS = 24
SOURCE = make_plan(make_config("sesi", "baseline/first"), load("sesi"), bindings={}).source()


def other_version(form: Form, version: str, *, changed: int = 0, wording: str = "") -> Form:
    """The form as another version: fewer items, some of them with a word more, and another wording."""
    (held,) = form.tasks["questions"]
    items = [json.loads(bytes(item)) for item in held.items[:ITEMS]]
    for item in items[:changed]:
        item["situation"] += " It rains."
    raws = tuple(msgspec.Raw(msgspec.json.encode(item)) for item in items)
    prompts = {name: text + wording for name, text in form.prompts.items()}
    return structs.replace(form, version=version, prompts=prompts, tasks={"questions": (FormItems(raws),)})


@pytest.fixture(scope="module")
def today():
    return freeze(load("sesi"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory, today):
    """Two forms of SESI, and a store in which two subjects played both."""
    place = tmp_path_factory.mktemp("forms")
    write_form(other_version(today, "90", wording=" Thank you."), place / "sesi-90.json.xz")
    write_form(other_version(today, "91", changed=10), place / "sesi-91.json.xz")
    for version in ("90", "91"):
        for subject in ("first", "last"):
            words = ["--form", str(place / f"sesi-{version}.json.xz"), "--name", f"{subject}-{version}", "--quiet"]
            store = ["--store", str(place / "s.db")]
            assert run_command(["run", "sesi", "--model", f"baseline/{subject}", *words, *store]) == 0
    return place


@pytest.fixture
def call(folder, capsys):
    """Runs a command on the store of the forms; gives its JSON with --json, else all it said."""

    def call(*words, code=0):
        capsys.readouterr()
        got = run_command([*map(str, words), "--store", str(folder / "s.db")])
        out, err = capsys.readouterr()
        assert got == code, out + err
        return json.loads(out) if "--json" in words else out + err

    return call


def template(folder, **parts):
    """An instrument of its own with the files of the template in a folder."""
    source = load("_template")
    if not folder.exists():
        shutil.copytree(source.folder / "prompts", folder / "prompts")
    tasks = [structs.replace(task, **parts) for task in source.tasks.values()]
    return Instrument(folder, tasks, card=source.card)


def test_a_form_comes_back_from_its_file_with_the_same_digest(today, tmp_path):
    size = write_form(today, tmp_path / "f.json.xz")
    again = read_form(tmp_path / "f.json.xz")
    assert again.digest == today.digest
    assert again.name == f"sesi-{load('sesi').card.version}"
    assert again.counts()["questions"] == len(list(load("sesi").task("questions").items(SOURCE)))
    assert size < 1 << 20
    first = (tmp_path / "f.json.xz").read_bytes()
    write_form(again, tmp_path / "g.json.xz")
    assert (tmp_path / "g.json.xz").read_bytes() == first


def test_the_digest_changes_with_any_word_of_an_item_or_a_prompt(today):
    digests = {today.digest, other_version(today, today.version).digest}
    digests.add(other_version(today, today.version, changed=1).digest)
    digests.add(other_version(today, today.version, wording=".").digest)
    assert len(digests) == 4


def test_a_frozen_form_says_to_raise_the_version_when_a_prompt_or_an_item_changes(tmp_path):
    instrument = template(tmp_path / "scale")
    assert changed_since_frozen(instrument) == ""
    write_form(freeze(instrument), form_file(instrument, instrument.card.version))
    assert changed_since_frozen(instrument) == ""
    prompt = next((tmp_path / "scale" / "prompts").glob("en/*.md"))
    words = prompt.read_text()
    prompt.write_text(words + " Really.")
    said = changed_since_frozen(instrument)
    assert f"prompt en/{prompt.stem}" in said
    assert said.endswith("raise the version and freeze again.")
    prompt.write_text(words)
    (task,) = instrument.tasks.values()
    fewer = template(tmp_path / "scale", items=lambda source: list(task.items(source))[1:])
    assert f"items of {task.name}" in changed_since_frozen(fewer)


def test_a_form_plays_its_own_items_and_prompts_whatever_today_s_are(tmp_path):
    instrument = template(tmp_path / "scale")
    version = instrument.card.version
    write_form(freeze(instrument), form_file(instrument, version))
    (task,) = instrument.tasks.values()
    before = list(make_plan(config_of(instrument), instrument, bindings={}).items(task))
    prompt = next((tmp_path / "scale" / "prompts").glob("en/*.md"))
    prompt.write_text("Something else.")
    later = template(tmp_path / "scale", items=lambda source: list(task.items(source))[1:])
    config = structs.replace(config_of(later), form=f"{later.card.name}-{version}")
    plan = make_plan(config, later, bindings={})
    assert list(plan.items(task)) == before
    assert plan.prompts.digest == read_form(form_file(later, version)).prompts_digest
    assert plan.prompts.digest != later.prompts().digest


def config_of(instrument):
    config = make_config("sesi", "baseline/first")
    return structs.replace(config, instrument=instrument.card.name)


def test_a_run_records_form_digest_and_reader(folder, call):
    manifest = call("show", "first-91", "--json")["manifest"]
    assert manifest["form"] == {"name": "sesi-91", "digest": read_form(folder / "sesi-91.json.xz").digest}
    assert manifest["reader"] == reader_version()
    assert manifest["instrument_version"] == load("sesi").card.version


def test_the_subject_sees_the_words_of_the_form(folder, call):
    item = json.loads(bytes(read_form(folder / "sesi-90.json.xz").tasks["questions"][0].items[0]))["id"]
    assert "Thank you." in call("show", "first-90", item, "--all")
    text = call("show", "first-91", item, "--all")
    assert "It rains." in text
    assert "Thank you." not in text


@pytest.mark.parametrize(
    ("words", "form"),
    [
        ((), "sesi-{}"),
        (("--seed", "3"), "sesi-{}"),
        (("--orders", "3"), "sesi-{}+"),
        (("--answer", "reply", "--wording", "answer"), "sesi-{}+"),
        (("--form", "sesi-{}"), "sesi-{}"),
    ],
)
def test_every_run_names_its_form(tmp_path, capsys, words, form):
    version = load("sesi").card.version
    words = [word.format(version) for word in words]
    store = ["--store", str(tmp_path / "s.db"), "--limit", "2", "--quiet", "--json"]
    assert run_command(["run", "sesi", "--model", "baseline/first", *words, *store]) == 0
    assert json.loads(capsys.readouterr().out)[0]["form"] == form.format(version)


def sage_config(**options):
    return make_config("sage", "baseline/first", **options)


def test_own_items_have_no_form_and_seeded_items_only_with_the_usual_seed(tmp_path):
    egosocial, sage = load("egosocial"), load("sage")
    for seed, ending in ((0, ""), (4, "+")):
        config = make_config("egosocial", "baseline/first", tasks=["numbers"], seed=seed)
        name = make_plan(config, egosocial, bindings={}).manifest().form.name
        assert name == f"egosocial-{egosocial.card.version}{ending}"
    scenario = next(iter(sage.task("dialogue").items(make_plan(sage_config(), sage, bindings={}).source())))
    chinese = make_plan(sage_config(settings={"language": "zh"}), sage, bindings={})
    assert chinese.manifest().form.name == f"sage-{sage.card.version}"
    own = tmp_path / "own.jsonl"
    own.write_bytes(msgspec.json.encode(structs.replace(scenario, id="own-1", cluster="own-1")))
    config = sage_config(settings={"scenarios": str(own)})
    assert make_plan(config, sage, bindings={}).manifest().form.name == ""


def test_tables_name_the_form(folder, call, tmp_path):
    assert "sesi-91 · baseline/first" in call("show", "first-91")
    assert "sesi-91/questions" in call("leaderboard", "first-91", "last-91")
    assert "sesi-91/questions: baseline/last against baseline/first" in call("compare", "first-91", "last-91")
    call("export", "first-91", "--to", tmp_path / "e.csv")
    assert ",sesi-91," in (tmp_path / "e.csv").read_text().splitlines()[1]
    call("report", "first-91", "last-91", "--out", tmp_path / "r.html")
    assert "sesi-91" in (tmp_path / "r.html").read_text()


def test_runs_of_two_forms_are_not_compared(call):
    said = call("compare", "first-90", "last-91")
    assert "they were played in different forms: sesi-90 and sesi-91" in said
    assert "sociometer bridge" in said


def test_settings_that_change_the_items_of_a_form_are_refused(folder, capsys):
    words = ["--form", str(folder / "sesi-91.json.xz"), "--condition", "second-person", "--store", str(folder / "x.db")]
    assert run_command(["run", "sesi", "--model", "baseline/first", *words]) == 2
    assert "these settings change them: --condition" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["sesi-1", "sage-5", "sesi", "nothing.json.xz"])
def test_a_form_that_does_not_exist_is_named(text):
    with pytest.raises(UsageError, match=text.replace(".", r"\.")):
        load_form(load("sesi"), text)


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", lzma.compress(b"{}"), lzma.compress(b"[" * 100_000), lzma.compress(b"0" * (65 << 20))],
    ids=["empty", "plain", "other", "deep", "bomb"],
)
def test_a_file_that_is_no_form_is_refused(tmp_path, content):
    path = tmp_path / "f.json.xz"
    path.write_bytes(content)
    with pytest.raises(DataError, match="form"):
        read_form(path)


def test_official_items_have_no_frozen_form():
    with pytest.raises(UsageError, match="a form has its own items"):
        make_config("sesi", "baseline/first", form="sesi-5", official=True)


def test_freezing_twice_changes_nothing_and_freezing_other_items_is_refused(tmp_path, capsys, today):
    words = ["forms", "freeze", "sesi", "--to", str(tmp_path)]
    assert run_command(words) == 0
    assert "frozen: " in capsys.readouterr().out
    assert run_command(words) == 0
    assert "is unchanged" in capsys.readouterr().out
    write_form(other_version(today, today.version, changed=3), tmp_path / f"{today.name}.json.xz")
    assert run_command(words) == 2
    assert "raise the version and freeze again" in capsys.readouterr().err
    assert differences(read_form(tmp_path / f"{today.name}.json.xz"), load("sesi"))


def bridge(folder, call, *words):
    return call("bridge", folder / "sesi-90.json.xz", folder / "sesi-91.json.xz", *words, "--json")


def accuracy(call, run):
    measures = call("show", run, "--json")["summaries"]["questions"]["measures"]
    return next(one["value"] for one in measures if one["name"] == "accuracy" and not one.get("group"))


def test_a_bridge_gives_the_change_of_the_mean_over_subjects(folder, call):
    found = bridge(folder, call)
    (measure,) = found["bridge"]["measures"]
    scores = {run: accuracy(call, run) for run in ("first-90", "last-90", "first-91", "last-91")}
    change = (scores["first-91"] - scores["first-90"] + scores["last-91"] - scores["last-90"]) / 2
    assert measure["difference"] == pytest.approx(change)
    assert measure["interval"]["low"] <= change <= measure["interval"]["high"]
    assert (measure["subjects"], measure["items"], measure["shared"]) == (2, [ITEMS, ITEMS], ITEMS - 10)
    assert found["bridge"]["notes"] == []
    assert found["changelog"].startswith(
        "`sesi-90` to `sesi-91`, on stored replies of 2 subjects: questions, accuracy "
    )


def test_a_bridge_over_equal_answers_has_no_width(folder, call, tmp_path):
    for version in ("90", "91"):
        words = ("--form", folder / f"sesi-{version}.json.xz", "--name", f"oracle-{version}", "--quiet")
        call("run", "sesi", "--model", "baseline/oracle", *words)
    (measure,) = bridge(folder, call, "oracle-90", "oracle-91")["bridge"]["measures"]
    assert measure["difference"] == 0
    assert (measure["interval"]["low"], measure["interval"]["high"]) == (0, 0)
    assert measure["shared_difference"] == 0


def test_recordings_of_one_model_in_two_forms_are_bridged(folder, call, tmp_path):
    with open_engine(parse_place(str(folder / "s.db"))) as engine:
        for version in ("90", "91"):
            run = engine.stored(f"first-{version}")
            about = RecordedModel(model="A model", sha256="0" * 64, recorded="2026-11-15")
            write_recording(tmp_path / f"{version}.jsonl.gz", about, recorded_items([run]))
    models = [word for version in ("90", "91") for word in ("--model", f"recorded/{tmp_path / version}.jsonl.gz")]
    (measure,) = bridge(folder, call, *models)["bridge"]["measures"]
    assert measure["first"] == pytest.approx(accuracy(call, "first-90"))
    assert measure["second"] == pytest.approx(accuracy(call, "first-91"))


def test_a_bridge_needs_two_forms_and_a_subject_of_both(folder, call):
    same = (folder / "sesi-90.json.xz",) * 2
    assert "are the same form" in call("bridge", *same, code=2)
    forms = (folder / "sesi-90.json.xz", folder / "sesi-91.json.xz")
    assert "no subject has replies in both forms" in call("bridge", *forms, "first-90", "last-91", code=2)
    assert "bridge sends nothing" in call("bridge", *forms, "--model", "openai/x", code=2)
    assert "unknown form 'sesy-5'" in call("bridge", "sesy-5", "sesi-5", code=2)


def asked(instrument, form=None):
    """What a subject is asked on the first ten items, in three orders of the options."""
    plan = make_plan(make_config("sesi", "baseline/first", settings={"orders": 3}), instrument, form=form)
    (task,) = plan.tasks
    played = [asyncio.run(play_episode(plan, task, item)) for item in list(plan.items(task))[:10]]
    return [event.messages for one in played for event in one.events if isinstance(event, Exchange)]


def test_options_of_a_form_come_in_the_order_of_its_version(today):
    sesi = load("sesi")
    later = Instrument(sesi.folder, list(sesi.tasks.values()), card=structs.replace(sesi.card, version="77"))
    assert asked(later) != asked(sesi)
    assert asked(later, today) == asked(sesi)
