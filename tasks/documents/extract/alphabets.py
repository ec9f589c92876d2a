"""Which code page a text in Latin letters is in: the one whose letters make one language's alphabet.

A detector by frequencies mixes these code pages up: it takes Italian for Czech and Hungarian for French.
"""

import re
from collections import Counter
from typing import Final

_ALPHABETS: Final = {
    "western": (
        "éèàêç âæëîïôœùûüÿ", "äöüß é", "áéíñóú üªº", "àèéóòíç ïúü·", "ãçáéíóõêú àâôüªº", "àèéìòù íîóú",
        "ëéï áèêíóöüú", "åäö éü", "æøå éäüöòôè", "áðéíóúýþæö", "ŵŷ âêîôûáéïö", "çë",
    ),
    "central": ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîşţ", "čćđšž", "äöüß é"),
    "turkish": ("çğıiöşü",),
    "baltic": ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöü šž"),
}  # fmt: skip
"""The letters beyond ASCII of one language each; after a space those that are rare in it."""

_CODE_PAGES: Final = {
    "cp1252": "western", "cp1250": "central", "iso8859-2": "central", "cp1254": "turkish", "cp1257": "baltic",
    "iso8859-15": "western", "mac_roman": "western", "cp850": "western", "cp437": "western", "cp852": "central",
    "mac_latin2": "central",
}  # fmt: skip
"""Of those that fit equally well the first is taken."""

_SIGNS: Final = frozenset("\xa0‘“”„‚«»‹›–—…•·€£§°©®™¿¡²³½¼¾×±µ†")
_PLACES: Final = re.compile(rb"(?s)(?=(.[\x80-\xff].))")
_FITS: Final = 0.9
_OF_SEVERAL: Final = 0.95
"""What letters of several languages of a code page count, as a share of those of one."""
_RARE: Final = 0.97
"""What rare letters count: Latvian would be French otherwise."""
_SPARSE: Final = 0.4
"""A share of letters beyond ASCII that no language in Latin letters has."""


def code_page(sample: bytes) -> str | None:
    """The code page of a text in Latin letters; None where none fits, as for a text in other letters."""
    places = Counter(_PLACES.findall(b" " + sample + b" "))
    ascii_letters = len(re.findall(rb"[A-Za-z]", sample))
    if places.total() > _SPARSE * (places.total() + ascii_letters):
        return None
    fits = {encoding: _fit(places, encoding) for encoding in _CODE_PAGES}
    best = max(fits, key=lambda encoding: fits[encoding])
    return best if fits[best] >= _FITS else None


def _fit(places: Counter[bytes], encoding: str) -> float:
    """The share of the characters beyond ASCII that one language writes so, between these neighbours."""
    signs = 0
    letters: Counter[str] = Counter()
    for place, count in places.items():
        before, character, after = tuple(place.decode(encoding, "replace"))
        if character == "’" or (character in _SIGNS and not (before.isalpha() and after.isalpha())):
            signs += count
        elif character.isalpha() and not (
            (character.isupper() and before.islower()) or (character.islower() and after.isupper())
        ):
            letters[character.lower()[0]] += count
    alphabets = _ALPHABETS[_CODE_PAGES[encoding]]
    one = max(_count(letters, *alphabet.split()) for alphabet in alphabets)
    several = sum(letters[letter] for letter in set("".join(alphabets)))
    return (signs + max(one, _OF_SEVERAL * several)) / places.total()


def _count(letters: Counter[str], common: str, rare: str = "") -> float:
    return sum(letters[letter] for letter in common) + _RARE * sum(letters[letter] for letter in rare)
