"""Looks inside open weights: states and neurons. Needs the extra `inside`."""
