import subprocess
import sys

import pytest

from sociometer.core.errors import DataError, NotFound, UsageError
from sociometer.models.keys import KeyPolicy
from sociometer.models.presets import ModelOptions, presets
from sociometer.models.registry import describe, resolve


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("opnai/gpt-4o", "did you mean 'openai'"),
        ("gpt-4o", "unknown model 'gpt-4o'"),
        ("", "unknown model ''"),
        ("human", "sociometer study create"),
        ("baseline/radnom", "did you mean 'random'"),
        ("baseline", "baseline/NAME"),
        ("local/smollm2", "did you mean 'smollm2-135m'"),
        ("local/nowhere/x.gguf", "'nowhere/x.gguf' does not exist"),
        ("openai/", "needs a model's name"),
        ("bedrock/claude", "inspect/bedrock/NAME"),
        ("litellm/claude", "openai/NAME@URL"),
        ("azure/gpt-4o", "azure/gpt-4o@https://RESOURCE.openai.azure.com/openai/v1"),
    ],
)
def test_a_wrong_name_is_told_with_the_nearest_right_one(spec, said):
    with pytest.raises(UsageError) as caught:
        resolve(spec)
    assert said in str(caught.value)


@pytest.mark.parametrize("family", [name for name, preset in presets().items() if not preset.own])
def test_a_missing_key_is_told_before_anything_is_sent(family, monkeypatch):
    variable = presets()[family].key_variable
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(UsageError, match=variable):
        resolve(f"{family}/some-model")


def test_a_key_variable_of_ones_own_must_be_set(monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(UsageError, match="MY_KEY"):
        resolve("vllm/m", ModelOptions(keys=KeyPolicy(variables={"subject": "MY_KEY"})))
    monkeypatch.setenv("MY_KEY", "x")
    assert resolve("vllm/m", ModelOptions(keys=KeyPolicy(variables={"subject": "MY_KEY"}))).identity.name == "m"


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://host/v1", "http://", "not a url", "http://host:port/v1", "http://[::1/v1"]
)
def test_what_is_no_base_url_is_refused(url):
    with pytest.raises(UsageError, match="not a base URL"):
        resolve("vllm/m", ModelOptions(base_url=url))


@pytest.mark.parametrize(
    "url",
    [
        "http://me:secret@host/v1",
        "http://host/v1?key=secret",
        "http://host/v1#secret",
        "ftp://me:secret@host/v1",
        "me:secret@host",
        "http://me:secret@host:port/v1",
        "http://me:se/secret@host:port/v1",
        "http://me:secret@[::1/v1",
        "http://host:port/v1?key=secret",
        "HTTP://me:secret@/v1",
    ],
)
@pytest.mark.parametrize("spec", ["vllm/m", "baseline/random", "scripted/none.txt", "local/smollm2-135m", "openai/m"])
def test_a_base_url_that_holds_a_secret_is_refused_without_repeating_it(spec, url):
    with pytest.raises(UsageError) as caught:
        resolve(spec, ModelOptions(base_url=url))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "spec", ["vllm/m@HTTP://me:secret@host/v1", "vllm/m@ftp://me:secret@host", "m@x://me:secret@h"]
)
def test_an_address_that_is_not_read_as_one_is_refused_without_repeating_it(spec):
    with pytest.raises(UsageError, match="http://") as caught:
        resolve(spec)
    assert "secret" not in str(caught.value)


def test_a_base_url_may_be_pasted_with_its_path():
    pasted = resolve("vllm/m", ModelOptions(base_url="http://host:8000/v1/chat/completions/"))
    assert pasted.identity.base_url == "http://host:8000/v1"


@pytest.mark.parametrize("family", [name for name, preset in presets().items() if preset.own])
def test_a_server_of_ones_own_needs_no_key_and_is_uncertain(family, monkeypatch):
    monkeypatch.delenv(presets()[family].key_variable, raising=False)
    assert not resolve(f"{family}/m").identity.certain
    assert resolve(f"{family}/m", ModelOptions(revision="7")).identity.certain


def test_a_model_name_may_hold_slashes(monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", "x")
    assert resolve("openrouter/meta-llama/llama-3-8b").identity.name == "meta-llama/llama-3-8b"


def test_a_folder_that_is_there_is_told_with_its_provider_and_a_missing_one_as_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weights").mkdir()
    with pytest.raises(NotFound, match=r"did you mean 'hf/\./weights'\?"):
        resolve("./weights")
    with pytest.raises(NotFound, match="there is no such file or folder"):
        resolve("./wieghts")


def test_a_script_that_is_not_there_is_a_data_error(tmp_path):
    with pytest.raises(DataError, match="cannot read the script"):
        resolve(f"scripted/{tmp_path}/none.txt")


def test_describe_says_whether_keys_are_set(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    ready = {entry.spec: entry.ready for entry in describe()}
    assert ready["openai/NAME"] is True
    assert ready["groq/NAME"] is False
    assert ready["vllm/NAME"] is None
    assert ready["baseline/random"] is True


def test_importing_the_registry_imports_nothing_heavy():
    program = (
        "import sys, sociometer.models.registry as r; r.resolve('baseline/random'); r.describe();"
        "print(sorted({'aiohttp', 'numpy', 'xllamacpp', 'rich'} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
