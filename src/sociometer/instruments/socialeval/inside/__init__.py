"""The look inside a model: where it tells abilities apart, which neurons respond to them, and what they cause."""
