"""Traces are those that transformers gives, whatever shares the batch; nothing is computed twice."""

import pytest

from sociometer.core.errors import UsageError
from sociometer.core.inner_model import Passage
from sociometer.models.inside import OpenModel, anatomy_of

PASSAGES = [Passage("Ada: Is it you?\nBo:", f" {'It is I, ' * count}Bo. 是我。") for count in range(1, 6)]


def direct(model, passage):
    """States and neurons of one passage from the output of transformers itself."""
    import torch

    before, after = (model.loaded.tokenizer(text).input_ids for text in (passage.before, passage.said))
    ids, said = [*before, *after], len(after)
    seen = []
    hooks = [
        layer.mlp.down_proj.register_forward_pre_hook(lambda module, args: seen.append(args[0][0, -said:]))
        for layer in model.loaded.model.model.layers
    ]
    with torch.no_grad():
        states = model.loaded.model(torch.tensor([ids]), output_hidden_states=True).hidden_states
    for hook in hooks:
        hook.remove()
    # transformers gives the last state after the final norm, so only those before it can be compared
    return [state[0, -said:].numpy() for state in states[:-1]], [
        value.detach().square().sum(0).numpy() for value in seen
    ]


def test_states_and_neurons_are_those_of_transformers_in_any_batch(open_weights):
    model = open_weights(batch_tokens=150)
    traces = model.traces(PASSAGES, "test")
    for place, passage in enumerate(PASSAGES):
        states, squares = direct(model, passage)
        assert traces.tokens[place] == len(states[0])
        for layer, state in enumerate(states):
            assert traces.states(layer)[place] == pytest.approx(state.mean(axis=0), abs=1e-4)
        for layer, values in enumerate(squares):
            assert traces.squares(layer)[place] == pytest.approx(values, rel=1e-3, abs=1e-4)


def test_nothing_is_computed_twice_and_known_vectors_need_no_weights(open_weights, monkeypatch):
    assert open_weights().traces(PASSAGES[:3], "test").computed == 3
    again = open_weights().traces(PASSAGES, "test")
    assert again.computed == 2
    monkeypatch.setattr(OpenModel, "loaded", property(lambda self: pytest.fail("the weights were loaded")))
    known = open_weights()
    assert (known.traces(PASSAGES, "test").states(1) == again.states(1)).all()
    assert known.parameters > 50_000


def test_a_change_of_anything_that_matters_computes_anew(open_weights):
    assert open_weights().traces(PASSAGES, "test").computed == 5
    assert open_weights(story_tokens=3).traces(PASSAGES, "test").computed == 5


def test_a_killed_computation_goes_on_where_it_stopped(open_weights):
    def stops_after_two(parts, label):
        yield from parts[:2]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_weights(batch_tokens=1, track=stops_after_two).traces(PASSAGES, "test")
    assert open_weights().traces(PASSAGES, "test").computed == 3


def test_a_damaged_file_is_computed_again(open_weights):
    model = open_weights()
    before = model.traces(PASSAGES, "test").states(1)
    damaged = max(model._folder.rglob("*.f32"), key=lambda path: path.stat().st_size)
    content = bytearray(damaged.read_bytes())
    content[100] ^= 1
    damaged.write_bytes(content)
    again = open_weights().traces(PASSAGES, "test")
    assert again.computed == 1
    assert again.states(1) == pytest.approx(before, abs=1e-4)


def test_of_a_long_story_only_the_end_is_kept(open_weights):
    model = open_weights(story_tokens=5)
    ids, said = model._tokens(Passage("0123456789", " yes"))
    assert model.loaded.tokenizer.decode(ids) == "56789 yes"
    assert said == 4


def test_the_neurons_of_gpt2_are_found_and_a_mixture_of_experts_is_refused():
    pytest.importorskip("torch", reason="torch is not installed: pip install 'sociometer[inside]'")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    gpt = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=20, n_embd=8, n_layer=2, n_head=2))
    found = anatomy_of(gpt, "gpt")
    assert (found.layers, found.width, found.hidden) == (2, 32, 8)
    assert found.weights(0).shape == (32,)
    mixture = transformers.MixtralForCausalLM(
        transformers.MixtralConfig(
            vocab_size=20, hidden_size=8, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2,
            num_key_value_heads=2, num_local_experts=2,
        )
    )  # fmt: skip
    with pytest.raises(UsageError, match="choose a dense model"):
        anatomy_of(mixture, "mixture")
