"""Documents inside an Office file, which are handed on unread."""

import posixpath
from collections.abc import Iterable
from typing import Final

from tasks.documents.extract.office.package import Package
from tasks.documents.extract.reading import Writer

KINDS: Final = ("package", "oleObject", "aFChunk")
"""The kinds of relationships that lead to a document inside this one."""

LIMIT: Final = 64 << 20
"""The most bytes of one of them that are handed on."""

TOTAL: Final = 128 << 20
"""The most bytes of all of them together."""


def hand_on(package: Package, names: Iterable[str], writer: Writer) -> None:
    """Hand the parts of these names to `writer`, each once; of what is lost or too large the name alone."""
    left = TOTAL
    for name in dict.fromkeys(names):
        data = package.attachment(name, min(left, LIMIT))
        left -= len(data or b"")
        writer.attach(posixpath.basename(name), data)
