"""The formats that a report can be taken away in.

A format is a module of this folder, named after it, with a function `render(report)`; to add one,
write the module and its name below. It is imported when it is first asked for, with what it needs.
"""

from importlib import import_module
from typing import Literal, get_args

from flows.reports.models import Report
from tasks.errors import BadRequest

Format = Literal["html", "xlsx", "docx", "json"]


def render(report: Report, format: Format) -> bytes:  # noqa: A002 - the word that users type
    """The report in that format, as the bytes of a file; text is UTF-8.

    Raises:
        tasks.errors.BadRequest: there is no such format.
    """
    known = get_args(Format)
    if format not in known:
        raise BadRequest(f"There is no report in that format. Choose one of {', '.join(known)}.")
    content: str | bytes = import_module(f"flows.reports.{format}").render(report)
    return content if isinstance(content, bytes) else content.encode()
