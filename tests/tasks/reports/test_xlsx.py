"""The workbook: every finding in a row, every text a text."""

import re
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pypdfium2
import pytest
from openpyxl import load_workbook

from storage.scores import CriterionOutcome, Quote, ScoreStatus
from tasks.reports import workbook, xlsx
from tasks.reports.findings import falls_short, find_red_flags, heat
from tasks.reports.html import TEMPLATES
from tasks.reports.models import Report, ReportedTable
from tasks.reports.report import build
from tests.tasks.reports.everything import HOSTILE, report_with_everything
from tests.tasks.reports.many import report_of
from tests.tasks.reports.office import as_pdf, converted, needs_libreoffice
from tests.tasks.reports.rows import company, document, outcome, quote, write_company, write_run


def sheets(report: Report) -> dict[str, list[list[Any]]]:
    book = load_workbook(BytesIO(xlsx.render(report)))
    return {sheet.title: [list(row) for row in sheet.iter_rows(values_only=True)] for sheet in book}


def test_each_kind_of_finding_has_its_sheet() -> None:
    found = sheets(report_with_everything())
    assert list(found) == [
        *("Ranking", "Weights", "Red flags", "Criteria", "Quotes", "Passages", "Contradictions", "Contested"),
        *("Figures", "To ask for", "Disagreeing sources", "Decisions", "Changes", "Warnings", "Documents", "Run"),
    ]
    ranking = found["Ranking"]
    assert ranking[0][7:10] == ["recurring", "established", "audited"]
    assert ranking[1][7:10] == ["=Weights!$B$2", "=Weights!$B$3", "=Weights!$B$4"]
    assert ranking[2][1:3] == ["Alpha", "alpha.example"]
    assert ranking[2][7:10] == [4, "unsupported", "missing"]
    assert [row[:3] for row in found["Weights"]] == [
        ["Criterion", "Weight", "Id"],
        ["recurring", 3, "recurring"],
        ["established", 1, "established"],
        ["audited", 2, "audited"],
    ]
    assert [row[1:4] for row in found["Criteria"][1:3]] == [
        ["recurring", "Is most of the revenue recurring?", "judged"],
        ["established", "founding year <= 2018", "fact"],
    ]
    assert found["Quotes"][1][2:8] == [
        *(1, "for", "proven: Words of a document.", "yes", "Words of a document..pdf", "page 14")
    ]
    assert found["Quotes"][2][5] == "no"
    assert found["Contradictions"][1][1:3] == ["about: Words of a document.", "one says: Words of a document."]
    assert found["To ask for"][1][1:] == [
        *("please send: Words of a document.", "one Words of a document. (near: Words of a document.)")
    ]
    assert [row[2] for row in found["Disagreeing sources"][1:]] == ["2014", "2016"]
    assert ["score moved", "recurring went from 3 to 4."] in [row[1:3] for row in found["Changes"]]
    assert [row[5] for row in found["Documents"][1:]] == ["failed", "empty", "read"]
    assert ["Budget", "0.50 USD"] in found["Run"]


@pytest.mark.parametrize(
    "text", ["=1+1", '=HYPERLINK("http://x.example")', "+1", "@SUM(1)", "#N/A", HOSTILE, "a\x00\x0b\ufffe\ud800b"]
)
def test_text_is_never_a_formula_and_never_breaks_the_file(text: str) -> None:
    write_run("r1", [company("Alpha")])
    told = outcome("recurring", None, ScoreStatus.UNSCORED, reason=text)
    write_company("r1", "alpha.example", outcomes=[(told, [])], documents=[document("d", name="=1+1")])
    report = build("r1")
    report.companies[0].criteria[0].reason = text
    report.companies[0].warnings = [text]
    content = xlsx.render(report)
    book = load_workbook(BytesIO(content))
    cell = book["Criteria"]["J2"]
    assert cell.data_type in {"s", "inlineStr"}
    assert cell.value == (text if "\x00" not in text else r"a\u0000\u000b\ud800b")
    assert book["Documents"]["B2"].value == "=1+1"
    with ZipFile(BytesIO(content)) as parts:
        sheets_after_the_ranking = [name for name in parts.namelist() if re.match(r"xl/worksheets/sheet(?!1\.)", name)]
        assert not any(b"<f>" in parts.read(name) for name in sheets_after_the_ranking)


@needs_libreoffice
def test_shares_and_ranks_follow_the_weights(tmp_path: Path) -> None:
    write_run("r1", [company("Alpha", total=0.65, coverage=4 / 6, rank=1), company("Beta", 1, domain="beta.example")])
    scored: list[tuple[CriterionOutcome, list[Quote]]] = [
        (outcome("recurring", 4, ScoreStatus.SCORED), []),
        (outcome("established", 1, ScoreStatus.SCORED), []),
        (outcome("audited", None, ScoreStatus.MISSING), []),
    ]
    write_company("r1", "alpha.example", outcomes=scored)
    write_company("r1", "beta.example", outcomes=[(outcome("audited", 5, ScoreStatus.SCORED), [])])
    book = load_workbook(BytesIO(xlsx.render(build("r1"))))

    as_written, with_a_weight = BytesIO(), BytesIO()
    book.save(as_written)
    book["Weights"]["B3"] = 97
    book.save(with_a_weight)

    def calculated(path: Path) -> list[list[Any]]:
        sheet = load_workbook(path, data_only=True)["Ranking"]
        return [[cell.value for cell in row[:7]] for row in sheet.iter_rows(min_row=3)]

    files = [file.getvalue() for file in (as_written, with_a_weight)]
    before, after = map(calculated, converted(files, "xlsx", "xlsx:Calc MS Excel 2007 XML", tmp_path))
    alpha, beta = before
    proven = pytest.approx((3 * 4 + 1) / 30)
    assert alpha == [1, "Alpha", "alpha.example", proven, proven, pytest.approx(4 / 6), None]
    assert beta[0] in {None, ""}, "a third of the weight is too little for a rank"
    assert beta[3:6] == [pytest.approx(2 / 6), pytest.approx(1), pytest.approx(2 / 6)]
    alpha, _ = after
    assert (alpha[3], alpha[5]) == (pytest.approx((3 * 4 + 97) / 510), pytest.approx(100 / 102))


def test_only_web_addresses_are_links() -> None:
    book = load_workbook(BytesIO(xlsx.render(report_with_everything())))
    quotes = book["Quotes"]
    assert quotes["I2"].hyperlink.target == "http://127.0.0.1:8000/documents/accounts#page=14"
    assert quotes["I3"].hyperlink is None
    assert [row[8].hyperlink is not None for row in book["Documents"].iter_rows(min_row=2)] == [False, True, True]


def test_a_text_longer_than_a_cell_is_cut_and_says_so() -> None:
    write_run("r1", [company("Alpha")])
    scored = outcome("recurring", 4, ScoreStatus.SCORED)
    write_company("r1", "alpha.example", outcomes=[(scored, [quote("x" * 40_000)])])
    (row,) = sheets(build("r1"))["Quotes"][1:]
    assert len(row[4]) == 32_767
    assert row[4].endswith("(cut; the web page has all of it)")


@pytest.mark.parametrize("name", ["Nordlys A/S", "[a]:b*c?d\\e", "Twenty letters, OO'Hara", "two\nlines"])
def test_a_table_has_sheets_whatever_its_company_is_named(name: str) -> None:
    file = BytesIO(xlsx.table_workbook([(name, ReportedTable(columns=[], rows=[], calendar=[]))]))
    titles = load_workbook(file).sheetnames
    assert len(titles) == 3
    assert not [title for title in titles if set(title) & set("[]:*?/\\\n") or title.endswith("'")]


def test_a_full_sheet_goes_on_in_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "MOST_ROWS", 3)
    write_run("r1", [company("Alpha")])
    write_company("r1", "alpha.example", documents=[document(f"d{number}") for number in range(5)])
    found = sheets(build("r1"))
    names = [[row[1] for row in found[title]] for title in ("Documents", "Documents 2", "Documents 3")]
    assert names == [["Document", "d0.pdf", "d1.pdf"], ["Document", "d2.pdf", "d3.pdf"], ["Document", "d4.pdf"]]


def test_scores_have_the_colours_of_the_matrix_and_red_flags_a_sign_too() -> None:
    report = report_of(4)
    book = load_workbook(BytesIO(xlsx.render(report)))
    css = (TEMPLATES / "report.css").read_text()
    seen = set()
    for row, company_report in zip(book["Ranking"].iter_rows(min_row=3), report.companies, strict=True):
        for cell, criterion in zip(row[7:], company_report.criteria, strict=False):
            if criterion.status is not ScoreStatus.SCORED:
                assert cell.value == criterion.status.value
                continue
            assert criterion.score is not None
            assert cell.value == criterion.score
            step = heat(criterion.score, report.run.scale)
            light = [re.findall(rf"--{name}-{step}: #(\w+)", css)[0].upper() for name in ("heat", "on")]
            assert [cell.fill.fgColor.rgb, cell.font.color.rgb] == [f"00{colour}" for colour in light]
            is_flag = falls_short(criterion, report.run.scale)
            assert ("▼" in cell.number_format) == is_flag
            assert (cell.border.bottom.style == "medium") == is_flag
            seen.add(is_flag)
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("score", "shown"), [(5, "General"), (4.5, "0.0"), (4.925933, "0.00"), (0.71775, '0.00" ▼"'), (0, 'General" ▼"')]
)
def test_scores_show_two_decimals_at_most_and_keep_all(score: float, shown: str) -> None:
    write_run("r1", [company("Alpha", total=0.65, coverage=1.0, rank=1)])
    write_company("r1", "alpha.example", outcomes=[(outcome("recurring", score, ScoreStatus.SCORED), [])])
    book = load_workbook(BytesIO(xlsx.render(build("r1"))))
    cell = book["Ranking"]["H3"]
    assert (cell.value, cell.number_format) == (score, shown)


def test_red_flags_have_their_severity_what_to_do_and_where_to_look() -> None:
    report = report_of(3)
    flags = sheets(report)["Red flags"]
    expected = [
        flag for company_report in report.companies for flag in find_red_flags(company_report, report.run.scale)
    ]
    assert [row[0] for row in flags[1:]] == [flag.severity for flag in expected]
    assert [row[2] for row in flags[1:]] == [flag.criterion.title for flag in expected]
    assert [row[5] for row in flags[1:]] == [flag.criterion.recommend for flag in expected]


def test_what_nobody_judged_is_a_passage_and_no_quote() -> None:
    report = report_of(1, judged=False)
    found = sheets(report)
    judged, unscored = (
        [
            quote.text
            for criterion in report.companies[0].criteria
            if (criterion.status is ScoreStatus.UNSCORED) == passages
            for quote in criterion.quotes
        ]
        for passages in (False, True)
    )
    assert [row[4] for row in found["Quotes"][1:]] == judged
    assert [row[3] for row in found["Passages"][1:]] == unscored
    assert judged
    assert unscored


def test_sheets_print_on_wide_pages_with_their_heads_and_keep_them_in_view() -> None:
    book = load_workbook(BytesIO(xlsx.render(report_of(1))))
    for sheet in book:
        assert (sheet.page_setup.orientation, sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight) == (
            *("landscape", 1, 0),
        )
        fit = sheet.sheet_properties.pageSetUpPr
        assert fit is not None
        assert fit.fitToPage
        rows = 2 if sheet.title == "Ranking" else 1
        assert sheet.print_title_rows == f"$1:${rows}"
        assert re.sub("[A-Z]", "", str(sheet.freeze_panes)) == str(rows + 1)


@needs_libreoffice
def test_rows_fit_their_words_in_libreoffice_and_the_whole_alone_is_100_percent(tmp_path: Path) -> None:
    report = report_of(2, 6)
    report.companies[0].stability, report.companies[1].stability = 0.9996, 1
    report.companies[1].warnings = []
    report.companies[0].warnings = [f"Begin{n}x " + "Revenue and other words " * 7 * n + f" End{n}x" for n in range(6)]
    content = xlsx.render(report)
    printed = as_pdf(content, "xlsx", tmp_path)
    assert "99.9%" in printed[0]
    wholly_scored = sum(company_report.coverage == 1 for company_report in report.companies)
    assert printed[0].count("100%") == wholly_scored + 1
    document = pypdfium2.PdfDocument(tmp_path / "out" / "report0.pdf")
    (page,) = [page for page, words in zip(document, printed, strict=True) if "Begin0x" in words]
    words = page.get_textpage()

    def ends(word: str) -> tuple[float, float]:
        """The bottom and the top of a word, in points from the bottom of the page."""
        found = words.search(word).get_next()
        assert found is not None, word
        _, bottom, _, top = words.get_charbox(found[0])
        return bottom, top

    gaps = [ends(f"End{n}x")[0] - ends(f"Begin{n + 1}x")[1] for n in range(5)]
    document.close()
    assert min(gaps) > 0
    assert max(gaps) < 30
