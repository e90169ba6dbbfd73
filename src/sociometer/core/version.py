"""The version of Sociometer."""

__version__ = "0.1.0"
