"""Looking inside open weights: what their layers represent, and which neurons respond."""
