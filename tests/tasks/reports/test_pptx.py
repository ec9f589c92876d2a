"""The slides: one overview, one slide a company, each with a chart, and nothing that runs out of its box."""

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from pptx import Presentation
from pptx.util import Pt

from storage.runs import CompanyStatus
from tasks.reading import formats
from tasks.reports import pptx
from tasks.reports.models import Report
from tasks.reports.report import build
from tasks.reports.wording import line_count
from tests.cases import cases
from tests.tasks.reports.everything import HOSTILE, report_with_everything
from tests.tasks.reports.many import report_of
from tests.tasks.reports.office import as_pdf
from tests.tasks.reports.rows import write_run


def slides_of(report: Report) -> list[Any]:
    return list(Presentation(BytesIO(pptx.render(report))).slides)


def words(slide: Any) -> str:
    return "\n".join(shape.text_frame.text for shape in slide.shapes if shape.has_text_frame)


def links(slide: Any) -> list[str]:
    return [rel.target_ref for rel in slide.part.rels.values() if rel.reltype.endswith("/hyperlink")]


@pytest.mark.parametrize("companies", [0, 1, 3, *(pytest.param(many, marks=pytest.mark.slow) for many in (30, 60))])
def test_one_overview_and_one_slide_a_company_each_with_a_native_chart(companies: int) -> None:
    slides = slides_of(report_of(companies))
    assert len(slides) == 1 + companies
    assert [sum(shape.has_chart for shape in slide.shapes) for slide in slides] == [1] * len(slides)
    assert [slide.shapes.title.text_frame.text for slide in slides[1:]] == [
        f"Company {number + 1}" for number in range(companies)
    ]


def test_overview_shows_what_was_earned_and_what_is_still_open() -> None:
    report = report_of(3)
    (chart,) = [shape.chart for shape in slides_of(report)[0].shapes if shape.has_chart]
    series = {series.name: list(series.values) for series in chart.plots[0].series}
    assert list(chart.plots[0].categories) == ["1 Company 1", "2 Company 2", "3 Company 3"]
    for position, company in enumerate(report.companies):
        known = company.standing
        assert series["Proven"][position] == pytest.approx(known.proven, abs=1e-6)
        assert series["Still open"][position] == pytest.approx(known.high - known.low, abs=1e-6)
        assert sum(values[position] for values in series.values()) == pytest.approx(1, abs=1e-5)


def test_company_has_its_scores_reasons_findings_and_what_is_missing_with_links() -> None:
    alpha, beta = slides_of(report_with_everything())[1:]
    for expected in (
        "38\u202f%   rank 1\nproven of all the weight, 50\u202f% still open",
        "Proceed, and settle on the way: audited.",
        "Strengths",
        "Is most of the revenue recurring? – 4 of 5\nbecause: Words of a document.",
        "verified: Words of a document..pdf, page 14",
        "medium: audited financial statements – missing: not found",
        "• please send: Words of a document.",
        "1 of 3 documents were read.",
    ):
        assert expected in words(alpha)
    assert links(alpha) == ["http://127.0.0.1:8000/documents/accounts#page=14"]
    (chart,) = [shape.chart for shape in alpha.shapes if shape.has_chart]
    assert list(chart.plots[0].categories) == ["recurring", "established (unsupported)", "audited (missing)"]
    assert list(chart.plots[0].series[0].values) == [4.0, None, None]
    assert "This company’s run failed. failed: Words of a document." in words(beta)
    evidence = links(slides_of(report_of(1))[1])
    assert len(evidence) >= 5
    assert all(re.fullmatch(r"evidence/[0-9a-f]{24}\.html#c1-\d+", link) for link in evidence)


def test_a_slide_says_how_many_documents_have_copies() -> None:
    report = report_with_everything()
    report.companies[0].documents[2].family = "fine.pdf"
    assert "With copies or versions: 1." in words(slides_of(report)[1])


def test_text_of_documents_is_text() -> None:
    report = report_with_everything(HOSTILE)
    report.companies[0].name = "=1+1 <b>\x00\x0b\ufffe\ud800"
    title, *_ = [slide.shapes.title.text_frame.text for slide in slides_of(report)[1:]]
    assert title == r"=1+1 <b>\u0000\u000b\ud800"


def test_no_slide_calls_a_company_whole_without_what_was_looked_at() -> None:
    report = report_of(4, judged=False)
    for company in report.companies:
        company.total = 1.0
    for slide in slides_of(report):
        for line in words(slide).split("\n"):
            assert "100\u202f%" not in line
    assert all("proven of all the weight" in words(slide) for slide in slides_of(report)[1:])


@cases("text", ["", "with words that go on " * 12, "w" * 255, "名前" * 42, "İstanbul " * 28])
@cases("criteria", [3, 60])
def test_text_fits_its_box(text: str, criteria: int) -> None:
    report = report_of(3, criteria, text=text)
    report.companies[2].status, report.companies[2].problem = CompanyStatus.FAILED, f"The folder is gone. {text * 9}"
    for slide in slides_of(report):
        for shape in slide.shapes:
            if shape.has_text_frame:
                assert shape.top + shape.height <= Pt(540)
                height = sum(
                    line_count(paragraph.text, shape.width.pt / (1.08 if paragraph.runs[0].font.bold else 1), size)
                    * size
                    * 1.15
                    + paragraph.space_before.pt
                    for paragraph in shape.text_frame.paragraphs
                    for size in [max(run.font.size.pt for run in paragraph.runs)]
                )
                assert height <= shape.height.pt, shape.text_frame.text


def test_run_without_companies_is_still_an_overview() -> None:
    (slide,) = slides_of(build(write_run("r1", [])))
    assert "Autumn screen" in words(slide)


@pytest.mark.skipif(formats.program("libsdlo.so") is None, reason="needs LibreOffice (libreoffice-impress)")
def test_libreoffice_shows_each_slide_on_a_page(tmp_path: Path) -> None:
    pages = as_pdf(pptx.render(report_of(2, text="<b>&")), "pptx", tmp_path)
    assert len(pages) == 3
    assert pages[1].startswith("Company 1 <b>&")
    assert "Scores from 0 to 5" in pages[1]
