"""Turns an item about "a person" into one that addresses its reader, or says why it cannot be sure how."""

from sociometer.instruments.sesi.second_person.convert import OPEN, Conversion, Doubt, to_second_person

__all__ = ["OPEN", "Conversion", "Doubt", "to_second_person"]
