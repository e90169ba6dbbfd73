"""The version of Sociometer."""

__version__ = "0.2.0"
