"""Weights are found by name, folder or file; their identity is the content of the files."""

import json
import shutil
import sys

import pytest

from sociometer.core.errors import MachineryError, UsageError
from sociometer.models.files import local_models
from sociometer.models.hf.weights import chosen_device, find_weights


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(UsageError, match=r"the extra 'hf' is not installed .* pip install -e '.*\[hf\]'"):
        find_weights("owner/name")


def test_a_folder_is_known_by_the_content_of_its_files(tiny_model, tmp_path):
    copy = shutil.copytree(tiny_model, tmp_path / "copy")
    assert find_weights(str(copy)).revision == find_weights(str(tiny_model)).revision
    (copy / "config.json").write_text((copy / "config.json").read_text() + "\n")
    assert find_weights(str(copy)).revision != find_weights(str(tiny_model)).revision


def test_a_folder_loads_on_the_cpu_in_evaluation_mode(tiny_model):
    loaded = find_weights(str(tiny_model)).load("cpu")
    assert loaded.device == "cpu"
    assert not loaded.model.training
    assert loaded.tokenizer.decode(loaded.tokenizer("Zhou 周").input_ids) == "Zhou 周"


def test_files_that_changed_since_are_not_loaded(tiny_model, tmp_path):
    copy = shutil.copytree(tiny_model, tmp_path / "copy")
    found = find_weights(str(copy))
    (copy / "config.json").write_text((copy / "config.json").read_text() + "\n")
    with pytest.raises(MachineryError, match="changed after this run started"):
        found.load("cpu")


def test_the_embedded_model_is_known_by_its_checksum(embedded_model, tiny_model):
    found = find_weights("smollm2-135m")
    assert found.revision == local_models()["smollm2-135m"].sha256
    assert found.gguf_file == embedded_model.name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("not a name", "neither a folder, a GGUF file nor a name"),
        ("missing.gguf", "does not exist"),
        (".", r"needs config.json and weights in \*.safetensors"),
    ],
)
def test_what_holds_no_model_is_refused(tiny_model, name, said):
    with pytest.raises(UsageError, match=said):
        find_weights(name)


def test_a_pickle_is_never_loaded(tiny_model, tmp_path):
    copy = shutil.copytree(tiny_model, tmp_path / "copy")
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(UsageError, match="safetensors"):
        find_weights(str(copy))


def test_an_unknown_device_is_refused(tiny_model, monkeypatch):
    monkeypatch.setenv("SOCIOMETER_DEVICE", "tpu")
    with pytest.raises(UsageError, match="cpu, cuda, mps"):
        chosen_device()


def test_code_that_comes_with_a_model_is_never_executed(tiny_model, tmp_path):
    copy = shutil.copytree(tiny_model, tmp_path / "copy")
    config = json.loads((copy / "config.json").read_text())
    code = {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnModel"}
    (copy / "config.json").write_text(json.dumps({**config, "model_type": "own", "auto_map": code}))
    (copy / "own.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w').close()\n")
    with pytest.raises(UsageError, match="cannot load"):
        find_weights(str(copy)).load("cpu")
    assert not (tmp_path / "executed").exists()
