-- Batches at a provider: a row is written before a batch is created and deleted when all its replies are in the journal.
CREATE TABLE provider_batch (
  label TEXT PRIMARY KEY,
  run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  served TEXT NOT NULL,
  id TEXT NOT NULL,
  held BLOB NOT NULL,
  created REAL NOT NULL
);
CREATE INDEX provider_batch_of_run ON provider_batch (run);
