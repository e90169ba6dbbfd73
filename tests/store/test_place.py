"""Where a store is: a file or an address, whose password is never seen."""

import json

import pytest

from sociometer.cli.main import run_command
from sociometer.core.errors import StoreError, UsageError
from sociometer.store.place import StoreUrl, parse_place, without_passwords
from sociometer.store.store import Store

SECRET = "hunter2-s3cret"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"postgresql://ann:{SECRET}@db:5432/lab", "postgresql://ann@db:5432/lab"),
        (f"postgres://ann:{SECRET}@db/lab?sslmode=require", "postgres://ann@db/lab?sslmode=require"),
        (f"postgresql://ann@/lab?host=/run/pg&password={SECRET}", "postgresql://ann@/lab?host=/run/pg"),
        (f"postgresql://a%40b:{SECRET}%2F@[::1]/lab", "postgresql://a%40b@[::1]/lab"),
        ("postgresql:///lab", "postgresql:///lab"),
    ],
)
def test_an_address_is_shown_without_its_password(url, shown):
    place = parse_place(url)
    assert str(place) == shown
    assert SECRET not in repr(place)
    assert without_passwords(f"--store={url} x") == f"--store={shown} x"


@pytest.mark.parametrize(
    "url",
    [
        "mysql://h/db", "postgresql://host", "postgresql://h:x/db", f"postgresql://u:{SECRET}@[/x",
        f"mysql://u:{SECRET}@h/db", f"postgresql://u:a/{SECRET}#@host",
    ],
)  # fmt: skip
def test_an_address_that_is_not_a_stores_is_refused_without_its_password(url):
    with pytest.raises(UsageError, match="postgresql://USER@HOST/DATABASE") as told:
        parse_place(url)
    assert SECRET not in str(told.value)


def test_everything_else_is_a_file(tmp_path):
    assert parse_place("runs.db").name == "runs.db"
    assert parse_place(tmp_path) == tmp_path


def test_a_server_that_is_not_there_is_a_clear_error():
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError, match=r"ann@127\.0\.0\.1:1/lab: cannot be opened") as told:
        Store(f"postgresql://ann:{SECRET}@127.0.0.1:1/lab").flush()
    assert SECRET not in str(told.value)


def test_the_password_is_neither_printed_nor_stored(postgres, capsys, monkeypatch):
    address = (
        parse_place(postgres)
        .url.replace("postgres:@", f"postgres:{SECRET}@")
        .replace("postgres@", f"postgres:{SECRET}@")
    )
    assert SECRET in address
    words = ["run", "sesi", "--model", "baseline/random", "--limit", "3", "--store", address]
    monkeypatch.setattr("sys.argv", ["sociometer", *words])
    assert run_command(words) == 0
    for more in (["runs"], ["runs", "--json"], ["check"], ["show", "last"], ["check", "store"], ["resume", "none"]):
        run_command([*more, "--store", address])
    told = capsys.readouterr()
    assert SECRET not in told.out + told.err
    with Store(address) as store:
        (record,) = store.runs.all()
        assert "--store" in record.manifest.config.command
        assert SECRET not in json.dumps(record.manifest.config.command)


def test_a_study_needs_a_file(capsys):
    words = ["study", "create", "seceu", "--name", "x", "--store", "postgresql://ann@db/lab"]
    assert run_command(words) == 2
    assert "a study needs a store file" in capsys.readouterr().err


def test_two_addresses_are_equal_if_they_are_the_same():
    assert StoreUrl("postgresql://a@h/x") == StoreUrl("postgresql://a@h/x")
    assert len({StoreUrl("postgresql://a@h/x"), StoreUrl("postgresql://a@h/x"), StoreUrl("postgresql://a@h/y")}) == 2


@pytest.mark.parametrize("mark", ["/", "#", "?"])
def test_a_password_with_a_character_that_ends_the_host_is_not_shown(mark):
    shown = without_passwords(f"POSTGRESQL://ann:{SECRET}{mark}{SECRET}@db/lab")
    assert SECRET not in shown and "ann" not in shown


def test_what_the_driver_says_about_a_password_is_not_repeated():
    with (
        pytest.raises(UsageError, match="percent-encoded") as told,
        Store(f"postgresql://u:{SECRET}%zz@db/lab") as store,
    ):
        list(store.runs.all())
    assert SECRET not in str(told.value)
