"""A report as JSON, written a company at a time, indented; a box of a quotation is one line, for there are many."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from tasks.language.escaped import escaped
from tasks.reports.models import CompanyReport, RunSummary

_NUMBER: Final = r'\s+("{}": [^\s,]+)'
_BOX: Final = re.compile(r"\{" + ",".join(map(_NUMBER.format, ("page", "left", "top", "right", "bottom"))) + r"\s+\}")
"""It is found nowhere else: within a string a quotation mark has a backslash before it."""


def pieces(run: RunSummary, companies: Iterable[CompanyReport]) -> Iterator[str]:
    """The JSON of a report in pieces, to be streamed: the opening, each company, the closing."""
    yield opening(run)
    number = 0
    for number, company in enumerate(companies, 1):
        yield company_piece(company, number)
    yield closing(number)


def opening(run: RunSummary) -> str:
    """The JSON up to the first company."""
    return f'{{\n  "run": {_indented(run, 1)},\n  "companies": ['


def company_piece(company: CompanyReport, number: int) -> str:
    """The JSON of the company at place `number` (from 1), with the comma before it."""
    return f"{',' if number > 1 else ''}\n    {_indented(company, 2)}"


def closing(companies: int) -> str:
    """The JSON after the last of so many companies."""
    return "\n  ]\n}\n" if companies else "]\n}\n"


def _indented(part: RunSummary | CompanyReport, steps: int) -> str:
    text = _BOX.sub(r"{\1, \2, \3, \4, \5}", escaped(part.model_dump_json(indent=2)))
    return text.replace("\n", "\n" + "  " * steps)  # those of strings are escaped
