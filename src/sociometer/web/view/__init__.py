"""`sociometer view`: the runs of stores in the browser."""
