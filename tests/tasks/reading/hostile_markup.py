"""Builds Office files that mean harm with what is in their parts: amplifications, depths, loops, absurd sheets.

They are small, and sound as zips.
"""

import re

from tests.fuzz.zips import office
from tests.tasks.reading.hostile_files import MARKER, MB, book, book_of, deck, shape, word, word_of
from tests.tasks.reading.ooxml.packages import CHART, NAMES, OFFICE, SHEET, p, relationships

RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
WORD_URI = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_P = f'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" {NAMES}'


def nested(opening: str, closing: str, depth: int, inside: str = "") -> str:
    """Elements within each other."""
    return opening * depth + inside + closing * depth


# Large within the limits of a part


def long_texts() -> dict[str, bytes]:
    """Parts of 40 to 80 MB: one run, which Python's text takes four times as wide, or nothing but tags."""
    run, end = b"<w:p><w:r><w:t>", b"</w:t></w:r></w:p>"
    return {
        "one_wide_run.docx": word_of(run + "\U0001f600".encode(), b"A" * MB, 80, end),
        "small_paragraphs.docx": word_of(b"", p("a").encode() * 20_000, 60),
        "empty_paragraphs.docx": word_of(b"", b"<w:p/>" * 100_000, 100),
        "tabs.docx": word_of(b"<w:p><w:r>", b"<w:tab/>" * 100_000, 60, b"</w:r></w:p>"),
        "tables_left_open.docx": word_of(b"", b"<w:tbl><w:tr><w:tc>" * 40_000, 60),
        "unclosed_tag.docx": word_of(b"<w:p ", b" " * MB, 80),
        "open_brackets.docx": word_of(b"<w:t>", b"<" * MB, 80),
        "references.docx": word_of(run, b"&#65;" * 100_000, 80, end),
        "cells.xlsx": book_of(b"<row><c><v>1</v></c></row>" * 20_000, 60),
        "inline_strings.xlsx": book_of(b"<row><c t='inlineStr'><is><t>a</t></is></c></row>" * 10_000, 60),
        "one_cell.xlsx": book_of(b"A" * MB, 80),
    }


# Amplifications: a little said once and meant very often


def one_footnote_often() -> bytes:
    """A footnote of 100 KB at 60,000 places: 6 GB."""
    notes = f"<w:footnotes {NAMES}><w:footnote w:id='1'>{p('note ' * 20_000)}</w:footnote></w:footnotes>"
    body = "<w:p><w:r><w:footnoteReference w:id='1'/></w:r></w:p>" * 60_000
    return word(body, {"word/footnotes.xml": notes}, ("footnotes", "footnotes.xml"))


def one_chart_often() -> bytes:
    """A chart of 1 MB at 20,000 places: 20 GB."""
    point = "<c:pt idx='0'><c:v>" + "v" * MB + "</c:v></c:pt>"
    chart = CHART.replace("<c:pt idx='0'><c:v>FY23</c:v></c:pt>", point)
    return word(
        "<w:p><w:r><c:chart r:id='rId1'/></w:r></w:p>" * 20_000, {"word/chart.xml": chart}, ("chart", "chart.xml")
    )


def one_header_often() -> bytes:
    """A header of 1 MB in 20,000 sections."""
    header = f"<w:hdr {NAMES}>{p('head ' * 200_000)}</w:hdr>"
    section = "<w:p><w:pPr><w:sectPr><w:headerReference r:id='rId1'/></w:sectPr></w:pPr></w:p>"
    return word(section * 20_000, {"word/header.xml": header}, ("header", "header.xml"))


def one_string_often() -> bytes:
    """A shared string of 1 MB in 100,000 cells: 100 GB."""
    rows = "".join(f"<row r='{row}'>" + "<c t='s'><v>0</v></c>" * 100 + "</row>" for row in range(1, 1001))
    return book(
        rows, {"xl/sharedStrings.xml": f'<sst xmlns="{SHEET}">'.encode() + b"<si><t>" + b"s" * MB + b"</t></si></sst>"}
    )


def one_sheet_often() -> bytes:
    """A sheet of 1 MB under 20,000 names."""
    return book("<row><c t='inlineStr'><is><t>" + "w" * MB + "</t></is></c></row>", sheets=20_000)


def one_slide_often() -> bytes:
    """A slide of 1 MB at 20,000 places."""
    return deck(shape("w" * MB), slides=20_000)


# Depths and loops


def markup_depths() -> dict[str, bytes]:
    """Elements within each other, 20,000 deep, or open to the end."""
    depth = 20_000
    table = "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>d</w:t></w:r></w:p>", "</w:tc></w:tr></w:tbl>"
    drawn = "<w:p><w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx><w:txbxContent>"
    box = drawn, "</w:txbxContent></wps:txbx></w:drawing></mc:Choice></mc:AlternateContent></w:r></w:p>"
    formula = "<m:f><m:num>", "</m:num><m:den/></m:f>"
    return {
        "tables.docx": word(nested(*table, depth)), "tables_left_open.docx": word(nested(table[0], "", depth)),
        "boxes.docx": word(nested(*box, depth, p("in"))),
        "choices.docx": word(nested("<mc:AlternateContent><mc:Choice>", "", depth)),
        "content_controls.docx": word(nested("<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>", depth, p("in"))),
        "fields.docx": word("<w:p>" + "<w:r><w:fldChar w:fldCharType='begin'/></w:r>" * depth + "</w:p>"),
        "insertions.docx": word("<w:p>" + nested("<w:ins>", "</w:ins>", depth, "<w:r><w:t>in</w:t></w:r>") + "</w:p>"),
        "formulas.docx": word(f"<w:p><m:oMath>{nested(*formula, depth, '<m:r><m:t>x</m:t></m:r>')}</m:oMath></w:p>"),
        "unknown_elements.docx": word(nested("<w:x>", "</w:x>", depth)),
        "tables_in_another_prefix.docx": word(f"<y:x xmlns:y='{WORD_URI}'>{nested(*table, 250)}</y:x>"),
        "groups.pptx": deck(nested("<p:grpSp><p:grpSpPr/>", "</p:grpSp>", depth, shape("in"))),
        "formulas.pptx": deck(shape("</a:t></a:r><m:oMath>" + nested(*formula, depth) + "</m:oMath><a:r><a:t>")),
        "tables.pptx": deck(nested("<p:graphicFrame><a:tbl><a:tr><a:tc>", "</a:tc></a:tr></a:tbl>", depth)),
        "strings.xlsx": book(f"<row><c t='inlineStr'>{nested('<is>', '</is>', depth, '<t>in</t>')}</c></row>"),
        "rows.xlsx": book(nested("<row><c>", "</c></row>", depth, "<v>1</v>")),
    }  # fmt: skip


def unfinished() -> dict[str, bytes]:
    """Tags, attributes and elements that begin and do not end, 200,000 of each.

    A pattern that looks for the end of each goes through the rest of the file every time.
    """
    word_tags = (
        "w:t", "w:p", "w:r", "w:tbl", "w:tc", "w:pStyle w:val=", "w:footnoteReference w:id=",
        "w:fldChar w:fldCharType=", "mc:Choice", "mc:AlternateContent", "w:drawing", "w:instrText", "w:sdt", "w:del",
        "m:oMath", "v:textbox", "c:chart r:id=",
    )  # fmt: skip
    slide_tags = (
        "a:t",
        "a:p",
        "p:sp",
        "p:grpSp",
        "p:graphicFrame",
        "a:tbl",
        "a:off x=",
        "p:cNvPr name=",
        "a:tc gridSpan=",
    )
    sheet_tags = "c", "c r=", "row", "row r=", "v", "is", "t", "f", "headerFooter", "oddHeader"
    string_tags, style_tags = ("si", "t", "r", "rPh"), ("numFmt formatCode=", "xf numFmtId=", "cellXfs")

    def endings(tag: str) -> dict[str, str]:
        name = re.sub(r"\W", "_", tag)
        attribute = tag.endswith("=")
        return {
            f"{name}_tag": f"<{tag} ".replace("= ", '="1" ') * 200_000,
            f"{name}_quote" if attribute else f"{name}_element": (f'<{tag}"' if attribute else f"<{tag}>") * 200_000,
        }

    found: dict[str, bytes] = {}
    for tag in word_tags:
        found |= {f"{name}.docx": word(body) for name, body in endings(tag).items()}
    for tag in slide_tags:
        found |= {f"{name}.pptx": deck(tree) for name, tree in endings(tag).items()}
    for tag in sheet_tags:
        found |= {f"{name}.xlsx": book(rows) for name, rows in endings(tag).items()}
    for part, tags in (("sharedStrings", string_tags), ("styles", style_tags)):
        for tag in tags:
            found |= {
                f"{part}_{name}.xlsx": book("<row><c t='s'><v>0</v></c></row>", {f"xl/{part}.xml": f"<x>{body}"})
                for name, body in endings(tag).items()
            }
    for tag in ("Relationship", "Relationship Target="):
        found |= {
            f"{name}.docx": word("", {"word/_rels/document.xml.rels": f"<Relationships>{body}"})
            for name, body in endings(tag).items()
        }
    for tag in ("w:style", "w:style w:styleId=", "w:basedOn w:val="):
        found |= {
            f"{name}.docx": word("", {"word/styles.xml": f"<w:styles {NAMES}>{body}"}, ("styles", "styles.xml"))
            for name, body in endings(tag).items()
        }
    odd = "<w:p xmlns:ve='http://schemas.openxmlformats.org/markup-compatibility/2006' n='{}'/>"
    return found | {
        "declarations.docx": word("".join(odd.format(number) for number in range(100_000))),
        "declaration_quotes.docx": word("<w:p xmlns:a='" * 200_000),
        "comments.docx": word("<!-- " * 200_000),
        "comment_ends.docx": word("<!-- -->" * 200_000),
        "sections.docx": word("<w:t><![CDATA[" * 200_000),
        "references.docx": word(p("&" * 3_000_000)),
        "numbers.docx": word(p("&#" * 1_500_000)),
    }


def styles_in_a_circle() -> bytes:
    """Styles based on each other, and on themselves."""
    styles = "".join(
        f"<w:style w:type='paragraph' w:styleId='{one}'><w:name w:val='{one}'/><w:basedOn w:val='{other}'/></w:style>"
        for one, other in (("A", "B"), ("B", "C"), ("C", "A"), ("D", "D"))
    )
    body = "".join(
        f"<w:p><w:pPr><w:pStyle w:val='{name}'/></w:pPr><w:r><w:t>in {name}</w:t></w:r></w:p>" for name in "ABCD"
    )
    return word(body, {"word/styles.xml": f"<w:styles {NAMES}>{styles}</w:styles>"}, ("styles", "styles.xml"))


def styles_in_a_chain(length: int = 100_000) -> bytes:
    """Each style based on the next one."""
    styles = "".join(
        f"<w:style w:type='paragraph' w:styleId='s{number}'><w:basedOn w:val='s{number + 1}'/></w:style>"
        for number in range(length)
    )
    body = "".join(
        f"<w:p><w:pPr><w:pStyle w:val='s{number}'/></w:pPr><w:r><w:t>in</w:t></w:r></w:p>" for number in range(1000)
    )
    return word(body, {"word/styles.xml": f"<w:styles {NAMES}>{styles}</w:styles>"}, ("styles", "styles.xml"))


def parts_in_a_circle() -> dict[str, bytes]:
    """Parts whose relationships lead to each other and to themselves."""
    notes = f"<p:notes {_P}><p:cSld><p:spTree>{shape('a note')}</p:spTree></p:cSld></p:notes>"
    back = relationships(("slide", "../slides/slide1.xml"), ("notesSlide", "one.xml"))
    itself = relationships(("header", "document.xml"), ("footnotes", "document.xml"), ("comments", "document.xml"))
    around = (
        "<w:sectPr><w:headerReference r:id='rId1'/></w:sectPr><w:p><w:r><w:footnoteReference w:id='1'/></w:r></w:p>"
    )
    chart = {"word/chart.xml": CHART.replace("<c:chart>", "<c:chart r:id='rId1'>")}
    rels = {"word/_rels/chart.xml.rels": relationships(("chart", "chart.xml"), ("chartUserShapes", "chart.xml"))}
    return {
        "parts.docx": word(around, {"word/_rels/document.xml.rels": itself}),
        "charts.docx": word("<w:p><w:r><c:chart r:id='rId1'/></w:r></w:p>", {**chart, **rels}, ("chart", "chart.xml")),
        "notes.pptx": deck(
            "", {"ppt/notes/one.xml": notes, "ppt/notes/_rels/one.xml.rels": back}, 1,
            ("notesSlide", "../notes/one.xml"), ("notesSlide", "slide1.xml"), ("comments", "slide1.xml"),
        ),
        "slides.pptx": deck("", {"ppt/_rels/presentation.xml.rels": relationships(("slide", "presentation.xml"))}),
        "sheets.xlsx": book("", {"xl/_rels/workbook.xml.rels": relationships(("worksheet", "workbook.xml"))}),
        "drawings.xlsx": book("<row><c><v>1</v></c></row>", {
            "xl/worksheets/_rels/sheet1.xml.rels": relationships(("drawing", "sheet1.xml"), ("comments", "sheet1.xml")),
        }),
    }  # fmt: skip


# Sheets


def two_cells() -> bytes:
    """Two cells in opposite corners: 17 billion between them."""
    return book(
        "<row r='1'><c r='A1' t='inlineStr'><is><t>first</t></is></c></row>"
        "<row r='1048576'><c r='XFD1048576' t='inlineStr'><is><t>last</t></is></c></row>"
    )


def lying_places() -> bytes:
    """Rows and cells whose numbers are out of order, of range, or no numbers."""
    cells = ("XFE1", "ZZZZZZZZZZ1", "A0", "1A", "A99999999999", "", "A-1", "é1", "A1A1", "a1")
    rows = "".join(f"<row r='{row}'>" + "".join(f"<c r='{cell}'><v>{MARKER}</v></c>" for cell in cells) + "</row>"
                   for row in ("5", "1", "99999999999999999999", "-3", "x", "", "5"))  # fmt: skip
    return book(rows)


def lost_strings() -> bytes:
    """Cells of strings that the table does not have, beside the one that it has."""
    numbers = (0, 1, -1, 99_999_999_999, 2**64, "x", "1e9", "")
    row = "".join(f'<c t="s"><v>{number}</v></c>' for number in numbers)
    return book(f"<row>{row}</row>", {"xl/sharedStrings.xml": f'<sst xmlns="{SHEET}"><si><t>{MARKER}</t></si></sst>'})


def wide_rows() -> bytes:
    """5,000 rows of two cells in the first and the last column: 80 MB of tabs where each column gets one."""
    return book(
        "".join(
            f"<row r='{row}'><c r='A{row}'><v>1</v></c><c r='XFD{row}'><v>2</v></c></row>" for row in range(1, 5001)
        )
    )


def merged_wholly() -> bytes:
    """The whole sheet merged, 5,000 times."""
    merged = "<mergeCells>" + "<mergeCell ref='A1:XFD1048576'/>" * 5000 + "</mergeCells>"
    return book("<row><c><v>7</v></c></row>", after=merged)


def absurd_numbers() -> bytes:
    """Numbers and dates beyond what either can be, in formats that are absurd too."""
    codes = (
        "yyyy-mm-dd", "[h]:mm:ss", "0." + "0" * 5000, "#,##0;" * 5000, "[Red" * 5000, '"' * 5001, "0E+" + "0" * 3000,
        "?/" + "?" * 3000, "*", "_", "\\", "[$-", "[>1e999]0;0", "yy" * 5000, "@" * 5000, "0%" + "%" * 500, "m" * 3000,
    )  # fmt: skip
    values = (
        "1e308",
        "-1e308",
        "1e999",
        "NaN",
        "INF",
        "-1",
        "2958466",
        "0.1",
        "1" * 5000,
        "1e-400",
        "",
        "x",
        "0x10",
        "٣",
    )
    formats = "".join(
        f"<numFmt numFmtId='{number}' formatCode='{code.replace(chr(34), '&quot;')}'/>"
        for number, code in enumerate(codes, 164)
    )
    styles = "".join(f"<xf numFmtId='{number}'/>" for number in (*range(164, 164 + len(codes)), 14, 22, 10, 99999, -1))
    rows = "".join(
        "<row>"
        + "".join(f"<c s='{style}'><v>{value}</v></c>" for style in (*range(len(codes) + 5), -1, 10**20))
        + "</row>"
        for value in values
    )
    sheet = f"<styleSheet xmlns='{SHEET}'><numFmts>{formats}</numFmts><cellXfs>{styles}</cellXfs></styleSheet>"
    return book(rows, {"xl/styles.xml": sheet})


# Entities


def entities(body: str, doctype: str) -> dict[str, bytes]:
    """Files with this document type in each part that is read, and the body where text stands."""

    def within(data: str) -> str:
        return f'<?xml version="1.0"?>{doctype}' + data

    text = f"{MARKER} {body}"
    main = f"<w:document {NAMES}><w:body>{p(text)}</w:body></w:document>"
    strings = f'<sst xmlns="{SHEET}"><si><t>{text}</t></si></sst>'
    row = f'<Relationship Id="rId1" Type="{OFFICE}/header" Target="{body}"/>'
    names = f'<Relationships xmlns="{RELATIONSHIPS}">{row}</Relationships>'
    cell = "<row><c t='s'><v>0</v></c></row>"
    slide = f"<p:sld {_P}><p:cSld><p:spTree>{shape(text)}</p:spTree></p:cSld></p:sld>"
    return {
        "document.docx": office("word/document.xml", {"word/document.xml": within(main)}),
        "utf16.docx": office("word/document.xml", {"word/document.xml": within(main).encode("utf-16")}),
        "relationships.docx": word("", {"word/_rels/document.xml.rels": within(names)}),
        "styles.docx": word(
            "", {"word/styles.xml": within(f"<w:styles {NAMES}>{body}</w:styles>")}, ("styles", "styles.xml")
        ),
        "strings.xlsx": book(cell, {"xl/sharedStrings.xml": within(strings)}),
        "slide.pptx": deck("", {"ppt/slides/slide1.xml": within(slide)}),
    }


def doctypes(url: str) -> dict[str, tuple[str, str]]:
    """Document types that would fetch `url` or fill the memory, each with what uses them."""
    laughs = '<!ENTITY a0 "lol">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    return {
        "laughs": (f"<!DOCTYPE x [{laughs}]>", "&a9;"),
        "quadratic": (f'<!DOCTYPE x [<!ENTITY a "{"A" * 100_000}">]>', "&a;" * 20_000),
        "parameters": ("<!DOCTYPE x [" + "".join(
            f'<!ENTITY % p{n} "{f"&#37;p{n - 1};" * 10}">' for n in range(1, 10)) + "%p9;]>", "&a;"),
        "itself": ('<!DOCTYPE x [<!ENTITY a "&b;"><!ENTITY b "&a;">]>', "&a;"),
        "external": (f'<!DOCTYPE x [<!ENTITY a SYSTEM "{url}">]>', "&a;"),
        "external_subset": (f'<!DOCTYPE x SYSTEM "{url}">', "&a;"),
        "external_parameter": (f'<!DOCTYPE x [<!ENTITY % p SYSTEM "{url}"> %p;]>', "&a;"),
        "included": ("", f"<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='{url}' parse='text'/>"),
    }  # fmt: skip
