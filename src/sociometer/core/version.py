"""The version of Sociometer."""

__version__ = "0.3.0"
