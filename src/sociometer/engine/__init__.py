"""Plays any task: plans, asks within bounds, keeps every reply, and rebuilds every number."""
