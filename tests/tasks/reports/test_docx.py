"""The memo: what to do about each company, and its findings in words with their sources as footnotes."""

import re
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from docx import Document
from docx.oxml.ns import qn
from lxml import etree

from tasks.reports import docx
from tasks.reports.models import Report
from tasks.reports.report import build
from tests.tasks.reports.everything import HOSTILE, report_with_everything
from tests.tasks.reports.many import report_of
from tests.tasks.reports.office import as_pdf, needs_libreoffice
from tests.tasks.reports.rows import company, write_run


def words(report: Report) -> str:
    """All paragraphs, in the body, in tables and in footnotes, one a line."""
    with ZipFile(BytesIO(docx.render(report))) as parts:
        trees = [etree.fromstring(parts.read(f"word/{name}.xml")) for name in ("document", "footnotes", "footer1")]
    paragraphs = [paragraph for tree in trees for paragraph in tree.iter(qn("w:p"))]
    return "\n".join("".join(text.text or "" for text in paragraph.iter(qn("w:t"))) for paragraph in paragraphs)


def test_memo_tells_what_was_found_with_its_quotes_and_places() -> None:
    memo = words(report_with_everything())
    for expected in (
        "Autumn screen",
        "Budget: 0.50 USD.",
        "alpha.example. Rank 1 of 1. Of all the weight, 38\u202f% proven, 50\u202f% open. 1 of 3 documents were read.",
        "Proceed, and settle on the way: audited.",
        "Is most of the revenue recurring? – 4 of 5. because: Words of a document.",
        "“proven: Words of a document.” – evidence for, verified, Words of a document..pdf, page 14.",
        "“unproven: Words of a document.” – not verified, accounts.pdf, page 14.",
        "about: Words of a document.: “one says: Words of a document.” but “other says: Words of a document.”",
        "please send: Words of a document. Nearest in the data room: one Words of a document. (near: ",
        "founding year: 2014 (files); 2016 (other Words of a document.)",
        "warned: Words of a document.",
        "recurring went from 3 to 4.",
        "This company’s run failed. failed: Words of a document.",
    ):
        assert expected in memo


def test_copies_and_versions_stand_behind_the_document_that_counts() -> None:
    report = report_with_everything()
    for document in report.companies[0].documents:
        document.family = "fine.pdf" if document.document_name in {"fine.pdf", "scan.pdf"} else None
    assert "fine.pdf stands for its copies and versions: scan.pdf." in words(report)


def test_recommendation_comes_first_and_contents_name_every_company() -> None:
    headings = [
        paragraph.text
        for paragraph in Document(BytesIO(docx.render(report_of(3)))).paragraphs
        if paragraph.style is not None and paragraph.style.style_id in {"Heading1", "Heading2", "TOC1"}
    ]
    assert headings[:7] == [
        *("Where they stand", "Contents", "Company 1\t", "Company 2\t", "Company 3\t"),
        *("Company 1", "Recommendation"),
    ]


def test_every_quote_has_a_footnote_that_names_document_and_place_and_leads_to_the_evidence() -> None:
    with ZipFile(BytesIO(docx.render(report_of(1)))) as parts:
        body, notes, links = (
            etree.fromstring(parts.read(f"word/{name}"))
            for name in ("document.xml", "footnotes.xml", "_rels/footnotes.xml.rels")
        )
    targets = {link.get("Id"): link.get("Target") for link in links}
    referred = [reference.get(qn("w:id")) for reference in body.iter(qn("w:footnoteReference"))]
    written = [note for note in notes if note.get(qn("w:type")) is None]
    assert referred == [note.get(qn("w:id")) for note in written]
    assert len(written) >= 16
    for note in written:
        source = r" “.+” – (evidence (for|against), )?(not )?verified, Annual report .+\.pdf, page \d+\."
        assert re.fullmatch(source, "".join(str(text) for text in note.itertext()))
        (link,) = note.iter(qn("w:hyperlink"))
        assert re.fullmatch(r"evidence/[0-9a-f]{24}\.html#c1-\d+", targets[link.get(qn("r:id"))] or "")
    again = [field.text or "" for field in body.iter(qn("w:instrText")) if "NOTEREF" in (field.text or "")]
    marked = {mark.get(qn("w:name")) for mark in body.iter(qn("w:bookmarkStart"))}
    assert again
    assert {field.split()[1] for field in again} <= marked


def test_no_sentence_or_row_calls_a_company_whole_that_is_not() -> None:
    report = report_of(4, judged=False)
    for company_report in report.companies:
        company_report.total = 1.0
    told = words(report)
    assert {line for line in told.split("\n") if "100\u202f%" in line} <= {"100\u202f%"}, "of a row: what it may reach"
    table = Document(BytesIO(docx.render(report))).tables[0]
    assert [cell.text for cell in table.rows[0].cells][2:4] == ["Proven", "Scored"]
    assert all(row.cells[3].text != "100\u202f%" for row in table.rows[1:])


def test_text_of_documents_is_text() -> None:
    assert HOSTILE in words(report_with_everything(HOSTILE))


def test_what_xml_cannot_hold_is_spelled_out_or_left_out() -> None:
    report = build(write_run("r1", [company("Alpha")]))
    report.companies[0].warnings = ["a\x00\x0b\ufffe\ud800b"]
    assert r"a\u0000\u000b\ud800b" in words(report).split("\n")


def test_only_web_addresses_are_links() -> None:
    with ZipFile(BytesIO(docx.render(report_with_everything()))) as parts:
        rels = [etree.fromstring(parts.read(name)) for name in parts.namelist() if name.endswith(".rels")]
    links = {rel.get("Target") for tree in rels for rel in tree if str(rel.get("Type")).endswith("/hyperlink")}
    assert links == {"http://127.0.0.1:8000/documents/accounts#page=14"}


@needs_libreoffice
@pytest.mark.parametrize(
    ("companies", "criteria", "text", "judged"),
    [
        pytest.param(2, 20, "名前" * 42, True, id="two companies"),
        pytest.param(1, 60, "with words that go on " * 12, True, id="long texts", marks=pytest.mark.slow),
        pytest.param(1, 100, "w" * 255, False, id="no space in a text", marks=pytest.mark.slow),
    ],
)
def test_a_company_takes_five_pages_at_most(
    tmp_path: Path, companies: int, criteria: int, text: str, judged: bool
) -> None:
    memo = docx.render(report_of(companies, criteria, text=text, judged=judged))
    assert 2 * companies <= len(as_pdf(memo, "docx", tmp_path)) <= 5 * companies


@needs_libreoffice
def test_contents_show_the_page_on_which_each_company_begins(tmp_path: Path) -> None:
    pages = as_pdf(docx.render(report_of(3)), "docx", tmp_path)
    for name, page in re.findall(r"^(Company \d)\.*\s*(\d+)$", pages[0], re.MULTILINE):
        assert pages[int(page) - 1].startswith(name)
    assert len(re.findall(r"^Company \d[.\s]*\d+$", pages[0], re.MULTILINE)) == 3
