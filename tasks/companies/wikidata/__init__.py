"""Wikidata as it is asked and read: its items, its query service, and what an item says as claims."""
