"""Requests that are sent in batches, at a lower price."""
