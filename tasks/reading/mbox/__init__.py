"""Mailboxes: many mails in one file (.mbox)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".mbox",), mime_types=("application/mbox",), version="mbox-1", reader="tasks.reading.mbox.reader"
)
