CREATE TABLE text (
  hash BLOB PRIMARY KEY,
  body BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE model (
  id INTEGER PRIMARY KEY,
  identity TEXT NOT NULL UNIQUE
);

CREATE TABLE journal (
  key BLOB PRIMARY KEY,
  model INTEGER NOT NULL REFERENCES model (id),
  run TEXT NOT NULL,
  messages BLOB NOT NULL,
  reply BLOB NOT NULL,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cost REAL,
  charged_tokens INTEGER NOT NULL,
  charged_cost REAL NOT NULL,
  created REAL NOT NULL
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
  finished REAL
);
CREATE INDEX run_config ON run (config_hash);

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
