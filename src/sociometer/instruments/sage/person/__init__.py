"""The simulated person: played by a model, or by rules as a rehearsal."""
