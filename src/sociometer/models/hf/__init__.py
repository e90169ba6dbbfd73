"""Open weights run in process by transformers: found and loaded, written with in one batch, and asked as a player."""
