"""Comparing the models that play the person."""
