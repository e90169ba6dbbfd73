"""Limit Texas hold'em for two players: a subject against a trained opponent whose style is to be named."""
