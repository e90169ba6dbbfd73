"""The YAML files of our tasks for lm-evaluation-harness agree with our cards and requests; needs no harness."""

import json
from pathlib import Path

import pytest
import yaml

import sociometer.adapters.one_turn
from sociometer.adapters.one_turn import one_turns, plan_of
from sociometer.instruments import card_of


class Loader(yaml.SafeLoader):
    """Reads the tag that lm-evaluation-harness has for functions as text."""


Loader.add_constructor("!function", lambda loader, node: node.value)
FILES = Path(sociometer.adapters.one_turn.__file__).parent / "lm_eval"


OURS = [path for path in FILES.glob("*.yaml") if "official" not in path.name]
LIKELIHOOD = FILES / "sociometer_sesi_likelihood.yaml"


@pytest.mark.parametrize("path", [path for path in OURS if path != LIKELIHOOD])
def test_a_task_file_agrees_with_the_instrument(path):
    found = yaml.load(path.read_text(), Loader)
    place, generation = found["dataset_kwargs"], found["generation_kwargs"]
    card = card_of(place["instrument"])
    assert found["metadata"]["version"] == f"tasks.{card.name.upper()}"
    turn = next(one_turns(plan_of(card.name, place["task"], json.dumps(place["settings"]).encode())))
    assert generation["temperature"] == turn.sampling.temperature
    assert generation["max_gen_toks"] == turn.sampling.max_tokens
    directions = {"higher": True, "lower": False}
    better = {measure.value: directions.get(measure.better) for measure in card.measures_of(place["task"])}
    assert all(metric["higher_is_better"] is better[metric["metric"]] for metric in found["metric_list"])


def test_the_task_by_likelihood_asks_for_the_letters_of_sesi_as_a_base_model_gets_them():
    found = yaml.load(LIKELIHOOD.read_text(), Loader)
    place = found["dataset_kwargs"]
    assert (place["instrument"], place["task"], place["base"]) == ("sesi", "questions", True)
    assert found["metadata"]["version"] == "tasks.SESI"
    assert found["output_type"] == "multiple_choice"
    assert "generation_kwargs" not in found
