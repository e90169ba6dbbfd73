"""What becomes of each choice of a run: whether it makes another run, is stored or published."""

import hashlib

import msgspec
import pytest

from sociometer.core.config import Caps, FieldContext, RunConfig, about_fields
from sociometer.core.conversation import Sampling
from sociometer.core.settings import Setting
from sociometer.core.stopping import Until

FULL = RunConfig(
    instrument="sesi", subject="local//home/me/model.gguf", tasks=("questions",), seed=3, repeats=2, items=("a",),
    roles={"judge": "openai/gpt@http://10.0.0.1:8000/v1", "unused": "openai/other"}, official=True, fresh=True,
    settings={"orders": 4, "norm": "/home/me/norm.csv", "more": ("/home/me/1.csv", "2.csv")},
    data_folder="/home/me/data", prompts_folder="/home/me/prompts", base_url="http://10.0.0.2/v1", revision="r1",
    key_variable="MY_KEY", insecure_http=True, timeout_seconds=9.0, sampling=Sampling(temperature=0.5),
    caps=Caps(max_cost=1.5), in_flight=7, on="ray://10.0.0.3:10001", replicas=2, retries=1, step_of="norms",
    command=("sociometer", "run", "/home/me"), name="mine",
    until=Until("old", margin=3.0, models=2),
)  # fmt: skip
CONTEXT = FieldContext(
    (Setting("norm", "", "path"), Setting("more", "", "path", many=True)), {"judge": "Judge", "subject": "S"}
)


def changed(config: RunConfig) -> dict[str, object]:
    return {
        name: value for name in RunConfig.__struct_fields__ if (value := getattr(config, name)) != getattr(FULL, name)
    }


def digest(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()


def test_every_field_answers_the_questions():
    assert list(about_fields()) == list(RunConfig.__struct_fields__)


def test_a_field_without_answers_is_an_error():
    class Longer(RunConfig, kw_only=True):
        certificate_folder: str = ""

    with pytest.raises(TypeError, match="certificate_folder does not answer"):
        about_fields(Longer)


def test_the_manifest_keeps_nothing_that_holds_for_one_command():
    assert changed(FULL.only("stored")) == {"insecure_http": False, "on": "ray"}


def test_no_path_no_address_and_no_key_is_published():
    made = FULL.only("published", CONTEXT)
    assert changed(made) == {
        "subject": "local/model.gguf", "roles": {"judge": "Judge"}, "data_folder": "", "prompts_folder": "",
        "base_url": "", "key_variable": "", "command": (),
        "settings": {"orders": 4, "norm": "norm.csv", "more": ("1.csv", "2.csv")},
        "insecure_http": False, "on": "ray",
    }  # fmt: skip
    text = msgspec.json.encode(made).decode()
    assert all(private not in text for private in ("/home", "10.0.0", "MY_KEY"))


def test_the_digest_of_a_plan_does_not_depend_on_the_machine():
    made = FULL.only("published", CONTEXT).only("planned")
    same = RunConfig(**{**{name: getattr(FULL, name) for name in RunConfig.__struct_fields__}, "name": "other",
                        "in_flight": 1, "timeout_seconds": 60.0, "on": "", "replicas": None})  # fmt: skip
    assert same.only("published", CONTEXT).only("planned") == made
    assert digest(made) == "5d0d214678411eeece550fa62a2825e62b84bdc35fc42dd8180f823b032fd1f6"


def test_the_choices_that_make_another_run_have_kept_their_digest():
    assert digest(FULL.counted) == "d0431ef9d8824b0138e7e9336cf5f731acec45625aaad5aabc788929d0ece9f1"
    shortest = RunConfig(instrument="sesi", subject="m")  # without a rule, `until` is not among them
    assert digest(shortest.counted) == "515a58854d3d722b3e1f0e1817fbe95b93db52ce49c2c77e6bc75a791c996c2c"


def test_publishing_twice_changes_nothing():
    """Whoever reads a file of somebody else publishes it again, so that it chooses no path and no server."""
    made = FULL.only("published", CONTEXT)
    assert made.only("published", CONTEXT) == made
