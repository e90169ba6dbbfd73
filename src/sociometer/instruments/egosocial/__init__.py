"""EgoSocialArena: first-person theory of mind and socialization in stories, other worlds and games."""
