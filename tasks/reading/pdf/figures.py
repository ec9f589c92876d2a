"""What the text of a table's cell is: a figure, a dash for none, a sign that belongs to a figure."""

import re
from functools import lru_cache
from typing import Final

_FIGURE: Final = re.compile(
    r"[(\[−–+-]? ?(US\$|[A-Z]{0,3}[$€£¥])? ?[(−–-]?\d[\d,.'’ ]*\)? ?(%|x|[kKmMbB]n?|pp|bps?|[$€£¥])?\)?[*†‡]?"
    r"|[-–—−]+|n/?[am]\.?|N/?[AM]|nil|Nil"
)
_LONGEST_FIGURE: Final = 40
_LIKE_FIGURE: Final = re.compile(r"\d{1,9} ?/ ?\d{1,9}|\w\d{1,9}([.,]\d{1,9})?%")
_YEAR: Final = re.compile(r"(19|20)\d\d")
LEADING_SIGN: Final = re.compile(r"(US|[A-Z]{0,2})[$€£¥]( ?\()?|\(|EUR|USD|GBP|CHF")
CLOSING_SIGN: Final = re.compile(r"%|\)|%\)|\)%|\) ?%")


def is_figure(text: str) -> bool:
    """Whether a cell's text is a figure, or a dash for none."""
    return len(text) <= _LONGEST_FIGURE and _is_figure(text)


def is_like_figure(text: str) -> bool:
    """Whether a cell's text is a figure, or one beside another (`25/30`), or with a sign that is not known (`þ5%`)."""
    return is_figure(text) or _LIKE_FIGURE.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def _is_figure(text: str) -> bool:  # each cell is asked several times
    return _FIGURE.fullmatch(text) is not None


def is_amount(text: str) -> bool:
    """Whether a cell's text is a figure, or a dash for none, but no year."""
    return is_figure(text) and not _YEAR.fullmatch(text)


def is_sign(text: str) -> bool:
    """Whether a cell holds nothing but a currency's sign, or what closes a figure."""
    return LEADING_SIGN.fullmatch(text) is not None or CLOSING_SIGN.fullmatch(text) is not None
