"""A plan holds nothing: the engine opens what a run needs, and closes it before the next one."""

import pytest

from sociometer.cli.main import run_command
from sociometer.core.config import RunConfig
from sociometer.core.conversation import Identity, Reply
from sociometer.core.errors import MachineryError
from sociometer.core.player import Player
from sociometer.engine import engine as engine_module
from sociometer.engine.engine import Engine
from sociometer.engine.plan import ItemList, ReadPlan
from sociometer.instruments import load
from sociometer.store.store import Store


class Weights(Player):
    """A model in process that notes in `log` when it is opened and closed."""

    def __init__(self, name, log, fails=False):
        self.identity = Identity("test", name, revision=name)
        self._log, self._fails = log, fails

    async def answer(self, request):
        if self._fails:
            raise MachineryError("it cannot be loaded", "local model", fatal=True)
        self._log.append(f"{self.identity.name} answers")
        return Reply("A")

    async def open(self):
        self._log.append(f"open {self.identity.name}")

    async def close(self):
        self._log.append(f"close {self.identity.name}")


@pytest.fixture
def engine(tmp_path):
    with Store(tmp_path / "s.db") as store:
        yield Engine(store, load)


def plan(engine, player, **changes):
    config = RunConfig(instrument="_template", subject=f"python/test:{player.identity.name}", **changes)
    return engine.plan(config, players={config.subject: player})


def opened(log):
    return [line for line in log if line.startswith(("open", "close"))]


def test_a_plan_opens_nothing_and_each_run_closes_before_the_next_opens(engine):
    log = []
    plans = [plan(engine, Weights(name, log)) for name in ("one", "two", "three")]
    assert log == []
    for made, following in zip(plans, (*plans[1:], None), strict=True):
        engine.play_plan(made, following)
    assert opened(log) == ["open one", "close one", "open two", "close two", "open three", "close three"]


def test_a_model_that_fails_is_closed_too(engine):
    log = []
    with pytest.raises(Exception, match="cannot be loaded"):
        engine.play_plan(plan(engine, Weights("one", log, fails=True)))
    assert log == ["open one", "close one"]


def test_weights_that_the_next_run_uses_are_not_closed_between(engine):
    log = []
    players = [Weights("one", log), Weights("one", log)]
    first, second = plan(engine, players[0]), plan(engine, players[1], repeats=2)
    engine.play_plan(first, second)
    assert opened(log) == ["open one", "open one", "close one"], "those of the next run are there before"
    engine.play_plan(second)
    assert opened(log)[3:] == ["close one"]


def test_what_is_kept_for_a_run_that_is_not_played_is_closed_with_the_engine(engine):
    log = []
    engine.play_plan(plan(engine, Weights("one", log)), plan(engine, Weights("one", log), repeats=2))
    engine.close()
    assert log.count("open one") == log.count("close one") == 2


def test_a_command_makes_one_plan_for_each_run_and_reads_the_items_once(tmp_path, monkeypatch, capsys):
    made, read = [], []

    def counted(*given, **options):
        found = make_plan(*given, **options)
        made.append(found)
        return found

    class CountedList(ItemList):
        def __init__(self, task, reads):
            read.append(task)
            super().__init__(task, reads)

    make_plan = engine_module.make_plan
    monkeypatch.setattr(engine_module, "make_plan", counted)
    monkeypatch.setattr("sociometer.engine.plan.ItemList", CountedList)
    words = ["--model", "baseline/random", "--model", "baseline/first", "--max-requests", "100", "--quiet"]
    assert run_command(["run", "sesi", *words, "--limit", "12", "--store", str(tmp_path / "s.db")]) == 0
    assert (len(made), read) == (2, ["questions"])
    made.clear(), read.clear()
    assert run_command(["plan", "sesi", *words, "--limit", "12", "--store", str(tmp_path / "s.db")]) == 0
    assert (len(made), read) == (2, ["questions"])


def test_a_plan_that_is_not_stored_has_no_run(engine):
    made = plan(engine, Weights("one", []))
    assert isinstance(made, ReadPlan)
    assert not hasattr(made, "run")
    assert engine.prepare(made).run.id
