"""What stands on a slide: boxes of words, which lead to where a report may link to, and charts that can be edited."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import pptx
from pptx.chart.chart import Chart
from pptx.chart.data import CategoryChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE, XL_TICK_LABEL_POSITION
from pptx.enum.text import MSO_AUTO_SIZE, PP_ALIGN
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.packuri import PackURI
from pptx.presentation import Presentation
from pptx.slide import Slide
from pptx.util import Pt

from tasks.reports.wording import link_address, xml_text

FONT: Final = "Arial"
ACCENT, QUIET, FLAG, INK, PALE = "0B5563", "5A6B74", "8A4B00", "15232B", "DDE5E7"


class Run(NamedTuple):
    """Words in one look; with a `url` they lead there, where a report may link to it."""

    text: str
    size: float = 10.5
    colour: str = INK
    bold: bool = False
    url: str | None = None


Paragraph = Sequence[Run]


def new_slides(title: str, width: float, height: float) -> Presentation:
    """An empty presentation whose slides are so many points wide and high."""
    slides = pptx.Presentation()
    slides.slide_width, slides.slide_height = Pt(width), Pt(height)
    slides.core_properties.title = xml_text(title)[:255]
    slides.core_properties.author = ""
    _number_parts(slides.part.package)
    _colour_links(slides)
    return slides


def _number_parts(package: Any) -> None:
    """Charts get free numbers from a count: python-pptx would look through all parts of the file for each."""
    numbers: Counter[str] = Counter()

    def next_name(template: str) -> PackURI:
        numbers[template] += 1
        return PackURI(template % numbers[template])

    package.next_partname = next_name


def _colour_links(slides: Any) -> None:
    """Links have the colour of the theme, whatever that of their words."""
    theme = slides.slide_master.part.part_related_by(RELATIONSHIP_TYPE.THEME)
    theme._blob = re.sub(rb'(<a:(?:fol)?[hH]link><a:srgbClr val=")[0-9A-F]{6}', rb"\g<1>0B5563", theme.blob)  # noqa: SLF001


def box(slide: Slide, frame: tuple[float, float, float, float], paragraphs: Sequence[Paragraph]) -> None:
    """Put a box of words on a slide; `frame` is its left, top, width and height in points."""
    left, top, width, height = (Pt(length) for length in frame)
    write(slide.shapes.add_textbox(left, top, width, height).text_frame, paragraphs)


def write(frame: Any, paragraphs: Sequence[Paragraph]) -> None:
    """Write paragraphs into an empty frame, in the place of what it says of its own."""
    frame.word_wrap, frame.auto_size = True, MSO_AUTO_SIZE.NONE
    frame.margin_left = frame.margin_right = frame.margin_top = frame.margin_bottom = 0
    for position, runs in enumerate(paragraphs):
        paragraph = frame.paragraphs[0] if position == 0 else frame.add_paragraph()
        paragraph.alignment = PP_ALIGN.LEFT
        paragraph.space_before = Pt(2.5 if position and runs and runs[0].bold else 0)
        for words in runs:
            if not words.text:
                continue
            run = paragraph.add_run()
            run.text = xml_text(words.text).replace("\v", " ")
            address = link_address(words.url)
            if address is not None:
                run.hyperlink.address = xml_text(address)
            run.font.name, run.font.size, run.font.bold = FONT, Pt(words.size), words.bold
            run.font.color.rgb = rgb(words.colour)


def bar_chart(
    slide: Slide,
    kind: XL_CHART_TYPE,
    categories: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    frame: tuple[float, float, float, float],
    size: float,
) -> Chart:
    """A chart of bars that go across, the first category at the top, without lines that say nothing."""
    data: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = [xml_text(category) for category in categories]
    for name, values in series.items():
        data.add_series(name, values)
    left, top, width, height = (Pt(length) for length in frame)
    graphic: Any = slide.shapes.add_chart(kind, left, top, width, height, data)
    chart: Chart = graphic.chart
    chart.font.name, chart.font.size = FONT, Pt(size)
    chart.has_title = False
    chart.category_axis.reverse_order = True
    chart.category_axis.format.line.color.rgb = rgb(PALE)
    chart.category_axis.tick_label_position = XL_TICK_LABEL_POSITION.LOW
    chart.category_axis.has_major_gridlines = False
    chart.value_axis.has_major_gridlines = False
    chart.value_axis.visible = False
    return chart


def rgb(colour: str) -> RGBColor:
    """A colour of six hexadecimal digits."""
    return RGBColor(*bytes.fromhex(colour))  # type: ignore[no-untyped-call]


def fill(shape: Any, colour: str) -> None:
    """Fill a shape or a series of a chart with one colour."""
    shape.format.fill.solid()
    shape.format.fill.fore_color.rgb = rgb(colour)


def describe(slide: Slide, text: str) -> None:
    """What the chart shows, for those who cannot see it."""
    chart: Any = slide.shapes[len(slide.shapes) - 1]
    chart._element.nvGraphicFramePr.cNvPr.set("descr", text)  # noqa: SLF001 - the library has no call for it
