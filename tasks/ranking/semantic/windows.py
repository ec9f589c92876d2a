"""What of a passage a sentence-embedding model sees at once.

Such models read 256 to 512 word pieces and make one vector of them, in which a long passage says a bit of
everything. So a passage is embedded in parts, and its best part counts.
"""

import re
from collections.abc import Iterator
from math import ceil
from typing import NamedTuple

_LONGEST = 600  # characters; mean reciprocal rank on TAT-QA .760, with whole passages .746; on ContractNLI .776 both
_SHIFT = 60  # characters that a part may end earlier, to end with a word
_ABOUT = 200  # characters of what a passage is about
_SPACE = re.compile(r"\s")


class Candidate(NamedTuple):
    """A passage to be put in order: a span of a stored text, in characters, and the words there.

    `about` is what it stands under: its heading, its columns' names. Each part is embedded with it.
    """

    text_id: int
    start: int
    end: int
    text: str
    about: str = ""

    @property
    def telling(self) -> str:
        """The words with what they are about."""
        return f"{self.about[:_ABOUT]}\n{self.text}" if self.about else self.text


def windows(passage: Candidate) -> Iterator[Candidate]:
    """The passage in as few even parts as may be, cut at white space where there is some near."""
    parts = ceil(len(passage.text) / _LONGEST)
    begin = 0
    for part in range(1, parts + 1):
        end = len(passage.text) if part == parts else _near(passage.text, len(passage.text) * part // parts)
        yield passage._replace(start=passage.start + begin, end=passage.start + end, text=passage.text[begin:end])
        begin = end


def _near(text: str, offset: int) -> int:
    """The offset, or that of the last white space shortly before it."""
    found = [match.end() for match in _SPACE.finditer(text, offset - _SHIFT, offset)]
    return found[-1] if found else offset
