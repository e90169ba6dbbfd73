"""`sociometer.toml` as a file: what it may say, and what is wrong with one that says something else."""

import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociometer.core.errors import DataError
from sociometer.engine.project import Project, ProjectCaps, find_project, parse_project

FILE = Path("sociometer.toml")
WHOLE = """
models = ["openai/gpt-4o-mini", "vllm/m@http://localhost:8000/v1#step-4"]
store = "results/my.db"
[roles]
simulator = "deepseek/deepseek-chat"
[labels]
"openai/gpt-4o-mini" = "mini"
[caps]
max-cost = 5
max-requests = 10_000
"""


def parsed(text):
    return parse_project(text.encode() if isinstance(text, str) else text, FILE)


def test_every_name_of_the_file_is_read():
    assert parsed(WHOLE) == Project(
        models=("openai/gpt-4o-mini", "vllm/m@http://localhost:8000/v1#step-4"),
        roles={"simulator": "deepseek/deepseek-chat"},
        labels={"openai/gpt-4o-mini": "mini"},
        caps=ProjectCaps(max_cost=5.0, max_requests=10_000),
        store="results/my.db",
    )


def test_the_example_of_the_documentation_is_a_project():
    page = (Path(__file__).parents[2] / "docs" / "project-file.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert parsed(example).caps == ProjectCaps(5.0, 10_000, 5_000_000)
    assert len(parsed(example).models) == 2


@pytest.mark.parametrize("empty", ["", "# nothing\n", "\ufeff", "[caps]\n"])
def test_an_empty_file_has_no_defaults(empty):
    assert parsed(empty) == Project()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('modles = ["a/b"]', "unknown name 'modles'; did you mean 'models'?"),
        ('model = "a/b"', "did you mean 'models'?"),
        ("[cap]\nmax-cost = 1", "did you mean 'caps'?"),
        ("[caps]\nmax_cost = 1", "did you mean 'caps.max-cost'?"),
        ("[caps]\nmax-request = 1", "did you mean 'caps.max-requests'?"),
        ("zzz = 1", "known: caps, labels, models, roles, store."),
        ('key-variable = "OPENAI_API_KEY"', "must not contain a key"),
        ('models = "openai/m"', "Expected `array`, got `str` - at `$.models`"),
        ("models = [1]", "Expected `str`, got `int`"),
        ("models = [[[]]]", "Expected `str`, got `array`"),
        ("store = 1", "Expected `str`"),
        ("caps = 1", "Expected `object`"),
        ("[caps]\nmax-cost = nan", "max-cost"),
        ("[caps]\nmax-cost = inf", "max-cost"),
        ("[caps]\nmax-cost = -1", "max-cost"),
        ("[caps]\nmax-tokens = true", "max-tokens"),
        ("[caps]\nmax-tokens = 1.5", "max-tokens"),
        (f"[caps]\nmax-tokens = {'9' * 1000}", "max-tokens"),
        (f"[caps]\nmax-cost = {'9' * 1000}", "max-cost"),
        ('models = [""]', "empty"),
        ('store = "a\\u0000b"', "control character"),
        ('[labels]\n"a/b" = "x\\nerror: y"', "control character"),
        ('[roles]\n"x\\ny" = "a/b"', "control character"),
        ('"x\\ny" = 1', "unknown name 'x?y'"),
        ('models = ["a/b\\u001b[2J"]', "control character"),
        ('[roles]\nsubject = "a/b"', "'roles' must not contain 'subject'"),
        ("models = [", "is not TOML"),
        ("a = 1\na = 2", "is not TOML"),
        (b"models = ['\xff']", "not UTF-8"),
        ("a\0b", "is not TOML"),
    ],
)
def test_a_wrong_file_is_an_error_that_names_it_and_what_is_allowed(text, told):
    with pytest.raises(DataError) as error:
        parsed(text)
    assert str(error.value).startswith("sociometer.toml: ")
    assert told in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "models = " + "[" * 1_900,
        "models = " + "[\n" * 16_000,
        "models = " + "{a=" * 600,
        ".".join("a" * 16_000) + " = 1",
        "\n".join(".".join("a" * 990) + f".b{number} = 1" for number in range(16)),
        "[" + ".".join("a" * 990) + "]",
        "x" * 40_000,
        "models = [" + "'a/b',\n" * 6_000 + "]",
        "\n".join(f"a{number} = 1" for number in range(3_000)),
    ],
    ids=lambda text: text[:12],
)
def test_a_deep_or_huge_file_is_a_short_error_in_little_time(text):
    begun = time.process_time()
    with pytest.raises(DataError) as error:
        parsed(text)
    assert len(str(error.value)) < 400
    assert time.process_time() - begun < 5


def test_only_this_folder_is_searched(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "sociometer.toml").write_text(WHOLE)
    assert find_project(tmp_path).project == parsed(WHOLE)
    assert find_project(tmp_path / "below") is None


def test_a_folder_or_a_pipe_of_that_name_is_an_error(tmp_path):
    (tmp_path / "sociometer.toml").mkdir()
    with pytest.raises(DataError, match="is not a file"):
        find_project(tmp_path)
    (tmp_path / "sociometer.toml").rmdir()
    os.mkfifo(tmp_path / "sociometer.toml")
    with pytest.raises(DataError, match="is not a file"):
        find_project(tmp_path)


def test_a_link_to_something_endless_is_an_error(tmp_path):
    (tmp_path / "sociometer.toml").symlink_to("/dev/zero")
    with pytest.raises(DataError, match="is not a file"):
        find_project(tmp_path)


@pytest.mark.parametrize(
    ("store", "place"),
    [("s.db", "project/s.db"), ("../s.db", "s.db"), ("./a/../s.db", "project/s.db"), ("a/b/s.db", "project/a/b/s.db")],
)
def test_a_relative_store_is_relative_to_the_files_folder(tmp_path, store, place):
    folder = tmp_path / "project"
    (folder / "a").mkdir(parents=True)
    (folder / "sociometer.toml").write_text(f'store = "{store}"')
    assert find_project(folder).store.resolve() == (tmp_path / place).resolve()


def test_an_absolute_store_and_one_in_the_home_folder_are_taken_as_they_are(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "sociometer.toml").write_text('store = "/var/s.db"')
    assert find_project(tmp_path).store == Path("/var/s.db")
    (tmp_path / "sociometer.toml").write_text('store = "~/s.db"')
    assert find_project(tmp_path).store == tmp_path / "home" / "s.db"
    (tmp_path / "sociometer.toml").write_text('store = "~nobody-of-that-name/s.db"')
    assert find_project(tmp_path).store == tmp_path / "~nobody-of-that-name" / "s.db"


words = st.sampled_from(
    ["models", "roles", "labels", "caps", "store", "max-cost", "max-tokens", " = ", "[", "]", "{", "}", '"', "'", ",",
     "\n", ".", "#", "1", "nan", "true", "openai/m", "@http://h/v1", "python/a:b", "\\u0000", "é", "\r", "1e999"]
)  # fmt: skip


@given(st.binary(max_size=200) | st.lists(words, max_size=30).map(lambda parts: "".join(parts).encode()))
def test_any_content_is_a_project_or_an_error_that_names_the_file(body):
    try:
        assert isinstance(parsed(body), Project)
    except DataError as error:
        assert str(error).startswith("sociometer.toml")
