"""How much processor time the Office files take, and that it grows with the companies and not faster."""

import time
from collections.abc import Iterator

from tasks.reports import docx, pptx, xlsx
from tests.tasks.reports.many import report_of

_COMPANIES = (30, 100, 300)
_CRITERIA = 16


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    for kind in (docx, pptx, xlsx):
        kind.render(report_of(1))  # imports and the first look at templates are not counted
        seconds = []
        for companies in _COMPANIES:
            report = report_of(companies, _CRITERIA)
            begin = time.process_time()
            kind.render(report)
            seconds.append(time.process_time() - begin)
        name = kind.__name__.rsplit(".", 1)[-1]
        yield (
            f"{name} of {', '.join(map(str, _COMPANIES))} companies × {_CRITERIA} criteria, processor time",
            f"{', '.join(f'{second:.1f}' for second in seconds)} s",
            "10 s at 300" if kind is docx else "–",
        )
