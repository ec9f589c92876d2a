"""The report as JSON, for programs: exactly the object of shape.py."""

from flows.reports.models import Report


def render(report: Report) -> str:
    """The report as indented JSON; times are UTC and end in `Z`."""
    return report.model_dump_json(indent=2) + "\n"
