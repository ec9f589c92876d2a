"""Writes a source as a Word document: headings, tables, page header and footer, reviewers' comments."""

import io
from datetime import date
from typing import TYPE_CHECKING

import docx
from docx.oxml.ns import qn
from docx.shared import Cm, Pt

from tests.sample_rooms.markup import Block, Kind, Source
from tests.sample_rooms.package import settle

if TYPE_CHECKING:
    from docx.document import Document

_STYLES = {
    Kind.TITLE: "Title",
    Kind.HEADING: "Heading 1",
    Kind.SUBHEADING: "Heading 2",
    Kind.ITEM: "List Bullet",
    Kind.PARAGRAPH: "Normal",
}
_UNWANTED = ("thumbnail", "stylesWithEffects", "customXml")  # of the library's template: half of a small file


def write(source: Source) -> bytes:
    """The source as the bytes of a .docx."""
    document = docx.Document()
    properties = document.core_properties
    properties.title, properties.author, properties.last_modified_by = source.title, source.author, source.author
    properties.comments = ""
    document.styles["Normal"].font.size = Pt(10.5)
    section = document.sections[0]
    section.left_margin = section.right_margin = Cm(2.5)
    section.header.paragraphs[0].text = source.header
    section.footer.paragraphs[0].text = source.footer
    for block in source.blocks:
        _add(document, block)
    for package in (document.part.package, document.part):
        for key, relation in list(package.rels.items()):
            if any(word in relation.reltype for word in _UNWANTED):
                del package.rels[key]
    out = io.BytesIO()
    document.save(out)
    return settle(out.getvalue(), source.written)


def _add(document: "Document", block: Block) -> None:
    if block.kind is Kind.BREAK:
        document.add_page_break()  # type: ignore[no-untyped-call]
    elif block.kind is Kind.ROW:
        table = document.add_table(0, len(block.rows[0]), style="Light Grid Accent 1")
        for row in block.rows:
            for cell, text in zip(table.add_row().cells, row, strict=True):
                cell.text = text
        document.add_paragraph()
    elif block.kind is Kind.COMMENT:
        head, _, text = block.text.partition(": ")
        author, _, day = head.partition(", ")
        initials = "".join(name[0] for name in author.split())
        comment = document.add_comment(document.paragraphs[-1].runs, text, author, initials)
        written = date.fromisoformat(day)
        comment._comment_elm.set(qn("w:date"), f"{written}T16:20:00Z")
    else:
        document.add_paragraph(block.text, style=_STYLES[block.kind])
