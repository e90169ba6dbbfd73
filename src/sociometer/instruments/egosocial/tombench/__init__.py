"""ToMBench: its released files, and their conversion to the first person by a builder model."""
