"""Entailment by a local model: a small classifier is trained here, saved as transformers saves it, and asked."""

import json

import pytest

from sociometer.cli.main import run_command
from sociometer.core.errors import UsageError
from sociometer.instruments.sesi import items
from sociometer.instruments.sesi.build.assembly import LocalModel
from tests.instruments.sesi.test_build import OTHERS, SCRIPT, TOLD

RIGHT = f"{TOLD['situation']} {TOLD['question']} The friend feels unwelcome and stays away as long as possible."
"""What the model reads first: situation, question and the right answer."""
ENTAILED = "The friend needs a lift."
NEEDS_TRANSFORMERS = "transformers is not installed; pip install 'sociometer[nli]'"


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory):
    """A two-layer BERT that has learnt to call a sentence entailed where it speaks of a lift."""
    torch = pytest.importorskip("torch", reason=NEEDS_TRANSFORMERS)
    transformers = pytest.importorskip("transformers", reason=NEEDS_TRANSFORMERS)
    folder = tmp_path_factory.mktemp("nli")
    told = [entry["reply"] for entry in SCRIPT] + OTHERS + [RIGHT.replace("?", ".")]
    words = sorted({word.strip(".") for text in told for word in text.lower().split()})
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *words]) + "\n")
    tokenizer = transformers.BertTokenizer(str(vocabulary))
    torch.manual_seed(0)
    shape = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.3,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        id2label={0: "contradiction", 1: "neutral", 2: "entailment"},
        label2id={"contradiction": 0, "neutral": 1, "entailment": 2},
    )
    model = transformers.BertForSequenceClassification(shape)
    seconds = [ENTAILED, *OTHERS, "Being late is common among friends."]
    encoded = tokenizer([RIGHT] * len(seconds), seconds, return_tensors="pt", padding=True)
    labels = torch.tensor([2, 1, 0, 1])
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(150):
        optimizer.zero_grad()
        model(**encoded, labels=labels).loss.backward()
        optimizer.step()
    transformers.utils.logging.disable_progress_bar()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.slow
def test_each_pair_gets_the_probability_of_entailment(model_folder):
    likely = LocalModel(model_folder).probabilities([(RIGHT, second) for second in (ENTAILED, *OTHERS)] * 12)
    assert len(likely) == 3
    assert likely[RIGHT, ENTAILED] > 0.9
    assert all(likely[RIGHT, second] < 0.1 for second in OTHERS)


def test_one_pair_or_many_at_once_give_the_same_probability(model_folder):
    model = LocalModel(model_folder)
    pairs = [(RIGHT, " ".join(OTHERS[:1] * n) or ENTAILED) for n in range(3)]
    together = model.probabilities(pairs)
    for pair in pairs:
        assert model.probabilities([pair])[pair] == pytest.approx(together[pair], abs=1e-5)


def test_a_set_is_built_with_the_local_model_instead_of_the_builder(model_folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    script = tmp_path / "builder.jsonl"
    script.write_text("".join(json.dumps(line) + "\n" for line in SCRIPT if "probability" not in line["reply"]))
    out = tmp_path / "set"
    words = ["sesi", "build", "--posts", "demo", "--role", f"builder=scripted/{script}", "--to", str(out), "--quiet"]
    assert run_command([*words, "--nli", str(model_folder)]) == 0
    found = list(items.read_official(out / "sesi.csv"))
    assert len(found) == 12
    assert all("lift" not in option for item in found for option in item.options)
    provenance = [json.loads(line) for line in (out / "provenance.jsonl").read_text().splitlines()]
    assert {entry["entailment"] for entry in provenance} == {f"local NLI model {model_folder.name}"}
    capsys.readouterr()
    assert run_command(["runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["spent"]["requests"] == 12 * 8


def test_a_model_without_a_label_for_entailment_is_refused(model_folder, tmp_path):
    for file in model_folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    shape = json.loads((tmp_path / "config.json").read_text())
    shape["id2label"] = {"0": "negative", "1": "neutral", "2": "positive"}
    shape["label2id"] = {label: int(place) for place, label in shape["id2label"].items()}
    (tmp_path / "config.json").write_text(json.dumps(shape))
    with pytest.raises(UsageError, match="negative, neutral, positive"):
        LocalModel(tmp_path)


def test_a_folder_without_a_model_is_refused(tmp_path):
    pytest.importorskip("transformers", reason=NEEDS_TRANSFORMERS)
    with pytest.raises(UsageError, match="no NLI model can be loaded"):
        LocalModel(tmp_path)


def test_a_missing_folder_is_refused_before_anything_is_asked(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    script = tmp_path / "builder.jsonl"
    script.write_text(json.dumps(SCRIPT[0]) + "\n")
    words = ["sesi", "build", "--posts", "demo", "--role", f"builder=scripted/{script}", "--to", str(tmp_path / "set")]
    assert run_command([*words, "--nli", str(tmp_path / "none")]) == 2
    assert "is not a folder" in capsys.readouterr().err
    assert run_command(["runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
