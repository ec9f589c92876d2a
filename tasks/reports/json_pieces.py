"""The JSON of a report, written a company at a time: the same text as that of the whole report."""

from tasks.reports.models import CompanyReport, RunSummary


def opening(run: RunSummary) -> str:
    """What stands in front of the companies."""
    return f'{{\n  "run": {_indented(run, 1)},\n  "companies": ['


def company_piece(company: CompanyReport, number: int) -> str:
    """A company, which is the `number`th (from 1)."""
    return f"{',' if number > 1 else ''}\n    {_indented(company, 2)}"


def closing(companies: int) -> str:
    """What stands behind so many companies."""
    return "\n  ]\n}\n" if companies else "]\n}\n"


def _indented(part: RunSummary | CompanyReport, steps: int) -> str:
    return part.model_dump_json(indent=2).replace("\n", "\n" + "  " * steps)  # those of strings are escaped
