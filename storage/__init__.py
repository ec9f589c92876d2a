"""Persistence: one module for each resource, with its tables and all queries on them."""
