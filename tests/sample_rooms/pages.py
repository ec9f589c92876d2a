"""Writes a source as a PDF: A4 pages with header, footer, page number, tables, and an outline where it is long."""

import io
from typing import Any
from xml.sax.saxutils import escape

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.lib.units import cm
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

from tests.sample_rooms.markup import Block, Kind, Source

_STYLES = getSampleStyleSheet()
_BODY = ParagraphStyle("Body", _STYLES["BodyText"], fontName="Helvetica", fontSize=10, leading=13.5, spaceAfter=5)
_LOOKS = {
    Kind.TITLE: _STYLES["Title"],
    Kind.HEADING: _STYLES["Heading2"],
    Kind.SUBHEADING: _STYLES["Heading3"],
    Kind.PARAGRAPH: _BODY,
    Kind.ITEM: ParagraphStyle("Item", _BODY, leftIndent=14, bulletIndent=2),
}
_GRID = TableStyle(
    [
        ("FONT", (0, 0), (-1, -1), "Helvetica", 9),
        ("FONT", (0, 0), (-1, 0), "Helvetica-Bold", 9),
        ("LINEBELOW", (0, 0), (-1, 0), 0.8, colors.black),
        ("LINEBELOW", (0, 1), (-1, -1), 0.25, colors.lightgrey),
        ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
        ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
    ]
)


class _Outlined(SimpleDocTemplate):  # type: ignore[misc]  # reportlab has no types
    """Enters each title and heading in the PDF's outline, where there are pages to turn."""

    outlined = False

    def afterFlowable(self, flowable: Any) -> None:  # noqa: N802 - reportlab's name
        if self.outlined and isinstance(flowable, Paragraph) and flowable.style.name in ("Title", "Heading2"):
            key = f"place-{self.canv.getPageNumber()}-{self.frame._y:.0f}"
            self.canv.bookmarkPage(key)
            level = 0 if flowable.style.name == "Title" else 1
            self.canv.addOutlineEntry(flowable.getPlainText(), key, level=level)


def write(source: Source) -> bytes:
    """The source as the bytes of a PDF, uncompressed and without timestamps, so that it is reproducible."""

    def edges(canvas: Any, _: Any) -> None:
        canvas.setFont("Helvetica", 8)
        canvas.drawString(2.2 * cm, A4[1] - 1.3 * cm, source.header)
        canvas.drawString(2.2 * cm, 1.2 * cm, source.footer)
        canvas.drawRightString(A4[0] - 2.2 * cm, 1.2 * cm, f"Page {canvas.getPageNumber()}")

    out = io.BytesIO()
    margins = dict.fromkeys(("leftMargin", "rightMargin"), 2.2 * cm) | dict.fromkeys(
        ("topMargin", "bottomMargin"), 2.1 * cm
    )
    document = _Outlined(
        out,
        pagesize=A4,
        title=source.title,
        author=source.author,
        invariant=1,
        pageCompression=0,
        **margins,
    )
    document.outlined = any(block.kind is Kind.BREAK for block in source.blocks)
    document.build([part for block in source.blocks for part in _flow(block)], onFirstPage=edges, onLaterPages=edges)
    return out.getvalue()


def _flow(block: Block) -> list[Any]:
    if block.kind is Kind.BREAK:
        return [PageBreak()]
    if block.kind is Kind.ROW:
        first = 8.2 if len(block.rows[0]) > 2 else 9.5
        rest = (16.4 - first) / (len(block.rows[0]) - 1)
        table = Table(block.rows, colWidths=[first * cm] + [rest * cm] * (len(block.rows[0]) - 1), style=_GRID)
        return [Spacer(1, 4), table, Spacer(1, 8)]
    return [Paragraph(escape(block.text), _LOOKS[block.kind], bulletText="•" if block.kind is Kind.ITEM else None)]
