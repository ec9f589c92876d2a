"""Cuts sources that are longer than a model takes at once into parts, at the borders that the texts have.

Nothing is left out and nothing is read twice; each piece keeps its source's number, name and place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tasks.ai.answerer import Source

_BORDERS = ("\f", "\n\n", "\n", ". ", "。", " ")  # pages, paragraphs, lines, sentences, words: the best first
_FRAME = 160  # bytes that stand around a source's text in a prompt, besides its name and place
_LEAST = 64  # bytes of text that are worth a place in a part


def cut(sources: Sequence[Source], room: int) -> Iterator[list[Source]]:
    """The sources in parts of at most `room` bytes (UTF-8) each, with what stands around them in a prompt."""
    part: list[Source] = []
    left = room
    for source in sources:
        frame = frame_of(source)
        start = 0
        while start < len(source.text) or not source.text:
            if part and left - frame < min(_LEAST, _size(source.text[start : start + _LEAST])):
                yield part
                part, left = [], room
            end = start + _fitting(source.text, start, left - frame if part else max(left - frame, _LEAST))
            text = source.text[start:end]
            part.append(replace(source, text=text))
            left -= frame + _size(text)
            start = end
            if start >= len(source.text):
                break
            yield part
            part, left = [], room
    if part:
        yield part


def frame_of(source: Source) -> int:
    """Bytes that a source takes in a prompt besides its text."""
    return _FRAME + 2 * (_size(source.name) + _size(source.place or ""))


def size_of(sources: Sequence[Source]) -> int:
    """Bytes that the sources take in a prompt."""
    return sum(_size(source.text) + frame_of(source) for source in sources)


def _fitting(text: str, start: int, room: int) -> int:
    """How many characters from `start` on fit into `room` bytes, up to the best border in their second half."""
    piece = text[start : start + room]
    whole = piece.encode(errors="replace")
    if len(whole) <= room and start + len(piece) == len(text):
        return len(piece)
    piece = whole[:room].decode(errors="ignore")
    for border in _BORDERS:
        at = piece.rfind(border, len(piece) // 2)
        if at >= 0:
            return at + len(border)
    return max(len(piece), 1)


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))
