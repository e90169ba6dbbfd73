import pytest

from sociometer.core.errors import UsageError
from sociometer.models.keys import Key, KeyPolicy, read_key
from sociometer.models.presets import presets

OPENAI, VLLM = presets()["openai"], presets()["vllm"]


def key_for(preset, base_url, variable, *, named_by_user, role="subject"):
    named = frozenset((role,) if named_by_user else ())
    policy = KeyPolicy(named, {role: variable} if variable else {})
    return policy.key(role, base_url, preset.base_url, preset.key_variable)


def test_a_key_belongs_to_its_presets_host():
    stored = {"named_by_user": False}
    assert key_for(OPENAI, "", "", **stored).variable == "OPENAI_API_KEY"
    assert key_for(OPENAI, "https://api.openai.com/v2", "", **stored).variable == "OPENAI_API_KEY"
    assert key_for(OPENAI, "https://API.OpenAI.com:443/v1", "OPENAI_API_KEY", **stored).variable == "OPENAI_API_KEY"


@pytest.mark.parametrize(
    "elsewhere",
    [
        "http://api.openai.com/v1",
        "https://api.openai.com:8443/v1",
        "https://api.openai.com.evil.example/v1",
        "https://evil.example/api.openai.com/v1",
        "https://api.openai.com@evil.example/v1",
        "http://localhost:8000/v1",
    ],
)
def test_any_other_address_that_the_user_did_not_name_gets_none(elsewhere):
    withheld = key_for(OPENAI, elsewhere, "", named_by_user=False)
    assert withheld.variable == ""
    assert "--key-variable OPENAI_API_KEY" in withheld.advice


def test_a_role_is_named_in_the_advice():
    withheld = key_for(OPENAI, "https://evil.example/v1", "", named_by_user=False, role="judge")
    assert "--key-variable judge=OPENAI_API_KEY" in withheld.advice


@pytest.mark.parametrize("base_url", ["", "https://evil.example/v1"])
def test_a_variable_that_the_user_did_not_name_is_refused(base_url):
    with pytest.raises(UsageError) as refused:
        key_for(OPENAI, base_url, "AWS_SECRET_ACCESS_KEY", named_by_user=False)
    assert "--key-variable AWS_SECRET_ACCESS_KEY" in str(refused.value)
    assert "https://" in str(refused.value)


def test_what_the_user_names_is_taken():
    assert key_for(VLLM, "http://localhost:9/v1", "", named_by_user=True) == Key("VLLM_API_KEY")
    assert key_for(VLLM, "http://localhost:9/v1", "MINE", named_by_user=True) == Key("MINE")


def test_white_space_around_a_key_is_left_out_and_within_it_refused(monkeypatch):
    monkeypatch.setenv("MINE", " abc-123\n")
    assert read_key("MINE") == "abc-123"
    for wrong in ("abc\n123", "abc\x7f123", "kä123"):
        monkeypatch.setenv("MINE", wrong)
        with pytest.raises(UsageError, match="MINE") as refused:
            read_key("MINE")
        assert "123" not in str(refused.value)


@pytest.mark.parametrize("wrong", ["sk-proj-abcdef1234567890", "MY KEY", "sk_live_abcdefgh12345678", "=", "1ST"])
def test_a_key_in_place_of_a_variables_name_is_refused_and_not_repeated(wrong):
    with pytest.raises(UsageError) as refused:
        key_for(VLLM, "", wrong, named_by_user=True)
    assert "name of an environment variable" in str(refused.value)
    assert wrong == "=" or wrong not in str(refused.value)
