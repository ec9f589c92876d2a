"""Values separated by commas, semicolons or tabs (.csv, .tsv)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".csv", ".tsv"),
    mime_types=("text/csv", "application/csv"),
    version="csv-3",
    reader="tasks.reading.delimited.reader",
    own_mime_types={".tsv": "text/tab-separated-values"},
)
