"""What can be answered without the situation: each model as its own control."""
