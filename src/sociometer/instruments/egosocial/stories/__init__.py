"""Stories of people, rooms and hidden things: their world, their minds, their words."""
