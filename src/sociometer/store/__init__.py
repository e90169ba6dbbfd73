"""Journal and results in one SQLite file."""
