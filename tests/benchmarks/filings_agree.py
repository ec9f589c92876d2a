"""Whether figures of one company's annual, quarterly and other filings agree: the same time has one value.

`DILIGENCE_BENCH_FILINGS=FOLDER python -m tests.benchmarks filings_agree`; the folder has the pdfs/ of
patronus-ai/financebench. Figures of segments and adjusted ones are left out. What differs is a wrong figure more often
than a restatement.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Final

from tasks.figures import read_figures
from tasks.figures.figure import ACTUAL
from tasks.figures.statement_checks import DEBT_PARTS
from tasks.language.periods import count_months, last_day

FILINGS: Final = "DILIGENCE_BENCH_FILINGS"
PARTS: Final = {
    "development": "BESTBUY PEPSICO MGMRESORTS ULTABEAUTY AMCOR MCDONALDS FOOTLOCKER",
    "first shut part": "LOCKHEEDMARTIN JOHNSON EBAY COSTCO",
    "second shut part": "SALESFORCE JPMORGAN INTEL WALMART GENERALMILLS",
}
_FROM: Final = 2022
_ROUNDING: Final = Decimal("0.03")


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target), where the filings are there."""
    folder = os.environ.get(FILINGS)
    for part, companies in PARTS.items() if folder else ():
        differing, values = Counter[str](), 0
        for company in companies.split():
            rows = list(_rows(Path(str(folder)), company))
            values += len(rows)
            differing[company] = len(list(differences(rows)))
        told = ", ".join(f"{company} {count}" for company, count in differing.items() if count) or "none"
        yield f"figures of one company that differ, {part}", f"{differing.total()} of {values} values ({told})", "0"


def _rows(folder: Path, company: str) -> Iterator[dict[str, str | None]]:
    """The actual figures of a company as a whole, of its filings from 2022 on."""
    for file in sorted(folder.rglob(f"{company}_*.pdf")):
        if any(str(year) in file.name for year in range(_FROM, _FROM + 3)):
            for row in read_figures(str(file)):
                if row["entity"] is None and row["basis"] in ACTUAL and row["unit"] not in {"percent", "year"}:
                    yield row


def differences(rows: list[dict[str, str | None]]) -> Iterator[tuple[str, int, str]]:
    """The concept, months and last month of each time that has values which differ beyond rounding."""
    values: dict[tuple[str, int, str], list[Decimal]] = defaultdict(list)
    for row in rows:
        period = str(row["period"])
        concept = f"{row['concept']}, {row['label']}" if row["concept"] in DEBT_PARTS else str(row["concept"])
        values[concept, count_months(period), last_day(period)[:7]].append(Decimal(str(row["value"])))
    for key, found in values.items():
        low, high = min(found), max(found)
        if high - low > _ROUNDING * max(abs(low), abs(high)):
            yield key
