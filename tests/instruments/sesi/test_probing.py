"""Probes compare each condition with the control on the same items, with p-values worked out by hand."""

import json

import pytest

import sociometer as sm
from servers.openai import OpenAIServer
from sociometer.cli.main import run_command
from sociometer.instruments.sesi import items, probing
from sociometer.instruments.sesi.conditions import FACTORS, conditions
from sociometer.instruments.sesi.probe_figures import probe_figures
from sociometer.instruments.sesi.probing import Probe
from sociometer.statistics.model_kinds import family_from_name


def made(control, other, name="boredom", abilities=None):
    items = [f"i{n}" for n in range(len(control))]
    return Probe(
        "m",
        {"control": dict(zip(items, control, strict=True)), name: dict(zip(items, other, strict=True))},
        {item: (abilities or ["empathy"] * len(items))[n] for n, item in enumerate(items)},
        {item: item for item in items},
    )  # fmt: skip


def test_ten_items_lost_and_none_won_give_the_sign_test_p():
    change = probing.compare(made([1.0] * 10 + [0.0] * 10, [0.0] * 20), ["boredom"])[0]
    assert change.paired.p_value == pytest.approx(2 / 2**10)
    assert change.ratio == pytest.approx(-1.0)
    assert change.stars == "**"


def test_no_ratio_is_given_where_the_control_is_zero():
    change = probing.compare(made([0.0] * 12, [1.0] * 12), ["boredom"])[0]
    assert change.ratio is None


def test_conditions_with_other_items_are_compared_on_the_shared_ones_and_still_corrected():
    probe = made([1.0] * 12, [0.0] * 12)
    probe.answers["anxiety"] = {f"i{n}": 1.0 for n in range(6)}
    first, second = probing.compare(probe, ["boredom", "anxiety"])
    assert (first.paired.items, second.paired.items) == (12, 6)
    assert first.p_holm == pytest.approx(2 * first.paired.p_value)


def test_the_table_has_every_ability():
    probes = [made([1.0] * 4, [0.0] * 4, abilities=["empathy", "empathy", "concern", "concern"])]
    assert {row[2] for row in probing.change_table(probes, ["boredom"]).rows} == {"all"}
    assert {row[2] for row in probing.ability_table(probes, ["boredom"]).rows} == {"empathy", "concern"}


@pytest.mark.parametrize(
    ("subject", "family"),
    [
        ("vllm/meta-llama/Llama-3.1-8B@http://localhost:8000/v1", "llama"),
        ("vllm/Qwen2.5-7B@https://host.example/v1/", "qwen"),
        ("openai/gpt-4o-mini", "gpt"),
        ("local/smollm2-135m", "smollm"),
        ("hf/models/gemma-2.gguf", "gemma"),
    ],
)
def test_the_address_of_a_server_is_no_part_of_a_models_family(subject, family):
    assert family_from_name(subject) == family


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))

    def call(*words):
        code = run_command([*words, "--quiet"])
        return code, *capsys.readouterr()

    return call


def test_a_model_that_falls_silent_when_told_that_it_is_dull_gives_the_known_p(cli, tmp_path):
    """It answers B, which at most one twin of a pair has as key; told that it is dull it says nothing: p = 2 / 2^B."""
    limit = 80
    moved = [{"match": "^Your social intelligence is low|^Which letter is your final answer", "reply": "Hm."}]
    script = tmp_path / "script.jsonl"
    script.write_text("".join(json.dumps(line) + "\n" for line in [*moved, {"match": ".", "reply": "B"}]))
    words = ["--factor", "intelligence", "--skip-noise", "--limit", str(limit), "--json"]
    code, out, err = cli("sesi", "probe", "--model", f"scripted/{script}", *words)
    assert code == 0, err
    tables = {table["name"]: table for table in json.loads(out)["tables"]}
    row = next(r for r in tables["changes"]["rows"] if r[1] == "intelligence-low" and r[2] == "all")
    found = dict(zip(tables["changes"]["columns"], row, strict=True))
    keys = {item.id: item.answer for item in items.bundled()}
    (played, *_) = [run for run in sm.runs() if run.settings.text("condition") == "intelligence-low"]
    right = [keys[episode.item.id] for episode in played.episodes()].count(1)
    assert (found["control"], found["accuracy"]) == (pytest.approx(right / limit), 0.0)
    assert found["p"] == pytest.approx(2 / 2**right)
    assert found["stars"] == "****"
    contrast = next(r for r in tables["contrasts"]["rows"] if "Stated high" in r[0])
    assert contrast[4] == pytest.approx(right / limit)


def test_all_probes_run_to_the_end(cli):
    code, out, err = cli("sesi", "probe", "--model", "baseline/longest", "--limit", "24", "--json")
    assert code == 0, err
    tables = {table["name"]: table for table in json.loads(out)["tables"]}
    assert {row[1] for row in tables["changes"]["rows"]} == set(conditions()) - {"control"}
    assert [row[0] for row in tables["factors"]["rows"]][:6] == list(FACTORS)
    assert len(tables["contrasts"]["rows"]) == 10


def test_probe_without_a_subject_says_what_to_give(cli):
    code, _, err = cli("sesi", "probe")
    assert code == 2
    assert "--model" in err


def test_probe_refuses_a_condition_that_it_would_not_heed(cli):
    code, _, err = cli("sesi", "probe", "--model", "baseline/first", "--condition", "boredom")
    assert code == 2
    assert "No such option '--condition'" in err


def test_probe_says_that_a_script_is_no_model(cli, tmp_path):
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps({"match": ".", "reply": "B"}) + "\n")
    words = ("--model", f"scripted/{script}", "--factor", "intelligence", "--limit", "4", "--json")
    assert (
        f"scripted/{script.name} is a script, not a model to be measured."
        in json.loads(cli("sesi", "probe", *words)[1])["notes"]
    )


def scripts(folder):
    """Subjects whose answers are known: one falls silent when told of a low trait, one always says C."""
    silent = {"match": "^Of the five great traits.* low in|^Which letter is your final answer", "reply": "Hm."}
    moved = [silent, {"match": ".", "reply": "B"}]
    still = [{"match": ".", "reply": "C"}]
    for name, lines in (("moved", moved), ("still", still)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    # its letter depends on every word of the prompt, and so on no condition in particular
    (folder / "restless.py").write_text(
        "import hashlib\n\n"
        "def answer(messages):\n"
        "    text = messages[-1]['content']\n"
        "    return 'ABCD'[hashlib.sha256(text.encode()).digest()[0] % 4]\n"
    )
    return (f"scripted/{folder / 'moved.jsonl'}", f"scripted/{folder / 'still.jsonl'}", "python/restless:answer")


@pytest.mark.slow
def test_three_subjects_through_all_probes_and_the_omnibus_test_finds_the_one_effect(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    models = [word for name in scripts(tmp_path) for word in ("--model", name)]
    figures = tmp_path / "figures"
    words = ("--limit", "24", "--to", str(figures), "--json")
    code, out, err = cli("sesi", "probe", *models, *words)
    assert code == 0, err
    result = json.loads(out)
    tables = {table["name"]: table for table in result["tables"]}
    columns = tables["factors"]["columns"]
    rows = [dict(zip(columns, row, strict=True)) for row in tables["factors"]["rows"]]
    p_value = {(row["subject"].split("/")[-1], row["factor"]): row["p (Holm)"] for row in rows}
    assert p_value["moved.jsonl", "personality"] < 0.01
    others = [factor for factor in FACTORS if factor != "personality"]
    assert all(p_value["moved.jsonl", factor] == 1 for factor in others)
    assert all(p_value["still.jsonl", factor] == 1 for factor in FACTORS)
    assert p_value["restless:answer", "personality"] > 0.05
    moved = next(r for r in rows if r["subject"].endswith("moved.jsonl") and r["factor"] == "personality")
    assert moved["from"] > 0, str(moved)
    restless = next(r for r in rows if r["subject"].startswith("python") and r["factor"] == "personality")
    assert restless["floor"] > 0 and restless["from"] < 0 < restless["to"], "no more than its noise floor"
    assert {row["subject"] for row in rows} >= {"all subjects"}
    drawn = {path.stem for path in figures.iterdir()}
    assert drawn >= {"factors", "personality", "gender", "roles", "person", "emotion", "intelligence"}


def test_without_noise_no_floor_is_claimed(cli):
    words = ("--factor", "intelligence", "--limit", "12", "--skip-noise", "--json")
    code, out, err = cli("sesi", "probe", "--model", "baseline/longest", *words)
    assert code == 0, err
    table = next(table for table in json.loads(out)["tables"] if table["name"] == "factors")
    (row,) = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    assert row["floor"] is None and row["from"] is None


def test_the_interval_of_a_ratio_belongs_to_the_ratio():
    control, other = [1.0, 0.0] * 20, [1.0, 0.0, 0.0, 0.0] * 10
    probe = made(control, other)
    bounds = probing.ratio_interval(probe, ["boredom"])
    assert bounds.low < -0.5 < bounds.high
    assert bounds.low < -0.6, "the difference of -.25 has no such bound"
    lost = probing.ratio_interval(made(control, [0.0] * 40), ["boredom"])
    assert (lost.low, lost.high) == (-1.0, -1.0), "a ratio of -1 in every resample has no other bounds"


def test_tables_name_the_model_and_not_the_address_of_its_server(cli):
    with OpenAIServer() as server:
        address = server.url.partition("://")[2]
        words = ("--factor", "intelligence", "--limit", "3", "--skip-noise", "--json")
        code, out, err = cli("sesi", "probe", "--model", f"vllm/owl@{server.url}/v1#1", *words)
    assert code == 0, err
    assert address not in out
    assert {row[1] for row in json.loads(out)["tables"][0]["rows"]} == {"vllm/owl#1"}


def test_a_model_that_was_never_probed_is_not_in_the_figures_of_the_probe():
    items_ = {f"q{place}": 1.0 for place in range(12)}
    abilities, clusters = dict.fromkeys(items_, "empathy"), {item: item for item in items_}
    probed = Probe("owl", {"control": items_, "intelligence-high": items_, "boredom": items_}, abilities, clusters)
    control_only = Probe("emu", {"control": items_}, abilities, clusters)
    drawn = {one.name: one for one in probe_figures([probed, control_only], ["intelligence-high", "boredom"])}
    for name in ("intelligence", "emotion"):
        text = json.dumps(drawn[name].chart)
        assert "owl" in text and "emu" not in text, name
