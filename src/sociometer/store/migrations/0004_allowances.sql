-- What a run may have spent at most, written before its requests go out: a killed run is charged for what was in flight.
CREATE TABLE allowance (
  run TEXT PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  requests INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cost REAL NOT NULL
) WITHOUT ROWID;
