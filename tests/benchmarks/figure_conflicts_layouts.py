"""Conflicts planted in tables laid out as people lay them out, beside letters that say the same in sentences.

A room has the accounts in one of sixteen layouts: periods down and lines across, two tables side by side, a header of
two rows, the units in a note below, numbers as text, a German workbook, a deck of charts alone, a printed table that
goes on over the page without its header, and so on. A letter says two of their figures otherwise (the conflicts), and
four things that only look like it. Rooms are drawn by their number, so that each run has the same ones.
`python -m tests.benchmarks.figure_conflicts_layouts` lists what was missed and what is false.
"""

import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from tests.benchmarks.figure_conflicts import conflicts_of
from tests.benchmarks.room_writing import Chart, Rows, book, deck, drawn, letter

ROOMS: Final = 50
_PLANTED: Final = 2
_ENGLISH: Final = {
    "revenue": "Revenue", "gross_profit": "Gross profit", "ebitda": "EBITDA", "operating_income": "Operating profit",
    "net_income": "Net profit", "capital_expenditure": "Capital expenditure", "cash": "Cash and cash equivalents",
    "debt": "Borrowings", "equity": "Shareholders' equity", "total_assets": "Total assets",
}  # fmt: skip
_GERMAN: Final = {
    "revenue": "Umsatzerlöse", "gross_profit": "Rohertrag", "ebitda": "EBITDA", "operating_income": "Betriebsergebnis",
    "net_income": "Jahresüberschuss", "capital_expenditure": "Investitionen in Sachanlagen", "cash": "Liquide Mittel",
    "debt": "Bankverbindlichkeiten", "equity": "Eigenkapital", "total_assets": "Bilanzsumme",
}  # fmt: skip
_STOCKS: Final = frozenset({"cash", "debt", "equity", "total_assets"})
_YEARS: Final = (2022, 2023, 2024)
_FLOWS_OF: Final = tuple(concept for concept in _ENGLISH if concept not in _STOCKS)

Values = Mapping[str, Mapping[int, int]]
"""Thousands of euros by concept and year."""


class Planted(NamedTuple):
    """A room: its layout, and the concepts whose figures of 2024 contradict each other."""

    layout: str
    concepts: frozenset[str]


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    outcomes = [_outcome(number) for number in range(ROOMS)]
    found = sum(len(found) for _, found, _, _ in outcomes)
    wanted = sum(len(room.concepts) for room, _, _, _ in outcomes)
    false = sum(len(false) for _, _, _, false in outcomes)
    yield "planted conflicts in other layouts, found", f"{found / wanted:.3f} ({found} of {wanted})", "0.90"
    yield "false conflicts a room, of 4 decoys each", f"{false / ROOMS:.2f}", "1"


def plant(folder: Path, number: int) -> Planted:
    """Write the room of that number: accounts in a layout, and a letter."""
    draw = random.Random(1000 + number)
    values = {
        concept: {year: draw.randrange(1_000, 90_000) for year in _YEARS}
        for concept in draw.sample(list(_ENGLISH), len(_ENGLISH))
    }
    layout = _LAYOUTS[number % len(_LAYOUTS)]
    planted = frozenset(draw.sample(sorted(values), _PLANTED))
    layout(folder, values)
    german = layout is _german_locale
    (_german_letter if german else _letter)(folder, values, planted, draw)
    return Planted(layout.__name__.strip("_"), planted)


def _transposed(folder: Path, values: Values) -> None:
    rows: list[list[str | float]] = [[f"FY{year}", *(values[concept][year] for concept in values)] for year in _YEARS]
    head: list[str | float] = ["EUR thousand", *(_ENGLISH[concept] for concept in values)]
    book(folder / "Financials.xlsx", {"Summary": [head, *rows]})


def _side_by_side(folder: Path, values: Values) -> None:
    flows = [concept for concept in values if concept not in _STOCKS]
    stocks = [concept for concept in values if concept in _STOCKS]
    rows: list[list[str | float | None]] = [
        ["Income statement, €k", *_YEARS, None, "Balance sheet at 31 December, €k", *_YEARS]
    ]
    for at, flow in enumerate(flows):
        stock = stocks[at] if at < len(stocks) else None
        right: list[str | float] = [_ENGLISH[stock], *(values[stock][year] for year in _YEARS)] if stock else []
        rows.append([_ENGLISH[flow], *(values[flow][year] for year in _YEARS), None, *right])
    book(folder / "Board pack.xlsx", {"Overview": rows})


def _two_header_rows(folder: Path, values: Values) -> None:
    rows: list[list[str | float | None]] = [
        ["€ thousand", 2023, 2023, 2024, 2024],
        [None, "Budget", "Actual", "Budget", "Actual"],
    ]
    for concept, years in values.items():
        budget = [round(years[year] * 1.2) for year in (2023, 2024)]
        rows.append([_ENGLISH[concept], budget[0], years[2023], budget[1], years[2024]])
    book(folder / "Actual against budget.xlsx", {"2024": rows})


def _note_below(folder: Path, values: Values) -> None:
    rows = [[_ENGLISH[concept], *(f"{years[year]:,}" for year in _YEARS)] for concept, years in values.items()]
    table = [["", *map(str, _YEARS)], *rows]
    letter(folder / "Historical financials.docx", "# Historical financials", table, "Amounts in thousands of euros.")


def _as_text(folder: Path, values: Values) -> None:
    rows = [[_ENGLISH[concept], *(f"{years[year]:,} " for year in _YEARS)] for concept, years in values.items()]
    head = ["(EUR in thousands)", *(f"Year {year}" for year in _YEARS)]
    book(folder / "Export from accounting.xlsx", {"Sheet1": [head, *rows]})


def _german_locale(folder: Path, values: Values) -> None:
    rows = [
        [_GERMAN[concept], *(f"{years[year]:,}".replace(",", ".") for year in _YEARS)]
        for concept, years in values.items()
    ]
    lines = [["Angaben in TEUR", *map(str, _YEARS)], *rows]
    text = "\n".join(";".join(cells) for cells in lines)
    (folder / "Jahreszahlen.csv").write_text(text, "utf-8")


def _charts_only(folder: Path, values: Values) -> None:
    slides: list[tuple[str, Rows | Chart]] = [
        (f"{_ENGLISH[concept]} (€m)", Chart([str(y) for y in _YEARS], {_ENGLISH[concept]: _millions(values[concept])}))
        for concept in values
    ]
    deck(folder / "Equity story.pptx", *slides)


def _over_two_pages(folder: Path, values: Values) -> None:
    rows = [[_ENGLISH[concept], *(f"{years[year]:,}" for year in _YEARS)] for concept, years in values.items()]
    others = [[f"Other line {at}", "12", "13", "14"] for at in range(1, 31)]
    first = ["Financial statements (in thousands of euros)", ["", *map(str, _YEARS)], *rows[:5], *others]
    drawn(folder / "Financial statements.pdf", first, rows[5:])


def _months_and_year(folder: Path, values: Values) -> None:
    """Quarters across with the year at their end; stocks at each quarter's end."""
    rows: list[list[str | float]] = [["€'000", *(f"Q{quarter} 2024" for quarter in range(1, 5)), "FY 2024"]]
    for concept, years in values.items():
        year = years[2024]
        parts = [year // 5, year // 4, year // 4, year - year // 5 - 2 * (year // 4)]
        shown = [year - 300, year - 200, year - 100, year] if concept in _STOCKS else parts
        rows.append([_ENGLISH[concept], *shown, year])
    book(folder / "Quarterly reporting.xlsx", {"Quarters": rows})


def _away_from_the_corner(folder: Path, values: Values) -> None:
    """A title, empty rows, an empty column, account numbers, and the number of a note beside each line."""
    rows: list[list[str | float | None]] = [
        [None, "Holding GmbH & Co - consolidated accounts"], [], [None, None, None, "Note", "31.12.2024", "31.12.2023"],
        [None, None, None, None, "TEUR", "TEUR"],
    ]  # fmt: skip
    for at, (concept, years) in enumerate(values.items(), 1):
        rows.append([None, 4000 + 10 * at, _ENGLISH[concept], at, years[2024], years[2023]])
    book(folder / "Group accounts.xlsx", {"FS": rows})


def _with_signs(folder: Path, values: Values) -> None:
    """A slide's table whose every number says its currency and scale."""
    rows = [[_ENGLISH[concept], *(f"€{years[year]:,}k" for year in _YEARS)] for concept, years in values.items()]
    deck(folder / "Data book.pptx", ("Key financials", [["", *(f"Dec-{year % 100}" for year in _YEARS)], *rows]))


def _two_scales(folder: Path, values: Values) -> None:
    """Two tables under each other on one sheet: the first in thousands, the second in euros."""
    rows: list[list[str | float | None]] = [["Profit and loss (EUR thousand)"], [None, *_YEARS]]
    flows, stocks = ({c: values[c] for c in values if (c in _STOCKS) == of_stocks} for of_stocks in (False, True))
    rows += [[_ENGLISH[concept], *years.values()] for concept, years in flows.items()]
    rows += [[], ["Balance sheet (EUR)"], [None, *(f"31/12/{year}" for year in _YEARS)]]
    rows += [[_ENGLISH[concept], *(1000 * value for value in years.values())] for concept, years in stocks.items()]
    book(folder / "Three statements.xlsx", {"Model": rows})


def _years_as_series(folder: Path, values: Values) -> None:
    """One chart of lines of the accounts with a series a year."""
    measures = [_ENGLISH[concept] for concept in values]
    series = {f"FY{year}": [round(years[year] / 1000, 1) for years in values.values()] for year in _YEARS}
    deck(folder / "Results presentation.pptx", ("Results, €m", Chart(measures, series)))


def _continued(folder: Path, values: Values) -> None:
    """A printed table with its header again on each page, and page numbers below."""
    rows = [[_ENGLISH[concept], *(f"{years[year]:,}" for year in _YEARS)] for concept, years in values.items()]
    others = [[f"Other line {at}", "12", "13", "14"] for at in range(1, 31)]
    title, head = "Selected financial data (in thousands of euros)", ["", *map(str, _YEARS)]
    again = [f"{title}, continued", head, *rows[5:]]
    drawn(folder / "Report.pdf", [title, head, *rows[:5], *others, "Page 1 of 2"], again)


def _spaced(folder: Path, values: Values) -> None:
    """Thousands parted by narrow blanks and apostrophes, negative numbers in brackets among them."""
    rows = []
    for at, (concept, years) in enumerate(values.items()):
        mark = "\u202f" if at % 2 else "’"
        rows.append([_ENGLISH[concept], *(f"{years[year]:,}".replace(",", mark) for year in _YEARS)])
    rows.append(["Income tax", "(1’204)", "(990)", "(1’310)"])
    letter(folder / "Zahlenteil.docx", "Key figures", [["in TEUR", *(f"31.12.{year}" for year in _YEARS)], *rows])


def _estimates_beside(folder: Path, values: Values) -> None:
    """Actual years with a mark beside estimated ones, the newest first, and a column of growth."""
    rows: list[list[str | float | None]] = [["EURm", "2026E", "2025E", "2024A", "YoY", "2023A", "2022A"]]
    for concept, (before, last, year) in ((concept, [*years.values()]) for concept, years in values.items()):
        rows.append([
            _ENGLISH[concept], round(year / 700, 1), round(year / 800, 1), round(year / 1000, 1),
            f"{100 * (year / last - 1):.1f}%", round(last / 1000, 1), round(before / 1000, 1),
        ])  # fmt: skip
    book(folder / "Broker model.xlsx", {"Model": rows})


_LAYOUTS: Final[list[Callable[[Path, Values], None]]] = [
    _transposed, _side_by_side, _two_header_rows, _note_below, _as_text, _german_locale, _charts_only, _over_two_pages,
    _months_and_year, _away_from_the_corner, _with_signs, _two_scales, _years_as_series, _continued, _spaced,
    _estimates_beside,
]  # fmt: skip


def _millions(years: Mapping[int, int]) -> list[float]:
    return [round(years[year] / 1000, 1) for year in _YEARS]


def _letter(folder: Path, values: Values, planted: frozenset[str], draw: random.Random) -> None:
    """The two conflicts, and four decoys of other concepts."""
    said = [_said(concept, values[concept][2024] * draw.choice((72, 84, 117, 131)) / 100) for concept in planted]
    others = draw.sample(sorted(values.keys() - planted), 4)
    rounded, before, planned, part = others
    said += [
        _said(rounded, values[rounded][2024]),
        f"In 2023 {_ENGLISH[before].lower()} had been €{values[before][2023] / 1000:.1f} million."
        if before not in _STOCKS
        else f"At 31 December 2023 {_ENGLISH[before].lower()} had been €{values[before][2023] / 1000:.1f} million.",
        f"The budget for 2025 has {_ENGLISH[planned].lower()} of €{values[planned][2024] / 800:.1f} million in 2025.",
        f"{_ENGLISH[part]} of the Iberian segment was €{values[part][2024] / 4000:.1f} million in 2024.",
        f"Adjusted EBITDA was €{values['ebitda'][2024] / 900:.1f} million in 2024.",
    ]
    draw.shuffle(said)
    letter(folder / "Management letter February 2025.docx", "Management letter, 20 February 2025", *said)


def _said(concept: str, thousands: float) -> str:
    when = "at 31 December 2024" if concept in _STOCKS else "in 2024"
    return f"{_ENGLISH[concept]} came to €{thousands / 1000:.1f} million {when}."


def _german_letter(folder: Path, values: Values, planted: frozenset[str], draw: random.Random) -> None:
    said = [_gesagt(concept, values[concept][2024] * draw.choice((72, 84, 117, 131)) / 100) for concept in planted]
    rounded, before, planned = draw.sample(sorted(values.keys() - planted), 3)
    said += [
        _gesagt(rounded, values[rounded][2024]),
        _gesagt(before, values[before][2023], 2023),
        f"Für 2025 planen wir {_GERMAN[planned]} von {_mio(values[planned][2024] * 1.2)}.",
        f"Das bereinigte EBITDA betrug 2024 {_mio(values['ebitda'][2024] * 1.1)}.",
    ]
    draw.shuffle(said)
    letter(folder / "Brief der Geschäftsführung.docx", "Brief der Geschäftsführung, 20. Februar 2025", *said)


def _gesagt(concept: str, thousands: float, year: int = 2024) -> str:
    if concept in _STOCKS:
        return f"Zum 31. Dezember {year}: {_GERMAN[concept]} {_mio(thousands)}."
    return f"{_GERMAN[concept]} {year}: {_mio(thousands)}."


def _mio(thousands: float) -> str:
    return f"{thousands / 1000:.1f} Mio. €".replace(".", ",", 1)


def _outcome(number: int) -> tuple[Planted, frozenset[str], frozenset[str], frozenset[tuple[str, str]]]:
    """The room with what was found of it, what was missed, and the false conflicts by concept and period."""
    with tempfile.TemporaryDirectory() as name:
        room = plant(Path(name), number)
        conflicts = {
            (conflict.concept, conflict.period, conflict.counted.figure.entity) for conflict in conflicts_of(Path(name))
        }
    right = {concept for concept, period, entity in conflicts if period.endswith("2024-12-31") and entity is None}
    false = {
        (concept, f"{period} {entity or ''}")
        for concept, period, entity in conflicts
        if concept not in room.concepts or not period.endswith("2024-12-31") or entity
    }
    return room, room.concepts & right, room.concepts - right, frozenset(false)


if __name__ == "__main__":
    for number in range(ROOMS):
        room, found, missed, false = _outcome(number)
        if missed or false:
            print(number, room.layout, "missed:", *sorted(missed), "false:", *sorted(false))
    for row in measure():
        print(*row)
