"""The three games of EgoSocialArena."""
