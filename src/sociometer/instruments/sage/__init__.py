"""SAGE: a simulated person whose emotion changes while the subject talks with them."""
