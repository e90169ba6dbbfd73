-- The tables of the study book. A line “-- next version” comes between the steps from one version to the next.
CREATE TABLE study (name TEXT PRIMARY KEY, body BLOB NOT NULL, created REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE participant (
  id TEXT PRIMARY KEY, study TEXT NOT NULL REFERENCES study (name), code TEXT NOT NULL UNIQUE, body BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX participant_study ON participant (study);
CREATE TABLE session (
  cookie TEXT PRIMARY KEY, participant TEXT NOT NULL REFERENCES participant (id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX session_participant ON session (participant);
CREATE TABLE timing (
  participant TEXT NOT NULL REFERENCES participant (id) ON DELETE CASCADE,
  question INTEGER NOT NULL, seconds REAL NOT NULL, PRIMARY KEY (participant, question)
) WITHOUT ROWID;
-- next version
ALTER TABLE timing ADD COLUMN pattern TEXT NOT NULL DEFAULT '';
CREATE TABLE attention (
  participant TEXT NOT NULL REFERENCES participant (id) ON DELETE CASCADE,
  number INTEGER NOT NULL, passed INTEGER NOT NULL, PRIMARY KEY (participant, number)
) WITHOUT ROWID;
-- next version
-- Who has asked to withdraw and is not erased yet. A row without a name stays until the file has no traces of them.
CREATE TABLE withdrawal (who TEXT PRIMARY KEY) WITHOUT ROWID;
-- next version
ALTER TABLE timing ADD COLUMN task TEXT NOT NULL DEFAULT '';
ALTER TABLE timing ADD COLUMN item TEXT NOT NULL DEFAULT '';
ALTER TABLE timing ADD COLUMN page_seconds REAL;
-- next version
-- Those of a study who have withdrawn, and how far they had come. Of earlier versions, all of them count as started.
CREATE TABLE gone (
  study TEXT PRIMARY KEY REFERENCES study (name) ON DELETE CASCADE,
  withdrew INTEGER NOT NULL DEFAULT 0, started INTEGER NOT NULL DEFAULT 0, finished INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
INSERT INTO gone (study, withdrew, started)
  SELECT name, coalesce(json_extract(CAST(body AS TEXT), '$.withdrawn'), 0),
    coalesce(json_extract(CAST(body AS TEXT), '$.withdrawn'), 0)
  FROM study WHERE json_valid(CAST(body AS TEXT));
