"""Looks inside a model: where it separates abilities, which neurons respond to them, and what they cause."""
