"""Pages in the browser: stored runs, and the same tests for people."""
