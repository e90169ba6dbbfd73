"""What models and people judge: strategies, replies, and the sheets that people fill in."""
