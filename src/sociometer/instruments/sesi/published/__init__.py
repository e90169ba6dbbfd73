"""The figures that the paper prints, and their recomputation."""
