"""SocialEval: reaching social goals in world trees, and 32 interpersonal abilities."""
