"""Many processes that play one run in a shared database."""
