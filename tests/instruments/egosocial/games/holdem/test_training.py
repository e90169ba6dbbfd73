"""Training: needs PyTorch for the learning itself; the parts around it do not."""

import builtins
import sys

import numpy as np
import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.egosocial.games.holdem.net import load
from sociometer.instruments.egosocial.games.holdem.rules import CALL, FOLD, RAISE
from tools import train_holdem as training
from tools.holdem_characters import random_policy
from tools.train_holdem import Memory, Shaping, collect

NOTHING = Shaping(0.0, 0.0, 0.0)


def ignore(done, point):
    pass


TINY = training.Plan("aggressive", 3, rounds=4, hands_per_round=32, batch=32, width=8, memory=400, check_every=2)


def gather(shaping, seed=1, hands=400):
    return collect(load("conservative"), random_policy, hands, 0.5, shaping, np.random.default_rng(seed))


def test_every_hand_in_which_the_learner_acted_ends_once():
    found = gather(NOTHING)
    assert 300 < found.last.sum() <= 400
    assert (found.reward[~found.last] == 0).all()
    assert not found.following[found.last].any()


def test_the_reward_is_shaped_by_style_and_by_nothing_else():
    plain = gather(NOTHING)
    shaped = gather(Shaping(on_raise=2.0, on_call=1.0, on_fold=5.0))
    bonus = shaped.reward - plain.reward
    assert (bonus[plain.action == RAISE] == 2.0).all()
    assert set(bonus[plain.action == CALL].tolist()) == {0.0, 1.0}
    assert set(bonus[plain.action == FOLD].tolist()) == {0.0, 5.0}


def test_memory_forgets_the_oldest_first():
    memory = Memory(100)
    found = gather(NOTHING)
    memory.add(found)
    assert memory.size == 100
    kept = memory.sample(1000, np.random.default_rng(0))
    latest = {row.tobytes() for row in found.inputs[-100:]}
    assert {row.tobytes() for row in kept.inputs} <= latest


def test_without_pytorch_training_names_the_extra_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "torch":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(RuntimeError, match=r"pip install torch"):
        training.Trainer(TINY)


def test_a_stopped_training_goes_on_as_if_it_had_not_stopped(tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not installed; pip install torch")
    whole = training.Trainer(TINY)
    whole.train(ignore)
    part = training.Trainer(TINY)
    part.train(ignore, tmp_path / "c.npz", until=2)
    rest = training.Trainer.resume(tmp_path / "c.npz", TINY)
    assert rest.round == 2
    rest.train(ignore)
    assert rest.curve == whole.curve
    for ours, theirs in zip(rest.net().layers, whole.net().layers, strict=True):
        np.testing.assert_array_equal(ours.weight, theirs.weight)


def test_a_checkpoint_of_another_plan_is_refused(tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not installed; pip install torch")
    trainer = training.Trainer(TINY)
    trainer.train(ignore, tmp_path / "c.npz")
    other = training.Plan("conservative", 3)
    with pytest.raises(RuntimeError, match="a training with other settings"):
        training.Trainer.resume(tmp_path / "c.npz", other)


@pytest.mark.parametrize("facts", [None, "[]", "not JSON", '{"plan": 5}'])
def test_a_damaged_checkpoint_is_refused_by_its_name(tmp_path, facts):
    path = tmp_path / "c.npz"
    np.savez(path, **({} if facts is None else {"facts": np.array(facts)}))
    with pytest.raises(DataError, match=r"c\.npz: not a checkpoint of this version.*delete it"):
        training.Trainer.resume(path, TINY)
    path.write_bytes(b"no archive")
    with pytest.raises(DataError, match=r"c\.npz: not a readable zip archive"):
        training.Trainer.resume(path, TINY)


def test_training_writes_weights_that_numpy_plays_and_a_record_of_how(tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not installed; pip install torch")
    trainer = training.Trainer(TINY)
    trainer.train(ignore)
    path = trainer.write(tmp_path)
    assert path.name == "aggressive-3.npz"
    assert b'"on_raise"' in path.with_suffix(".json").read_bytes()
    assert len(load("aggressive", 3, tmp_path).layers) == 3


def test_the_tool_without_torch_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    out = tmp_path / "opponents"
    with pytest.raises(RuntimeError, match=r"pip install torch"):
        training.main(
            ["--style", "aggressive", "--seed", "4", "--rounds", "2", "--to", str(out)], standalone_mode=False
        )
    assert not out.exists()


def test_the_tool_writes_the_weights_and_leaves_no_checkpoint(tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not installed; pip install torch")
    training.main(
        ["--style", "aggressive", "--seed", "4", "--rounds", "2", "--to", str(tmp_path)], standalone_mode=False
    )
    assert b'"curve":[{"round":2,' in (tmp_path / "aggressive-4.json").read_bytes().replace(b" ", b"").replace(
        b"\n", b""
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["aggressive-4.json", "aggressive-4.npz"]
