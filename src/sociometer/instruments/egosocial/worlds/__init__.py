"""Counterfactual rules with their factual versions, and invented worlds whose customs differ from ours."""
