"""The three games of EgoSocialArena: rules, states, observations and players are separate."""


class IllegalMove(ValueError):
    """A move that the rules do not allow at this point."""
