"""What the commands about studies say to wrong input: what was wrong, and what to type next."""

import pytest

from sociometer.cli.main import run_command
from sociometer.store.studies import StudyBook, book_path

TALKS = """person,talk,model,turn,role,text,feeling
p1,a,m-1,1,person,My neighbour's dog barks.,30
p1,a,m-1,1,model,That sounds tiring.,45
p1,b,m-2,1,person,My neighbour's dog barks.,30
p1,b,m-2,1,model,Call the police.,25
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A study that nobody has joined, one with a person, one of two instruments, and one of talks."""
    path = tmp_path_factory.mktemp("errors") / "s.db"
    made = {"empty": ("sesi",), "spring": ("sesi",), "both": ("sesi", "seceu")}
    for name, options in made.items():
        assert run_command(["study", "create", *options, "--name", name, "--store", str(path)]) == 0
    talks = path.with_name("talks.csv")
    talks.write_text(TALKS)
    assert run_command(["sage", "import", "--people", str(talks), "--store", str(path)]) == 0
    book = StudyBook(book_path(path))
    person, _ = book.join(book.study("spring"), {})
    book.close()
    return path, person.id


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("show sprnig", "unknown study 'sprnig'; did you mean 'spring'?"),
        ("show WHO", "'WHO' is a participant of spring; 'sociometer study show spring"),
        ("show spring.WHO", "'spring.WHO' is a participant of spring; 'sociometer study show spring"),
        ("export spring.WHO --to x", "is a participant of spring; 'sociometer study show spring"),
        ("show both.x", "study both has no part 'both.x'; give: both.sesi or both.seceu."),
        ("show spring.x", "study spring has no part 'spring.x'; give: spring."),
        (
            "norms empty --to x.json",
            "nobody in study empty counts yet; let people in with 'sociometer study open empty",
        ),
        ("norms spring --to x.json", "nobody in study spring counts yet; 'sociometer study show spring"),
        ("norms both --to x.json", "study both has several instruments; name the people of one: both.sesi, both.seceu"),
        ("norms talks --to x.json", "people in study talks talk with models, so it has scores of models and no norm."),
        (
            "create sesi --task construction --name x",
            "'construction' is not for people; tasks of sesi for people: questions.",
        ),
    ],
)
def test_a_message_names_what_was_wrong_and_what_to_type(store, words, said, capsys):
    path, who = store
    capsys.readouterr()
    assert run_command(["study", *words.replace("WHO", who).split(), "--store", str(path)]) == 2
    assert said.replace("WHO", who) in " ".join(capsys.readouterr().err.split())
