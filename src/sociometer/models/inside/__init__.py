"""Looks inside open weights: states, neurons, and answers with neurons switched off. Needs the extra `inside`."""
