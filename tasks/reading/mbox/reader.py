"""A mailbox (.mbox, RFC 4155): each of its mails is passed on as a document, named by its subject."""

import re
from email.parser import BytesHeaderParser
from itertools import pairwise
from typing import Final

from tasks.errors import Damaged
from tasks.reading.mail.message import read_header
from tasks.reading.text_writer import Reading, Source, Writer

_BEGINNING: Final = re.compile(rb"(?:\A|\n\r?\n)(?=From [^\r\n]{1,1000}\r?\n[!-9;-~]{1,100}:)")
"""An empty line, and one that begins with "From ", behind which headers stand."""

_ESCAPED: Final = re.compile(rb"^>(>*From )", re.MULTILINE)
_MOST: Final = 10_000
_LONGEST_NAME: Final = 100
_HEAD: Final = 1 << 16  # bytes of a mail in which its subject is looked for


def read(source: Source) -> Reading:
    """The mails of the mailbox in `source` as embedded documents; of more than ten thousand, the first ten thousand.

    Raises:
        Damaged: no mail begins in it.
    """
    data = source if isinstance(source, bytes) else source.read_bytes()
    starts = [match.end() for match in _BEGINNING.finditer(data)]
    if not starts:
        raise Damaged("The file is no mailbox: no mail begins in it. Ask for it again.")
    writer = Writer()
    if len(starts) > _MOST:
        writer.warn(f"The mailbox holds {len(starts):,} mails: those after the first {_MOST:,} were left out.")
    for start, end in list(pairwise([*starts, len(data)]))[:_MOST]:
        mail = _ESCAPED.sub(rb"\1", data[start:end])
        writer.attach(_name(mail), mail)
    return writer.reading()


def _name(mail: bytes) -> str:
    subject = read_header(str(BytesHeaderParser().parsebytes(mail[:_HEAD])["subject"] or "").encode())
    return f"{subject[:_LONGEST_NAME].replace('/', '-') or 'mail'}.eml"
