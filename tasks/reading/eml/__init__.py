"""Mails as the internet sends them (.eml)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".eml",),
    mime_types=("message/rfc822",),
    version="eml-6",
    reader="tasks.reading.eml.reader",
)
