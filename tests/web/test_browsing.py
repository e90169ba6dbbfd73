"""Episodes of every kind that the commands store, as View, `show` and `report` read them."""

import pytest
from serving import Client, Served

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.instruments import cards, load
from sociometer.web.browsing import ViewedStore
from sociometer.web.guard import TOKENS
from sociometer.web.view import view_application

OFFICIAL = ("--official", "--model", "baseline/random")
SAGE = ("run", "sage", "--model", "baseline/random", "--role", "simulator=baseline/random", "--limit", "1")
JUDGED = ("sage", "analyse", "last", "--role", "judge=baseline/random", "--role", "simulator=baseline/random", "--what")
PLAYED = {
    "seceu": [("run", "seceu", "--limit", "1", *OFFICIAL)],
    "seceu recall": [("seceu", "contamination", "--limit", "1", *OFFICIAL)],
    "sesi recall": [("sesi", "contamination", "--limit", "1", *OFFICIAL)],
    "sesi errors": [
        ("run", "sesi", "--model", "baseline/first", "--limit", "4"),
        ("sesi", "analyse", "last", "--role", "judge=baseline/random"),
    ],
    "sesi construction": [
        ("sesi", "build", "--posts", "demo", "--limit", "1", "--to", "TO", "--role", "builder=baseline/random")
    ],
    "sage": [SAGE],
    **{
        f"sage {what}": [SAGE, (*JUDGED, what)]
        for what in ("relationship", "strategies", "coordinate", "stability", "rejudge")
    },
    "helpdesk": [("run", "helpdesk", "--model", "baseline/random", "--limit", "1")],
    "socialeval": [("run", "socialeval", "--model", "baseline/random", "--limit", "1")],
    "egosocial": [("run", "egosocial", "--model", "baseline/random", "--limit", "1", "--stories", "1")],
}


@pytest.mark.parametrize("kind", PLAYED)
def test_an_episode_of_every_task_is_shown_by_the_terminal_the_report_and_view(
    kind, tmp_path, official_data, monkeypatch
):
    monkeypatch.setenv("SOCIOMETER_DATA", str(official_data))
    path = tmp_path / "s.db"
    for words in PLAYED[kind]:
        words = [str(tmp_path / "to") if word == "TO" else word for word in words]
        assert run_command([*words, "--store", str(path), "--quiet"]) == 0
    run = sm.get_run("last", store=path)
    assert run_command(["report", run.id, "--to", str(tmp_path / "r.html"), "--store", str(path)]) == 0
    with Served(view_application(ViewedStore(path, load, cards()))) as served:
        owner = Client(served.url)
        owner.post("/enter", {"token": served.app[TOKENS].make()})
        for task in run.tasks:
            item = next(run.episodes(task)).item.id
            assert run_command(["show", run.id, item, "--task", task, "--store", str(path)]) == 0
            assert owner.get(f"/run/{run.id}/item?task={task}&item={item}").status == 200
