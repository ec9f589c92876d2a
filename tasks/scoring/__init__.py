"""Criteria, the passages that address them, the quotes that prove a score, and the scores."""
