"""Persistence: one module for each resource, with its tables and every query on them."""
