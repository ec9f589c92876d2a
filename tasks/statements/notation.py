"""How figures are written: the words, signs and patterns that `figures` reads them by."""

import re
from typing import Final

from tasks.language.words import figure_words

ONES: Final = figure_words("ones").split()
TENS: Final = figure_words("tens").split()
NUMBER_WORDS: Final = {word: value for value, word in enumerate(ONES)} | {
    word: 10 * value for value, word in enumerate(TENS, 2)
}
SCALES: Final = {
    word: int(value) for word, _, value in (entry.partition("=") for entry in figure_words("scales").split())
}
CURRENCIES: Final = {
    word: code for word, _, code in (entry.partition("=") for entry in figure_words("currencies").split())
}
MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
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

_NUMBER: Final = (
    r"(?:\d{1,3}(?:\.\d{3})+,\d{1,2}(?!\d)|\d{1,3}(?:\.\d{3}){2,}(?!\d)|\d+,\d{1,2}(?![\d,])"
    r"|\d{1,3}(?:,\d{2,3})+(?:\.\d+)?|\d{1,3}(?:[\u00a0\u2009\u202f']\d{3})+(?:[.,]\d+)?|\d+(?:\.\d+)?|\.\d+)"
)
_CURRENCY: Final = (
    r"(?:(?:US|A|AU|C|CA|HK|NZ|S|R|NT)\$|[$€£¥₹₩₽₺₪฿₫]|(?:USD|EUR|GBP|JPY|INR|KRW|RUB|AUD|CAD|CHF|HKD|SGD|NZD|BRL|CNY|RMB"
    r"|SEK|NOK|DKK|PLN|ZAR|MXN|TRY|ILS|TWD|CZK|HUF|Rs\.?)(?![A-Za-z]))"
)
_CURRENCY_WORDS: Final = (
    r"(?i:US\s+dollars|dollars?|euros?|pounds?\ssterling|yen|rupees|won|roubles|rubles|francs|yuan|renminbi|cents|pence)"
    r"\b"
)
_SCALE: Final = (
    r"(?:hundred|thousands?|lakhs?|lac|crores?|millions?|billions?|trillions?|bn|mn|mm|mio\.?|mln|mrd\.?|tn|tsd|k|m|b|cr)"
    r"(?![A-Za-z²³])"
)
_MONTH: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_WHOLE_MONTH: Final = "January|February|March|April|May|June|July|August|September|October|November|December"
_UNIT: Final = (
    r"\s*(?:%[ -]?(?:points?|pts?)|percentage[ -]points?|percent(?:age)?[ -]points?|pp(?:ts?|s)?\b|%|‰|per\s?cent\b"
    r"|percent\b|pct\b|basis[ -]points?|bps?\b|[x×](?!\w)|times\b)"
)
YEAR: Final = r"(?:1[89]|20|21)\d\d"
FIGURE: Final = re.compile(
    rf"""
      (?P<date>
          (?<![\w.]){YEAR}-\d\d-\d\d(?!\d)
        | (?<![\w.])\d{{1,2}}\.\d{{1,2}}\.{YEAR}(?!\d)
        | (?<![\w./])\d{{1,2}}/\d{{1,2}}/{YEAR}(?!\d)
        | \b{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+{YEAR})?(?![\d,.]*\d|\s*(?:%|percent|million|billion))
        | (?<![\w.,])\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,?\s+{YEAR})?(?![\w])
        | \b{_MONTH}(?:\s+of)?,?\s+{YEAR}(?!\d)
        | (?<=[io]n\s)(?:{_WHOLE_MONTH})\b
        | (?<=\bby\s)(?:{_WHOLE_MONTH})\b
      )
    | (?P<quarter> \b(?:Q[1-4]|[1-4]Q|(?:first|second|third|fourth)[ -]quarter|H[12]\b|(?:first|second)[ -]half)
          (?:\s+(?:of\s+)?(?:the\s+)?(?:fiscal\s+|financial\s+)?(?:year\s+)?(?:FY\s?)?['’]?(?P<of>{YEAR}|\d\d(?!\d)))? )
    | (?P<fiscal> \b(?:FY|CY)[ ]?['’]?(?P<fiscal_year>{YEAR}|\d\d)(?!\d) )
    | (?P<amount>
          (?P<open>\(\s*)?
          (?P<minus>(?<![\w.,)\]])[-−–‐‑]\s?(?=[$€£¥₹₩₽\d.(A-Z])
            |\b(?:minus|negative)\s+(?=[$€£¥₹₩₽\d(A-Z]))?
          (?:(?P<currency>{_CURRENCY}\s*)(?P<inner>[-−–(]\s*)?)?
          (?<![\w.,])(?<![A-Za-z]-)(?P<number>{_NUMBER})(?!\d|-[A-Z]\b)
          (?P<close>\s*\))?
          (?P<tail>[-−](?=\s|$))?
          (?:(?:\s|-)?(?P<scale>{_SCALE})(?:\s+(?P<second>{_SCALE}))?)?
          (?P<unit>{_UNIT})?
          (?P<behind>\s*(?:{_CURRENCY}(?!\s*[\d(])|{_CURRENCY_WORDS}))?
      )
    """,
    re.VERBOSE,
)
NUMBER_WORD: Final = re.compile(
    rf"\b(?:(?:{'|'.join(TENS)})[ -](?:{'|'.join(ONES[1:10])})|{'|'.join([*TENS, *ONES])})\b"
    r"(?:[ -](?P<scale>hundred|thousand|million|billion|trillion)\b)?"
    r"(?P<unit>\s+(?:percentage points?|percent|per cent|basis points?|times)\b)?"
    r"(?P<behind>\s+(?:dollars|euros|pounds|yen|rupees|francs)\b)?",
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
