"""Tables whose cells have a border above and below, drawn for each by itself, and no sides: what web pages print."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from reportlab.pdfgen.canvas import Canvas

from tests.tasks.reading.pdf.test_layout import page, rows_of, text_of

EDGES = (60, 250, 310, 372, 420, 470, 550)
HEADER = ("Article", "Quantity", "Unit price", "Disc.%", "Tax", "Amount")
ROWS = (
    ("Oak table, oiled", "2", "480.00", "10.00", "19.00%", "864.00"),
    ("Chair", "8", "95.00", "0.00", "19.00%", "760.00"),
    ("Delivery", "1", "60.00", "", "7.00%", "60.00"),
)


def draw_borders(canvas: Canvas, tops: Sequence[float], edges: Sequence[float] = EDGES, spacing: float = 0) -> None:
    """A border a cell on each level."""
    for top in tops:
        for left, right in pairwise(edges):
            canvas.line(left, top, right - spacing, top)


def draw_cells(canvas: Canvas, rows: Sequence[Sequence[str]], top: float) -> None:
    """Labels at the left of their column, all else so far to the right that cells of two columns nearly touch."""
    for number, row in enumerate(rows):
        base = top - 13 - 20 * number
        canvas.drawString(EDGES[0] + 3, base, row[0])
        for at, cell in enumerate(row[1:], 1):
            if at == 4:  # right behind the column before it
                canvas.drawString(EDGES[at] + 1, base, cell)
            else:
                canvas.drawRightString(EDGES[at + 1] - 2, base, cell)


@pytest.mark.parametrize("spacing", [0, 2])
def test_sides_run_where_borders_meet(spacing: float) -> None:
    canvas = page()
    draw_borders(canvas, [700 - 20 * number for number in range(5)], spacing=spacing)
    draw_cells(canvas, (HEADER, *ROWS), 700)
    assert rows_of(text_of(canvas)) == [list(HEADER), *map(list, ROWS)]


def test_a_header_above_the_first_border_stands_over_its_columns() -> None:
    canvas = page()
    draw_borders(canvas, [680 - 20 * number for number in range(4)])
    draw_cells(canvas, (HEADER, *ROWS), 700)
    assert rows_of(text_of(canvas)) == [list(HEADER), *map(list, ROWS)]


def test_a_side_that_is_missing_among_drawn_ones_parts_columns_from_the_header_on() -> None:
    canvas = page()
    tops = [700 - 20 * number for number in range(5)]
    draw_borders(canvas, tops)
    draw_borders(canvas, tops[1:], (EDGES[1], 280, EDGES[2]))  # below a header that spans both
    for edge in (*EDGES[:4], *EDGES[5:]):
        canvas.line(edge, tops[0], edge, tops[-1])
    draw_cells(canvas, (HEADER, *ROWS), 700)
    assert rows_of(text_of(canvas)) == [list(HEADER), *map(list, ROWS)]


def test_rules_that_are_whole_part_nothing() -> None:
    canvas = page()
    for top in (700, 680, 660):
        canvas.line(EDGES[0], top, EDGES[-1], top)
    canvas.drawString(70, 687, "The rent is due on the first day of each month,")
    canvas.drawString(70, 667, "and bears interest from the tenth on.")
    assert rows_of(text_of(canvas)) == []
