CREATE TABLE text (
  hash BLOB PRIMARY KEY,
  body BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE model (
  id INTEGER PRIMARY KEY,
  identity TEXT NOT NULL UNIQUE
);

CREATE TABLE journal (
  key BLOB NOT NULL,
  -- The store that the reply was copied from; empty if it was received here.
  origin TEXT NOT NULL,
  model INTEGER NOT NULL REFERENCES model (id),
  run TEXT NOT NULL,
  messages BLOB NOT NULL,
  reply BLOB NOT NULL,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cost REAL,
  charged_tokens INTEGER NOT NULL,
  charged_cost REAL NOT NULL,
  created REAL NOT NULL,
  PRIMARY KEY (key, origin)
);
CREATE INDEX journal_run ON journal (run);
CREATE INDEX journal_model ON journal (model);

CREATE TABLE run (
  id TEXT PRIMARY KEY,
  instrument TEXT NOT NULL,
  subject TEXT NOT NULL,
  config_hash TEXT NOT NULL,
  status TEXT NOT NULL,
  manifest BLOB NOT NULL,
  created REAL NOT NULL,
  finished REAL,
  name TEXT NOT NULL,
  -- What a run that has ended has counted and spent, so that a list of runs does not count it again.
  totals BLOB,
  -- The store that the run was copied from; empty if it was made here.
  origin TEXT NOT NULL
);
CREATE INDEX run_config ON run (config_hash);
CREATE INDEX run_name ON run (name);

-- What people type: the name of a subject (with its key) or of an imported benchmark. Studies are in their book.
CREATE TABLE names (
  name TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  meaning TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX names_meaning ON names (meaning);

CREATE TABLE item (
  run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  task TEXT NOT NULL,
  id TEXT NOT NULL,
  position INTEGER NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (run, task, id)
) WITHOUT ROWID;
CREATE INDEX item_position ON item (run, task, position);

CREATE TABLE episode (
  run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  task TEXT NOT NULL,
  item TEXT NOT NULL,
  repeat INTEGER NOT NULL,
  outcome BLOB,
  failure_kind TEXT,
  failure TEXT,
  events BLOB NOT NULL,
  created REAL NOT NULL,
  PRIMARY KEY (run, task, item, repeat)
);

-- What was spent on attempts that brought no reply to keep: hard caps count it after a restart too.
CREATE TABLE attempt (
  run TEXT NOT NULL,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cost REAL,
  charged_tokens INTEGER NOT NULL,
  charged_cost REAL NOT NULL,
  created REAL NOT NULL
);
CREATE INDEX attempt_run ON attempt (run);

-- What a run may have spent at most, written before its requests go out: a killed run is charged for what was in flight.
CREATE TABLE allowance (
  run TEXT PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  requests INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cost REAL NOT NULL
) WITHOUT ROWID;

-- Derived from here on: `rescore` rebuilds it.
CREATE TABLE score (
  run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  task TEXT NOT NULL,
  item TEXT NOT NULL,
  repeat INTEGER NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (run, task, item, repeat)
) WITHOUT ROWID;

CREATE TABLE summary (
  run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  task TEXT NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (run, task)
) WITHOUT ROWID;
