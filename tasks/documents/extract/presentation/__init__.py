"""Presentations: the shapes of a slide in the order in which a person reads them."""
