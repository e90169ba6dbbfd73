"""Players: hosted and local models, baselines, scripts, recordings, people."""
