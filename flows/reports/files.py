"""A run's report as files: report.html and report.json in a folder."""

from pathlib import Path

from flows.reports.formats import Format, render
from flows.reports.models import Report
from flows.reports.report import build
from tasks.errors import BadRequest


def write_reports(run: str, folder: Path) -> Path:
    """Write the report of a run in the formats of a run's end; gives the path of report.html.

    Raises:
        NotFound: no such run. BadRequest: the folder cannot be written.
    """
    report = build(run)
    write_report(report, "json", folder)
    return write_report(report, "html", folder)


def write_report(report: Report, format_name: Format, folder: Path) -> Path:
    """Write a report to `report.<format>` in a folder; gives its path.

    The file is replaced whole or not at all, so that an open report is never half written.

    Raises:
        BadRequest: the folder cannot be written.
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
