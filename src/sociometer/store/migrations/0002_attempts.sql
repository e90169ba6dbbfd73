-- What was spent on attempts that brought no reply to keep: hard caps count it after a restart too.
CREATE TABLE attempt (
  run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cost REAL,
  charged_tokens INTEGER NOT NULL,
  charged_cost REAL NOT NULL,
  created REAL NOT NULL
);
CREATE INDEX attempt_run ON attempt (run);
