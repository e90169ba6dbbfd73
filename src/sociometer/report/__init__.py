"""One self-contained page: what was measured, how sure it is, and the evidence; and each figure for a paper."""
