"""Presentations: slides from top to bottom, notes after."""

from pathlib import Path

from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from tasks.documents.extract.readers import pptx


def box(slide: object, left: float, top: float, text: str) -> None:
    slide.shapes.add_textbox(Inches(left), Inches(top), Inches(2), Inches(0.5)).text_frame.text = text  # type: ignore[attr-defined]


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

    reading = pptx.read(tmp_path / "a.pptx")

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
    reading = pptx.read(tmp_path / "a.pptx")
    assert reading.text == "first\n\fhidden\n\fthird\n"
    assert [(place.kind, place.label, reading.text[place.start : place.end]) for place in reading.places] == [
        ("slide", "1", "first\n"),
        ("slide", "2", "hidden\n"),
        ("slide", "3", "third\n"),
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
    assert pptx.read(tmp_path / "a.pptx").text == "grouped high\ngrouped low\nRevenue\nFY23\t1.5\nFY24\t2\n"


def test_a_presentation_without_slides_is_empty(tmp_path: Path) -> None:
    Presentation().save(str(tmp_path / "a.pptx"))
    reading = pptx.read(tmp_path / "a.pptx")
    assert reading.text == ""
    assert "No text was found" in reading.warnings[0]
