"""Runs of other tools' benchmarks are pages of `sociometer view` like any other."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "web"))

from serving import Client, Served

from sociometer.instruments import cards, load
from sociometer.web.browsing import ViewedStore
from sociometer.web.guard import TOKENS
from sociometer.web.view import view_application


@pytest.fixture
def imported(cli, tmp_path):
    rows = [f"q{item},{who},{item % (2 + place)},s{item}\n" for item in range(24) for place, who in enumerate("ab")]
    (tmp_path / "t.csv").write_text("item,subject,score,cluster\n" + "".join(rows))
    return [run["run"] for run in cli("import", "csv", "t.csv", "--json")]


def test_an_imported_run_is_listed_and_shown(imported, tmp_path):
    with Served(view_application(ViewedStore(tmp_path / "store.db", load, cards()))) as served:
        client = Client(served.url)
        assert client.post("/enter", {"token": served.app[TOKENS].make()}).status == 303
        first, second = imported
        for path, shown in (
            ("/", first),
            (f"/run/{first}/", "score"),
            (f"/run/{first}/item?task=items&item=q0", "q0"),
            (f"/side-by-side?run={first}&run={second}", second),
        ):
            page = client.get(path)
            assert (page.status, shown in page.text) == (200, True), (path, page.status)
