"""The text of documents: one folder for each format, and the pool of processes that run their readers.

`read_document` reads one document in this process; `pool.pool.ExtractionPool` reads many, under limits. Nothing here
imports Prefect or knows about drives and tables.
"""

from tasks.reading.text_writer import Reading, Source

__all__ = ["read_document"]


def read_document(source: Source | str, format: str | None = None) -> Reading:  # noqa: A002 - the field's word
    """Read a document in this process; its scanned pages are read in other processes, if `DILIGENCE_OCR` allows it.

    Args:
        source: the path of its file, or its content.
        format: its extension (".pdf"); taken from the path when it is None.

    Raises:
        UnsupportedFormat, Unreadable, TooLarge: it cannot be read.
    """
    # Reading processes import this package, and need no settings: pydantic takes 0.2 s.
    from tasks.reading.configuration import read_as_configured  # noqa: PLC0415

    return read_as_configured(source, format)
