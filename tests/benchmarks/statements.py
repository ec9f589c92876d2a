"""Financial statements without rules round their cells, drawn in many layouts, and the rows that each holds."""

import random
from collections.abc import Sequence
from typing import Final, NamedTuple

from reportlab.lib.utils import simpleSplit
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

_LABELS: Final = (
    "Revenue", "Cost of sales", "Gross profit", "Distribution costs", "Administrative expenses", "Finance costs",
    "Property, plant and equipment", "Right-of-use assets", "Intangible assets and goodwill", "Trade receivables",
    "Cash and cash equivalents", "Retained earnings", "Non-controlling interests", "Deferred tax liabilities",
    "Exchange differences on translation of foreign operations", "Share of profit of equity-accounted investees",
    "Change in fair value of contingent consideration payable to former shareholders of acquired businesses",
    "Proceeds from sale of property, plant and equipment", "Dividends paid to owners of the parent", "Interest paid",
    "Net cash used in investing activities before acquisitions of subsidiaries", "Lease payments", "Inventories (net)",
)  # fmt: skip
_SHARES: Final = ("Effective tax rate", "Gross margin", "Organic growth", "Return on capital employed")
_HEADINGS: Final = ("Assets", "Equity and liabilities", "Operating activities", "Current liabilities", "Discontinued")
_PROSE: Final = (
    "The accompanying notes form an integral part of these statements. Amounts are in thousands unless stated "
    "otherwise, and comparative figures were restated for the change in presentation that is described in note 2. "
    "The board of directors approved the statements for issue on 28 February."
)
_MARGIN: Final = 56.0


class _Style(NamedTuple):
    """How a statement is set."""

    years: int
    notes: bool
    currency: str
    """`none`, `apart` (in a column of its own, in first rows and totals), `all` (in each row), `tight`."""
    percent_apart: bool
    negative: str
    """`whole`, `parted` (the parentheses drawn by themselves), `minus`."""
    dash: str
    leaders: bool
    rules: bool
    spread: bool
    """The figures stand far from each other."""
    wrapped_first: bool
    """The figures stand in the first line of a label that wraps, not in the last."""
    by_words: bool
    """Each word is drawn by itself."""
    prose: bool
    size: float
    font: str
    columns: int
    """Statements side by side."""


class Statement(NamedTuple):
    """A PDF, and its rows that hold figures, cells split by tabs."""

    pdf: bytes
    rows: list[str]


def draw(seed: int) -> Statement:
    """A statement in a layout of its own, the same for the same seed."""
    random_source = random.Random(seed)
    style = _style(random_source)
    canvas = Canvas("statement.pdf", (595, 842), invariant=1)
    page = _Page(canvas, style, random_source)
    return page.draw()


def _style(source: random.Random) -> _Style:
    columns = 2 if source.random() < 0.12 else 1
    return _Style(
        years=2 if columns == 2 else source.choice((1, 2, 2, 2, 3, 4)),
        notes=columns == 1 and source.random() < 0.5,
        currency=source.choice(("none", "none", "apart", "all", "tight")),
        percent_apart=source.random() < 0.5,
        negative=source.choice(("whole", "whole", "parted", "minus")),
        dash=source.choice(("–", "—", "-")),
        leaders=source.random() < 0.2,
        rules=source.random() < 0.5,
        spread=source.random() < 0.4,
        wrapped_first=source.random() < 0.25,
        by_words=source.random() < 0.25,
        prose=source.random() < 0.6,
        size=source.choice((7.0, 8.0, 9.0, 10.0)) if columns == 1 else 7.0,
        font=source.choice(("Helvetica", "Times-Roman")),
        columns=columns,
    )


class _Page:
    def __init__(self, canvas: Canvas, style: _Style, source: random.Random) -> None:
        self._canvas = canvas
        self._style = style
        self._source = source
        self._rows: list[str] = []
        self._y = 790.0
        self._width = (595 - 2 * _MARGIN - 20 * (style.columns - 1)) / style.columns

    def draw(self) -> Statement:
        style = self._style
        self._canvas.setFont(style.font, style.size + 3)
        self._canvas.drawString(_MARGIN, self._y, "Consolidated statement of financial position")
        self._y -= 22
        self._canvas.setFont(style.font, style.size)
        if style.prose:
            self._prose()
        top = lowest = self._y
        for column in range(style.columns):
            self._y = top
            self._table(_MARGIN + column * (self._width + 20))
            lowest = min(lowest, self._y)
        self._y = lowest - 8
        if style.prose:
            self._prose()
        return Statement(bytes(self._canvas.getpdfdata()), self._rows)

    def _prose(self) -> None:
        style = self._style
        for line in simpleSplit(_PROSE, style.font, style.size, 595 - 2 * _MARGIN):
            self._text(_MARGIN, line)
            self._y -= 1.25 * style.size
        self._y -= 12

    def _text(self, x: float, text: str) -> None:
        style = self._style
        if not style.by_words:
            self._canvas.drawString(x, self._y, text)
            return
        for word in text.split():
            self._canvas.drawString(x, self._y, word)
            x += stringWidth(f"{word} ", style.font, style.size)

    def _table(self, left: float) -> None:
        style = self._style
        pitch = (74 if style.spread else 58) * style.size / 8
        first = left + self._width - pitch * (style.years - 1)
        rights = [first + pitch * index for index in range(style.years)]
        note = rights[0] - pitch - 12 if style.notes else None
        room = (note - 16 if note is not None else rights[0] - pitch) - left
        self._header(left, rights, note)
        for section in range(self._source.randint(1, 3)):
            if self._source.random() < 0.7:
                self._text(left, self._source.choice(_HEADINGS))
                self._y -= 1.45 * style.size
            labels = self._source.sample(_LABELS, self._source.randint(3, 8))
            if self._source.random() < 0.4:
                labels.append(self._source.choice(_SHARES))
            for index, label in enumerate((*labels, "Total")):
                self._row(label, left, room, rights, note, signed=index == 0 or label == "Total")
            self._y -= 0.7 * style.size * (section + 1)

    def _header(self, left: float, rights: Sequence[float], note: float | None) -> None:
        style = self._style
        years = [str(2024 - index) for index in range(style.years)]
        names = years[:]
        if self._source.random() < 0.3:
            for right in rights:
                self._right(right, "31 Dec")
            self._y -= 1.2 * style.size
            names = [f"31 Dec {year}" for year in years]
        for year, right in zip(years, rights, strict=True):
            self._right(right, year)
        if note is not None:
            self._canvas.drawString(note, self._y, "Note")
            names.insert(0, "Note")
        self._rows.append("\t".join(["", *names]))
        self._y -= 1.6 * style.size
        if style.rules:
            self._canvas.line(left, self._y + 1.2 * style.size, rights[-1] + 4, self._y + 1.2 * style.size)

    def _row(
        self, label: str, left: float, room: float, rights: Sequence[float], note: float | None, *, signed: bool
    ) -> None:
        style = self._style
        indent = 0 if label == "Total" else self._source.choice((0, 0, 8, 16))
        lines = simpleSplit(label, style.font, style.size, room - indent)
        figures = [self._figure(share=label in _SHARES) for _ in rights]
        number = str(self._source.randint(1, 35)) if note is not None and self._source.random() < 0.5 else ""
        if style.rules and label == "Total":
            for right in rights:
                self._canvas.line(right - 48, self._y + 1.05 * style.size, right + 3, self._y + 1.05 * style.size)
        for index, line in enumerate(lines):
            self._text(left + indent, line)
            if index == (0 if style.wrapped_first else len(lines) - 1):
                self._dots(left + indent + stringWidth(line, style.font, style.size), left + room)
                if number and note is not None:
                    self._canvas.drawString(note, self._y, number)
                shown = [
                    self._draw_figure(right, figure, signed=signed)
                    for right, figure in zip(rights, figures, strict=True)
                ]
            if index + 1 < len(lines):
                self._y -= 1.15 * style.size
        cells = [label, *([number] if note is not None else []), *shown]
        self._rows.append("\t".join(cells))
        self._y -= 1.45 * style.size

    def _dots(self, begin: float, end: float) -> None:
        style = self._style
        width = stringWidth(".", style.font, style.size)
        count = int((end - begin - 8) / width)
        if style.leaders and count > 4:
            self._canvas.drawRightString(end - 2, self._y, "." * count)

    def _figure(self, *, share: bool) -> str:
        if share:
            return f"{self._source.uniform(0, 99):.1f}%"
        if self._source.random() < 0.08:
            return self._style.dash
        figure = f"{self._source.randint(1, 10 ** self._source.randint(2, 7)):,}"
        if self._source.random() < 0.25:
            return f"-{figure}" if self._style.negative == "minus" else f"({figure})"
        return figure

    def _right(self, right: float, text: str) -> None:
        self._canvas.drawRightString(right, self._y, text)

    def _draw_figure(self, right: float, figure: str, *, signed: bool) -> str:
        """Draw a figure; gives how it reads."""
        style, canvas = self._style, self._canvas
        hanging = stringWidth(")", style.font, style.size)
        if figure.endswith("%"):
            if style.percent_apart:
                self._right(right, figure[:-1])
                canvas.drawString(right + 2, self._y, "%")
            else:
                self._right(right, figure)
            return figure
        if figure.endswith(")") and style.negative == "parted":
            self._right(right, figure[1:-1])
            canvas.drawString(right, self._y, ")")
            self._right(right - stringWidth(figure[1:-1], style.font, style.size), "(")
        else:
            sign = "$" if style.currency == "tight" and signed else ""
            self._right(right + (hanging if figure.endswith(")") else 0), sign + figure)
            figure = sign + figure
        if style.currency == "all" or (style.currency == "apart" and signed):
            canvas.drawString(right - 52 * style.size / 8, self._y, "$")
            figure = f"${figure}"
        return figure
