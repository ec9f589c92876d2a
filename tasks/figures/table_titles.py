"""What the lines over a table say of all of it: whose it is, whether it is a statement, and whether it is left out."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tasks.figures.figure import Basis, basis_of
from tasks.figures.table_rows import joined_titles
from tasks.language.periods import find_periods

_A_YEAR: Final = re.compile(r"\b20\d\d\b")
LONGEST_LABEL: Final = 160
"""Characters of a line over a table that may be what its numbers are; a longer one is a sentence."""

_SKIPPED_TABLE: Final = re.compile(
    r"percent(?:age)? of (?:total |net |our )?(?:revenue|sales|net|total)|(?<!\d)(?<!\d )% of (?:total )?(?:revenue"
    r"|sales)|as a percentage|discontinued operation|held for sale"
    r"|equity[- ]method|\baffiliates?\b|joint ventures?\b|variable interest|\bVIEs?\b|\bacquirees?\b|purchase price"
    r"|fair value of (?:the )?(?:assets|consideration)"
    r"|unconsolidated|\binvestees?\b|reconciliation of (?:beginning|segment)|sensitivity"
    r"|per share data only|constant currency|supplemental pro",
    re.IGNORECASE,
)
_OBLIGORS: Final = re.compile(r"\bguarantors?\b|\bobligors?\b|\bobligated group\b", re.IGNORECASE)
"""Who stands in for bonds: a part of the group, whose figures may be headed as a statement."""

_PARENT: Final = re.compile(
    r"parent[- ](?:company|only|entity)|condensed financial information of|schedule i\b|registrant only"
    r"|^(?:the )?company (?:statement|balance|income|cash)|^(?:statement|balance sheet)s? of the company\b",
    re.IGNORECASE,
)
_STATEMENT: Final = re.compile(
    r"statements? of (?:consolidated )?(?:operations|income|earnings|profit|loss|financial position"
    r"|financial condition|cash flows?|comprehensive)|balance sheets?|income statements?"
    r"|profit and loss|cash flow statements?|consolidated results|gewinn- und verlustrechnung|\bbilanz\b"
    r"|kapitalflussrechnung|compte de résultat|\bbilan\b|cuenta de (?:resultados|pérdidas)|balance de situación",
    re.IGNORECASE,
)
_SPOKEN: Final = re.compile(
    r"\b(?:following|summari[sz]\w+|accompanying|set forth|shown|presents|highlights)\b|\.$", re.IGNORECASE
)
"""A line over a table that speaks of a statement and is not its heading."""

_CONSOLIDATED: Final = re.compile(r"\bconsolidated\b|\bgroup\b|\bkonzern|\bconsolidé|\bconsolidad[oa]", re.IGNORECASE)
_SHORT: Final = 25
"""Characters up to which a line over a table is a part of its header: "December", "31,", "(In thousands)"."""

HAPPENED: Final = re.compile(
    r"\bactuals?\b|\bist\b|\b(?:(?:19|20)|[a-z]{3}[-’'])\d\dA\b|\bréels?\b|\bréalisée?s?\b|\brealizad[oa]s?\b|\bconsuntivo\b"
    r"|\bgerealiseerd\b|\brealisatie\b|\breali[sz]ed\b|\brealiser(?:et|at)\b",
    re.IGNORECASE,
)
"""Words of a heading by which its numbers are actual ones."""


@dataclass(frozen=True, slots=True)
class TableTitles:
    """The lines over a table, the nearest last.

    Attributes:
        lines: all of them.
        titles: those that are no longer than a heading.
        is_consolidated: whether they call it the group's.
        is_parents: whether they call it the parent company's alone.
        is_statement: whether they head a statement of the accounts.
        is_skipped: whether it is of parts, shares or other companies.
    """

    lines: tuple[str, ...]
    titles: tuple[str, ...]
    is_consolidated: bool
    is_parents: bool
    is_statement: bool
    is_skipped: bool

    def basis_of_last(self) -> Basis | None:
        """The basis that the nearest lines give to all of the table."""
        return self.basis_of(self.lines[-3:])

    def basis_of(self, titles: Sequence[str]) -> Basis | None:
        """The basis that these headings give to all of the table."""
        plain = [title for title in titles if len(title) < 60 and not any(map(str.isdigit, _undated(title)))]
        basis = basis_of(" ".join(plain)) if not self.is_statement else None
        return None if basis == "audited" or any(HAPPENED.search(title) for title in plain) else basis


def _undated(title: str) -> str:
    """A title without the periods that it names."""
    for when in reversed(find_periods(title)):
        title = title[: when.start] + title[when.stop :]
    return _A_YEAR.sub("", title)


def over_table(lines: Sequence[str]) -> TableTitles:
    """What these lines over a table say of it."""
    lines = joined_titles(lines)
    titles = [line for line in lines if len(line) < 220]
    spoken = [line for line in lines if len(line) > _SHORT] or lines
    near = " ".join(line[-250:] for line in [*spoken[-3:], *lines[-3:]])
    is_statement = any(
        _STATEMENT.search(title) for title in titles[-5:] if len(title) < LONGEST_LABEL and not _SPOKEN.search(title)
    )
    return TableTitles(
        tuple(lines),
        tuple(titles),
        is_consolidated=any(_CONSOLIDATED.search(title) for title in titles[-5:]),
        is_parents=any(_PARENT.search(title) for title in titles),
        is_statement=is_statement,
        is_skipped=_OBLIGORS.search(near) is not None or (_SKIPPED_TABLE.search(near) is not None and not is_statement),
    )
