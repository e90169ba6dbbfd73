"""Statistics and chart specifications; imports no store, model or instrument."""
