"""Words of a document as HTML: paragraphs and tables, with the quotations marked.

Plain functions in the place of a template: a page has some fifty lines, and this takes a tenth of the time.
"""

from collections.abc import Iterable
from html import escape
from typing import Final

from markupsafe import Markup

from tasks.evidence.excerpt import Block, MarkedWords

_SHORT: Final = 18
"""Characters of a cell at most that is kept on one line."""
_TABLE: Final = '<div class="scroll" tabindex="0" role="region" aria-label="Rows of a table"><table><tbody>'


def words(blocks: Iterable[Block]) -> Markup:
    """The blocks as HTML; what stands in them is escaped."""
    parts = (_table(block) if block.kind == "table" else _paragraph(block) for block in blocks)
    return Markup("\n".join(parts))  # noqa: S704 - each part is escaped


def _paragraph(block: Block) -> str:
    return f"<p>{_runs(block.rows[0][0])}</p>"


def _table(block: Block) -> str:
    rows = "</tr>\n<tr>".join("".join(map(_cell, row)) for row in block.rows)
    return f"{_TABLE}<tr>{rows}</tr></tbody></table></div>"


def _cell(runs: list[MarkedWords]) -> str:
    short = ' class="short"' if sum(len(run.text) for run in runs) <= _SHORT else ""
    return f"<td{short}>{_runs(runs)}</td>"


def _runs(runs: Iterable[MarkedWords]) -> str:
    return "".join(_marked(run) if run.marked else escape(run.text) for run in runs)


def _marked(run: MarkedWords) -> str:
    anchor = f' id="{escape(run.anchors[0])}"' if run.anchors else ""
    others = "".join(f'<span id="{escape(other)}"></span>' for other in run.anchors[1:])
    return f"<mark{anchor}>{others}{escape(run.text)}</mark>"
