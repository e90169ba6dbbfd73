-- The tables of the label book. A line “-- next version” comes between the steps from one version to the next.
CREATE TABLE queue (name TEXT PRIMARY KEY, body BLOB NOT NULL, created REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE unit (
  queue TEXT NOT NULL REFERENCES queue (name) ON DELETE CASCADE, id TEXT NOT NULL, body BLOB NOT NULL,
  PRIMARY KEY (queue, id)
) WITHOUT ROWID;
CREATE TABLE rater (
  queue TEXT NOT NULL REFERENCES queue (name) ON DELETE CASCADE, id TEXT NOT NULL, code TEXT NOT NULL,
  PRIMARY KEY (queue, id)
) WITHOUT ROWID;
CREATE TABLE session (cookie TEXT PRIMARY KEY, queue TEXT NOT NULL, rater TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE task (
  queue TEXT NOT NULL, rater TEXT NOT NULL, unit TEXT NOT NULL, place REAL NOT NULL, settles INTEGER NOT NULL,
  PRIMARY KEY (queue, rater, unit)
) WITHOUT ROWID;
CREATE TABLE label (
  queue TEXT NOT NULL, unit TEXT NOT NULL, rater TEXT NOT NULL, body BLOB NOT NULL,
  PRIMARY KEY (queue, unit, rater)
) WITHOUT ROWID;
-- next version
-- Sheets take the place of queues, whose raters signed in to pages. A label that decided a dispute says so itself.
UPDATE label SET body = CAST(json_set(CAST(body AS TEXT), '$.settles', json('true')) AS BLOB)
WHERE rater = 'the owner' OR (queue, unit, rater) IN (SELECT queue, unit, rater FROM task WHERE settles);
DROP TABLE session;
DROP TABLE task;
DROP TABLE rater;
ALTER TABLE queue RENAME TO sheet;
ALTER TABLE unit RENAME COLUMN queue TO sheet;
ALTER TABLE label RENAME COLUMN queue TO sheet;
