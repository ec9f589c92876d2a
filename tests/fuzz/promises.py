"""What a reading and an error promise to whoever asked; each breach comes back as a few words."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tasks.language.normalise import one_line
from tasks.reading import text_writer
from tasks.reading.text_writer import Reading

KINDS: Final = frozenset(
    {
        *(
            text_writer.PAGE,
            text_writer.SLIDE,
            text_writer.SHEET,
            text_writer.BODY,
            text_writer.HEADING,
            text_writer.SHAPE,
            text_writer.CELLS,
            text_writer.TABLE,
        ),
        *(
            text_writer.HEADER,
            text_writer.FOOTER,
            text_writer.FOOTNOTE,
            text_writer.ENDNOTE,
            text_writer.TEXT_BOX,
            text_writer.SPEAKER_NOTE,
        ),
        *(
            text_writer.ALTERNATIVE_TEXT,
            text_writer.COMMENT,
            text_writer.INSERTED,
            text_writer.OCR,
            text_writer.ATTACHMENT,
        ),
        *(text_writer.HIDDEN_SHEET, text_writer.HIDDEN_ROW, text_writer.HIDDEN_COLUMN, text_writer.HIDDEN_SLIDE),
    }
)
_UNWANTED: Final = re.compile("[\x00-\x08\x0b\x0d-\x1f\x7f\ud800-\udfff]")  # a form feed stands between pages
_MOST_WARNINGS: Final = 100
_LONGEST_WARNINGS: Final = 20_000
_ADVICE: Final = re.compile(r"Ask for|Save it|Split |Try again|[Gg]ive it|DILIGENCE_[A-Z_]+|Supported are")


def broken(reading: Reading) -> Iterator[str]:
    """What is wrong with a reading."""
    if unwanted := _UNWANTED.search(reading.text):
        yield f"the text holds U+{ord(unwanted[0]):04X}"
    yield from _broken_places(reading)
    if len(reading.warnings) > _MOST_WARNINGS or sum(map(len, reading.warnings)) > _LONGEST_WARNINGS:
        yield "warnings without bound"
    if len(set(reading.warnings)) < len(reading.warnings):
        yield "a warning twice"
    if any(_UNWANTED.search(warning) or "\n" in warning or not warning.strip() for warning in reading.warnings):
        yield "a warning is not one clean line"
    if reading.attachments:
        yield "attachments are left in"


def _broken_places(reading: Reading) -> Iterator[str]:
    around: list[int] = []  # the ends of the places that are open
    last = 0
    for place in reading.places:
        if not 0 <= place.start < place.end <= len(reading.text):
            yield f"a {place.kind} out of range"
        if place.start < last:
            yield f"a {place.kind} out of order"
        if place.kind not in KINDS:
            yield "a place of no known kind"
        if _UNWANTED.search(place.label) or place.label != one_line(place.label):
            yield f"the label of a {place.kind} is not one clean line"
        last = place.start
        while around and around[-1] <= place.start:
            around.pop()
        if around and place.end > around[-1]:
            yield f"a {place.kind} overlaps the end of another place"
        around.append(place.end)


def unclear(message: str, path: Path) -> Iterator[str]:
    """What is wrong with the sentence of an error."""
    if path.name in message or str(path.parent) in message:
        yield "an error names the file"
    if len(message) > 400 or "\n" in message or _UNWANTED.search(message):
        yield "an error is no sentence"
    if not message.endswith((".", ").")) or not _ADVICE.search(message):
        yield "an error does not say what to do"
