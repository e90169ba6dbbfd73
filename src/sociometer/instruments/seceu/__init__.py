"""SECEU: emotional understanding, as an EQ on a human norm (Wang et al., 2023)."""
