"""The names under which the check is stored."""

TASK = "recall"
SERIES = "contamination"
"""The part of a summary's series with the verdict."""
