"""Reads what is longer than a model takes at once: whole, part by part, and answers from the notes of all parts.

Each part is asked for what it says to the question, many of them side by side. The notes are joined into the
answer, in several steps where they are themselves too long. Nothing is left out: a part that the model does
not read is a failure of the whole.

Cuts sources that are longer than a model takes at once into parts, at the borders that the texts have.

Nothing is left out and nothing is read twice; each piece keeps its source's number, name and place.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Final

from tasks.ai.answerer import AnswererFailed, Source, Usage
from tasks.ai.openai.errors import BeyondWindow
from tasks.ai.openai.responses import Reply
from tasks.ai.prompts import NOTHING, Messages, notes_prompt, part_prompt
from tasks.errors import TooLarge
from tasks.remote.fan_out import FanOut, Leave
from tasks.text.tokens import most_model_tokens

_BORDERS = ("\f", "\n\n", "\n", ". ", "。", " ")  # pages, paragraphs, lines, sentences, words: the best first
_FRAME = 160  # bytes that stand around a source's text in a prompt, besides its name and place
_SMALLEST_PART = 64  # bytes of text that are worth a place in a part


def cut(sources: Sequence[Source], room: int) -> Iterator[list[Source]]:
    """The sources in parts of at most `room` bytes (UTF-8) each, with what stands around them in a prompt."""
    part: list[Source] = []
    left = room
    for source in sources:
        frame = frame_of(source)
        start = 0
        while start < len(source.text) or not source.text:
            if part and left - frame < min(_SMALLEST_PART, _size(source.text[start : start + _SMALLEST_PART])):
                yield part
                part, left = [], room
            end = start + _fitting(source.text, start, left - frame if part else max(left - frame, _SMALLEST_PART))
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


MOST_PARTS: Final = 200  # calls that a single question may cost; at 8 side by side and 5 s each two minutes
_BYTES: Final = 2.3  # in a token, at the fewest
_LONGEST_ANSWER: Final = 4096  # tokens kept free for an answer, or a quarter of the window
_SMALLEST: Final = 512  # tokens; a window in which nothing is left beside the rules
_SHORTER: Final = 0.9  # of their length is what notes are at most, once they have been joined
_DENSEST: Final = 2_000  # bytes; a part of fewer is not halved

log = logging.getLogger(__name__)


class LongReading:
    """One question to sources that are too long. `ask` asks the model, `at_once` is how many times side by side.

    `parts` is in how many parts they were read, `window` for how many tokens these were made.
    """

    def __init__(self, ask: Callable[[Messages], Reply], question: str, at_once: int) -> None:
        self._ask = ask
        self._question = question
        self._at_once = at_once
        self._lock = Lock()
        self._usage = Usage()
        self.window = 0
        self.parts = 0

    def answer(self, sources: Sequence[Source], window: int) -> Reply:
        """The answer from all that the sources say, for a model that takes `window` tokens at once, or fewer.

        Raises:
            TooLarge: they are too long even so.
            AnswererFailed: a part was not answered; the error holds the usage of all.
            tasks.errors.DiligenceError: the model could not be asked.
        """
        try:
            text = self._joined(self._noted(sources, window))
        except (AnswererFailed, BeyondWindow) as failure:
            failure.usage += self._usage
            raise
        return Reply(text, self._usage)

    def _noted(self, sources: Sequence[Source], window: int) -> list[str]:
        """The notes of all parts. How much fits is found out with the first."""
        while True:
            parts = self._cut(sources, window)
            self.window, self.parts = window, len(parts)
            try:
                first = self._note(parts[0], 1, whole=True)
                break
            except BeyondWindow as beyond:
                self._count(beyond.usage)
                window = min(beyond.window or window, window // 2)
        log.info("The context is longer than the model takes at once and is read in %d parts.", len(parts))
        rest = self._side_by_side([partial(self._note, part, number) for number, part in enumerate(parts[1:], 2)])
        return [note for note in (first, *rest) if note]

    def _cut(self, sources: Sequence[Source], window: int) -> list[list[Source]]:
        room = self._room(window, part_prompt(self._question, [], MOST_PARTS, MOST_PARTS))
        if size_of(sources) > room * MOST_PARTS:
            raise TooLarge(
                f"The context is too long: the model takes about {window} tokens at once, and no more than "
                f"{MOST_PARTS} parts are read. Shorten it to {_told(room * MOST_PARTS)}, or name a model with a "
                "larger window in DILIGENCE_AI_MODEL."
            )
        return list(cut(sources, room))

    def _room(self, window: int, frame: Messages) -> int:
        """Bytes of text that fit into the window beside the rules, the question and an answer.

        Raises:
            TooLarge: none does.
        """
        rules = most_model_tokens(*(message["content"] for message in frame))
        room = window - rules - min(window // 4, _LONGEST_ANSWER)
        if room < _SMALLEST // 4:
            raise TooLarge(
                f"The model takes about {window} tokens at once, which leaves no room for a text beside the question "
                "and its rules. Raise the server's context size, or name another model in DILIGENCE_AI_MODEL."
            )
        return int(room * _BYTES)

    def _note(self, part: Sequence[Source], number: int, *, whole: bool = False) -> str:
        """What a part says to the question; empty where it says nothing. One that is too dense is halved."""
        try:
            note = self._said(part_prompt(self._question, part, number, self.parts))
        except BeyondWindow as beyond:
            halves = list(cut(part, size_of(part) // 2))
            if whole or len(halves) < 2 or size_of(part) < _DENSEST:
                raise
            self._count(beyond.usage, parts=len(halves) - 1)
            return "\n".join(filter(None, (self._note(half, number) for half in halves)))
        return "" if note.strip(" .*\"'`\n").upper() == NOTHING else note

    def _joined(self, notes: Sequence[str]) -> str:
        """The answer from the notes, which are joined group by group until they fit."""
        room = self._room(self.window, notes_prompt(self._question, ""))
        before: float = float("inf")
        while True:
            text = "\n".join(notes) or "(No part says anything that bears on the question.)"
            size = len(text.encode(errors="replace"))
            if size <= room:
                return self._said(notes_prompt(self._question, text))
            if size > before * _SHORTER:
                break
            before = size
            groups = ["".join(source.text for source in group) for group in cut([Source(1, "", None, text)], room)]
            fewer = [notes_prompt(self._question, group, fewer=True) for group in groups]
            notes = self._side_by_side([partial(self._said, messages) for messages in fewer])
        raise TooLarge(
            "What the context says to the question is too much for the model to be joined. Ask for less at once, or "
            "name a model with a larger window in DILIGENCE_AI_MODEL."
        )

    def _said(self, messages: Messages) -> str:
        reply = self._ask(messages)
        self._count(reply.usage)
        return reply.text

    def _count(self, usage: Usage, parts: int = 0) -> None:
        with self._lock:
            self._usage += usage
            self.parts += parts

    def _side_by_side(self, asked: Sequence[Callable[[], str]]) -> list[str]:
        """What all of them say, in order. The first failure ends it; what is under way then is still counted."""
        with FanOut(min(self._at_once, len(asked)), "part", Leave.ON_INTERRUPT) as threads:
            return [answer.result() for answer in [threads.submit(call) for call in asked]]


def _told(size: int) -> str:
    return f"{size / 1024 / 1024:.1f} MB" if size >= 1024 * 1024 else f"{size // 1024} KB"
