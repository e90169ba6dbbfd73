-- The processes that play a run on a shared database. A worker whose time has expired has lost everything it held.
CREATE TABLE worker (
  id TEXT PRIMARY KEY,
  run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  alone INTEGER NOT NULL,
  host TEXT NOT NULL,
  started REAL NOT NULL,
  expires REAL NOT NULL,
  reserved INTEGER NOT NULL,
  facts TEXT NOT NULL
);
CREATE INDEX worker_run ON worker (run);

-- The episodes that are left to play, and the worker that plays each.
CREATE TABLE lease (
  run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  task TEXT NOT NULL,
  item TEXT NOT NULL,
  repeat INTEGER NOT NULL,
  position INTEGER NOT NULL,
  worker TEXT,
  PRIMARY KEY (run, task, item, repeat)
);
CREATE INDEX lease_free ON lease (run, position, repeat) WHERE worker IS NULL;
CREATE INDEX lease_worker ON lease (worker);

-- The limit of requests in flight to a server, and how many of them each worker may send.
CREATE TABLE endpoint (
  run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  ceiling INTEGER NOT NULL,
  bound REAL NOT NULL,
  epoch INTEGER NOT NULL,
  open_at REAL NOT NULL,
  taken INTEGER NOT NULL,
  PRIMARY KEY (run, name)
);
CREATE TABLE slot (
  worker TEXT NOT NULL REFERENCES worker (id) ON DELETE CASCADE,
  endpoint TEXT NOT NULL,
  held INTEGER NOT NULL,
  PRIMARY KEY (worker, endpoint)
);

-- The caps of a run that several workers play; the first of them writes them down for all.
ALTER TABLE allowance ADD COLUMN max_requests INTEGER;
ALTER TABLE allowance ADD COLUMN max_tokens INTEGER;
ALTER TABLE allowance ADD COLUMN max_cost REAL;

-- What a run that has ended has counted and spent, so that a list of runs does not count it again.
ALTER TABLE run ADD COLUMN totals BLOB;
