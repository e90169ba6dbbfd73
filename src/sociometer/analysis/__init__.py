"""Tables in, numbers out: statistics and chart specifications, with no store, no model and no instrument."""
