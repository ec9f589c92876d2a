"""The report as slides: one overview of all companies, then one slide per company, each with an editable chart.

However much was found, a slide's content fits its boxes; where it is cut, it says how much more the web page has. Words
of documents are data: they are written as text, and only link to evidence pages and web addresses.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any, Final, NamedTuple

import pptx
from pptx.chart.chart import Chart
from pptx.chart.data import CategoryChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import (
    XL_AXIS_CROSSES,
    XL_CHART_TYPE,
    XL_LABEL_POSITION,
    XL_LEGEND_POSITION,
    XL_TICK_LABEL_POSITION,
)
from pptx.enum.dml import MSO_PATTERN
from pptx.enum.text import MSO_ANCHOR, MSO_AUTO_SIZE, PP_ALIGN
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.packuri import PackURI
from pptx.presentation import Presentation
from pptx.slide import Slide
from pptx.util import Pt

from tasks.reports.findings import find_red_flags, recommend, score_share, strengths
from tasks.reports.key_figures import newest_in_words
from tasks.reports.models import CompanyReport, CriterionReport, Report, ReportedQuote
from tasks.reports.wording import (
    WHOLE,
    day,
    describe_standing,
    families_in_words,
    find_quote_page,
    fit_text,
    judge,
    link_address,
    number,
    outcome_in_words,
    percent,
    sentence,
    source_in_words,
    tally,
    thousands,
    to_request,
    trial_in_words,
    xml_text,
)

FONT: Final = "Arial"
ACCENT, QUIET, FLAG, INK, PALE = "0B5563", "5A6B74", "8A4B00", "15232B", "DDE5E7"


class TextRun(NamedTuple):
    """Words in one style; with a `url` they link there, if a report may link to it."""

    text: str
    size: float = 10.5
    colour: str = INK
    bold: bool = False
    url: str | None = None


Paragraph = Sequence[TextRun]


def new_slides(title: str, width: float, height: float) -> Presentation:
    """An empty presentation with slides of that width and height in points."""
    slides = pptx.Presentation()
    slides.slide_width, slides.slide_height = Pt(width), Pt(height)
    slides.core_properties.title = xml_text(title)[:255]
    slides.core_properties.author = ""
    _number_parts(slides.part.package)
    _colour_links(slides)
    return slides


def _number_parts(package: Any) -> None:
    """Number the parts of charts by counting: python-pptx would search all parts of the file for each."""
    numbers: Counter[str] = Counter()

    def next_name(template: str) -> PackURI:
        numbers[template] += 1
        return PackURI(template % numbers[template])

    package.next_partname = next_name


def _colour_links(slides: Any) -> None:
    """Give links the theme's colour, whatever that of their words."""
    theme = slides.slide_master.part.part_related_by(RELATIONSHIP_TYPE.THEME)
    theme._blob = re.sub(rb'(<a:(?:fol)?[hH]link><a:srgbClr val=")[0-9A-F]{6}', rb"\g<1>0B5563", theme.blob)  # noqa: SLF001


def box(slide: Slide, frame: tuple[float, float, float, float], paragraphs: Sequence[Paragraph]) -> None:
    """Put a text box on a slide; `frame` is its left, top, width and height in points."""
    left, top, width, height = (Pt(length) for length in frame)
    write(slide.shapes.add_textbox(left, top, width, height).text_frame, paragraphs)


def write(frame: Any, paragraphs: Sequence[Paragraph]) -> None:
    """Replace the text of a frame by these paragraphs."""
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
    """A chart of horizontal bars, the first category at the top, without superfluous lines."""
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
    """Set the alternative text of a chart, for people who cannot see it."""
    chart: Any = slide.shapes[len(slide.shapes) - 1]
    chart._element.nvGraphicFramePr.cNvPr.set("descr", text)  # noqa: SLF001 - the library has no call for it


_MIDDLE, _LOW = "7FA3AA", "D98A3D"
_WIDTH, _HEIGHT = 960.0, 540.0  # of a slide, in points
_LEFT, _RIGHT = 36.0, 496.0  # where the two columns begin
_COLUMN: Final = 428.0
_TOP, _BOTTOM = 128.0, 500.0
_BOLD: Final = 0.9
"""Bold letters are wider than the others, which are measured: so much of a width is theirs."""
_BARS: Final = 36
"""Companies in the chart of the overview, and likewise the criteria in that of a company, at the most."""
_CRITERIA: Final = 24
_FIGURES: Final = 5
_WHOLE_ALONE: Final = '[>=0.9999999]0%;[>=0.99]"99%";0%'
"""A format in which only the whole is 100%."""


def render(report: Report) -> bytes:
    """The slides as the bytes of a file."""
    slides = new_slides(report.run.name, _WIDTH, _HEIGHT)
    layout = next(layout for layout in slides.slide_layouts if layout.name == "Title Only")
    _overview(slides.slides.add_slide(layout), report)
    for company in report.companies:
        _company(slides.slides.add_slide(layout), company, report)
    file = BytesIO()
    slides.save(file)
    return file.getvalue()


def _overview(slide: Slide, report: Report) -> None:
    run, companies = report.run, report.companies
    _title(slide, run.name, _WIDTH - 2 * _LEFT)
    count = f"{len(companies)} {'company' if len(companies) == 1 else 'companies'}"
    criteria = f"{len(run.criteria)} {'criterion' if len(run.criteria) == 1 else 'criteria'}"
    scale = f"from {number(run.scale[0])} to {number(run.scale[1])}"
    lead = f"{count} against {criteria}, scored {scale}. {day(run.started_at)}. Judged by {judge(run)}."
    lead = " ".join(filter(None, (lead, trial_in_words(run.model_trial))))
    box(slide, (_LEFT, 76, _WIDTH - 2 * _LEFT, 34), [[TextRun(fit_text(lead, _WIDTH - 80, 13, 2), 13, QUIET)]])
    shown = companies[:_BARS]
    more = f" The first {len(shown)} of {len(companies)}; every company has a slide." if len(companies) > _BARS else ""
    box(
        slide, (_LEFT, 112, _COLUMN + 60, 16), [[TextRun(f"Where they stand, by weight.{more}", 11, ACCENT, bold=True)]]
    )
    _standings(slide, shown)
    width = _WIDTH - _LEFT - 560
    box(slide, (560, 112, width, 200), _first_three(companies, run.scale, width))
    box(slide, (560, 318, width, 84), _most_often("Most frequent serious findings", _grave(report), companies, width))
    missing = Counter(row.name for company in companies for row in company.criteria if row.status == "missing")
    box(slide, (560, 408, width, 84), _most_often("Missing most often", missing, companies, width))
    note = (
        "Of the weight of all criteria. Companies rank by what is proven. Still open: neither scored nor known to be "
        "missing."
    )
    _footer(slide, note)


def _standings(slide: Slide, companies: Sequence[CompanyReport]) -> None:
    """A bar per company: what it has proven, what is open, and what it did not earn, as shares of all weight."""
    names = [fit_text(f"{company.rank or '–'} {company.name}", 150, 9) for company in companies] or ["no company"]
    spans = [(company.standing.low, company.standing.high) for company in companies] or [(0.0, 0.0)]
    shares: dict[str, list[float | None]] = {
        "Proven": [_exact(low) for low, _ in spans],
        "Still open": [_exact(high - low) for low, high in spans],
        "Not earned": [_exact(1 - high) for _, high in spans],
    }
    size = 10.0 if len(companies) <= 16 else 7.5
    height = min(_BOTTOM - _TOP, 90 + 46.0 * len(companies))
    chart = bar_chart(slide, XL_CHART_TYPE.BAR_STACKED, names, shares, (_LEFT, _TOP, 510, height), size)
    chart.value_axis.maximum_scale, chart.value_axis.minimum_scale = 1, 0
    chart.has_legend = True
    chart.legend.position, chart.legend.include_in_layout = XL_LEGEND_POSITION.BOTTOM, False
    chart.legend.font.size = Pt(10)
    plot = chart.plots[0]
    plot.gap_width, plot.overlap = 40, 100
    earned, still_open, not_earned = plot.series
    fill(earned, ACCENT)
    still_open.format.fill.patterned()
    still_open.format.fill.pattern = MSO_PATTERN.WIDE_UPWARD_DIAGONAL
    still_open.format.fill.fore_color.rgb = rgb("3F7F89")
    still_open.format.fill.back_color.rgb = rgb("FFFFFF")
    fill(not_earned, PALE)
    for series, colour in ((earned, "FFFFFF"), (still_open, INK)):
        labels = series.data_labels
        labels.show_value, labels.number_format_is_linked = True, False
        labels.number_format = '[<0.03]"";' + _WHOLE_ALONE.split(";", 1)[1] if series is earned else '[<0.03]"";0%'
        labels.font.size, labels.font.bold = Pt(size), True
        labels.font.color.rgb = rgb(colour)
    describe(
        slide,
        "A bar for each company: the share of the weight that it has proven, that is open, and that it did not earn",
    )


def _first_three(companies: Sequence[CompanyReport], scale: tuple[float, float], width: float) -> list[Paragraph]:
    paragraphs: list[Paragraph] = [[TextRun("Recommendations", 12, ACCENT, bold=True)]]
    for company in companies[:3]:
        total = sentence(f"{fit_text(company.name, width * 0.8, 10.5)}: {describe_standing(company)}")
        paragraphs.append([TextRun(fit_text(total, width * _BOLD, 10.5, 2), bold=True)])
        paragraphs.append([TextRun(fit_text(recommend(company, scale).lead, width, 10.5, 2))])
    return paragraphs


def _grave(report: Report) -> Counter[str]:
    return Counter(
        flag.criterion.name
        for company in report.companies
        for flag in find_red_flags(company, report.run.scale)
        if flag.severity == "high"
    )


def _most_often(title: str, counts: Counter[str], companies: Sequence[CompanyReport], width: float) -> list[Paragraph]:
    paragraphs: list[Paragraph] = [[TextRun(title, 12, ACCENT, bold=True)]]
    for name, count in counts.most_common(4):
        paragraphs.append([TextRun(f"{fit_text(name, width - 60, 10.5)}: {count} of {len(companies)}")])
    return paragraphs if counts else [*paragraphs, [TextRun("None.", colour=QUIET)]]


def _company(slide: Slide, company: CompanyReport, report: Report) -> None:
    scale = report.run.scale
    _title(slide, company.name, 640)
    known = company.standing
    rank = f"   rank {company.rank}" if company.rank is not None else "   not ranked"
    still_open = f"proven of all the weight, {percent(known.high - known.low)} still open"
    share = [
        [TextRun(percent(known.proven), 26, ACCENT, bold=True), TextRun(rank, 12, QUIET)],
        [TextRun(still_open, 10, QUIET)],
    ]
    box(slide, (684, 28, 240, 46), share)
    lead = recommend(company, scale).lead
    box(
        slide,
        (_LEFT, 76, _WIDTH - 2 * _LEFT, 40),
        [[TextRun(fit_text(lead, (_WIDTH - 2 * _LEFT) * _BOLD, 15, 2), 15, bold=True)]],
    )
    _scores(slide, company, scale)
    box(
        slide,
        (_RIGHT, 116, _COLUMN, 126),
        _list_findings(company, scale, strengths(company, scale), "Strengths", 1),
    )
    flags = find_red_flags(company, scale)
    more = f", {len(flags) - 3} more in the web page" if len(flags) > 3 else ""
    findings = [flag.criterion for flag in flags[:3]]
    grave = _list_findings(
        company, scale, findings, f"Gravest findings{more}", 2, [flag.severity for flag in flags[:3]]
    )
    if company.problem:
        failed = f"This company’s run failed. {company.problem}"
        grave[1:] = [[TextRun(fit_text(failed, _COLUMN, 10.5, 6), colour=FLAG)]]
    box(slide, (_RIGHT, 248, _COLUMN, 164), grave)
    box(slide, (_RIGHT, 418, _COLUMN, 78), _requests(company))
    counts = tally(company.documents)
    still = sum(decision.is_open for decision in company.decisions)
    decided = f" {len(company.decisions)} decisions, {still} of them open." if company.decisions else ""
    families = len(families_in_words(company.documents))
    copies = f" With copies or versions: {thousands(families)}." if families else ""
    figures, contradicted = newest_in_words(company, _FIGURES)
    key_figures = "; ".join([*contradicted, *figures])  # what does not fit is cut off at the end
    if key_figures:
        box(slide, (_LEFT, 492, _WIDTH - 2 * _LEFT, 14), [[TextRun(fit_text(key_figures, _WIDTH - 80, 9), 9)]])
    _footer(
        slide,
        f"{fit_text(report.run.name, 300, 9)}, {day(report.run.started_at)}. {company.domain}. "
        f"{thousands(counts.read)} of {thousands(counts.total)} documents were read.{copies}{decided}",
    )


def _scores(slide: Slide, company: CompanyReport, scale: tuple[float, float]) -> None:
    """A bar per criterion, the weightiest if there are many; those without a score say why beside their name."""
    ordered = sorted(range(len(company.criteria)), key=lambda position: -company.criteria[position].weight)
    criteria = [company.criteria[position] for position in sorted(ordered[:_CRITERIA])]
    names = [
        fit_text(criterion.name, 190, 9)
        if score_share(criterion, scale) is not None and criterion.contested is None
        else f"{fit_text(criterion.name, 120, 9)} ({criterion.status})"
        for criterion in criteria
    ] or ["no criteria"]
    shares = [score_share(criterion, scale) for criterion in criteria] or [None]
    scores = [
        None
        if share is None or criterion.counted is None
        else round(criterion.counted, 2)  # as long as its label may be
        for criterion, share in zip(criteria, shares, strict=False)
    ]
    of_many = (
        f" (the {len(criteria)} weightiest of {len(company.criteria)})" if len(company.criteria) > _CRITERIA else ""
    )
    heading = f"Scores from {number(scale[0])} to {number(scale[1])}{of_many}"
    box(slide, (_LEFT, 116, _COLUMN, 16), [[TextRun(heading, 12, ACCENT, bold=True)]])
    frame = (_LEFT, 132.0, 444.0, min(_BOTTOM - 132, 40 + 30.0 * len(criteria)))
    chart = bar_chart(slide, XL_CHART_TYPE.BAR_CLUSTERED, names, {"Score": scores or [None]}, frame, 9)
    chart.value_axis.minimum_scale, chart.value_axis.maximum_scale = scale
    chart.value_axis.crosses = XL_AXIS_CROSSES.MINIMUM
    chart.has_legend = False
    plot = chart.plots[0]
    plot.gap_width, plot.vary_by_categories = 45, False
    (series,) = plot.series
    fill(series, _MIDDLE)
    for position, share in enumerate(shares):
        if share is not None and (share >= 0.8 or share <= 0.4):
            fill(series.points[position], ACCENT if share >= 0.8 else _LOW)
    labels = series.data_labels
    labels.show_value, labels.position = True, XL_LABEL_POSITION.OUTSIDE_END
    labels.number_format, labels.number_format_is_linked = "General", False
    labels.font.size, labels.font.bold = Pt(9), True
    describe(slide, "A bar for each criterion with its score; those without one say why")


def _list_findings(
    company: CompanyReport,
    scale: tuple[float, float],
    criteria: Sequence[CriterionReport],
    title: str,
    lines: int,
    severities: Sequence[str] = (),
) -> list[Paragraph]:
    """A titled list of criteria, each with its outcome, its reason and a link to its evidence."""
    paragraphs: list[Paragraph] = [[TextRun(title, 12, ACCENT, bold=True)]]
    for position, criterion in enumerate(criteria):
        before = f"{severities[position]}: " if severities else ""
        after = f" – {outcome_in_words(criterion, scale)}"
        name = fit_text(criterion.heading, _COLUMN * _BOLD - 130, 10.5)
        paragraphs.append([TextRun(before, colour=FLAG, bold=True), TextRun(name + after, bold=True)])
        paragraphs.append([TextRun(fit_text(criterion.reason, _COLUMN, 10.5, lines))])
        paragraphs += [_source(quote, criterion) for quote in _best(criterion)]
    if not criteria:
        nothing = "Nothing could be scored." if company.total is None else "None among the scored criteria."
        paragraphs.append([TextRun(nothing, colour=QUIET)])
    return paragraphs


def _best(criterion: CriterionReport) -> list[ReportedQuote]:
    """The first quote that was verified, else the first."""
    return sorted((quote for quote in criterion.quotes if quote.document_name), key=lambda quote: not quote.verified)[
        :1
    ]


def _source(quote: ReportedQuote, criterion: CriterionReport) -> Paragraph:
    source = f"{fit_text(quote.document_name or '', 220, 9)}, {fit_text(quote.place or '', 120, 9)}".rstrip(", ")
    what = f"{source_in_words(criterion, quote)}: "
    return [TextRun(what, 9, QUIET), TextRun(source, 9, ACCENT, url=find_quote_page(quote))]


def _requests(company: CompanyReport) -> list[Paragraph]:
    requests = to_request(company)
    more = f", {len(requests) - 4} more in the web page" if len(requests) > 4 else ""
    title = [TextRun(f"What is missing{more}", 12, ACCENT, bold=True)]
    if not requests:
        return [title, [TextRun("Nothing was found missing.", colour=QUIET)]]
    return [title, *([TextRun(fit_text(f"• {criterion.missing}", _COLUMN, 10.5))] for criterion in requests[:4])]


def _title(slide: Slide, text: str, width: float) -> None:
    title = slide.shapes.title
    assert title is not None
    title.left, title.top, title.width, title.height = Pt(_LEFT), Pt(26), Pt(width), Pt(46)
    write(title.text_frame, [[TextRun(fit_text(text, width * _BOLD, 26), 26, ACCENT, bold=True)]])
    title.text_frame.vertical_anchor = MSO_ANCHOR.MIDDLE


def _footer(slide: Slide, text: str) -> None:
    box(slide, (_LEFT, 508, _WIDTH - 2 * _LEFT, 14), [[TextRun(fit_text(text, _WIDTH - 80, 9), 9, QUIET)]])


def _exact(share: float) -> float:
    """A share without rounding errors."""
    return 1.0 if share > WHOLE else round(max(share, 0.0), 6)
