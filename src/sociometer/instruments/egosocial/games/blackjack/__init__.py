"""Blackjack against the dealer: two beliefs and a move at every decision."""
