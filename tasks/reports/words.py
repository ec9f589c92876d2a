"""Words of a document as HTML: paragraphs and tables, with the quotations marked.

Plain functions in the place of a template: a page has some fifty lines, and this takes a tenth of the time.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from markupsafe import Markup

from tasks.evidence.excerpt import Block, MarkedWords

_SHORT: Final = 18
"""Characters of a cell at most that is kept on one line."""
_AROUND: Final = 1.5
"""Points between words and the line of their box."""
_TABLE: Final = '<div class="scroll" tabindex="0" role="region" aria-label="Rows of a table"><table><tbody>'


def words(blocks: Iterable[Block]) -> Markup:
    """The blocks as HTML; what stands in them is escaped."""
    parts = (_table(block) if block.kind == "table" else _paragraphs(block) for block in blocks)
    return Markup("\n".join(parts))  # noqa: S704 - each part is escaped


def rectangles(boxes: Iterable[tuple[str | None, Sequence[float]]]) -> Markup:
    """Boxes on a page as rectangles of SVG, a little larger than the words in them; each with its id, or None.

    `boxes` are left, top, right and bottom in the picture's units.
    """
    return Markup("\n    ".join(_rectangle(anchor, *sides) for anchor, sides in boxes))  # noqa: S704 - each is escaped


def _rectangle(anchor: str | None, left: float, top: float, right: float, bottom: float) -> str:
    name = f' id="{escape(anchor)}"' if anchor else ""
    width, height = (max(side + 2 * _AROUND, 2 * _AROUND) for side in (right - left, bottom - top))
    x, y = left - _AROUND, top - _AROUND
    return f'<rect{name} class="box" x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" rx="1"/>'


def _paragraphs(block: Block) -> str:
    runs = block.rows[0][0]
    between = "</mark></p>\n<p><mark>" if runs[0].marked else "</p>\n<p>"  # lines that share a run have no mark's edge
    return "<p>" + _runs(runs).replace("\n", between) + "</p>"


def _table(block: Block) -> str:
    rows = "</tr>\n<tr>".join("".join(map(_cell, row)) for row in block.rows)
    return f"{_TABLE}<tr>{rows}</tr></tbody></table></div>"


def _cell(runs: list[MarkedWords]) -> str:
    short = ' class="short"' if sum(len(run.text) for run in runs) <= _SHORT else ""
    return f"<td{short}>{_runs(runs)}</td>"


def _runs(runs: Iterable[MarkedWords]) -> str:
    return "".join(_marked(run) if run.marked else escape(run.text, quote=False) for run in runs)


def _marked(run: MarkedWords) -> str:
    anchor = f' id="{escape(run.anchors[0])}"' if run.anchors else ""
    others = "".join(f'<span id="{escape(other)}"></span>' for other in run.anchors[1:])
    return f"<mark{anchor}>{others}{escape(run.text, quote=False)}</mark>"
