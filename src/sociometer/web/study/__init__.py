"""`sociometer study`: people take the same tests in the browser."""
