"""A criterion on figures from the documents to the report: its score, its row with its place, what contradicts it."""

import json
from io import BytesIO
from pathlib import Path

import pytest
from docx import Document
from pptx import Presentation

from tasks.reports import docx, html, pptx
from tasks.reports.key_figures import describe_contradiction
from tasks.reports.models import Report
from tasks.reports.report import build
from tasks.scoring.score import score_criteria
from tests.tasks.scoring.conftest import Room

ACCOUNTS = (
    "Alpha Ltd\nAudited financial statements for the year ended 31 March 2025\n\n"
    "EUR thousand\t2025\t2024\nRevenue\t12,000\t10,000\nEmployees\t46\t40\n"
)
DECK = "Investor deck\n\nEUR m\tYear to 31 March 2025\nRevenue\t15.0\n"


@pytest.fixture
def report(tmp_path: Path) -> Report:
    room = Room(tmp_path)
    room.holds("Audited accounts.txt", ACCOUNTS)
    room.holds("Deck March 2025.txt", DECK)
    room.holds("Treasury.txt", "EUR m\tBalance\nCash\t3.0\n")
    room.is_known_as(("company_size_on_social", 58, "wikidata"))
    room.asks(
        {"id": "growth", "title": "It grows", "figure": "revenue", "bands": {5: "growth >= 30 %", 1: "growth <= 10 %"}},
        {"id": "runway", "figure": "cash / monthly burn", "rule": ">= 12"},
    )
    assert score_criteria(room.id)
    return build("run-1")


def test_the_report_has_the_score_its_rows_and_what_is_missing(report: Report) -> None:
    growth, runway = report.companies[0].criteria
    assert (growth.kind, growth.status, growth.score) == ("figure", "scored", 3)
    assert [(quote.text, quote.verified, quote.document_name) for quote in growth.quotes] == [
        ("Revenue\t12,000\t10,000", True, "Audited accounts.txt"),
        ("Revenue\t12,000\t10,000", True, "Audited accounts.txt"),
    ]
    assert all(quote.evidence_url for quote in growth.quotes)
    assert (runway.status, runway.score, runway.missing) == ("missing", None, "cash ÷ monthly burn")


def test_the_page_shows_it_with_the_key_figures(report: Report) -> None:
    page = html.render(report)
    section = page[page.index("What the figures say") :]
    assert "It grows" in section
    assert "Revenue growth is 20 % in the year to 2025-03-31" in section
    assert "<b>Contradicted:</b> Revenue, 2025-03-31: EUR 12 m counts, 15 m not." in page


def test_amounts_that_differ_in_their_last_digits_are_shown_with_all_of_them(report: Report) -> None:
    (conflict,) = report.companies[0].figure_conflicts
    near = conflict.others[0].model_copy(update={"value": "12003000"})
    told = describe_contradiction(conflict.model_copy(update={"others": [near]}))
    assert told == "Revenue, 2025-03-31: EUR 12,000,000 counts, 12,003,000 not"


def test_the_memo_and_the_slides_have_key_figures_and_what_contradicts_them(report: Report) -> None:
    memo = "\n".join(paragraph.text for paragraph in Document(BytesIO(docx.render(report))).paragraphs)
    company = list(Presentation(BytesIO(pptx.render(report))).slides)[1]
    slide = "\n".join(shape.text_frame.text for shape in company.shapes if shape.has_text_frame)
    for shown in (memo, slide):
        assert "Contradicted: Revenue, 2025-03-31: EUR 12 m counts, 15 m not" in shown
        assert "Revenue EUR 12 m (2025-03-31)" in shown


def test_the_json_has_figures_comparisons_and_what_was_left_out(report: Report) -> None:
    company = json.loads(report.model_dump_json())["companies"][0]
    (conflict,) = company["figure_conflicts"]
    assert (conflict["counted"]["value"], [other["value"] for other in conflict["others"]]) == (
        "12000000",
        ["15000000"],
    )
    (compared,) = company["figure_comparisons"]
    assert (compared["verdict"], compared["claim"]["value"], compared["figure"]["value"]) == ("differs", 58, "46")
    assert company["figures_left_out"] == {"no period": 1}
    assert "no period (1)" in html.render(report)
