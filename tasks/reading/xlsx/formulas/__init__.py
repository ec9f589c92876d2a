"""Formulas that have no stored value, computed where that is simple and certain."""
