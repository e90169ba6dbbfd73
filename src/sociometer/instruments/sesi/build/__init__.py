"""Builds new items from posts and their comments, as section 3.3 of the paper describes."""
