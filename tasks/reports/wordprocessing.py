"""A Word file built paragraph by paragraph: headings, tables, footnotes, links and a table of contents.

python-docx supplies the empty file and its styles, but it makes no footnotes, links or contents, and it searches the
whole body for each paragraph that it adds. So paragraphs are built here and put into the body once. Words are data:
they are written as text, never as markup or a field.
"""

from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import Final, NamedTuple

import docx
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml.ns import nsmap, qn
from docx.shared import Cm, Pt, RGBColor
from docx.styles.style import ParagraphStyle
from lxml import etree

from tasks.reports.wording import line_count, link_address, xml_text

FONT: Final = "Arial"
ACCENT, QUIET, FLAG = "0B5563", "5A6B74", "8A4B00"
_NAMESPACES: Final = {prefix: nsmap[prefix] for prefix in ("w", "r")}
WIDTH: Final = 482.0
"""Of the text, in points."""
PAGE: Final = 728.0
"""The height of a page's text, in points."""
_MARGINS: Final = 11.0
"""Of a cell, left and right, in points."""
_XML_SPACE: Final = "{http://www.w3.org/XML/1998/namespace}space"

_MARK_LOOK: Final = (("rStyle", "FootnoteReference"),)
_NOTE_BOOKMARKS: Final = 1_000_000
"""The ids of footnotes' bookmarks begin behind those of headings."""


class _Style(NamedTuple):
    """A style of ours: its name, its id, the size of its font and the space before and after it, in points."""

    name: str
    id: str
    size: float
    colour: str | None
    before: float
    after: float


_STYLES: Final = (
    _Style("Normal", "Normal", 10, None, 0, 5),
    _Style("Title", "Title", 22, ACCENT, 0, 2),
    _Style("Subtitle", "Subtitle", 11, QUIET, 0, 8),
    _Style("Heading 1", "Heading1", 17, ACCENT, 12, 3),
    _Style("Heading 2", "Heading2", 11.5, ACCENT, 9, 3),
    _Style("List Bullet", "ListBullet", 10, None, 0, 3),
    _Style("Table Text", "TableText", 9, None, 2, 2),
    _Style("Lead", "Lead", 12, None, 4, 6),
    _Style("Remark", "Remark", 9, QUIET, 4, 4),
    _Style("toc 1", "TOC1", 10, None, 0, 2),
    _Style("footnote text", "FootnoteText", 8, None, 0, 0),
    _Style("Footer", "Footer", 8, QUIET, 0, 0),
)
_BOLD: Final = ("Heading", "Lead")
_BY_ID: Final = {style.id: style for style in _STYLES}
_LINE: Final = 1.149 * 1.08
"""The height of a line of Arial as a share of its size, with our line spacing."""


class Words(NamedTuple):
    """Words in a style of their own; `colour` is six hexadecimal digits."""

    text: str
    bold: bool = False
    colour: str | None = None


class WordLink(NamedTuple):
    """Words that link to an address; plain words if a report may not link to it."""

    text: str
    url: str | None


class Note(NamedTuple):
    """A footnote: its mark is here, its words are at the foot of the page."""

    inlines: tuple["str | Words | WordLink", ...]


Inline = str | Words | WordLink | Note


class WordCell(NamedTuple):
    """A cell of a table; `fill` is its colour, six hexadecimal digits."""

    inlines: tuple[Inline, ...]
    fill: str | None = None


class WordFile:
    """A Word file on A4, written from top to bottom."""

    def __init__(self, title: str, footer: str) -> None:
        self._file = docx.Document()
        self._blocks: list[etree._Element] = []
        self._notes = etree.Element(qn("w:footnotes"), nsmap=_NAMESPACES)
        self._notes_part = Part(
            PackURI("/word/footnotes.xml"), CONTENT_TYPE.WML_FOOTNOTES, b"", self._file.part.package
        )
        self._section_notes: dict[Note, int] = {}
        self.used = 0.0
        """About how many points were written since the last heading of level 1, footnotes included."""
        self._headings = self._noted = 0
        for number, line in enumerate(("separator", "continuationSeparator")):
            note = etree.SubElement(self._notes, qn("w:footnote"), {qn("w:type"): line, qn("w:id"): str(number)})
            etree.SubElement(_run(_paragraph(note, None)), qn(f"w:{line}"))
        self._file.core_properties.title = xml_text(title)[:255]
        self._file.core_properties.author = ""
        self._set_page(xml_text(footer))
        self._set_styles()

    def paragraph(self, *inlines: Inline, style: str | None = None) -> None:
        """Add a paragraph; `style` is the id of a style."""
        self.used += height(inlines, style or "Normal")
        self._fill(_paragraph(None, style), inlines)

    def heading(self, text: str, level: int, *, new_page: bool = False) -> None:
        """Add a heading. Those of level 1 are in the contents, which `contents` writes in the same order."""
        style = f"Heading{level}"
        paragraph = _paragraph(None, style)
        if new_page:
            etree.SubElement(paragraph[0], qn("w:pageBreakBefore"))
        if level == 1:
            self._headings += 1
            self.used = 0.0
            self._section_notes.clear()
            name = {qn("w:id"): str(self._headings), qn("w:name"): f"_Toc{self._headings}"}
            etree.SubElement(paragraph, qn("w:bookmarkStart"), name)
            self._fill(paragraph, (text,))
            etree.SubElement(paragraph, qn("w:bookmarkEnd"), {qn("w:id"): str(self._headings)})
        else:
            self._fill(paragraph, (text,))
        self.used += height((text,), style)

    def contents(self, headings: Sequence[str]) -> None:
        """Add the table of contents with the level 1 headings that will follow.

        LibreOffice sets the page numbers when it opens the file, Word when it prints it or updates its fields. A field
        of type TOC would keep the page numbers that we write, and only the program that lays the memo out knows them.
        """
        for number, text in enumerate(headings, self._headings + 1):
            paragraph = _paragraph(None, "TOC1")
            link = etree.SubElement(paragraph, qn("w:hyperlink"), {qn("w:anchor"): f"_Toc{number}"})
            _text(_run(link), xml_text(text))
            etree.SubElement(_run(link), qn("w:tab"))
            _field(link, f" PAGEREF _Toc{number} \\h ")
            _field_end(link)
            self._blocks.append(paragraph)

    def table(self, head: Sequence[str], rows: Iterable[Sequence[WordCell]], widths: Sequence[float]) -> None:
        """Add a table across the page, its head repeated on each page; `widths` are in centimetres."""
        table = etree.Element(qn("w:tbl"), nsmap=_NAMESPACES)
        properties = etree.SubElement(table, qn("w:tblPr"))
        etree.SubElement(properties, qn("w:tblW"), {qn("w:w"): _twips(sum(widths)), qn("w:type"): "dxa"})
        borders = etree.SubElement(properties, qn("w:tblBorders"))
        for side in ("top", "bottom", "insideH"):
            line = {qn("w:val"): "single", qn("w:sz"): "4", qn("w:space"): "0", qn("w:color"): "C3CED1"}
            etree.SubElement(borders, qn(f"w:{side}"), line)
        etree.SubElement(properties, qn("w:tblLayout"), {qn("w:type"): "fixed"})
        grid = etree.SubElement(table, qn("w:tblGrid"))
        for width in widths:
            etree.SubElement(grid, qn("w:gridCol"), {qn("w:w"): _twips(width)})
        self._row(table, [WordCell((Words(name, bold=True),), "EEF2F2") for name in head], widths, repeated=True)
        for row in rows:
            self._row(table, row, widths)
            self.used += row_height(row, widths)
        self._blocks.append(table)

    def save(self) -> bytes:
        """The bytes of the file. Nothing may be added after this."""
        self._notes_part._blob = etree.tostring(self._notes, xml_declaration=True, encoding="UTF-8")  # noqa: SLF001
        self._file.part.relate_to(self._notes_part, RELATIONSHIP_TYPE.FOOTNOTES)
        self._file.element.body[:0] = self._blocks
        file = BytesIO()
        self._file.save(file)
        return file.getvalue()

    def _row(
        self, table: etree._Element, cells: Sequence[WordCell], widths: Sequence[float], *, repeated: bool = False
    ) -> None:
        row = etree.SubElement(table, qn("w:tr"))
        properties = etree.SubElement(row, qn("w:trPr"))
        etree.SubElement(properties, qn("w:cantSplit"))
        if repeated:
            etree.SubElement(properties, qn("w:tblHeader"))
        for cell, width in zip(cells, widths, strict=True):
            element = etree.SubElement(row, qn("w:tc"))
            look = etree.SubElement(element, qn("w:tcPr"))
            etree.SubElement(look, qn("w:tcW"), {qn("w:w"): _twips(width), qn("w:type"): "dxa"})
            if cell.fill:
                shade = {qn("w:val"): "clear", qn("w:color"): "auto", qn("w:fill"): cell.fill}
                etree.SubElement(look, qn("w:shd"), shade)
            self._write(_paragraph(element, "TableText"), cell.inlines, self._file.part)

    def _fill(self, paragraph: etree._Element, inlines: Iterable[Inline]) -> None:
        self._write(paragraph, inlines, self._file.part)
        self._blocks.append(paragraph)

    def _write(self, paragraph: etree._Element, inlines: Iterable[Inline], part: Part) -> None:
        before: Inline | None = None
        for inline in inlines:
            if isinstance(inline, Note):
                if isinstance(before, Note):
                    _text(_run(paragraph, *_MARK_LOOK), ", ")
                self._note(paragraph, inline)
            elif isinstance(inline, WordLink):
                address = link_address(inline.url)
                into = paragraph if address is None else _hyperlink(paragraph, address, part)
                _text(_run(into, *((("rStyle", "Hyperlink"),) if address else ())), xml_text(inline.text))
            else:
                words = inline if isinstance(inline, Words) else Words(inline)
                look = [("b", "1")] if words.bold else []
                look += [("color", words.colour)] if words.colour else []
                _text(_run(paragraph, *look), xml_text(words.text))
            before = inline

    def _note(self, paragraph: etree._Element, note: Note) -> None:
        """The mark of a footnote; a footnote that the section already has is referred to again."""
        known = self._section_notes.get(note)
        if known is not None:
            _field(paragraph, f" NOTEREF _Note{known} \\f \\h ", *_MARK_LOOK)
            _text(_run(paragraph, *_MARK_LOOK), str(known))
            _field_end(paragraph)
            return
        self._noted += 1  # lxml would count all footnotes for each
        number = self._noted
        self._section_notes[note] = number
        identifier = {qn("w:id"): str(_NOTE_BOOKMARKS + number)}
        etree.SubElement(paragraph, qn("w:bookmarkStart"), identifier | {qn("w:name"): f"_Note{number}"})
        reference = _run(paragraph, *_MARK_LOOK)
        etree.SubElement(reference, qn("w:footnoteReference"), {qn("w:id"): str(number + 1)})
        etree.SubElement(paragraph, qn("w:bookmarkEnd"), identifier)
        footnote = etree.SubElement(self._notes, qn("w:footnote"), {qn("w:id"): str(number + 1)})
        words = _paragraph(footnote, "FootnoteText")
        etree.SubElement(_run(words, *_MARK_LOOK), qn("w:footnoteRef"))
        self._write(words, (" ", *note.inlines), self._notes_part)

    def _set_page(self, footer: str) -> None:
        section = self._file.sections[0]
        section.page_width, section.page_height = Cm(21), Cm(29.7)
        section.left_margin = section.right_margin = section.top_margin = section.bottom_margin = Cm(2)
        section.footer_distance = Cm(1)
        paragraph = section.footer.paragraphs[0]._p  # noqa: SLF001
        _text(_run(paragraph), f"{footer}, page ")
        for before, field in (("", " PAGE "), (" of ", " NUMPAGES ")):
            _text(_run(paragraph), before)
            _field(paragraph, field)
            _text(_run(paragraph), "1")
            _field_end(paragraph)

    def _set_styles(self) -> None:
        """Our look on the template's styles, and those that it lacks."""
        styles = self._file.styles
        for name, identifier, size, colour, before, after in _STYLES:
            style = styles[name] if name in styles else styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH, builtin=True)
            assert isinstance(style, ParagraphStyle)
            style.element.set(qn("w:styleId"), identifier)
            style.font.name, style.font.size, style.font.bold = FONT, Pt(size), name.startswith(_BOLD)
            style.font.italic = False
            if colour:
                style.font.color.rgb = RGBColor.from_string(colour)
            fonts = style.element.rPr.rFonts  # the theme's fonts would go before ours
            fonts.attrib.clear()
            for kind in ("ascii", "hAnsi", "cs", "eastAsia"):
                fonts.set(qn(f"w:{kind}"), FONT)
            spacing = style.paragraph_format
            spacing.space_before, spacing.space_after, spacing.line_spacing = Pt(before), Pt(after), 1.08
        for border in styles["Title"].element.iter(qn("w:pBdr")):
            border.getparent().remove(border)
        styles["TOC1" if "TOC1" in styles else "toc 1"].paragraph_format.tab_stops.add_tab_stop(Cm(17), 2, 1)
        mark = styles.add_style("footnote reference", WD_STYLE_TYPE.CHARACTER, builtin=True)
        mark.element.set(qn("w:styleId"), "FootnoteReference")
        mark.font.superscript = True
        link = styles.add_style("Hyperlink", WD_STYLE_TYPE.CHARACTER, builtin=True)
        link.font.color.rgb, link.font.underline = RGBColor.from_string(ACCENT), True


def height(inlines: Iterable[Inline], style: str, width: float = WIDTH) -> float:
    """About how many points a paragraph takes on its pages, including its footnotes; `width` is in points."""
    look = _BY_ID[style]
    notes, bold = 0.0, look.name.startswith(_BOLD)
    text: list[str] = []
    for inline in inlines:
        if isinstance(inline, Note):
            notes += height(inline.inlines, "FootnoteText")
        else:
            text.append(inline if isinstance(inline, str) else inline.text)
            bold = bold or (isinstance(inline, Words) and inline.bold)
    lines = line_count("".join(text), width * 0.92 if bold else width, look.size)  # bold letters are wider
    return lines * look.size * _LINE + look.before + look.after + notes


def row_height(row: Sequence[WordCell], widths: Sequence[float]) -> float:
    """About how many points a table row takes on its pages, including its footnotes; `widths` are in centimetres."""
    notes = [inline for cell in row for inline in cell.inlines if isinstance(inline, Note)]
    cells = [
        height(
            [inline for inline in cell.inlines if not isinstance(inline, Note)], "TableText", 28.35 * width - _MARGINS
        )
        for cell, width in zip(row, widths, strict=True)
    ]
    return max(cells) + sum(height(note.inlines, "FootnoteText") for note in notes)


def _paragraph(parent: etree._Element | None, style: str | None) -> etree._Element:
    tag = qn("w:p")
    paragraph = etree.Element(tag, nsmap=_NAMESPACES) if parent is None else etree.SubElement(parent, tag)
    properties = etree.SubElement(paragraph, qn("w:pPr"))
    if style is not None:
        etree.SubElement(properties, qn("w:pStyle"), {qn("w:val"): style})
    return paragraph


def _run(parent: etree._Element, *look: tuple[str, str]) -> etree._Element:
    run = etree.SubElement(parent, qn("w:r"))
    if look:
        properties = etree.SubElement(run, qn("w:rPr"))
        for name, value in look:
            etree.SubElement(properties, qn(f"w:{name}"), {qn("w:val"): value})
    return run


def _text(run: etree._Element, text: str) -> None:
    etree.SubElement(run, qn("w:t"), {_XML_SPACE: "preserve"}).text = " ".join(text.split("\n"))


def _hyperlink(paragraph: etree._Element, address: str, part: Part) -> etree._Element:
    relationships = part.rels
    name = f"rIdLink{len(relationships)}"  # a free name: python-docx would look through all of them for one
    relationships.add_relationship(RELATIONSHIP_TYPE.HYPERLINK, xml_text(address), name, is_external=True)
    return etree.SubElement(paragraph, qn("w:hyperlink"), {qn("r:id"): name})


def _field(parent: etree._Element, instruction: str, *look: tuple[str, str]) -> None:
    """The beginning of a field: its result follows, then `_field_end`."""
    etree.SubElement(_run(parent, *look), qn("w:fldChar"), {qn("w:fldCharType"): "begin"})
    etree.SubElement(_run(parent, *look), qn("w:instrText"), {_XML_SPACE: "preserve"}).text = instruction
    etree.SubElement(_run(parent, *look), qn("w:fldChar"), {qn("w:fldCharType"): "separate"})


def _field_end(parent: etree._Element) -> None:
    etree.SubElement(_run(parent), qn("w:fldChar"), {qn("w:fldCharType"): "end"})


def _twips(centimetres: float) -> str:
    return str(round(centimetres * 567))
