"""Criteria, the passages that speak to them, the quotes that prove a score, the scores."""
