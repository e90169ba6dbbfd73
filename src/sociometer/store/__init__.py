"""Journal and results in one SQLite file or PostgreSQL database."""
