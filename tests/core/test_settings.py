import pytest

from sociometer.core.errors import UsageError
from sociometer.core.settings import Setting, Settings

DECLARED = (
    Setting("language", "tongue", kind="choice", choices=("en", "zh"), default="en"),
    Setting("orders", "how many", kind="whole", default=1, least=1),
    Setting("share", "how much", kind="number", default=0.5),
    Setting("shuffle", "whether", kind="flag", default=False),
    Setting("factor", "which", many=True),
)


def test_defaults_stand_where_nothing_was_chosen():
    settings = Settings.chosen(DECLARED, {})
    assert settings.text("language") == "en"
    assert settings.whole("orders") == 1
    assert settings.number("share") == 0.5
    assert settings.flag("shuffle") is False
    assert settings.texts("factor") == ()


def test_what_is_typed_is_read_in_its_own_kind():
    given = {"language": "zh", "orders": "3", "share": "1", "shuffle": "yes", "factor": ("a", "b")}
    settings = Settings.chosen(DECLARED, given)
    assert dict(settings) == {"language": "zh", "orders": 3, "share": 1.0, "shuffle": True, "factor": ("a", "b")}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"language": "fr"}, "unknown value for --language 'fr'; known: en, zh"),
        ({"orders": "many"}, "--orders needs a whole number, not 'many'"),
        ({"orders": "1.5"}, "--orders needs a whole number"),
        ({"orders": "0"}, "--orders must be at least 1, not 0"),
        ({"share": "x"}, "--share needs a number"),
        ({"share": "nan"}, "--share needs a number, not 'nan'"),
        ({"share": "inf"}, "--share needs a number, not 'inf'"),
        ({"shuffle": "perhaps"}, "--shuffle must be yes or no"),
        ({"langage": "en"}, "did you mean '--language'"),
    ],
)
def test_a_wrong_value_names_itself_and_the_allowed_ones(given, told):
    with pytest.raises(UsageError, match=told):
        Settings.chosen(DECLARED, given)
