"""Sociometer measures the social intelligence of language models."""

__version__ = "0.1.0"
