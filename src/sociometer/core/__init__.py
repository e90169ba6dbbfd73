"""The types that every other package uses; imports no other package of Sociometer."""
