"""Whether a subject knows published items by heart: matched pairs of public and unseen items, and what they show."""
