-- The user's choices become one record in the manifest (see old_manifest.py), and runs can be named.
ALTER TABLE run ADD COLUMN name TEXT NOT NULL DEFAULT '';
CREATE INDEX run_name ON run (name);
