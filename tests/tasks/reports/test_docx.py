"""The memo: the findings in words, to edit and to send on."""

from io import BytesIO

from docx import Document

from tasks.reports import docx
from tasks.reports.models import Report
from tasks.reports.report import build
from tests.tasks.reports.everything import HOSTILE, report_with_everything
from tests.tasks.reports.rows import company, write_run


def words(report: Report) -> str:
    memo = Document(BytesIO(docx.render(report)))
    cells = [cell.text for table in memo.tables for row in table.rows for cell in row.cells]
    return "\n".join([paragraph.text for paragraph in memo.paragraphs] + cells)


def test_memo_tells_what_was_found_with_its_quotes_and_places() -> None:
    told = words(report_with_everything())
    for expected in (
        "Autumn screen",
        "Budget: 0.50 USD.",
        "Is most of the revenue recurring?",
        "4 of 5, judged, weight 3. because: Words of a document.",
        "“proven: Words of a document.” – [1] evidence for, verified, Words of a document..pdf, page 14",
        "“unproven: Words of a document.” – not verified, accounts.pdf, page 14",
        "Contradiction about about: Words of a document.:",
        "please send: Words of a document.. Nearest in the data room: one Words of a document. (near: ",
        "founded_year: 2014 (files); 2016 (other Words of a document.)",
        "warned: Words of a document.",
        "recurring went from 3 to 4.",
        "This company's run failed. failed: Words of a document.",
    ):
        assert expected in told


def test_text_of_documents_is_text() -> None:
    assert HOSTILE in words(report_with_everything(HOSTILE))


def test_what_xml_cannot_hold_is_left_out() -> None:
    report = build(write_run("r1", [company("Alpha")]))
    report.companies[0].warnings = ["a\x00\x0b\ufffe\ud800b"]
    assert "ab" in words(report).split("\n")


def test_only_web_addresses_are_links() -> None:
    memo = Document(BytesIO(docx.render(report_with_everything())))
    links = {rel.target_ref for rel in memo.part.rels.values() if rel.reltype.endswith("/hyperlink")}
    assert links == {"http://127.0.0.1:8000/documents/accounts#page=14"}
