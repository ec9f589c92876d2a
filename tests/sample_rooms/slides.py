"""Writes a source as a presentation: `===` begins a slide, `#` is its title, `>` its speaker notes."""

import io
from itertools import groupby
from typing import Any

import pptx
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Cm, Length, Pt

from tests.sample_rooms.markup import Block, Kind, Source
from tests.sample_rooms.package import settle

_COVER, _TITLE_ONLY = 0, 5  # layouts of the library's template
_LEFT, _TOP, _WIDTH, _BOTTOM = Cm(1.6), Cm(4.2), Cm(22.2), Cm(18.2)


def write(source: Source) -> bytes:
    """The source as the bytes of a .pptx."""
    deck = pptx.Presentation()
    properties = deck.core_properties
    properties.title, properties.author, properties.last_modified_by = source.title, source.author, source.author
    for key, relation in list(deck.part.package._rels.items()):
        if "thumbnail" in relation.reltype:
            deck.part.package._rels.pop(key)
    for breaks, blocks in groupby(source.blocks, lambda block: block.kind is Kind.BREAK):
        if not breaks:
            _slide(deck, list(blocks), source.footer)
    out = io.BytesIO()
    deck.save(out)
    return settle(out.getvalue(), source.written)


def _slide(deck: Any, blocks: list[Block], footer: str) -> None:
    cover = len(deck.slides) == 0
    slide = deck.slides.add_slide(deck.slide_layouts[_COVER if cover else _TITLE_ONLY])
    top: Length = _TOP
    texts = [block.text for block in blocks if block.kind in (Kind.PARAGRAPH, Kind.ITEM)]
    slide.shapes.title.text = next(block.text for block in blocks if block.kind is Kind.TITLE)
    if cover:
        slide.placeholders[1].text = "\n".join(texts)
    elif texts:
        height = Cm(1.5 * len(texts))
        frame = slide.shapes.add_textbox(_LEFT, top, _WIDTH, height).text_frame
        frame.word_wrap = True
        for number, text in enumerate(texts):
            paragraph = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
            paragraph.text, paragraph.font.size, paragraph.space_after = text, Pt(18), Pt(8)
        top = Length(top + height)
    for block in blocks:
        if block.kind is Kind.ROW:
            _table(slide, block, top)
        elif block.kind is Kind.CHART:
            _chart(slide, block, top)
        elif block.kind is Kind.NOTE:
            slide.notes_slide.notes_text_frame.text += block.text
    if footer and not cover:
        corner = slide.shapes.add_textbox(_LEFT, Cm(18.2), _WIDTH, Cm(0.8)).text_frame
        corner.text = footer
        corner.paragraphs[0].font.size = Pt(9)


def _table(slide: Any, block: Block, top: Length) -> None:
    rows, columns = len(block.rows), len(block.rows[0])
    table = slide.shapes.add_table(rows, columns, _LEFT, top, _WIDTH, Cm(1.0 * rows)).table
    for number, row in enumerate(block.rows):
        for column, text in enumerate(row):
            cell = table.cell(number, column)
            cell.text = text
            cell.text_frame.paragraphs[0].font.size = Pt(14)


def _chart(slide: Any, block: Block, top: Length) -> None:
    title, _, points = block.text.rpartition(": ")
    pairs = [point.split("=") for point in points.split(", ")]
    data: Any = CategoryChartData(number_format="0.0")  # type: ignore[no-untyped-call]
    data.categories = [name for name, _ in pairs]
    data.add_series(title, [float(value) for _, value in pairs])
    height = Length(_BOTTOM - top)
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, _LEFT, top, _WIDTH, height, data)
