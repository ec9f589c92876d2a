"""Presentations: slides from top to bottom, notes and comments after, and what is embedded."""

import re
import zipfile
from pathlib import Path

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from tasks.errors import TooLarge
from tasks.reading.ooxml.package import CUT_OFF
from tasks.reading.pptx import reader
from tasks.reading.text_writer import NO_TEXT, Attachment, Reading
from tests.tasks.reading.ooxml.packages import CHART, CHART_LINES, DIAGRAM, relationships
from tests.tasks.reading.pptx import decks


def box(slide: object, left: float, top: float, text: str) -> None:
    slide.shapes.add_textbox(Inches(left), Inches(top), Inches(2), Inches(0.5)).text_frame.text = text  # type: ignore[attr-defined]


def places(reading: Reading) -> list[tuple[str, str, str]]:
    return [(place.kind, place.label, reading.text[place.start : place.end]) for place in reading.places]


def test_a_slide_is_read_from_top_to_bottom_with_its_notes_last(tmp_path: Path) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    box(slide, 5, 6, "bottom right")
    box(slide, 1, 6.1, "bottom left")
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(4), Inches(4), Inches(1)).table
    for row, words in enumerate((("Round", "Raised"), ("Seed", "2 m"))):
        for column, word in enumerate(words):
            table.cell(row, column).text = word
    box(slide, 1, 3, "middle\nof two lines")
    slide.shapes.title.text = "Alpha at a glance"
    slide.notes_slide.notes_text_frame.text = "Say hello."
    deck.save(str(tmp_path / "a.pptx"))

    reading = reader.read(tmp_path / "a.pptx")

    assert reading.text == (
        "Alpha at a glance\nmiddle\nof two lines\nRound\tRaised\nSeed\t2 m\nbottom left\nbottom right\nSay hello.\n"
    )
    assert reading.warnings == []


def test_each_slide_is_a_place_and_hidden_ones_count(tmp_path: Path) -> None:
    deck = Presentation()
    for words in ("first", "hidden", "third"):
        box(deck.slides.add_slide(deck.slide_layouts[6]), 1, 1, words)
    deck.slides[1]._element.set("show", "0")
    deck.save(str(tmp_path / "a.pptx"))
    reading = reader.read(tmp_path / "a.pptx")
    assert reading.text == "first\n\f[hidden slide]\nhidden\n\fthird\n"
    assert [place for place in places(reading) if place[0] != "shape"] == [
        ("slide", "1", "first\n"),
        ("slide", "2", "[hidden slide]\nhidden\n"),
        ("hidden_slide", "2", "[hidden slide]\nhidden\n"),
        ("slide", "3", "third\n"),
    ]


def test_each_shape_is_a_place_by_its_name_or_its_number(tmp_path: Path) -> None:
    file = decks.pptx(
        tmp_path / "a.pptx",
        [
            decks.slide(
                decks.shape("Alpha &amp; Co", name="Title 1", at=(0, 0)),
                decks.shape("unnamed", at=(0, 500_000)),
                decks.group(decks.shape("grouped", name='Bob&apos;s "box"'.replace('"', "&quot;")), at=(0, 900_000)),
            )
        ],
    )
    reading = reader.read(file)
    assert places(reading) == [
        ("slide", "1", "Alpha & Co\nunnamed\ngrouped\n"),
        ("shape", "Title 1", "Alpha & Co\n"),
        ("shape", "2", "unnamed\n"),
        ("shape", 'Bob\'s "box"', "grouped\n"),
    ]


def test_groups_and_charts_are_read(tmp_path: Path) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    data = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["FY23", "FY24"]
    data.add_series("Revenue", (1.5, 2))  # type: ignore[no-untyped-call]
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(3), Inches(4), Inches(3), data)
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(Inches(1), Inches(2), Inches(1), Inches(1)).text_frame.text = "grouped low"
    group.shapes.add_textbox(Inches(1), Inches(1), Inches(1), Inches(1)).text_frame.text = "grouped high"
    deck.save(str(tmp_path / "a.pptx"))
    assert reader.read(tmp_path / "a.pptx").text == "grouped high\ngrouped low\nRevenue\nFY23\t1.5\nFY24\t2\n"


def test_a_presentation_without_slides_is_empty(tmp_path: Path) -> None:
    Presentation().save(str(tmp_path / "a.pptx"))
    reading = reader.read(tmp_path / "a.pptx")
    assert reading.text == ""
    assert "No text was found" in reading.warnings[0]


def test_placeholders_stand_where_the_layout_or_its_master_puts_them(tmp_path: Path) -> None:
    slide = decks.slide(
        decks.shape("footer", holder='type="ftr" idx="11"'),
        decks.shape("free", at=(0, 2_000_000)),
        decks.shape("body", holder='idx="1"'),
        decks.shape("title", holder="type='ctrTitle'"),
    )
    layout = decks.tree(
        "sldLayout",
        decks.shape("prompt", holder='type="title"', at=(0, 300_000)),
        decks.shape("prompt", holder='idx="1"'),
        decks.shape("prompt", holder='type="ftr" idx="11"'),
    )
    master = decks.tree(
        "sldMaster",
        decks.shape("prompt", holder='type="title"', at=(0, 9_000_000)),
        decks.shape("prompt", holder='type="body" idx="7"', at=(0, 1_000_000)),
        decks.shape("prompt", holder='type="ftr" idx="3"', at=(0, 6_000_000)),
    )
    file = decks.pptx(
        tmp_path / "a.pptx",
        [slide],
        {
            "ppt/slideLayouts/layout.xml": layout,
            "ppt/slideLayouts/_rels/layout.xml.rels": relationships(("slideMaster", "../slideMasters/master.xml")),
            "ppt/slideMasters/master.xml": master,
        },
        slide1=[("slideLayout", "../slideLayouts/layout.xml")],
    )
    assert reader.read(file).text == "title\nbody\nfree\nfooter\n"


def test_a_layout_is_read_only_where_the_order_depends_on_it(tmp_path: Path) -> None:
    alone = decks.slide(decks.shape("alone", holder='type="title"'))
    placed = decks.slide(decks.shape("low", at=(0, 900_000)), decks.shape("high", holder='idx="1"', at=(0, 1)))
    title = decks.slide(decks.shape("low", holder='idx="1"'), decks.shape("first", holder='type="title"'))
    two = decks.slide(decks.shape("one", holder='type="body" idx="3"'), decks.shape("two", holder='idx="1"'))
    broken: decks.Parts = {"ppt/slideLayouts/layout.xml": "<p:sldLayout"}
    related = [("slideLayout", "../slideLayouts/layout.xml")]
    assert reader.read(decks.pptx(tmp_path / "a.pptx", [alone], broken, slide1=related)).warnings == []
    assert reader.read(decks.pptx(tmp_path / "b.pptx", [placed], broken, slide1=related)).warnings == []
    assert reader.read(decks.pptx(tmp_path / "d.pptx", [title], broken, slide1=related)).text == "first\nlow\n"
    reading = reader.read(decks.pptx(tmp_path / "c.pptx", [two], broken, slide1=related))
    assert (reading.text, reading.warnings) == ("one\ntwo\n", [CUT_OFF])


def test_groups_are_read_as_a_whole_and_empty_ones_do_not_count(tmp_path: Path) -> None:
    slide = decks.slide(
        decks.shape("last", at=(0, 3_000_000)),
        decks.group(
            decks.group(decks.shape("inner", at=(0, 0)), at=(0, 5_000_000)),
            decks.shape("outer", at=(0, 4_000_000)),
            at=(0, 1_000_000),
        ),
        decks.group(decks.group()),
        decks.shape("first", at=(0, 300_000)),
    )
    assert reader.read(decks.pptx(tmp_path / "a.pptx", [slide])).text == "first\nouter\ninner\nlast\n"


@pytest.mark.parametrize("quote", ['"', "'"])
def test_notes_come_without_the_number_of_the_slide(tmp_path: Path, quote: str) -> None:
    number = f"<a:fld id='1' type={quote}slidenum{quote}><a:rPr lang='en'/><a:t>12</a:t></a:fld>"
    notes = decks.tree(
        "notes",
        decks.shape("12", name="Old number").replace("<a:r><a:t>12</a:t></a:r>", number),
        decks.shape("Say hello.", name="Notes 2", holder='type="body"'),
        decks.shape(" 12 ", holder='type="sldNum" idx="5"'),
    )
    file = decks.pptx(
        tmp_path / "a.pptx",
        [decks.slide(decks.shape("42", name="Answer"))],
        {"ppt/notes.xml": notes},
        slide1=[("notesSlide", "../notes.xml")],
    )
    reading = reader.read(file)
    assert reading.text == "42\nSay hello.\n"
    assert places(reading)[1:] == [("shape", "Answer", "42\n"), ("speaker_note", "Notes 2", "Say hello.\n")]


def test_notes_that_are_a_number_alone_stay(tmp_path: Path) -> None:
    notes = decks.tree("notes", decks.shape("12", name="Say the number"))
    file = decks.pptx(
        tmp_path / "a.pptx", [decks.slide()], {"ppt/notes.xml": notes}, slide1=[("notesSlide", "../notes.xml")]
    )
    assert reader.read(file).text == "12\n"


def test_a_hidden_slide_without_words_makes_no_text(tmp_path: Path) -> None:
    hidden = decks.slide().replace("<p:sld ", "<p:sld show='0' ")
    reading = reader.read(decks.pptx(tmp_path / "a.pptx", [hidden]))
    assert (reading.text, reading.places, reading.warnings) == ("", [], [NO_TEXT])


def test_a_table_keeps_its_columns(tmp_path: Path) -> None:
    table = (
        "<a:tbl><a:tblPr/><a:tblGrid><a:gridCol w='1'/></a:tblGrid>"
        f"<a:tr><a:tc><a:txBody>{decks.paragraph('Round')}</a:txBody><a:tcPr/></a:tc><a:tc hMerge='1'/>"
        f"<a:tc><a:txBody>{decks.paragraph('Raised')}{decks.paragraph('in m')}</a:txBody></a:tc></a:tr>"
        "<a:tr><a:tc><a:txBody><a:p/></a:txBody></a:tc><a:tc/></a:tr>"
        "<a:tr><a:tc/><a:tc><a:txBody><a:p><a:r><a:t>2</a:t></a:r><a:br/><a:r><a:t>of 3</a:t></a:r></a:p></a:txBody>"
        "</a:tc><a:tc/></a:tr></a:tbl>"
    )
    file = decks.pptx(tmp_path / "a.pptx", [decks.slide(decks.frame(table, name="Rounds"))])
    rows = "Round\t\tRaised in m\n\t2 of 3\n"
    assert places(reader.read(file))[1:] == [("shape", "Rounds", rows), ("table", "", rows)]


def test_two_tables_are_two_and_each_knows_its_header_row(tmp_path: Path) -> None:
    def table(properties: str, *words: str) -> str:
        rows = "".join(f"<a:tr><a:tc><a:txBody>{decks.paragraph(word)}</a:txBody></a:tc></a:tr>" for word in words)
        return decks.frame(f"<a:tbl><a:tblPr {properties}/>{rows}</a:tbl>")

    slide = decks.slide(
        table('firstRow="1" bandRow="1"', "Year", "2023"),
        table('bandRow="1"', "a", "b"),
        table("firstRow='true'", "", "c"),
    )
    reading = reader.read(decks.pptx(tmp_path / "a.pptx", [slide]))
    assert reading.text == "Year\n2023\na\nb\nc\n"
    assert [place[1:] for place in places(reading) if place[0] == "table"] == [
        ("1", "Year\n2023\n"),
        ("", "a\nb\n"),
        ("", "c\n"),  # its header has no words
    ]


def test_charts_and_diagrams_are_read_where_their_frames_stand(tmp_path: Path) -> None:
    slide = decks.slide(
        decks.frame('<dgm:relIds xmlns:dgm="x" r:lo="rId9" r:dm="rId2"/>'.replace("x", DIAGRAM_SPACE, 1), name="Who"),
        decks.frame(f"<c:chart xmlns:c='{CHART_SPACE}' r:id='rId1'/>"),
        decks.frame(f"<c:chart xmlns:c='{CHART_SPACE}' r:id='rId8'/>"),
    )
    file = decks.pptx(
        tmp_path / "a.pptx",
        [slide, decks.slide(decks.frame(f"<c:chart xmlns:c='{CHART_SPACE}' r:id='rId1'/>"))],
        {"ppt/charts/chart.xml": CHART, "ppt/diagrams/data.xml": DIAGRAM},
        slide1=[("chart", "../charts/chart.xml"), ("diagramData", "../diagrams/data.xml")],
        slide2=[("chart", "../charts/chart.xml")],
    )
    assert reader.read(file).text == f"Board\nAuditor\n{CHART_LINES}\f{CHART_LINES}"


def test_formulas_breaks_and_words_of_unusual_shapes_are_read(tmp_path: Path) -> None:
    formula = (
        '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">'
        "<m:r><m:t>a&lt;</m:t></m:r><m:f><m:num><m:r><m:t>b</m:t></m:r></m:num><m:den><m:r><m:t>c</m:t></m:r></m:den>"
        "</m:f></m:oMath>"
    )
    slide = decks.slide(
        f"<p:sp><p:txBody><a:p>{formula}</a:p></p:txBody></p:sp>",
        f"<p:sp><p:txBody><a:p><a:r><a:t>so </a:t></a:r>{formula}<a:r><a:t>!</a:t></a:r></a:p></p:txBody></p:sp>",
        "<p:sp><p:txBody><a:p><m:oMath xmlns:m='http://schemas.openxmlformats.org/officeDocument/2006/math' /></a:p>"
        "<a:p><a:br/><a:r><a:t>one</a:t></a:r><a:br></a:br><a:br/><a:fld><a:t xml:space='preserve'>two"
        "</a:t></a:fld><a:t/></a:p></p:txBody></p:sp>",
        decks.frame(f"<a:lockedCanvas><a:txSp>{decks.paragraph('on a canvas')}</a:txSp></a:lockedCanvas>"),
    )
    assert reader.read(decks.pptx(tmp_path / "a.pptx", [slide])).text == "a<b/c\nso a<b/c!\none\n\ntwo\non a canvas\n"


def test_another_prefix_another_quote_and_an_alternative_make_no_difference(tmp_path: Path) -> None:
    usual = decks.slide(decks.shape("low", name="L", at=(0, 900_000)), decks.shape("high", name="H", at=(0, 1)))
    alternative = (
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<mc:Choice Requires='x'>{decks.shape('chosen', name='C', at=(0, 400_000))}</mc:Choice>"
        f"<mc:Fallback>{decks.shape('fallback', at=(0, 0))}</mc:Fallback></mc:AlternateContent>"
    )
    usual = usual.replace("</p:spTree>", alternative + "</p:spTree>")
    expected = reader.read(decks.pptx(tmp_path / "a.pptx", [usual]))
    others: tuple[str | bytes, ...] = (
        usual.replace('"', "'"),
        re.sub(r"(</?|xmlns:)([pa])\b", r"\g<1>x\2", usual).encode("utf-16"),
        usual.replace("<a:t>", "<!-- so --><a:t >").replace("</p:sp>", "</p:sp\n>"),
    )
    assert expected.text == "high\nchosen\nlow\n"
    for number, other in enumerate(others):
        reading = reader.read(decks.pptx(tmp_path / f"{number}.pptx", [other]))
        assert (reading.text, reading.places) == (expected.text, expected.places)


def test_what_is_embedded_in_a_slide_is_handed_on_once_but_not_the_workbook_of_a_chart(tmp_path: Path) -> None:
    file = decks.pptx(
        tmp_path / "a.pptx",
        [decks.slide(decks.frame(f"<c:chart xmlns:c='{CHART_SPACE}' r:id='rId1'/>")), decks.slide()],
        {
            "ppt/charts/chart.xml": CHART,
            "ppt/charts/_rels/chart.xml.rels": relationships(("package", "../embeddings/data.xlsx")),
            "ppt/embeddings/data.xlsx": b"of the chart",
            "ppt/embeddings/report.docx": b"a report",
            "ppt/embeddings/oleObject1.bin": b"an object",
        },
        slide1=[("chart", "../charts/chart.xml"), ("package", "../embeddings/report.docx")],
        slide2=[
            ("package", "../embeddings/report.docx"),
            ("oleObject", "../embeddings/oleObject1.bin"),
            ("package", "../embeddings/lost.xlsx"),
            ("package", "http://example.com/linked.docx"),
        ],
    )
    assert reader.read(file).attachments == [
        Attachment("report.docx", b"a report"),
        Attachment("oleObject1.bin", b"an object"),
        Attachment("lost.xlsx", None),
    ]


def test_a_slide_that_breaks_off_gives_what_is_there(tmp_path: Path) -> None:
    slide = decks.slide(decks.group(decks.shape("first", at=(0, 0)), decks.shape("second", at=(0, 900_000))))
    cut = slide[: slide.index("second") + 3]
    reading = reader.read(decks.pptx(tmp_path / "a.pptx", [cut, decks.slide(decks.shape("third"))]))
    assert (reading.text, reading.warnings) == ("first\nsec\n\fthird\n", [CUT_OFF])


def test_a_slide_that_is_lost_is_said_to_be(tmp_path: Path) -> None:
    whole = decks.pptx(tmp_path / "a.pptx", [decks.slide(decks.shape("first")), decks.slide(decks.shape("second"))])
    with zipfile.ZipFile(whole) as parts, zipfile.ZipFile(tmp_path / "b.pptx", "w") as lost:
        for name in parts.namelist():
            if not name.endswith("slide1.xml"):
                lost.writestr(name, parts.read(name))
    reading = reader.read(tmp_path / "b.pptx")
    assert (reading.text, reading.warnings) == ("\fsecond\n", [CUT_OFF])


def test_ten_thousand_groups_one_in_another_and_many_shapes_are_read(tmp_path: Path) -> None:
    nested = decks.slide("<p:grpSp>" * 10_000, decks.shape("innermost"), "</p:grpSp>" * 10_000)
    many = decks.slide(*(decks.shape(str(number), at=(0, 10**30 - number * 228_600)) for number in range(20_000)))
    unclosed = decks.slide("<p:grpSp><p:sp>" * 10_000, decks.shape("unclosed"))
    reading = reader.read(decks.pptx(tmp_path / "a.pptx", [nested, many, unclosed]))
    first, second, third = reading.text.split("\f")
    assert (first, third) == ("innermost\n", "unclosed\n")
    assert second.split() == [str(number) for number in reversed(range(20_000))]


CHART_SPACE = "http://schemas.openxmlformats.org/drawingml/2006/chart"
DIAGRAM_SPACE = "http://schemas.openxmlformats.org/drawingml/2006/diagram"


@pytest.mark.parametrize(
    "shapes",
    [
        decks.shape("x") * 100_001,
        "<p:grpSp>" * 100_001,
        pytest.param(f"<p:sp>{'<a:t>x</a:t>' * 2_000_002}</p:sp>", marks=pytest.mark.slow),
        f"<p:sp>{'<m:oMath><m:t>x</m:t></m:oMath>' * 10_002}</p:sp>",
    ],
    ids=["shapes", "groups", "runs", "formulas"],
)
def test_more_than_any_slide_holds_is_refused(tmp_path: Path, shapes: str) -> None:
    file = decks.pptx(tmp_path / "a.pptx", [decks.slide(shapes)])
    with pytest.raises(TooLarge, match="Split the document"):
        reader.read(file)
