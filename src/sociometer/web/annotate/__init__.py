"""Raters label units in the browser; the owner sees progress and agreement."""
