"""Text out of files: one reader a format, and the process pool that runs them. Imports no Prefect."""

from tasks.documents.extract.formats import read_document

__all__ = ["read_document"]
