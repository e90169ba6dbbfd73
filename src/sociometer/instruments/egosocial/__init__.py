"""EgoSocialArena: theory of mind and socialization from the first person, in stories, strange worlds and games."""
