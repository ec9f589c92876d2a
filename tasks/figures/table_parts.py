"""Tables that list parts of the company: its customers, segments, products or sites, with their total."""

import re
from collections.abc import Sequence
from typing import Final

from tasks.figures.concepts import Meaning
from tasks.figures.table_labels import LabelReader
from tasks.figures.table_rows import Grid
from tasks.language.numbers import only_units

MOST_PARTS: Final = 500
"""Rows of a list of parts that is taken; a longer one is a ledger of transactions."""

_SHORT_TITLE: Final = 60
_ENTITY_CORNER: Final = re.compile(
    r"\b(?:customers?|clients?|segments?|products?|regions?|countr(?:y|ies)|divisions?|business units?|kunden?"
    r"|produkte?|segmente?|clientes?|subsidiar(?:y|ies)|sites?|brands?|entit(?:y|ies)|services?)\b",
    re.IGNORECASE,
)
_BY_ENTITY: Final = re.compile(r"(?P<what>[^:]+?) (?:by|per|nach|par|por|split by|breakdown by) \w", re.IGNORECASE)
_PARTIAL: Final = re.compile(
    r"\b(?:lost|churned|new|pipeline|won|expansion|contraction|bridge|signed|overdue|orders?|backlog)\b", re.IGNORECASE
)
TOTAL: Final = re.compile(
    r"^(?:grand |group )?(?:total|summe|gesamt|totale?s?|totaal|consolidated|group total|company total|sum)\b",
    re.IGNORECASE,
)
_TOLD_OF: Final = re.compile(
    r"(?P<name>[A-Z][\w&.-]*(?: (?:[A-Z][\w&.-]*|and|&)){0,5})['’]s?"
    r" (?:total )?(?:net )?(?:sales|revenues?|operating|segment)\b"
)
"""How prose goes on under the table of a segment: "Aeronautics' net sales in the second quarter increased"."""

_NO_NAME: Final = re.compile(r"(?:our|the|its|company|group|total|consolidated|management)\b", re.IGNORECASE)
_MOST_ROWS_OF_A_PART: Final = 10
_LINES_BEHIND: Final = 3
_FIRST_PAGE: Final = 3000
"""Characters that name the company itself."""

_SUBTOTAL: Final = re.compile(
    r"^(?:the )?(?:top|two|three|four|five|ten|twenty|\d+) (?:largest|biggest|\d+|customers|kunden)|^subtotal"
    r"|^of which|^davon",
    re.IGNORECASE,
)


def of_parts(title: str) -> str:
    """What the numbers of parts are: "Revenue" of "Revenue by segment"; other titles as they are."""
    match = _BY_ENTITY.match(title)
    return match["what"] if match else title


def parts_title(titles: Sequence[str], corner: str, reader: LabelReader) -> tuple[Meaning | None, bool]:
    """What the titles say that the numbers of parts are, and whether a title alone calls them parts.

    "Revenue by segment" says so in one line over a corner without words, "Segment sales" over "Net sales" in two.
    """
    for title in reversed([*titles, corner][-4:]):
        if _BY_ENTITY.match(title):
            named = _ENTITY_CORNER.search(title[len(of_parts(title)) :]) is not None
            return reader.read(of_parts(title)).meaning, named and (not corner or only_units(corner))
    over = titles[-1] if titles else ""
    if corner and len(over) < _SHORT_TITLE and _ENTITY_CORNER.search(over):
        meaning = reader.read(corner).meaning
        return meaning, meaning is not None
    return None, False


def lists_parts(entities: str, titles: Sequence[str], *, titled: bool) -> bool:
    """Whether the rows are parts: by the heading of their names, or (`titled`) by the title."""
    over = f"{entities} {' '.join(titles[-1:])}"
    return (titled or _ENTITY_CORNER.search(entities) is not None) and not _PARTIAL.search(over)


def is_subtotal(name: str) -> bool:
    """Whether a row sums up some of the parts: "Top ten customers"."""
    return _SUBTOTAL.match(name) is not None


def part_told_behind(text: str, grid: Grid) -> str:
    """The segment that a small table is of, by the prose under it; "" where that tells of no part of the company."""
    if len(grid.rows) > _MOST_ROWS_OF_A_PART:
        return ""
    before = text[: min(_FIRST_PAGE, grid.rows[0].start)]
    end = text.find("\n", grid.rows[-1].start)
    behind = [line for line in text[end + 1 : end + 600].split("\n") if line.strip()] if end >= 0 else []
    for line in behind[:_LINES_BEHIND]:
        told = _TOLD_OF.match(line.strip())
        if told and not _NO_NAME.match(told["name"]) and told["name"] not in before:
            return told["name"]
    return ""
