"""The formats of a report, and a run's report as files in a folder.

To add a format, write a module in this folder with a function `render(report)` that gives text or
bytes, and name it in `ReportFormat`. It is imported when it is first used, with the libraries it needs.
"""

from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Self

from flows.reports.models import Report
from flows.reports.report import build
from tasks.errors import BadRequest


class ReportFormat(StrEnum):
    """A format by the name that users type: the function that writes it, and whether it is text."""

    HTML = "html", "flows.reports.html:render", True
    XLSX = "xlsx", "flows.reports.xlsx:render", False
    DOCX = "docx", "flows.reports.docx:render", False
    JSON = "json", "flows.reports.files:as_json", True

    renderer: str
    is_text: bool

    def __new__(cls, name: str, renderer: str, is_text: bool) -> Self:
        member = str.__new__(cls, name)
        member._value_ = name
        member.renderer = renderer
        member.is_text = is_text
        return member


def render(report: Report, format_name: str) -> bytes:
    """The report in that format, as the bytes of a file; text is UTF-8.

    Raises:
        BadRequest: there is no such format.
    """
    chosen = ReportFormat.__members__.get(format_name.upper())
    if chosen is None:
        raise BadRequest(f"There is no report in that format. Choose one of {', '.join(ReportFormat)}.")
    module, function = chosen.renderer.split(":")
    content: str | bytes = getattr(import_module(module), function)(report)
    return content if isinstance(content, bytes) else content.encode()


def as_json(report: Report) -> str:
    """The report as indented JSON, exactly as `models` describes it; times are UTC and end in `Z`."""
    return report.model_dump_json(indent=2) + "\n"


def write_report(report: Report, format_name: str, folder: Path) -> Path:
    """Write a report to `report.<format>` in a folder; gives its path.

    The file is replaced in one step, so that nobody opens a report that is half written.

    Raises:
        BadRequest: there is no such format, or the folder cannot be written.
    """
    target = folder / f"report.{format_name}"
    part = target.with_suffix(f".{format_name}.part")
    content = render(report, format_name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(target)
    except OSError as error:
        raise BadRequest(f"{target} cannot be written ({error.strerror}). Choose another folder with --out.") from error
    return target


def write_reports(run: str, folder: Path) -> Path:
    """Write report.html and report.json of a run; gives the path of report.html.

    Raises:
        NotFound: there is no such run. BadRequest: the folder cannot be written.
    """
    report = build(run)
    write_report(report, "json", folder)
    return write_report(report, "html", folder)
