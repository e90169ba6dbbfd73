"""Doors to other tools, one file each; every one needs an extra, and nothing here is imported unless it is used."""
