"""`read_document`, the text of one document, under the name that outside programs use."""

from tasks.reading import read_document

__all__ = ["read_document"]
