"""Anything that can answer: hosted and local models, baselines, scripts, recordings, people."""
