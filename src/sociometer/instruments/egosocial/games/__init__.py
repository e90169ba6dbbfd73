"""The three games of EgoSocialArena: rules, states, observations and players are separate."""
