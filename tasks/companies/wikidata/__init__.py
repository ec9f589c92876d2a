"""Wikidata: requests to it, its items, its query service, and what an item says as claims."""
