"""Figures that only one of the main statements gives: the parts of debt, inventories, and what is written off.

Notes name the same rows and mean parts of them, cash flows mean their change. Debt is the sum of its rows in the
balance sheet, and a sum of which a row may be missing is wrong: where one of them is not understood, none is taken.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from tasks.figures.concepts import plain_label
from tasks.figures.table_candidates import Candidate
from tasks.figures.table_rows import Grid, Row

CURRENT_DEBT: Final = "current_debt"
LONG_TERM_DEBT: Final = "long_term_debt"
DEBT_PARTS: Final = (CURRENT_DEBT, LONG_TERM_DEBT)
WRITTEN_OFF: Final = "depreciation_and_amortization"
INVENTORIES: Final = "inventories"
OF_STATEMENTS: Final = frozenset({*DEBT_PARTS, WRITTEN_OFF, INVENTORIES})
"""Concepts whose figures count in their own statement alone."""

_ASSETS: Final = re.compile(r"total (?:current )?assets")
_CURRENT: Final = re.compile(r"total current liabilities")
_END: Final = re.compile(
    r"total liabilities(?: .*)?|total (?:.* )?(?:equity|deficit|deficiency|investment)(?: .*)?|(?:net assets|equity)"
)
_DEBT: Final = re.compile(
    r"\b(?:debts?|borrowings?|loans?|overdrafts?|debentures?|bonds?|mortgages?|indebtedness|commercial paper"
    r"|(?:notes?|bills) payable|(?:senior|convertible|secured|subordinated|term) notes?|notes (?:due|net)|revolv\w+"
    r"|(?:credit|loan) (?:facilit\w+|agreements?|lines?)|lines? of credit|maturities)\b"
)
_NO_DEBT: Final = re.compile(
    r"\b(?:receivables?|assets?|deferred|issuance costs?|accrued interest|derivatives?|tax(?:es)?|guarantees?)\b"
)
_OF_LEASES: Final = re.compile(r"\b(?:leases?|lease obligations?|rou)\b")
_DASH: Final = re.compile(r"[$€£]? ?[—–-]+")
_OPERATING: Final = re.compile(r".*\b(?:operating activities|operations)\b.*")
_RESULT: Final = re.compile(
    r"(?:consolidated )?(?:net (?:income|earnings|loss|profit)(?: (?:income|loss|earnings))?"
    r"|(?:profit|loss|result)(?: (?:profit|loss))? (?:for|of) the (?:year|period))"
    r"(?: (?:including|before allocation) .*)?"
)
_INVESTING: Final = re.compile(r".*\b(?:investing|financing) activities\b.*")


def of_statement(grid: Grid, found: Sequence[Candidate]) -> Iterator[Candidate]:
    """Of a table's candidates of these concepts those that its statement gives, the parts of debt by their place."""
    labels = [plain_label(row.label) for row in grid.rows]
    rows = list(zip(grid.rows, labels, strict=True))
    invested = next((row.start for row, label in rows if _INVESTING.fullmatch(label)), 0)
    begun = max(
        (row.start for row, label in rows if row.start < invested and _RESULT.fullmatch(label)), default=invested
    )
    if any(map(_OPERATING.fullmatch, labels)):  # between the result, with which it begins, and what was invested
        written_off = (each for each in found if each.figure.concept == WRITTEN_OFF)
        yield from (each for each in written_off if begun < each.figure.start < invested)
    if any(map(_ASSETS.fullmatch, labels)):
        yield from (each for each in found if each.figure.concept == INVENTORIES)
    yield from _debt(grid.rows, labels, [each for each in found if each.figure.concept in DEBT_PARTS])


def _debt(rows: Sequence[Row], labels: Sequence[str], found: Sequence[Candidate]) -> Iterator[Candidate]:
    """The rows of debt of a balance sheet, each part by where it stands, of the days for which all are known."""
    middle = next((at for at, label in enumerate(labels) if _CURRENT.fullmatch(label)), None)
    if middle is None or not found:
        return
    first = max((at + 1 for at, label in enumerate(labels[:middle]) if _ASSETS.fullmatch(label)), default=0)
    end = next((at for at in range(middle + 1, len(rows)) if _END.fullmatch(labels[at])), None)
    if end is None:
        return  # it goes on elsewhere
    by_start: dict[int, list[Candidate]] = defaultdict(list)
    for each in found:
        if not each.figure.entity:
            by_start[each.figure.start].append(each)
    by_row: list[tuple[int, dict[str, Candidate]]] = []
    for at in (*range(first, middle), *range(middle + 1, end)):
        if not _is_debt(labels[at]) or not any(rows[at].cells[1:]):
            continue
        of_row = {each.figure.period: each for start in rows[at].starts for each in by_start.get(start, ())}
        if not of_row:
            return
        by_row.append((at, of_row))
    if all(at > middle for at, _ in by_row):
        return  # what is due within a year may stand among other liabilities
    known = {day for _, of_row in by_row for day in of_row}
    for at, of_row in by_row:
        if not _has_dash(rows[at]):
            known &= of_row.keys()
    for at, of_row in by_row:
        concept = CURRENT_DEBT if at < middle else LONG_TERM_DEBT
        yield from (each.of_concept(concept) for day, each in of_row.items() if day in known)


def _is_debt(label: str) -> bool:
    return _DEBT.search(label) is not None and not (
        _NO_DEBT.search(label) or (_OF_LEASES.search(label) and not re.search(r"\b(?:debt|borrowings?)\b", label))
    )


def _has_dash(row: Row) -> bool:
    """Whether a row says that there was nothing on one of its days."""
    return any(_DASH.fullmatch(cell) for cell in row.cells[1:])


def surest(tables: Sequence[Sequence[Candidate]]) -> list[Candidate]:
    """Of the statements of a document that give these figures, for each day or period those of the surest one."""
    taken: dict[tuple[str, str], list[Candidate]] = {}
    for table in sorted(tables, key=lambda table: max((_standing(each) for each in table), default=(False, 0))):
        groups: dict[tuple[str, str], list[Candidate]] = {}
        for each in table:
            if not each.figure.entity and not each.figure.variant:
                concept = each.figure.concept
                group = ("debt" if concept in DEBT_PARTS else concept, each.figure.period)
                groups.setdefault(group, []).append(each)
        taken |= groups
    return [each for group in taken.values() for each in group]


def _standing(candidate: Candidate) -> tuple[bool, int]:
    return candidate.consolidated, candidate.weight
