"""A worked example of an instrument: copy this folder, rename it, and replace each part."""
