"""Blackjack against the dealer: rules, exact odds, and the grading of what a player says it believes."""
