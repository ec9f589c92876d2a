"""Mails as Outlook keeps them (.msg)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".msg",),
    mime_types=("application/vnd.ms-outlook",),
    version="msg-5",
    reader="tasks.reading.msg.reader",
)
