"""Marks that are raised, words that nobody sees, and files that are another format than they say."""

import copy
import io
import time
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from docx import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.text import WD_COLOR_INDEX
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.shared import RGBColor
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from pptx import Presentation
from pptx.dml.color import RGBColor as SlideColour
from pptx.enum.shapes import MSO_SHAPE
from pptx.oxml import parse_xml as parse_slide
from pptx.oxml.ns import nsdecls as slide_namespaces
from pptx.util import Inches, Pt
from reportlab.lib.colors import black, blue, white
from reportlab.pdfgen.canvas import Canvas

from tasks.errors import Damaged
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import plain_blanks, taxonomy
from tasks.reading.docx import reader as docx
from tasks.reading.formats import reader
from tasks.reading.mail import eml
from tasks.reading.numerals import raise_text
from tasks.reading.text_writer import UNSEEN, Reading, shown_text
from tasks.scoring.passages import cut
from tests.cases import cases
from tests.written import saved

CHARACTER, PARAGRAPH = WD_STYLE_TYPE.CHARACTER, WD_STYLE_TYPE.PARAGRAPH


def read(extension: str, data: bytes) -> Reading:
    return reader(extension)(data)


def pdf(draw: Callable[[Canvas], None]) -> bytes:
    canvas = Canvas("")
    canvas.setFont("Helvetica", 12)
    draw(canvas)
    return saved(canvas)


def unseen(reading: Reading) -> list[str]:
    return [reading.text[place.start : place.end] for place in reading.places if place.kind == UNSEEN]


def write(canvas: Canvas, x: float, y: float, text: str, mark: str = "", size: float = 12) -> None:
    canvas.setFont("Helvetica", size)
    canvas.drawString(x, y, text)
    if mark:
        canvas.setFont("Helvetica", size * 0.6)
        canvas.drawString(x + canvas.stringWidth(text, "Helvetica", size), y + size * 0.4, mark)


# --- raised marks


@cases(
    ("text", "told"),
    [("3", "³"), ("(1)", "⁽¹⁾"), ("1,2", "¹,²"), ("-6", "⁻⁶"), ("st", "st"), ("TM", "TM"), ("1 of them", "1 of them")],
)
def test_a_mark_becomes_raised_digits_and_words_stay(text: str, told: str) -> None:
    assert raise_text(text) == told


def test_a_raised_mark_in_word() -> None:
    document = Document()
    paragraph = document.add_paragraph("Headcount was 4,200")
    paragraph.add_run("4").font.superscript = True
    paragraph.add_run(" on 350 m")
    paragraph.add_run("2").font.superscript = True
    paragraph.add_run(", the 1")
    paragraph.add_run("st").font.superscript = True
    assert docx.read(saved(document)).text == "Headcount was 4,200⁴ on 350 m², the 1st\n"


def test_a_raised_mark_on_a_slide() -> None:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    paragraph = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(4), Inches(1)).text_frame.paragraphs[0]
    paragraph.add_run().text = "Revenue 1,234"
    mark = paragraph.add_run()
    mark.text = "12"
    mark.font._element.set("baseline", "30000")
    assert "Revenue 1,234¹²" in read(".pptx", saved(presentation)).text


def test_a_raised_mark_in_a_cell() -> None:
    workbook = Workbook()
    mark = TextBlock(InlineFont(vertAlign="superscript"), "3")
    workbook.create_sheet("Marks", 0)["A1"] = CellRichText("EBITDA", mark)
    assert "EBITDA³" in read(".xlsx", saved(workbook)).text


@pytest.mark.parametrize(
    ("extension", "data"),
    [
        (".html", b"<p>Sales were 1,234<sup>2</sup> in the 2<sup>nd</sup> year</p>"),
        (".html", b'<p>Sales were 1,234<span style="vertical-align: super">2</span> in the 2<sup>nd</sup> year</p>'),
        (".rtf", rb"{\rtf1\ansi Sales were 1,234{\super 2} in the 2{\super nd} year\par}"),
        (".rtf", rb"{\rtf1\ansi{\fs24 Sales were 1,234}{\fs16\up8\lang1033 2} in the 2{\up6 nd} year\par}"),
    ],
)
def test_a_raised_mark_in_markup(extension: str, data: bytes) -> None:
    assert "Sales were 1,234² in the 2nd year" in read(extension, data).text


@cases(
    ("rtf", "text"),
    [
        (rb"H{\dn4 2}O and 10{\up6 6}", "H2O and 10⁶"),
        (rb"20{\up3 24}", "2024"),
        (rb"{\up6 2024}\par", "2024"),
        (rb"\pard\fs24{\up6 2024}", "2024"),
        (rb"Total {\up6 2024}", "Total 2024"),
        (rb"Total\tab{\up6 2024}", "Total\t2024"),
        (rb"2{\up60 024}", "2024"),
    ],
)
def test_text_that_is_raised_by_position_without_libreoffice(
    rtf: bytes, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.reading.libreoffice.program", lambda _library: None)
    assert read(".rtf", rb"{\rtf1\ansi\fs24 Sales. %b\par}" % rtf).text == f"Sales. {text}\n"


@cases(
    ("position", "text"),
    [("super 58%", "10⁶"), ("33% 58%", "10⁶"), ("57% 100%", "10⁶"), ("10% 100%", "106"), ("-33% 58%", "106")],
)
def test_text_that_is_raised_in_an_open_document(position: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.reading.libreoffice.program", lambda _library: None)
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "style", "text")
    )
    flat = (
        f'<office:document{names} office:mimetype="application/vnd.oasis.opendocument.text"><office:automatic-styles>'
        f'<style:style style:name="T1"><style:text-properties style:text-position="{position}"/></style:style>'
        '</office:automatic-styles><office:body><office:text><text:p>10<text:span text:style-name="T1">6</text:span>'
        "</text:p></office:text></office:body></office:document>"
    )
    assert read(".fodt", flat.encode()).text.strip() == text


@cases(
    "html",
    [
        b'<table><tr><td style="vertical-align: super">1,234</td></tr></table>',
        b'<p style="vertical-align: super">1,234</p>',
        b'<p><b style="vertical-align: superb">1,234</b></p>',
        b'<p>Sales<span style="vertical-align: super"></span> 1,234</p>',
        b"<p>Sales<sup><br></sup> 1,234</p>",
    ],
)
def test_what_a_style_does_not_raise_stays(html: bytes) -> None:
    assert "1,234" in read(".html", html).text


@cases("mark", ["2", "12", "(3)"])
def test_a_raised_mark_in_a_pdf(mark: str) -> None:
    def draw(canvas: Canvas) -> None:
        write(canvas, 72, 700, "Revenue 1,234", mark)
        write(canvas, 72, 680, "Costs 998 and 12 of 2023")

    text = read(".pdf", pdf(draw)).text
    assert f"Revenue 1,234{raise_text(mark)}" in text
    assert "Costs 998 and 12 of 2023" in text


def test_small_print_in_a_pdf_is_no_mark() -> None:
    def draw(canvas: Canvas) -> None:
        write(canvas, 72, 700, "Annual report 2023", size=24)
        write(canvas, 72, 650, "Page 12 of 98", size=7)
        write(canvas, 72, 640, "CO", size=12)
        canvas.setFont("Helvetica", 7)
        canvas.drawString(91, 639, "2")  # lowered
        write(canvas, 72, 600, "A", size=14)
        write(canvas, 82, 603, "0.93 0.88", size=9)

    text = read(".pdf", pdf(draw)).text
    assert "Page 12 of 98" in text
    assert not set(text) & set("⁰²³⁸⁹")


@cases(
    ("text", "plain"),
    [("1,234² now", "1,234  now"), ("350 m² of", "350 m² of"), ("10⁶ EUR", "    EUR"), ("EBITDA⁽¹⁾", "EBITDA   ")],
)
def test_figures_are_read_without_marks(text: str, plain: str) -> None:
    assert plain_blanks(text) == plain


# --- what nobody sees


def test_hidden_words_of_word_are_marked_and_prompts_left_out() -> None:
    document = Document()
    paragraph = document.add_paragraph("Seen. ")
    for words in ("Not ", "seen"):
        paragraph.add_run(words).font.hidden = True
    paragraph.add_run("Seen too.")
    document.add_paragraph().add_run("Nor that").font.size = Pt(1)
    reading = docx.read(saved(document))
    assert reading.text == "Seen. Seen too.\n[hidden: Not seen]\n[hidden: Nor that]\n"
    assert unseen(reading) == ["[hidden: Not seen]", "[hidden: Nor that]"]
    assert reading.warnings == [
        "Hidden words of the document are listed separately, marked as hidden, and are not evidence."
    ]


def test_words_that_a_style_of_word_hides_are_marked() -> None:
    document = Document()
    for name, kind, base in (("Shy", CHARACTER, None), ("Shyer", CHARACTER, "Shy"), ("Quiet", PARAGRAPH, None)):
        style = document.styles.add_style(name, kind)
        style.base_style = document.styles[base] if base else None
        style.font.hidden = None if base else True
    paragraph = document.add_paragraph("Rent is due. ")
    paragraph.add_run("Tell nobody.", "Shyer")
    paragraph.add_run(" Monthly.")
    document.styles.add_style("Loud", CHARACTER).base_style = document.styles["Shy"]
    document.styles["Loud"].font.hidden = False
    paragraph.add_run(" In advance.", "Loud")
    quiet = document.add_paragraph("Nobody reads this.", "Quiet")
    quiet.add_run("All read this.").font.hidden = False
    document.add_paragraph("The end.")
    reading = docx.read(saved(document))
    assert reading.text == (
        "Rent is due.  Monthly. In advance.\n[hidden: Tell nobody.]\nAll read this.\n[hidden: Nobody reads this.]\n"
        "The end.\n"
    )
    assert unseen(reading) == ["[hidden: Tell nobody.]", "[hidden: Nobody reads this.]"]


WHITE = RGBColor(0xFF, 0xFF, 0xFF)
slide_colour: Callable[..., Any] = SlideColour


def shade(properties: Any, colour: str) -> Any:
    return properties.append(parse_xml(f'<w:shd {nsdecls("w")} w:val="clear" w:color="auto" w:fill="{colour}"/>'))


def white_cell(document: Any, style: str, shaded: str = "") -> Any:
    cell = document.add_table(1, 1, style).cell(0, 0)
    cell.paragraphs[0].add_run("White").font.color.rgb = WHITE
    return shade(cell._tc.get_or_add_tcPr(), shaded or "auto")


def white_run(paragraph: Any, colour: Any = WHITE, highlight: Any = None, style: Any = None) -> Any:
    run = paragraph.add_run("White\twords", style)
    run.font.color.rgb = colour
    run.font.highlight_color = highlight
    return run


def white_style(document: Any, kind: Any, fill: str = "") -> Any:
    style = document.styles.add_style("Pale", kind)
    style.font.color.rgb = WHITE
    if fill:
        shade(style.element.get_or_add_pPr(), fill)
    return style


def white_words_on_a_picture(document: Any) -> None:
    white_run(document.add_paragraph())
    paragraph = document.add_paragraph()
    paragraph.add_run()._r.append(parse_xml(f"<w:pict {nsdecls('w')}/>"))


WORD_CASES: dict[str, tuple[Callable[[Any], object], bool]] = {
    "a run": (lambda document: white_run(document.add_paragraph()), True),
    "nearly white": (
        lambda document: white_run(document.add_paragraph(), RGBColor(255, 255, 254)),
        True,
    ),
    "yellow": (
        lambda document: white_run(document.add_paragraph(), RGBColor(255, 255, 0)),
        False,
    ),
    "a highlighted run": (
        lambda document: white_run(document.add_paragraph(), highlight=WD_COLOR_INDEX.BLUE),
        False,
    ),
    "a shaded paragraph": (
        lambda document: (
            shade((paragraph := document.add_paragraph())._p.get_or_add_pPr(), "1F3864"),
            white_run(paragraph),
        ),
        False,
    ),
    "a white paragraph": (
        lambda document: (
            shade((paragraph := document.add_paragraph())._p.get_or_add_pPr(), "FFFFFF"),
            white_run(paragraph),
        ),
        True,
    ),
    "a plain table": (lambda document: white_cell(document, "Table Grid"), True),
    "a shaded cell": (lambda document: white_cell(document, "Table Grid", "1F3864"), False),
    "a shaded table": (lambda document: white_cell(document, "Light List Accent 1"), False),
    "a paragraph style": (lambda document: document.add_paragraph("White", white_style(document, PARAGRAPH)), True),
    "a shaded style": (
        lambda document: document.add_paragraph("White", white_style(document, PARAGRAPH, "1F3864")),
        False,
    ),
    "a character style": (
        lambda document: document.add_paragraph().add_run("White", white_style(document, CHARACTER)),
        True,
    ),
    "a style overruled": (
        lambda document: white_run(document.add_paragraph(), RGBColor(0, 0, 0), style=white_style(document, CHARACTER)),
        False,
    ),
    "a picture": (white_words_on_a_picture, False),
}


@cases("case", WORD_CASES)
def test_white_words_of_word_are_marked_where_nothing_coloured_may_be_behind_them(case: str) -> None:
    draw, is_hidden = WORD_CASES[case]
    document = Document()
    document.add_paragraph("Seen")
    draw(document)
    reading = docx.read(saved(document))
    assert bool(unseen(reading)) == is_hidden
    assert ("White" in shown_text(reading.text, reading.places)) != is_hidden
    assert bool(reading.warnings) == is_hidden


def test_hidden_shapes_of_a_slide_are_marked() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    for words in ("Revenue was 5", "Revenue was 7"):
        shape = slide.shapes.add_textbox(0, 0, Inches(3), Inches(1))
        shape.text_frame.text = words
    shape.element.nvSpPr.cNvPr.set("hidden", "1")
    reading = read(".pptx", saved(deck))
    assert reading.text == "Revenue was 5\n[hidden: Revenue was 7]\n"
    assert unseen(reading) == ["[hidden: Revenue was 7]\n"]
    assert "Hidden shapes" in reading.warnings[0]


def box(slide: Any, left: float = 1) -> Any:
    """A box with black and white words on a slide."""
    shape = slide.shapes.add_textbox(Inches(left), Inches(1), Inches(2), Inches(1))
    for words, colour in (("Seen ", RGBColor(0, 0, 0)), ("White", WHITE)):
        run = shape.text_frame.paragraphs[0].add_run()
        run.text = words
        run.font.color.rgb = slide_colour(*colour)
    return shape


def rectangle(slide: Any, left: float = 1) -> Any:
    return slide.shapes.add_shape(MSO_SHAPE.RECTANGLE, Inches(left), Inches(1), Inches(2), Inches(1))


def darken(fill: Any) -> Any:
    fill.solid()
    fill.fore_color.rgb = slide_colour(0x1F, 0x38, 0x64)
    return fill


def swap_colours(slide: Any) -> object:
    """Show a slide with the light and the dark colour of its theme exchanged."""
    names = ("accent1", "accent2", "accent3", "accent4", "accent5", "accent6", "hlink", "folHlink")
    same = " ".join(f'{name}="{name}"' for name in names)
    mapping = f'<a:overrideClrMapping %s bg1="dk1" tx1="lt1" bg2="dk2" tx2="lt2" {same}/>'
    holder = slide.element.find("{*}clrMapOvr")
    holder.clear()
    return holder.append(parse_slide(mapping % slide_namespaces("a")))


def remove_shapes(layout: Any) -> object:
    return [layout.shapes._spTree.remove(shape.element) for shape in [*layout.shapes]]


SLIDE_CASES: dict[str, tuple[Callable[[Any], object], bool]] = {
    "a box": (box, True),
    "beside a rectangle": (lambda slide: (rectangle(slide, 5), box(slide)), True),
    "on a rectangle": (lambda slide: (rectangle(slide), box(slide)), False),
    "a filled box": (lambda slide: darken(box(slide).fill), False),
    "a dark slide": (lambda slide: (box(slide), darken(slide.background.fill)), False),
    "a dark layout": (lambda slide: (box(slide), darken(slide.slide_layout.background.fill)), False),
    "other colours": (lambda slide: (box(slide), swap_colours(slide)), False),
    "a layout without shapes": (lambda slide: (box(slide), remove_shapes(slide.slide_layout)), True),
    "a group": (lambda slide: slide.shapes.add_group_shape([box(slide)]), False),
}


@cases("case", SLIDE_CASES)
def test_white_words_of_a_slide_are_marked_where_nothing_coloured_may_be_behind_them(case: str) -> None:
    draw, is_hidden = SLIDE_CASES[case]
    deck = Presentation()
    draw(deck.slides.add_slide(deck.slide_layouts[6]))
    reading = read(".pptx", saved(deck))
    assert ("[hidden: White]\n" in unseen(reading)) == is_hidden
    assert ("White" in shown_text(reading.text, reading.places)) != is_hidden
    assert "Seen" in shown_text(reading.text, reading.places)


def test_very_many_shapes_of_a_slide_are_read_in_bounded_time() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    shapes = [box(slide).element, rectangle(slide, 5).element]
    slide.shapes._spTree.extend(copy.deepcopy(shape) for shape in shapes * 6_000)
    data = saved(deck)
    start = time.process_time()
    assert read(".pptx", data).text.count("Seen") == 6_001
    assert time.process_time() - start < 3


def part(xml: str) -> bytes:
    """A Word document whose body is that."""
    document = Document()
    document.add_paragraph("BODY")
    old, new = io.BytesIO(saved(document)), io.BytesIO()
    with zipfile.ZipFile(old) as before, zipfile.ZipFile(new, "w") as after:
        for name in before.namelist():
            content = before.read(name)
            if name == "word/document.xml":
                start, end = content.index(b"<w:body>") + 8, content.index(b"</w:body>")
                content = content[:start] + xml.encode() + content[end:]
            after.writestr(name, content)
    return new.getvalue()


OF_WHITE = '<w:color w:val="FFFFFF"/>'
BLUE = '<w:shd w:val="clear" w:fill="1F3864"/>'
TINY = '<w:sz w:val="2"/>'
LONG = "<w:tabs>" + '<w:tab w:val="left" w:pos="720"/>' * 200 + "</w:tabs>"


def run(properties: str, words: str = "Words") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{words}</w:t></w:r>"


def before(properties: str, kind: str = "rPr") -> str:
    """The properties before a tracked change."""
    return f'<w:{kind}Change w:id="1" w:author="A"><w:{kind}>{properties}</w:{kind}></w:{kind}Change>'


def lift(words: str, position: int, size: int = 0) -> str:
    """A run that stands higher than its line, of that size; both in half-points."""
    return run(f'<w:position w:val="{position}"/>' + (f'<w:sz w:val="{size}"/>' if size else ""), words)


LIFTED_CASES = {
    "smaller": (run("", "1,234") + lift("3", 8, 14), "1,234³"),
    "as large": (run("", "10") + lift("6", 8), "10⁶"),
    "several": (run("", "1,234") + lift("3", 8, 14) + lift(",", 8, 14) + lift("(4)", 8, 14), "1,234³,⁽⁴⁾"),
    "behind small words": (run('<w:sz w:val="14"/>', "1,234") + lift("3", 4, 10), "1,234³"),
    "lowered": (run("", "H") + lift("2", -4, 14) + run("", "O"), "H2O"),
    "lowered before": (run("", "CO") + lift("2", -4, 14) + lift("3", 8, 14), "CO2³"),
    "normal behind lowered words": (lift("12", -8) + run("", "34"), "1234"),
    "a whole line": (lift("20", 8) + lift("24", 8), "2024"),
    "a whole line, smaller": (lift("20", 8, 22) + lift("24", 8, 14), "2024"),
    "behind a space": (run("", "Total\xa0") + lift("2024", 8, 14), "Total\xa02024"),
    "by little": (run("", "20") + lift("24", 3), "2024"),
    "by little, smaller": (run("", "20") + lift("24", 3, 18), "2024"),
    "alone": (lift("2024", 8, 14), "2024"),
    "behind a tab": ("<w:r><w:t>A</w:t><w:tab/></w:r>" + lift("5", 8, 14), "A\t5"),
    "with a tab": (run("", "A") + lift("5", 8, 14).replace("<w:t>", "<w:tab/><w:t>"), "A\t5"),
    "words": (run("", "1") + lift("st", 8, 14), "1st"),
    "only smaller": (run("", "1,23") + run('<w:sz w:val="14"/>', "4"), "1,234"),
    "larger": (run("", "1") + lift("234", 12, 40), "1234"),
    "beyond the line": (run("", "1") + lift("234", 40, 14), "1234"),
    "another paragraph": (run("", "1,234") + "</w:p><w:p>" + lift("5", 8, 14), "1,234\n5"),
    "no longer": (run("", "1,23") + run(before('<w:position w:val="8"/><w:sz w:val="14"/>'), "4"), "1,234"),
}


@cases("case", LIFTED_CASES)
def test_digits_of_word_are_marks_where_they_stand_higher_than_what_they_follow(case: str) -> None:
    runs, text = LIFTED_CASES[case]
    assert docx.read(part(f"<w:p>{runs}</w:p>")).text.rstrip() == text


def test_marks_that_a_style_of_word_raises() -> None:
    document = Document()
    for name, base in (("Sign", None), ("Own sign", "Sign")):
        document.styles.add_style(name, CHARACTER).base_style = document.styles[base] if base else None
    document.styles["Sign"].font.superscript = True
    properties = document.styles.add_style("High", CHARACTER).element.get_or_add_rPr()
    properties.append(parse_xml(f'<w:position {nsdecls("w")} w:val="8"/>'))
    document.styles.add_style("All high", PARAGRAPH).font.superscript = True
    paragraph = document.add_paragraph("EBITDA")
    for words, style in ((" of 1,234", None), ("3", "Own sign"), (", 10", None), ("6", "High"), (", 5", None)):
        paragraph.add_run(words, style)
    own = paragraph.add_run("7", "Sign")._r.get_or_add_rPr()
    own.append(parse_xml(f'<w:vertAlign {nsdecls("w")} w:val="baseline"/>'))
    document.add_paragraph("20", "All high").add_run("24")
    assert docx.read(saved(document)).text == "EBITDA of 1,234³, 10⁶, 57\n2024\n"


def table(behind_table: str, behind_cell: str, words: str = run(OF_WHITE)) -> str:
    return f"<w:tbl>{behind_table}<w:tr><w:tc>{behind_cell}<w:p>{words}</w:p></w:tc></w:tr></w:tbl>"


MARKUP_CASES = {
    "no longer white": (f"<w:p>{run(before(OF_WHITE))}</w:p>", False),
    "no longer hidden": (f"<w:p>{run(before('<w:vanish/>'))}</w:p>", False),
    "no longer tiny": (f"<w:p>{run(before(TINY))}</w:p>", False),
    "now white": (f"<w:p>{run(OF_WHITE + before('<w:vanish/>'))}</w:p>", True),
    "no longer on blue": (f"<w:p><w:pPr>{before(BLUE, 'pPr')}</w:pPr>{run(OF_WHITE)}</w:p>", True),
    "white space before a cell's properties": (table("", f"\n <w:tcPr>{BLUE}</w:tcPr>"), False),
    "a bookmark before a table's properties": (
        table(f'<w:bookmarkStart w:id="1" w:name="A"/><w:tblPr>{BLUE}</w:tblPr>', ""),
        False,
    ),
    "a cell with long properties": (table("", f"<w:tcPr>{LONG}{BLUE}</w:tcPr>"), False),
    "a paragraph with long properties": (f"<w:p><w:pPr>{LONG}{BLUE}</w:pPr>{run(OF_WHITE)}</w:p>", False),
    "a cell without properties before a blue one": (
        table("", f"<w:tcPr/><w:p>{run(OF_WHITE)}</w:p></w:tc><w:tc><w:tcPr>{BLUE}</w:tcPr>", run("", "Seen")),
        True,
    ),
    "a table in a blue cell": (table("", f"<w:tcPr>{BLUE}</w:tcPr>", f"</w:p>{table('', '')}<w:p>"), False),
    "behind a blue cell": (f"{table('', f'<w:tcPr>{BLUE}</w:tcPr>')}<w:p>{run(OF_WHITE)}</w:p>", True),
}


@cases("case", MARKUP_CASES)
def test_words_of_word_are_hidden_by_what_holds_now_where_all_of_it_can_be_read(case: str) -> None:
    markup, is_hidden = MARKUP_CASES[case]
    assert bool(unseen(docx.read(part(markup)))) == is_hidden


def test_very_many_white_runs_in_very_many_tables_are_read_in_bounded_time() -> None:
    tables = f"{'<w:tbl><w:tr><w:tc>' * 3_000}<w:p>{run(OF_WHITE) * 10_000}</w:p>{'</w:tc></w:tr></w:tbl>' * 3_000}"
    data = part(tables)
    start = time.process_time()
    assert unseen(docx.read(data))
    assert time.process_time() - start < 2


@cases(
    ("state", "text"),
    [("<w:showingPlcHdr/>", "Law: \n"), ('<w:showingPlcHdr w:val="0"/>', "Law: Swiss law\n"), ("", "Law: Swiss law\n")],
)
def test_a_field_that_shows_its_prompt_says_nothing(state: str, text: str) -> None:
    field = (
        f"<w:p><w:r><w:t xml:space='preserve'>Law: </w:t></w:r><w:sdt><w:sdtPr>{state}<w:text/></w:sdtPr><w:sdtContent>"
        "<w:r><w:t>Swiss law</w:t></w:r></w:sdtContent></w:sdt></w:p>"
    )
    assert docx.read(part(field)).text.replace("Law:\n", "Law: \n") == text


NOBODY_SEES = "Words that a reader cannot see are listed separately, marked as hidden, and are not evidence"


def test_white_and_tiny_words_of_a_pdf_are_marked() -> None:
    def draw(canvas: Canvas) -> None:
        write(canvas, 72, 700, "Seen")
        canvas.setFillColor(white)
        write(canvas, 72, 650, "White words")
        canvas.showPage()
        canvas.setFillColor(black)
        write(canvas, 72, 700, "Seen")
        write(canvas, 72, 650, "Tiny words", size=0.5)
        canvas.showPage()
        canvas.setFillColor(blue)
        canvas.rect(60, 640, 200, 40, fill=1)
        canvas.setFillColor(white)
        write(canvas, 72, 650, "White on blue")

    reading = read(".pdf", pdf(draw))
    assert reading.text == "Seen\n[hidden: White words]\n\fSeen\n[hidden: Tiny words]\n\fWhite on blue\n"
    assert unseen(reading) == ["[hidden: White words]\n", "[hidden: Tiny words]\n"]
    (warning,) = reading.warnings
    assert warning.startswith(NOBODY_SEES)
    assert warning.endswith("pages 1–2.")


@cases(
    ("alpha", "mode", "ground", "is_hidden"),
    [(0, 0, None, True), (0.1, 0, None, False), (0, 1, None, False), (0, 2, None, False), (0, 0, blue, False)],
)
def test_transparent_words_of_a_pdf_are_marked(alpha: float, mode: int, ground: Any, is_hidden: bool) -> None:
    def draw(canvas: Canvas) -> None:
        write(canvas, 72, 700, "Seen")
        if ground:  # what is drawn may be the words, in a gradient
            canvas.setFillColor(ground)
            canvas.rect(60, 640, 200, 40, fill=1)
        canvas.setFillAlpha(alpha)
        canvas.drawString(72, 650, "Words", mode=mode)

    assert unseen(read(".pdf", pdf(draw))) == (["[hidden: Words]\n"] if is_hidden else [])


def test_words_beyond_the_edge_of_a_pdf_page_are_marked() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setCropBox((0, 100, 595, 842))
        write(canvas, 72, 700, "Seen")
        write(canvas, 72, 50, "Beyond")

    reading = read(".pdf", pdf(draw))
    assert reading.text == "Seen\n[hidden: Beyond]\n"
    assert unseen(reading) == ["[hidden: Beyond]\n"]
    assert reading.warnings[0].startswith(NOBODY_SEES)


def test_what_nobody_sees_is_no_evidence() -> None:
    text = "Revenue was EUR 5 million in 2024.\n[hidden: Revenue was EUR 7 million in 2024.]\nThe lease ends in 2030.\n"
    start = text.index("[")
    places = [(0, len(text), "page", "1"), (start, text.index("]") + 1, "unseen", "")]
    shown = shown_text(text, places)
    assert shown == text[:start] + " " * 44 + text[start + 44 :]
    assert [text[span.start : span.end] for span in cut(text, places)] == [
        text[:start].strip(),
        text[start + 44 :].strip(),
    ]
    figures = find_figures(LedgerDocument(text, places), taxonomy()).figures
    assert [int(figure.value) for figure in figures] == [5_000_000]


# --- other formats than the name says, and formats of one's own


def test_word_in_one_xml_file_is_read_as_word() -> None:
    package = zipfile.ZipFile(io.BytesIO(saved(Document())))
    document = package.read("word/document.xml").decode().partition("?>")[2]
    document = document.replace("<w:body>", "<w:body><w:p><w:r><w:t>Flat words</w:t></w:r></w:p>")
    relations = package.read("_rels/.rels").decode().partition("?>")[2]
    flat = (
        '<?xml version="1.0"?><pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage">'
        f'<pkg:part pkg:name="/_rels/.rels"><pkg:xmlData>{relations}</pkg:xmlData></pkg:part>'
        f'<pkg:part pkg:name="/word/document.xml"><pkg:xmlData>{document}</pkg:xmlData></pkg:part>'
        '<pkg:part pkg:name="/word/media/a.png"><pkg:binaryData>not base 64</pkg:binaryData></pkg:part></pkg:package>'
    )
    old = (
        '<w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml"><w:body><w:p><w:r>'
        "<w:t>Old words</w:t></w:r></w:p></w:body></w:wordDocument>"
    )
    assert read(".xml", flat.encode()).text == "Flat words\n"
    assert read(".xml", old.encode()).text == "Old words\n"


def test_a_saved_page_of_the_web() -> None:
    page = (
        b'MIME-Version: 1.0\nContent-Type: multipart/related; boundary="X"\n\n--X\n'
        b"Content-Type: text/html; charset=utf-8\n"
        b"Content-Transfer-Encoding: quoted-printable\n\n<html><body><p>Saved: caf=C3=A9</p></body></html>\n--X--\n"
    )
    assert read(".mhtml", page).text == "Saved: café\n"
    with pytest.raises(Damaged):
        read(".mhtml", b"MIME-Version: 1.0\nContent-Type: text/plain\n\nNo page\n")


def test_the_mails_of_a_mailbox_are_documents_inside_it() -> None:
    mailbox = (
        b"From a@x.example Mon Mar  4 10:00:00 2024\nFrom: a@x.example\nSubject: One\n\nFirst\n>From here on\n\n"
        b"From b@x.example Mon Mar  4 11:00:00 2024\nFrom: b@x.example\nSubject: Two/2\n\nSecond\n\n"
        b"From then on it rained.\n"
    )
    attached = read(".mbox", mailbox).attachments
    assert [one.name for one in attached] == ["One.eml", "Two-2.eml"]
    texts = [eml.read(one.data or b"").text for one in attached]
    assert "First\nFrom here on" in texts[0]
    assert "From then on it rained." in texts[1]
    with pytest.raises(Damaged):
        read(".mbox", b"not a mail")
