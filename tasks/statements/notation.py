"""What `figures` knows beside numbers and dates: numbers in words, measures, and what limits a figure."""

import re
from typing import Final

from tasks.language.words import figure_words

ONES: Final = figure_words("ones").split()
TENS: Final = figure_words("tens").split()
NUMBER_WORDS: Final = {word: value for value, word in enumerate(ONES)} | {
    word: 10 * value for value, word in enumerate(TENS, 2)
}
SCALES: Final = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
MEASURES: Final = frozenset(figure_words("measures").split())
ONE_OF: Final = {
    "people": "employee",
    "customers": "customer",
    "countries": "country",
    "facilities": "facility",
    "gigawatt": "gw",
    "gigawatts": "gw",
    "megawatt": "mw",
    "megawatts": "mw",
    "kilometer": "km",
    "kilometers": "km",
    "kilometre": "km",
    "kilometres": "km",
}

NUMBER_WORD: Final = re.compile(
    rf"\b(?:(?:{'|'.join(TENS)})[ -](?:{'|'.join(ONES[1:10])})|{'|'.join([*TENS, *ONES])})\b"
    r"(?:[ -](?P<scale>hundred|thousand|million|billion|trillion)\b)?"
    r"(?P<unit>\s+(?:percentage points?|percent|per cent|basis points?|times)\b)?"
    r"(?P<behind>\s+(?:dollars|euros|yen|rupees|francs|pounds sterling)\b)?",
    re.IGNORECASE,
)
_LOW: Final = (
    r"at least|not less than|no less than|no fewer than|not fewer than|a minimum of|minimum of|more than|over|in excess"
    r" of|exceed(?:s|ed|ing)?|greater than|higher than|above|upwards of|≥|>=?"
    r"|surpass(?:es|ed|ing)?|north of|longer than"
)
_HIGH: Final = (
    r"at most|up to|no more than|not more than|not over|(?:shall |may |will |must |can )?not exceed(?:ing)?"
    r"|a maximum of|maximum of|less than|fewer than"
    r"|below|under|≤|<=?|lower than|within|shorter than|(?:capped|limited) (?:at|to)"
)
_SHORT: Final = r"nearly|almost|just under|close to|slightly less than|slightly below"
_NEAR: Final = r"approximately|about|around|roughly|circa|ca\.?|some|~|≈"
LIMITS: Final = [
    (name, re.compile(rf"(?:^|[\s(])(?:{pattern})\s*(?:the\s|an?\s)?$", re.IGNORECASE))
    for name, pattern in (
        ("low", _LOW),
        ("high", _HIGH),
        ("short", _SHORT),
        ("exact", "exactly|precisely"),
        ("near", _NEAR),
    )
]
"""What stands in front of a figure and limits it: its kind, and its words."""
LIMITS_BEHIND: Final = [
    ("low", re.compile(r"\s*(?:or|and) (?:more|above|over|greater|longer|higher)\b|\+(?=\s|$)", re.IGNORECASE)),
    ("high", re.compile(r"\s*or (?:less|fewer|below|under)\b", re.IGNORECASE)),
]
