"""Values split by commas, semicolons or tabs (.csv, .tsv)."""

from typing import Final

from tasks.documents.extract.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".csv", ".tsv"),
    mime_types=("text/csv", "application/csv"),
    version="csv-3",
    reader="tasks.documents.extract.delimited.reader",
    own_mime_types={".tsv": "text/tab-separated-values"},
)
