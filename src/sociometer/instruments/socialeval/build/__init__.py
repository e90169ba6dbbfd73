"""Builds new world trees: a brief becomes a tree in stages; each is requested, checked, stored and open to edits."""
