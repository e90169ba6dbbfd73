"""A tiny Llama in which abilities are planted, or none are, and world trees written in its words.

Planted: the words of an ability point in a direction of their dimension and in one of their own. Attention in the first
layer carries what was said so far to every later token. Two neurons in the second layer answer to each ability and
make its words more likely; two more answer to both abilities of a dimension. The other model has random weights.
"""

import json
from pathlib import Path
from random import Random

from sociometer.instruments.socialeval.abilities import DIMENSIONS

PLANTED = {dimension: names[:2] for dimension, names in DIMENSIONS.items()}
ABILITIES = [name for names in PLANTED.values() for name in names]
TREES = 12
WORDS = 3
OWN, SHARED = 2, 2
HIDDEN, WIDTH, LAYERS, PLANTED_LAYER = 64, 96, 3, 1
FILLERS = [f"filler{number}" for number in range(24)]
LANGUAGES = ("en", "cn")


def word(language, ability, tree, number):
    """A word of an ability. Each tree has its own, so that knowing the words of one does not help with another."""
    return f"{language}{ABILITIES.index(ability)}t{tree}w{number}"


def words_of(ability):
    return [word(language, ability, tree, n) for language in LANGUAGES for tree in range(TREES) for n in range(WORDS)]


def vocabulary():
    words = [one for ability in ABILITIES for one in words_of(ability)]
    return {token: place for place, token in enumerate(["[UNK]", "[END]", *FILLERS, *words])}


def planted_neurons(ability):
    """The numbers of the neurons that were planted for an ability."""
    number = ABILITIES.index(ability)
    shared = len(ABILITIES) * OWN + number // 2 * SHARED
    places = [*range(OWN * number, OWN * (number + 1)), *range(shared, shared + SHARED)]
    return {PLANTED_LAYER * WIDTH + place for place in places}


def make_model(folder: Path, *, planted: bool, seed: int = 0) -> Path:
    """Write the model as a folder that transformers reads."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    inner = Tokenizer(models.WordLevel(vocabulary(), unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="[UNK]", eos_token="[END]")
    torch.manual_seed(seed)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(vocabulary()), hidden_size=HIDDEN, intermediate_size=WIDTH, num_hidden_layers=LAYERS,
            num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=4096, tie_word_embeddings=False,
            bos_token_id=None, eos_token_id=1, pad_token_id=None, initializer_range=0.3,
        )
    )  # fmt: skip
    if planted:
        with torch.no_grad():
            plant(model)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def plant(model):
    """Directions: 0–4 dimensions, 5–14 abilities, 15–24 abilities said before, 25–34 what to say, the rest noise."""
    for name, parameter in model.named_parameters():
        if "norm" not in name:
            parameter.mul_(0.02)
    own, said, say = 5, 15, 25
    embedding, head = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    embedding[:, :35] = 0
    embedding[:, 35:] += 0.3 * model.lm_head.weight.new_empty(embedding[:, 35:].shape).normal_()
    head.zero_()
    places = vocabulary()
    for number, ability in enumerate(ABILITIES):
        for token in map(places.__getitem__, words_of(ability)):
            embedding[token, number // 2] = 1.0
            embedding[token, own + number] = 1.5
            head[token, say + number] = 1.0
    attention = model.model.layers[0].self_attn
    attention.q_proj.weight.zero_()
    attention.v_proj.weight.zero_()
    attention.o_proj.weight.zero_()
    for number in range(len(ABILITIES)):
        attention.v_proj.weight[number, own + number] = 1.0
        attention.o_proj.weight[said + number, number] = 4.0
    mlp = model.model.layers[PLANTED_LAYER].mlp
    for number, ability in enumerate(ABILITIES):
        pair = number // 2 * 2
        for place in (neuron % WIDTH for neuron in planted_neurons(ability)):
            alone = place < len(ABILITIES) * OWN
            for matrix in (mlp.gate_proj.weight, mlp.up_proj.weight):
                matrix[place] = 0
                matrix[place, own + number if alone else number // 2] = 1.0
                matrix[place, [said + number] if alone else [said + pair, said + pair + 1]] = 1.0
            mlp.down_proj.weight[:, place] = 0
            mlp.down_proj.weight[[say + number] if alone else [say + pair, say + pair + 1], place] = 1.0


def write_trees(folder: Path, languages=("en", "cn")) -> Path:
    """Trees with one question for every ability, in the released layout, each with wrong options of other abilities."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(TREES):
        for language in languages:
            name = f"[1,1]_{language}_example_{number}.json"
            (folder / name).write_text(json.dumps(tree(number, language)), encoding="utf-8")
    return folder


def utterance(language, ability, tree):
    """Three words of the ability among three that say nothing of it."""
    draw = Random(f"{language}/{ability}/{tree}")
    shown = [word(language, ability, tree, step) for step in range(WORDS)] + draw.choices(FILLERS, k=3)
    draw.shuffle(shown)
    return " ".join(shown)


def tree(number, language):
    others = [ABILITIES[(3 * step + number) % len(ABILITIES)] for step in range(len(ABILITIES))]
    choices = []
    for place, ability in enumerate(ABILITIES):
        wrong = [other for other in others if other != ability][place % 5 :][:3]
        said = [{"role": "Ann", "content": utterance(language, one, number)} for one in (ability, *wrong)]
        asked = " ".join(word(language, ability, number, step) for step in range(WORDS))
        question = {"type": "skill question", "question": [f"#question# {asked}"], "skill": [ability]}
        confusions = [{"type": "skill confusion", "content": one} for one in said[1:]]
        choices.append(
            {
                "cid": place + 1, "type": "skill choice", "skill": [ability], "social state": [1, 1],
                "content": said[0], "confusion": [question, *confusions],
            }
        )  # fmt: skip
    # trees have different numbers of endings, so that a tree and its translation are found by their shape
    choices = choices[: len(ABILITIES) - number % 3]
    people = [
        {"identity": "Protagonist", "name": "Ann", "public profile": "p", "goal": "g", "orientation": [1, 1]},
        {"identity": "Supporting Character", "name": "Bob", "public profile": "p", "goal": "g", "orientation": [1, 1]},
    ]
    lines = [{"role": "Bob", "content": " ".join(FILLERS[(number + step) % 24] for step in range(5 + number % 4))}]
    plot = [{"cid": 0, "type": "beginning", "dialog": lines, "choices": choices}]
    plot += [
        {"cid": choice["cid"], "type": "ending", "dialog": [{"role": "Bob", "content": FILLERS[0]}], "goal": 2}
        for choice in choices
    ]
    return {"predefined_profiles": people, "scenario": FILLERS[number], "interactive_plot": plot}
