"""Counterfactual rules with their factual versions, and new worlds whose customs differ from ours."""
