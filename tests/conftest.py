"""Fixtures that all rooms share: loopback servers for each wire format, the official data, the embedded model."""

import gc
import os
import sys
import tracemalloc
from contextlib import contextmanager
from pathlib import Path
from random import Random, SystemRandom
from types import SimpleNamespace

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# Tests run beside each other: what takes every core for itself slows all of them down. NumPy looks when it is loaded.
os.environ.setdefault("SOCIOMETER_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from databases import fresh_database, start_server
from forked import CARELESS
from servers.anthropic import AnthropicServer
from servers.openai import OpenAIServer
from sociometer.engine.replies import RetryPolicy
from sociometer.store.store import Store

# On a busy machine a test that takes a millisecond may wait for its core longer than Hypothesis's deadline of 200 ms.
settings.register_profile("few", deadline=None, max_examples=25)
settings.register_profile("many", deadline=None, max_examples=200)
settings.load_profile("few")

NEEDS_MUCH = {"browser", "model_folder", "tiny_model"}
"""Fixtures with a browser or PyTorch: what uses them is slow, and `make test` installs neither."""

LOTS = Random()
"""What names, links and people's places are drawn with, in place of the system's chance."""

KEY = "sk-test-5f1c0ffee5f1c0ffee5f1c0ffee"


def pytest_configure(config):
    """Every second worker reads the tests from their end: each finds half of them compiled by the other."""
    worker = getattr(config, "workerinput", {}).get("workerid", "")
    if worker[-1:] in {"1", "3", "5", "7", "9"} and config.args == config.getini("testpaths"):
        folder = Path(__file__).parent
        config.args = [str(path) for path in sorted(folder.iterdir(), reverse=True) if _has_tests(path)]


def _has_tests(path):
    return next(path.rglob("test_*.py"), None) is not None if path.is_dir() else path.match("test_*.py")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Gives all workers the same order, and marks before the marks are looked at."""
    items.sort(key=lambda item: item.path)
    for item in items:
        if NEEDS_MUCH & set(getattr(item, "fixturenames", ())):
            item.add_marker("slow")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    """A test draws the same names and people's places each time, so that one that fails can be repeated."""
    LOTS.seed(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef):
    """A fixture that several tests share draws the same, whichever of them is the first."""
    if fixturedef.scope == "function":
        return (yield)
    before = LOTS.getstate()
    LOTS.seed(f"{fixturedef.baseid} {fixturedef.argname}")
    try:
        return (yield)
    finally:
        LOTS.setstate(before)


@pytest.fixture(scope="session", autouse=True)
def repeatable():
    """The system's chance is `LOTS`; other processes, also those that are forked, have their own."""
    with pytest.MonkeyPatch.context() as patched:
        for name in ("random", "getrandbits", "randbytes"):
            patched.setattr(SystemRandom, name, staticmethod(getattr(LOTS, name)))
        os.register_at_fork(after_in_child=patched.undo)
        yield


@pytest.fixture(scope="session", autouse=True)
def untidy():
    """Garbage is looked for less often: by now some million objects are loaded, and hardly any is ever given up."""
    gc.collect()
    gc.set_threshold(20_000, 10, 10)
    yield
    gc.collect()  # while what is said about it is still captured


@pytest.fixture(scope="session", autouse=True)
def forgetful():
    """Weights that go take no garbage with them: looking through all that is loaded here takes most of a second."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sociometer.models.in_process.gc", SimpleNamespace(unfreeze=list, collect=list))
        yield


@pytest.fixture(scope="session", autouse=True)
def impatient():
    """Failed requests are sent again almost at once; a wait that a server asks for is kept."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(RetryPolicy, "wait_seconds", lambda self, attempt, after: (after or 0.0) + 0.005)
        yield


@pytest.fixture(scope="session", autouse=True)
def careless():
    """Nothing waits for the disk, in this process and in those that it forks."""
    with pytest.MonkeyPatch.context() as patched:
        for name in CARELESS:
            patched.setattr(f"{name}.SYNCHRONOUS", "OFF")
        yield


@pytest.fixture(scope="session", autouse=True)
def opened():
    """The stores that Python has opened: it keeps each open for as long as the process lives."""
    stores = {}

    def opened_at(place):
        if place not in stores:
            stores[place] = Store(place)
        return stores[place]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sociometer.api._opened", opened_at)
        yield stores


@pytest.fixture(scope="module", autouse=True)
def closed(opened):
    """A module's stores are closed after it; one that a later module reads from opens again by itself."""
    yield
    while opened:
        _, store = opened.popitem()
        store.close()


@pytest.fixture
def key(monkeypatch):
    """A key that must never be seen anywhere but in a request's header."""
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(variable, KEY)
    return KEY


@pytest.fixture
def peak_memory():
    """A context that gives a function for the most bytes that Python held at once inside it."""

    @contextmanager
    def measure():
        peaks = []
        tracemalloc.start()
        try:
            yield lambda: peaks[0]
        finally:
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()

    return measure


@pytest.fixture
def undrawn(monkeypatch):
    """Pictures are empty, for tests that read none of them: drawing takes longer than all else."""
    empty = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
    monkeypatch.setattr("sociometer.reporting.plot._svg", lambda chart: empty)


@pytest.fixture
def openai_server():
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def anthropic_server():
    with AnthropicServer() as server:
        yield server


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    """The folder of a very small model with random weights."""
    pytest.importorskip("torch", reason="torch is not installed: pip install 'sociometer[hf]'")
    pytest.importorskip("transformers", reason="transformers is not installed: pip install 'sociometer[hf]'")
    from tiny_model import make_tiny_model

    return make_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def official_data():
    """The folder of official data, from SOCIOMETER_DATA."""
    folder = os.environ.get("SOCIOMETER_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("official data is not here: set SOCIOMETER_DATA to its folder")
    return Path(folder)


@pytest.fixture(scope="session")
def embedded_model():
    """The GGUF file of local/smollm2-135m."""
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    from sociometer.models.files import file_of

    path = file_of("smollm2-135m")
    if path is None:
        pytest.skip("the embedded model is not here: run 'sociometer get model smollm2-135m'")
    return path


@pytest.fixture(scope="session")
def postgres_server():
    """The address of a PostgreSQL server, which all processes of one test run share."""
    address, server = start_server()
    yield address
    if server is not None:
        server.cleanup()


@pytest.fixture
def postgres(postgres_server):
    """The address of an empty database."""
    with fresh_database(postgres_server) as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """Where a store can be: a file or a database."""
    return str(tmp_path / "s.db") if request.param == "sqlite" else request.getfixturevalue("postgres")
