"""Checks statements against the sentences of their sources: supported, contradicted, or not found."""
