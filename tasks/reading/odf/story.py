"""Stories of OpenDocument: paragraphs, headings, lists and tables, with what is anchored in them.

Notes, remarks, text boxes and objects come after the paragraph (in a table, the row) that they belong to.
"""

import re
from collections.abc import Iterator
from typing import Final

from lxml import etree

from tasks.errors import TooLarge
from tasks.language.normalise import one_line
from tasks.reading import limits
from tasks.reading.odf.elements import (
    DEEPEST,
    DRAW,
    SKIPPED,
    TEXT,
    OdfLine,
    elements,
    flat,
    formula,
    has_rows,
    is_shape,
    local_name,
    repeats,
    rows,
    start_value,
)
from tasks.reading.odf.numbering import Counter
from tasks.reading.odf.package import OdfPackage, name, part_of
from tasks.reading.odf.styles import OdfStyles, TrackedChange, author_and_date
from tasks.reading.places import (
    ALTERNATIVE_TEXT,
    COMMENT,
    ENDNOTE,
    FOOTNOTE,
    INSERTED,
    TABLE,
    TEXT_BOX,
    comment_mark,
)
from tasks.reading.text_writer import Writer

_SPACE: Final = re.compile(r"[ \t\r\n]+")
_MOST_SPACES: Final = 1_000
_MOST_COLUMNS: Final = 1_024
_MOST_REPEATED_ROWS: Final = 1_000
_MOST_CHARACTERS: Final = 40_000_000
_MOST_CHART_CELLS: Final = 100_000
_LONGEST_NAME: Final = 120


class Stories:
    """Writes the stories of a document into `writer`; `objects` are the objects met on the way, unread.

    With `on_slides` the numbers of a list go on in one right behind it, and a frame is no text box of its own.
    """

    def __init__(
        self,
        package: OdfPackage,
        styles: OdfStyles,
        writer: Writer,
        changes: dict[str, TrackedChange],
        *,
        on_slides: bool = False,
    ) -> None:
        self._on_slides = on_slides
        self.objects: list[etree._Element] = []
        self._package = package
        self._styles = styles
        self._writer = writer
        self._changes = changes
        self._begun: dict[str, int] = {}
        self._counters: dict[str, Counter] = {}
        self._last: tuple[str, Counter] | None = None
        self._outline = Counter(styles.outline_levels)
        self._charts: set[str] = set()

    def write(self, story: etree._Element, *, headings: bool = False, depth: int = 0) -> None:
        """Write all that stands in an element.

        Raises:
            TooLarge: there is more text than can be read.
        """
        for block in self._blocks(story, depth):
            if isinstance(block, OdfLine):
                self._write_line(block, depth, headings=headings)
            else:
                self.write_table(block, depth)
            if self._is_over():
                return

    def _is_over(self) -> bool:
        """Whether it is time to stop, with a warning."""
        if self._writer.position > _MOST_CHARACTERS:
            raise TooLarge("The document holds more text than can be read. Split it.")
        if limits.is_near():
            self._writer.warn("The document takes too long to read (DILIGENCE_DOCUMENT_TIMEOUT): its end is missing.")
            return True
        return False

    def end(self) -> None:
        """End the insertions that lost their ends."""
        for id_ in list(self._begun):
            self._end_change(id_, self._writer.position)

    def write_table(self, table: etree._Element, depth: int = 0) -> None:
        """Write a table, a row a line, cells split by tabs; a table in a cell stands below its row."""
        heads = (part.iter(name("table:table-row")) for part in table.iter(name("table:table-header-rows")))
        header = sum(1 for part in heads for _ in part)
        label, start = str(header) if header else "", self._writer.position
        for row in rows(table, depth):
            cells, asides = self._cells(row, depth)
            text = "\t".join(cells).rstrip()
            repeated = repeats(row, name("table:number-rows-repeated"), _MOST_REPEATED_ROWS) if text else 0
            for _ in range(repeated):
                self._writer.line(text)
            if any(aside.tag == name("table:table") for aside in asides):
                self._writer.mark(start, self._writer.position, TABLE, label)
                self._write_asides(asides, depth)
                label, start = "", self._writer.position
            else:
                self._write_asides(asides, depth)
            if self._is_over():
                break
        self._writer.mark(start, self._writer.position, TABLE, label)

    def plain(self, element: etree._Element, depth: int = 0) -> tuple[str, list[etree._Element]]:
        """All that stands in an element on one line, and what would be written after it."""
        words: list[str] = []
        asides: list[etree._Element] = []
        for block in self._blocks(element, depth):
            if isinstance(block, OdfLine):
                asides += block.asides
                begun = [change for change in block.changes if change[1] != "change-end"]
                text = block.without_bullet()
                for _, _, id_ in begun:
                    self._begun.setdefault(id_, self._writer.position)
                for _, kind, id_ in block.changes:
                    if kind == "change-end":
                        self._end_change(id_, self._writer.position + sum(map(len, words)) + len(words) + len(text))
                words.append(text)
            elif has_rows(block):
                asides.append(block)
            else:
                for row in rows(block, depth + 1):
                    cells, of_row = self._cells(row, depth + 1)
                    words += cells
                    asides += of_row
        return one_line(" ".join(words)), asides

    def write_shape(self, shape: etree._Element, depth: int = 0) -> None:
        """Write the words of a frame, a drawn shape or a group of them."""
        if depth > DEEPEST:
            self._writer.text(flat(shape))
            return
        kind = local_name(shape)
        if kind == "g":
            for child in elements(shape):
                if is_shape(child):
                    self.write_shape(child, depth + 1)
        elif kind == "frame":
            self._write_frame(shape, depth)
        elif kind not in ("control", "plugin", "applet"):
            self._write_box(shape, shape, depth)
        alternative = dict.fromkeys(one_line(shape.findtext(name(part)) or "") for part in ("svg:title", "svg:desc"))
        self._writer.placed(
            ALTERNATIVE_TEXT, shape.get(name("draw:name"), "")[:_LONGEST_NAME], "\n".join(filter(None, alternative))
        )

    def write_comment(self, annotation: etree._Element, prefix: str = "") -> None:
        """Write a reviewer's remark; `prefix` says where it is pinned."""
        label = author_and_date(annotation)
        blocks = self._blocks(annotation, 1)
        words = one_line(" ".join(block.text() for block in blocks if isinstance(block, OdfLine)))
        if words:
            self._writer.placed(COMMENT, label, prefix + comment_mark(label, "", words))

    def _write_frame(self, frame: etree._Element, depth: int) -> None:
        for child in elements(frame):
            kind = local_name(child)
            if kind == "text-box":
                self._write_box(child, frame, depth)
            elif kind == "table":
                self.write_table(child, depth + 1)
            elif kind == "object":
                self._write_object(child, depth)
            elif kind == "object-ole":
                self.objects.append(child)

    def _write_box(self, box: etree._Element, shape: etree._Element, depth: int) -> None:
        start = self._writer.position
        if self._on_slides:
            self._last = None
        self.write(box, depth=depth + 1)
        if self._writer.position > start and not self._on_slides:
            label = shape.get(name("draw:name"), "")[:_LONGEST_NAME]
            self._writer.mark(start, self._writer.position, TEXT_BOX, label)

    def _write_object(self, element: etree._Element, depth: int) -> None:
        """Write a chart or a formula; keep another document for the end."""
        inside = element.find(name("office:document"))
        part = part_of(element)
        if inside is None and part and part not in self._charts:
            self._charts.add(part)
            inside = self._package.tree(f"{part}/content.xml")
        if inside is None:
            return
        if inside.find(f"{name('office:body')}/{name('office:chart')}") is not None:
            for line in self._chart(inside, depth):
                self._writer.text(line)
        elif inside.tag.endswith("}math"):
            self._writer.text(formula(inside))
        elif part:
            self.objects.append(element)

    def _chart(self, chart: etree._Element, depth: int) -> Iterator[str]:
        """The titles of a chart, then its table: categories, and a column a series."""
        table = next(chart.iter(name("table:table")), None)
        for paragraph in chart.iter(name("text:p")):
            aside = paragraph.getparent()
            if aside is not None and aside.tag == name("chart:label-separator"):
                continue
            if table is None or table not in paragraph.iterancestors():
                yield one_line(flat(paragraph))
        cells = 0
        for row in () if table is None else rows(table, depth + 1):
            texts, _ = self._cells(row, depth + 1)
            cells += len(texts)
            yield "\t".join("" if text == "NaN" else text for text in texts).rstrip()
            if cells > _MOST_CHART_CELLS:
                return

    def _write_line(self, line: OdfLine, depth: int, *, headings: bool) -> None:
        text = line.text()
        if text:
            if line.heading and headings:
                self._writer.heading(text)
            start = self._writer.position
            self._writer.line(text)
            for offset, kind, id_ in line.changes:
                at = start + min(offset, len(text))
                if kind == "change-start":
                    self._begun.setdefault(id_, at)
                elif kind == "change-end":
                    self._end_change(id_, at)
        self._write_asides(line.asides, depth)

    def _end_change(self, id_: str, at: int) -> None:
        change, start = self._changes.get(id_), self._begun.pop(id_, at)
        if change is not None and change.inserted and start < at:
            self._writer.mark(start, at, INSERTED, change.label)

    def _write_asides(self, asides: list[etree._Element], depth: int) -> None:
        for aside in asides:
            if self._is_over():
                return
            kind = local_name(aside)
            if kind == "table":
                self.write_table(aside, depth + 1)
            elif kind == "annotation":
                self.write_comment(aside)
            elif kind == "note":
                body = aside.find(name("text:note-body"))
                start = self._writer.position
                if body is not None:
                    self.write(body, depth=depth + 1)
                if self._writer.position > start:
                    of_end = aside.get(name("text:note-class")) == "endnote"
                    label = one_line(aside.findtext(name("text:note-citation")) or "")[:_LONGEST_NAME]
                    self._writer.mark(start, self._writer.position, ENDNOTE if of_end else FOOTNOTE, label)
            else:
                self.write_shape(aside, depth + 1)

    def _blocks(self, element: etree._Element, depth: int) -> Iterator[OdfLine | etree._Element]:
        """The paragraphs and tables that stand in an element, in order."""
        if depth > DEEPEST:
            line = OdfLine()
            line.add(flat(element))
            yield line
            return
        for child in elements(element):
            kind = child.tag
            if kind == name("text:p"):
                if self._on_slides:
                    self._last = None
                yield self._line(child)
            elif kind == name("text:h"):
                yield self._line(child, self._outline_label(child))
            elif kind == name("text:list"):
                yield from self._list(child, depth + 1, 1, None)
            elif kind == name("table:table"):
                yield child
            elif is_shape(child) or kind in (name("office:annotation"), name("text:note")):
                anchor = OdfLine()
                anchor.asides.append(child)
                yield anchor
            elif kind not in SKIPPED and kind.startswith((TEXT, DRAW)):
                yield from self._blocks(child, depth + 1)

    def _line(self, paragraph: etree._Element, label: str = "") -> OdfLine:
        style = paragraph.get(name("text:style-name"), "")
        line = OdfLine(label, paragraph.tag == name("text:h") or self._styles.is_title(style))
        self._add(paragraph, line, 0)
        return line

    def _outline_label(self, heading: etree._Element) -> str:
        level = repeats(heading, name("text:outline-level"), 10)
        unnumbered = heading.get(name("text:is-list-header")) == "true"
        if unnumbered or self._styles.is_unnumbered(heading.get(name("text:style-name"), "")):
            return ""
        written = heading.findtext(name("text:number"))
        counted = self._outline.next(level, start_value(heading))
        return one_line(written or counted)

    def _list(
        self, element: etree._Element, depth: int, level: int, counter: Counter | None
    ) -> Iterator[OdfLine | etree._Element]:
        style = element.get(name("text:style-name"), "")
        if counter is None:
            counter = self._counter(element, style)
        elif style:
            counter = counter.by_levels(self._styles.list_levels(style))
        for item in elements(element):
            labelled = item.tag == name("text:list-item")
            for child in elements(item):
                if child.tag in (name("text:p"), name("text:h")):
                    off = self._styles.is_unnumbered(child.get(name("text:style-name"), ""))
                    label = counter.next(level, start_value(item)) if labelled and not off else ""
                    labelled = False
                    yield self._line(child, one_line(child.findtext(name("text:number")) or label))
                elif child.tag == name("text:list") and depth < DEEPEST:
                    yield from self._list(child, depth + 1, level + 1, counter)
                elif child.tag == name("text:list"):
                    line = OdfLine()
                    line.add(flat(child))
                    yield line
                else:
                    yield from self._blocks(child, depth + 1)

    def _counter(self, element: etree._Element, style: str) -> Counter:
        """The counter of a list that stands in no other: that of the list which it goes on with, or a new one."""
        followed = self._counters.get(element.get(name("text:continue-list"), ""))
        if followed is None and element.get(name("text:continue-numbering")) == "true" and self._last is not None:
            last_style, last = self._last
            followed = last if last_style == style else None
        levels = self._styles.list_levels(style)
        if self._on_slides and self._last is not None:
            followed = self._last[1].continued(levels)
        counter = Counter(levels) if followed is None else followed
        self._last = style, counter
        id_ = element.get(name("xml:id")) or element.get(name("text:id"))
        if id_:
            self._counters[id_] = counter
        return counter

    def _add(self, element: etree._Element, line: OdfLine, depth: int) -> None:
        """Add the words of a paragraph, or of a part of one, to its line."""
        if element.text:
            line.add(_SPACE.sub(" ", element.text))
        for child in element:
            if isinstance(child.tag, str):
                self._add_child(child, line, depth)
            if child.tail:
                line.add(_SPACE.sub(" ", child.tail))

    def _add_child(self, child: etree._Element, line: OdfLine, depth: int) -> None:
        kind = child.tag
        local = kind.rpartition("}")[2]
        if kind == name("text:s"):
            line.add(" " * repeats(child, name("text:c"), _MOST_SPACES))
        elif kind == name("text:tab"):
            line.add("\t")
        elif kind == name("text:line-break"):
            line.add("\n")
        elif kind in (name("text:change-start"), name("text:change-end")):
            line.change(local, child.get(name("text:change-id"), ""))
        elif kind in (name("text:note"), name("office:annotation")) or is_shape(child):
            line.asides.append(child)
        elif kind in SKIPPED or child.text == "<number>":  # the number of a slide, which it does not say
            return
        elif depth > DEEPEST:
            line.add(flat(child))
        else:
            self._add(child, line, depth + 1)

    def _cells(self, row: etree._Element, depth: int) -> tuple[list[str], list[etree._Element]]:
        cells: list[str] = []
        asides: list[etree._Element] = []
        for cell in elements(row):
            if not cell.tag.endswith("table-cell"):
                continue
            text, of_cell = ("", []) if cell.tag == name("table:covered-table-cell") else self.plain(cell, depth + 1)
            asides += of_cell
            room = _MOST_COLUMNS - len(cells)
            cells += [text] * min(room, repeats(cell, name("table:number-columns-repeated"), _MOST_COLUMNS))
        return cells, asides
