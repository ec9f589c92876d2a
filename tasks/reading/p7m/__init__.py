"""Documents and mails that were signed as a whole (.p7m)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".p7m",),
    mime_types=("application/pkcs7-mime", "application/x-pkcs7-mime"),
    version="p7m-1",
    reader="tasks.reading.p7m.reader",
)
