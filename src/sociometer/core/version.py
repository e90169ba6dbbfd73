"""The version of Sociometer."""

__version__ = "0.4.0"
