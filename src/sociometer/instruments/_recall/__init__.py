"""Checks whether a subject knows published items by heart, with matched pairs of public and unseen items."""
