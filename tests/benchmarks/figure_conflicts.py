"""Conflicts planted in synthetic rooms of workbooks, decks, minutes and printed reports, with decoys beside them.

A room says each of ten figures in one document and again in another, in other words, another scale or rounding; each
room's conflicts differ beyond rounding. Decoys only look like conflicts: another period, a part, a rounded value, a
budget, an adjusted figure, another currency. Rooms are drawn by their number, so that each run has the same ones.
"""

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Final, NamedTuple

import docx
import openpyxl
import pptx
from pptx.util import Inches
from reportlab.pdfgen.canvas import Canvas

from tasks.figures.concepts import taxonomy
from tasks.figures.conflicts import FigureConflict, RoomFigure, find_conflicts
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.fiscal_years import by_the_rooms_year
from tasks.reading import read_document

ROOMS: Final = 60
_PLANTED: Final = 5
_CURRENCIES: Final = {"EUR": "€", "USD": "$", "GBP": "£"}
_NAMES: Final = {
    "revenue": ("Revenue", "Net sales", "Total revenue", "Turnover"),
    "recurring_revenue": ("ARR", "Annual recurring revenue", "ARR at year end"),
    "gross_profit": ("Gross profit",),
    "ebitda": ("EBITDA",),
    "operating_income": ("Operating profit", "Operating income", "Operating result"),
    "net_income": ("Net income", "Profit for the year", "Net profit"),
    "cash": ("Cash", "Cash and cash equivalents", "Cash at bank"),
    "total_assets": ("Total assets",),
    "debt": ("Total debt", "Total borrowings", "Financial debt"),
    "capital_expenditure": ("Capital expenditure", "Capex"),
}
_STOCKS: Final = {"recurring_revenue", "cash", "total_assets", "debt"}


class Planted(NamedTuple):
    """A room's folder and the concepts whose figures of the newest year contradict each other."""

    folder: Path
    concepts: frozenset[str]


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    found = wanted = false = 0
    begun = time.process_time()
    for number in range(ROOMS):
        with tempfile.TemporaryDirectory() as folder:
            room = plant(Path(folder), number)
            conflicts = conflicts_of(room.folder)
            said = {conflict.concept for conflict in conflicts if conflict.period.endswith("2024-12-31")}
            found += len(said & room.concepts)
            wanted += len(room.concepts)
            false += sum(conflict.concept not in room.concepts for conflict in conflicts) + sum(
                not conflict.period.endswith("2024-12-31")
                for conflict in conflicts
                if conflict.concept in room.concepts
            )
    seconds = time.process_time() - begun
    yield "planted conflicts found", f"{found / wanted:.3f} ({found} of {wanted}, {seconds:.0f} s)", "0.90"
    yield "false conflicts a room", f"{false / ROOMS:.2f}", "1"


def plant(folder: Path, number: int) -> Planted:
    """Write the room of that number: a workbook, a deck, minutes and a report."""
    draw = random.Random(number)
    currency = draw.choice([*_CURRENCIES])
    values = {concept: draw.randrange(1_000, 90_000) * 1_000 + draw.randrange(1_000) for concept in _NAMES}
    planted = frozenset(draw.sample(sorted(_NAMES), _PLANTED))
    deck = {
        concept: value * draw.choice((70, 82, 115, 130)) // 100 if concept in planted else value
        for concept, value in values.items()
    }
    name: Callable[[str], str] = lambda concept: draw.choice(_NAMES[concept])  # noqa: E731 - one word a draw
    concepts = sorted(_NAMES)
    draw.shuffle(concepts)
    in_minutes, in_deck = concepts[:4], concepts[4:]
    _workbook(folder, values, currency, name, draw)
    _deck(folder, {concept: deck[concept] for concept in in_deck}, currency, name)
    _minutes(folder, {concept: deck[concept] for concept in in_minutes}, values, currency, name, draw)
    _report(folder, values, currency, name, draw)
    return Planted(folder, planted)


def conflicts_of(folder: Path) -> list[FigureConflict]:
    """The conflicts among the documents of a folder."""
    rows: list[RoomFigure] = []
    texts: list[str] = []
    for file in sorted(folder.iterdir()):
        reading = read_document(str(file))
        places = [place for place in reading.places if place.kind != "cell"]
        document = LedgerDocument(reading.text, places, file.name)
        rows.extend(
            RoomFigure(
                figure,
                figure.basis or document.kind.basis,
                file.name,
                file.name,
                "",
                deck=document.kind.deck,
                dated=document.calendar.dated.isoformat() if document.calendar.dated else None,
                text_id=len(texts),
            )
            for figure in find_figures(document, taxonomy()).figures
        )
        texts.append(reading.text)
    return find_conflicts(by_the_rooms_year(rows, texts.__getitem__))


_Name = Callable[[str], str]


def _workbook(folder: Path, values: dict[str, int], currency: str, name: _Name, draw: random.Random) -> None:
    """Management accounts in thousands; beside the year a budget and the year before, and a customer's part."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Accounts"
    sheet.append([f"{currency} thousand", 2023, 2024, "Budget 2024"])
    for concept, value in values.items():
        sheet.append([name(concept), round(value * 0.8 / 1000), round(value / 1000), round(value * 1.3 / 1000)])
    parts = book.create_sheet("Customers")
    parts.append(["Customer", f"Revenue 2024, {currency} thousand"])
    shares = [round(values["revenue"] / 1000 * share) for share in (0.4, 0.35)]
    for customer, share in zip(("Alpha AG", "Beta Ltd"), shares, strict=True):
        parts.append([customer, share])
    parts.append(["Further customers", round(values["revenue"] / 1000) - sum(shares)])
    parts.append(["Total", round(values["revenue"] / 1000)])
    book.save(folder / f"Management accounts 2024{draw.choice(('', ' v2', ' final'))}.xlsx")


def _deck(folder: Path, values: dict[str, int], currency: str, name: _Name) -> None:
    """A deck in millions: a table of the year and the next one's budget, and an adjusted figure."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    assert slide.shapes.title is not None
    slide.shapes.title.text = "Key figures"
    rows = [[f"{currency} m", "2024", "Budget 2025"]]
    rows += [[name(concept), _millions(value), _millions(value * 2)] for concept, value in values.items()]
    rows.append(["Adjusted EBITDA", _millions(next(iter(values.values())) + 10**7), ""])
    table = slide.shapes.add_table(len(rows), 3, Inches(1), Inches(2), Inches(8), Inches(4)).table
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            table.cell(row, column).text = cell
    presentation.save(str(folder / "Investor deck February 2025.pptx"))


def _minutes(
    folder: Path, values: dict[str, int], true: dict[str, int], currency: str, name: _Name, draw: random.Random
) -> None:
    """Minutes in sentences: the year, the change since the year before, and what is planned."""
    document = docx.Document()
    document.add_paragraph("Minutes of the board of directors, 20 February 2025")
    sign = _CURRENCIES[currency]
    for concept, value in values.items():
        before = f"{sign}{_millions(round(true[concept] * 0.8))}m"
        said = draw.choice(
            (f"{sign}{_millions(value)}m", f"{currency} {_millions(value)} million", f"{currency} {value:,}")
        )
        when = (
            "at 31 December 2024"
            if concept in _STOCKS
            else draw.choice(("in 2024", "for the year ended 31 December 2024"))
        )
        sentences = (
            f"{name(concept)} was {said} {when}.",
            f"{name(concept)} of {said} {when} was noted.",
            f"{name(concept)} rose by 12 % to {said} {when}.",
            f"The CFO reported {name(concept)} of {said} {when}, after a quarter in which it fell by 3 %.",
            f"{when[0].upper()}{when[1:]}, {name(concept)} stood at {said}, compared with {before} a year before.",
            f"{name(concept)} {when} amounted to {said} (2023: {before}).",
        )
        document.add_paragraph(draw.choice(sentences))
        document.add_paragraph(f"In the first quarter of 2025 {name(concept)} was {sign}{_millions(value // 4)}m.")
        document.add_paragraph(
            f"The budget for 2025 foresees {name(concept)} of {sign}{_millions(value * 3)}m in 2025."
        )
    document.add_paragraph(
        "Subscription revenue of the Nordic segment was 3.1 million in 2024. Cost of revenue rose by 4 %."
    )
    document.save(str(folder / "Board minutes 2025-02-20.docx"))


def _report(folder: Path, values: dict[str, int], currency: str, name: _Name, draw: random.Random) -> None:
    """A printed report, as a PDF or a web page, in full units, with a pro forma column."""
    rows = [(name(concept), f"{value:,}", f"{value * 2:,}") for concept, value in values.items()]
    if draw.random() < 0.5:
        cells = [f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in rows]
        head = f"<tr><th>{currency}</th><th>2024</th><th>Pro forma 2024</th></tr>"
        page = ["<h1>Annual report 2024</h1><p>Year ended 31 December 2024</p><table>", head, *cells, "</table>"]
        (folder / "Annual report 2024.html").write_text("\n".join(page), "utf-8")
        return
    canvas = Canvas(str(folder / "Annual report 2024.pdf"))
    for line, words in enumerate(("Annual report 2024", "Year ended 31 December 2024")):
        canvas.drawString(60, 780 - 16 * line, words)
    for line, row in enumerate(((currency, "2024", "Pro forma 2024"), *rows)):
        canvas.drawString(60, 730 - 16 * line, row[0])
        canvas.drawRightString(360, 730 - 16 * line, row[1])
        canvas.drawRightString(500, 730 - 16 * line, row[2])
    canvas.save()


def _millions(value: int) -> str:
    return f"{Decimal(value) / 10**6:.1f}"
