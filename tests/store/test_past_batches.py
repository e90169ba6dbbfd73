"""A store of version 0.3 in which requests wait in batches at a provider: it opens, and its runs go on."""

import sqlite3
from contextlib import closing

import sociometer as sm

TABLE = """CREATE TABLE provider_batch (
  label TEXT PRIMARY KEY,
  run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  served TEXT NOT NULL,
  id TEXT NOT NULL,
  held BLOB NOT NULL,
  created REAL NOT NULL
)"""


def test_a_run_whose_requests_wait_in_a_batch_is_shown_and_resumed(openai_server, key, tmp_path):
    path = tmp_path / "s.db"
    run = sm.run("sesi", "openai/m", limit=4, max_requests=2, base_url=openai_server.url, name="waits", store=path)
    assert run.status == "stopped"
    with closing(sqlite3.connect(path)) as file:
        file.execute(TABLE)
        file.execute("CREATE INDEX provider_batch_of_run ON provider_batch (run)")
        file.execute("INSERT INTO provider_batch VALUES ('label', ?, 'openai/m', 'batch-1', x'90', 5.0)", (run.id,))
        file.commit()
    assert sm.get_run("waits", store=path).state == "stopped, 50 %"
    resumed = sm.resume("waits", max_requests=4, store=path)
    assert resumed.status == "finished"
    assert len(openai_server.received) == 4
