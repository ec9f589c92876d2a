"""Every format shows the same report."""

import json
from io import BytesIO
from zipfile import ZipFile

import pytest

from tasks.errors import BadRequest
from tasks.reports.files import ReportFormat, render
from tasks.reports.models import Report
from tasks.reports.report import build
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
