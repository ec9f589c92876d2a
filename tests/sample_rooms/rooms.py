"""Builds every document of the rooms from its source, at the place it has in the room."""

import random
from collections.abc import Iterator
from pathlib import Path

from tests.sample_rooms import pages, scan, slides, word
from tests.sample_rooms.markup import Source, read
from tests.sample_rooms.workbooks import WORKBOOKS

SOURCES = Path(__file__).parent / "sources"


def build(target: Path) -> Iterator[Path]:
    """Write each document of each room below `target`; gives the paths written, in order of name."""
    paths = {path.relative_to(SOURCES).with_suffix(""): path for path in SOURCES.rglob("*.md")}
    for place in sorted({*paths, *map(Path, WORKBOOKS)}):
        made = WORKBOOKS[place.as_posix()]() if place.suffix == ".xlsx" else _document(place, read(paths[place]))
        document = target / place
        document.parent.mkdir(parents=True, exist_ok=True)
        document.write_bytes(made)
        yield document


def _document(place: Path, source: Source) -> bytes:
    if place.suffix == ".txt":
        return source.body.replace("\n", "\r\n").encode(source.encoding)
    if source.scanned:
        return scan.write(source)
    made = {".docx": word, ".pptx": slides, ".pdf": pages}[place.suffix].write(source)
    return _damage(made) if source.damaged else made


def _damage(document: bytes) -> bytes:
    """What a failing disk leaves of a file: its first line and its length. Nothing of it can be recovered."""
    first = document[:9]
    return first + random.Random(len(document)).randbytes(len(document) - len(first))
