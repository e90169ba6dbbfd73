"""Helpdesk: somebody presses an assistant with tools, and the final state of a ledger says what it did."""
