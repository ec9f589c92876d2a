"""Parts of a document that only say where something is: tables of contents, indexes of exhibits, bookmarks.

They contain the words of every question and answer none, so they are not passages.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from tasks.reading import places as kinds
from tasks.reading.places import Place

_PAGE: Final = re.compile(r"(?:[A-Z]{1,2}-)?(\d{1,4})")
_EXHIBIT: Final = re.compile(
    r"^[\s|]*[*†+#(]{0,3}(?:(?:exhibit|annex|schedule|appendix|anlage|annexe)\b\W{0,3})?"
    r"(?:\d{1,3}[.-]\d{1,3}|[A-Z]?-?\d{1,3}|[A-Z])\b",
    re.IGNORECASE,
)
_CONTENTS: Final = re.compile(
    r"\W{0,4}(?:(?:table of )?contents|inhalts(?:verzeichnis|übersicht)|sommaire|table des mati[eè]res|[ií]ndice"
    r"|sommario|inhoud(?:sopgave)?)\b|\W{0,4}index\W{0,4}$",
    re.IGNORECASE,
)
_EXHIBITS: Final = re.compile(
    r"\b(?:(?:index|list|table) (?:of|to) (?:the )?(?:exhibits|annexes|schedules|appendices|attachments)"
    r"|(?:exhibits?|annex|appendix) index|anlagen(?:verzeichnis|übersicht|liste)|verzeichnis der (?:anlagen|anhänge)"
    r"|liste des (?:annexes|pièces)|exhibit\s{1,4}(?:no|number)|índice de anexos|elenco (?:degli )?allegati)\b",
    re.IGNORECASE,
)
_FILED: Final = re.compile(r"\b(?:incorporated (?:herein )?by reference|filed herewith)\b", re.IGNORECASE)
_MOST: Final = 0.6  # of the lines must be entries
_DOTS: Final = 4
_FEW: Final = 3  # lines: fewer are no directory
_LONG: Final = 400  # characters: no entry is so long


def is_directory(text: str, heading: str | None, header: str | None) -> bool:
    """Whether a passage only lists where something is.

    A table of contents has leaders before its page numbers, or says what it is and has ascending page numbers. An index
    of exhibits says what it is, or where its entries were filed, and numbers them.
    """
    lines = [line for line in text.splitlines() if line.strip(" |-\t")]
    if len(lines) < _FEW or any(len(line) > _LONG for line in lines):
        return False
    least = _MOST * len(lines)
    if sum(map(_has_leaders, lines)) >= least:
        return True
    titles = [title for title in (heading, header, *lines[:2]) if title]
    if any(map(_CONTENTS.match, titles)):
        pages = [page for page in map(_entry_page, lines) if page is not None]
        return len(pages) >= least - 1 and all(one <= other for one, other in pairwise(pages))
    if any(map(_EXHIBITS.search, titles)) or len(_FILED.findall(text)) >= _FEW:
        return sum(map(bool, map(_EXHIBIT.match, lines))) >= least - 2  # its title, and the names of its columns
    return False


def _has_leaders(line: str) -> bool:
    """Whether a line ends with a page number behind dots."""
    entry = line.rstrip()
    rest = entry.rstrip("0123456789ivxlcIVXLC")
    leaders = rest[len(rest.rstrip(".… \t")) :]
    return rest != entry and leaders.count(".") + 2 * leaders.count("…") >= _DOTS


def _entry_page(line: str) -> int | None:
    """The page number that a line ends with; None where it ends with none, or has no words."""
    label, _, number = line.replace("|", " ").replace("\t", " ").strip().rpartition(" ")
    page = _PAGE.fullmatch(number)
    return int(page[1]) if page and any(map(str.isalpha, label)) else None


def outline_start(text: str, places: Sequence[Place]) -> int:
    """Where the titles of a PDF's bookmarks begin, which are on no page; the text's length if there are none.

    They repeat what is on the pages; the values of a form, which follow them, do not.
    """
    pages = [place for place in places if place.kind == kinds.PAGE]
    if not pages or any(place.kind in {kinds.SLIDE, kinds.SHEET, kinds.ATTACHMENT} for place in places):
        return len(text)
    end = max(place.end for place in pages)
    on_pages = re.sub(r"\W+", "", text[:end]).casefold()
    titles = [letters for line in text[end:].splitlines() if (letters := re.sub(r"\W+", "", line).casefold())]
    repeated = sum(title in on_pages for title in titles[:100])
    return end if titles and 2 * repeated >= len(titles[:100]) else len(text)
