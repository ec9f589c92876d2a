"""The interface of text recognition: what an engine gets, and what it returns."""

from typing import NamedTuple, Protocol

from tasks.reading.picture import Picture


class RecognitionFailed(Exception):
    """An engine crashed, refused the picture, or cannot be loaded."""


class RecognitionTimedOut(RecognitionFailed):
    """An engine was stopped because the page's time was up."""


class RecognisedWord(NamedTuple):
    """A word in a picture: its box in pixels from the upper left corner, and the number of the line it was read with.

    `confidence` is how certain the engine is, 0 to 1.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    confidence: float
    line: int


class Engine(Protocol):
    """Reads pictures in a separate process, which ends it if a page takes too long."""

    name: str
    """Under which its pages are kept: the engine and, where it needs to be told them, the languages."""

    def words(self, picture: Picture) -> list[RecognisedWord]:
        """The words in a picture, upright or not, in the order in which they were read.

        Raises:
            RecognitionFailed: it cannot read the picture, or cannot be loaded.
        """
        ...
