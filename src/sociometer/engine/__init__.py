"""Plays any task: makes a plan, sends requests within limits, stores every reply, and recomputes scores."""
