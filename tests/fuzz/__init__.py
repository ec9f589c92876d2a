"""Mutated documents against the readers: `python -m tests.fuzz`. What it finds is kept in `findings` as a test."""
