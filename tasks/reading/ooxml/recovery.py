"""What is no character in damaged XML: recovering parsers hand it on, and who asks for the words meets an error."""

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

_OTHER_ENCODING: Final = re.compile(rb"""\sencoding\s*=\s*["'](?!(?i:utf-?8)["'])""")
_REFERENCE: Final = re.compile(rb"&#(?:x([0-9a-fA-F]{1,16})|([0-9]{1,16}));")
_LONGEST_REFERENCE: Final = 20


def whole_characters(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces of a part with signs for what is no character: a recovering parser hands it on as it is.

    Those are bytes that are no UTF-8, unless the part names another encoding, and references to surrogates.
    """
    rest = iter(pieces)
    first = next(rest, b"")
    if first.startswith((b"\xff\xfe", b"\xfe\xff")) or _OTHER_ENCODING.search(first, 0, 200):
        decoded: Iterable[bytes] = chain([first], rest)
    else:
        decoded = (piece.encode() for piece in codecs.iterdecode(chain([first], rest), "utf-8", "replace"))
    kept = b""
    for piece in decoded:
        whole = kept + piece
        begun = whole.rfind(b"&", max(0, len(whole) - _LONGEST_REFERENCE))  # perhaps the beginning of one
        kept = whole[begun:] if begun >= 0 else b""
        whole = whole[:begun] if begun >= 0 else whole
        if whole:
            yield _REFERENCE.sub(_character, whole) if b"&#" in whole else whole
    if kept:
        yield _REFERENCE.sub(_character, kept)


def _character(reference: re.Match[bytes]) -> bytes:
    number = int(reference[1], 16) if reference[1] else int(reference[2])
    return b"&#xFFFD;" if 0xD800 <= number < 0xE000 or number > 0x10FFFF else reference[0]
