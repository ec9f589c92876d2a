"""The text of one document: `read_document` by the name that is promised for it."""

from tasks.reading import read_document

__all__ = ["read_document"]
