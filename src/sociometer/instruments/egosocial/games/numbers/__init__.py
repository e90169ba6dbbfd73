"""Number guessing against an opponent with a hidden rule."""
