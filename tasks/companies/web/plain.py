"""Text from the web as plain text: nothing in it that is not read, and nothing that changes how the rest looks."""

import re
from typing import Final

from tasks.documents.extract.reading import clean

MARK: Final = "\ue000"
"""A character for private use that no plain text holds: what needs a mark of its own in a text may take it."""
_UNSEEN: Final = re.compile(
    "[\x80-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ue000\U000e0000-\U000e007f]"
)
"""Controls, directions, and characters without width or shape, in which texts for machines alone are hidden.

The joiners U+200C and U+200D stay: Persian and the scripts of India are written with them.
"""


def plain(text: str) -> str:
    r"""`text` without controls (line ends are `\n`) and without what nobody sees."""
    return _UNSEEN.sub("", clean(text))


def one_line(text: str) -> str:
    """`plain` in one line, with single spaces."""
    return " ".join(plain(text).split())
