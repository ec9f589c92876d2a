"""Every format shows the same report."""

import json
from io import BytesIO
from zipfile import ZipFile

import pytest

from tasks.errors import BadRequest
from tasks.reports.files import ReportFormat, render
from tasks.reports.models import Report, ReportedRequest
from tasks.reports.report import build
from tasks.reports.workbook import also_missing
from tasks.requests.match import RequestStatus
from tests.tasks.reports.rows import company, write_run


def test_json_is_the_report_itself() -> None:
    report = build(write_run("r1", [company("Größe & Söhne", domain="g.example")]))
    content = render(report, "json")
    assert "Größe & Söhne".encode() in content
    assert Report.model_validate(json.loads(content)) == report


@pytest.mark.parametrize("name", ReportFormat)
def test_every_format_names_the_batch(name: ReportFormat) -> None:
    content = render(build(write_run("r1", [company("Alpha")])), name)
    if content[:2] == b"PK":
        with ZipFile(BytesIO(content)) as parts:
            content = b"".join(parts.read(name) for name in parts.namelist())
    assert b"Autumn screen" in content


def test_unknown_format_names_those_there_are() -> None:
    with pytest.raises(BadRequest, match="html, xlsx, docx, pptx, json"):
        render(build(write_run("r1", [])), "artifacts")


def test_what_a_request_asks_for_is_not_listed_as_also_missing() -> None:
    items = ["Register extract (company register extract)", "Customer contracts"]
    requests = [
        ReportedRequest(number=str(number), item=item, status=RequestStatus.MISSING, documents=[])
        for number, item in enumerate(items, 1)
    ]
    missing = ["company register extract", "customer contract", "churn"]
    report = build(write_run("r1", [company("Alpha")]))
    shown = report.companies[0].model_copy(update={"missing": missing, "requests": requests})
    assert also_missing(shown) == [("Also missing", ["churn"])]
