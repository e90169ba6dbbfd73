"""Writes new world trees: a brief becomes a tree in stages, each asked, checked, kept in a file and open to edits."""
