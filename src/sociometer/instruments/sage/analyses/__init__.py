"""Analyses of stored dialogues: each is a task whose items are dialogues, or contexts out of them."""
