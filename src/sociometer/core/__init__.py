"""The vocabulary that every other room speaks; imports nothing else of ours."""
