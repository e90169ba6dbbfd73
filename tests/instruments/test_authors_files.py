"""Texts of a Python file are read from its syntax tree; the file is never run."""

import pytest

from sociometer.core.errors import DataError
from sociometer.instruments._authors import from_double_braces, from_format, python_text, python_texts

SOURCE = '''
import missing_package
raise SystemExit("this file must not run")

GREETING = """Hello {name}, read {{"answer": "A"}}."""
names = {"user": "you", "assistant": "them", 3: f"{GREETING}!"}

class Test(Base):
    RULE = ("Two parts "
            "in one.")

    def __init__(self):
        self.prompt = 'Choose.\\n{o1}'
        self.count = 3

def reply(data):
    template = "Feel {{emotion}} of {{target}}"
    if data:
        prompt = template.replace("{{planning}}", data["analyse"])
    else:
        prompt = template.replace("{{planning}}", "Seen:\\n" + data['seen'] + "\\nFelt:\\n" + data["felt"])
    again = f"Is {prompt} right? {label}"
    computed = "x" * 3
    return prompt
'''


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "prompts.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("GREETING", 'Hello {name}, read {{"answer": "A"}}.'),
        ("names.user", "you"),
        ("Test.RULE", "Two parts in one."),
        ("Test.__init__.prompt", "Choose.\n{o1}"),
        ("reply.template", "Feel {{emotion}} of {{target}}"),
        ("reply.planning", "Seen:\n{seen}\nFelt:\n{felt}"),
        ("reply.again", "Is {prompt} right? {label}"),
    ],
)
def test_texts_are_found_by_where_they_are_assigned(source, name, text):
    assert python_text(source, name) == text


def test_computed_texts_are_not_guessed(source):
    assert "reply.computed" not in python_texts(source)
    assert "Test.__init__.count" not in python_texts(source)


def test_odd_escapes_in_other_strings_do_not_matter(source):
    source.write_text("pattern = '[Aa]nswer(\\.|$)\\D'\nPROMPT = 'Choose {one}.'\n", encoding="utf-8")
    assert python_text(source, "PROMPT") == "Choose {one}."


def test_a_missing_or_ambiguous_text_is_an_error_with_its_name(source):
    with pytest.raises(DataError, match=r"prompts\.py: has no text named 'ANSWER'"):
        python_text(source, "ANSWER")
    source.write_text("A = 'one'\nA = 'two'\n")
    with pytest.raises(DataError, match="has 2 different texts named 'A'"):
        python_text(source, "A")


@pytest.mark.parametrize("body", ["def (", "\0", "(" * 500 + ")" * 500])
def test_a_broken_file_is_an_error_not_a_crash(tmp_path, body):
    path = tmp_path / "broken.py"
    path.write_text(body)
    with pytest.raises(DataError, match=r"broken\.py"):
        python_text(path, "A")


def test_both_ways_of_writing_placeholders_become_ours():
    assert from_format('{Name}: {{"choice": "A"}} {o1}') == '{name}: {"choice": "A"} {o1}'
    assert from_double_braces('{{Name}} {"a": 1} {{target}}') == '{name} {"a": 1} {target}'
    with pytest.raises(DataError, match=r"not a text for str\.format"):
        from_format("{open")
