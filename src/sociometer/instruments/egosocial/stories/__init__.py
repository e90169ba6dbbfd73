"""Stories of people, rooms and hidden things: their events, minds and words, and how they are drawn from a seed."""
