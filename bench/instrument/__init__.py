"""The benchmark's work as an instrument, handed to the engine like any other."""
