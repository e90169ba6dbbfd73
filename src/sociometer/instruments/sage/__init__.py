"""SAGE: a simulated person whose feelings move while the subject talks with them."""
