"""Number guessing: two players aim at 0.8 times the average of their numbers, round after round."""
