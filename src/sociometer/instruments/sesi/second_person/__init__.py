"""Converts an item about "a person" into one that addresses the reader, or says why the conversion is uncertain."""

from sociometer.instruments.sesi.second_person.convert import OPEN, Conversion, Doubt, to_second_person

__all__ = ["OPEN", "Conversion", "Doubt", "to_second_person"]
