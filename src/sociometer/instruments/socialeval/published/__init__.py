"""SocialEval's published figures, and what can be recomputed from them."""
