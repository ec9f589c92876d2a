"""Tables that a PDF's structure names: where tags and page agree, the tags say what is a row and a cell."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tasks.reading.pdf import reader
from tests.tasks.reading.pdf.pdfs import HELVETICA, page, pdf, stream

Cell = Sequence[tuple[float, float, str]]
"""The lines of a cell: where they stand, from the left and the bottom of the page, and their words."""


def _tagged(rows: Sequence[Sequence[Cell]], others: Cell = ()) -> bytes:
    """A page of one table with these cells, and other words that are a paragraph of its structure."""
    cells = [cell for row in rows for cell in row]
    content = b"".join(_content(cell, mark) for mark, cell in enumerate([*cells, others]))
    first = 9 + len(rows)  # the number of the first cell
    elements: list[bytes] = []
    behind = first
    for row in rows:
        kids = b" ".join(b"%d 0 R" % number for number in range(behind, behind + len(row)))
        elements.append(b"<< /Type /StructElem /S /TR /P 8 0 R /K [%s] >>" % kids)
        behind += len(row)
    parents = [9 + number for number, row in enumerate(rows) for _ in row]
    elements += (
        b"<< /Type /StructElem /S /TD /P %d 0 R /Pg 3 0 R /K %d >>" % (parent, mark)
        for mark, parent in enumerate(parents)
    )
    elements.append(b"<< /Type /StructElem /S /P /P 7 0 R /Pg 3 0 R /K %d >>" % len(cells))
    marked = b" ".join(b"%d 0 R" % (first + mark) for mark in range(len(cells) + 1))
    row_numbers = b" ".join(b"%d 0 R" % (9 + number) for number in range(len(rows)))
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R /MarkInfo << /Marked true >> /StructTreeRoot 6 0 R >>",
            b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            page(4, 5, b"/StructParents 0"),
            stream(content),
            HELVETICA,
            b"<< /Type /StructTreeRoot /K 7 0 R /ParentTree << /Nums [0 [%s]] >> >>" % marked,
            b"<< /Type /StructElem /S /Document /P 6 0 R /K [8 0 R %d 0 R] >>" % behind,
            b"<< /Type /StructElem /S /Table /P 7 0 R /K [%s] >>" % row_numbers,
            *elements,
        ]
    )


def _content(lines: Cell, mark: int) -> bytes:
    shown = b"".join(b"BT /F1 10 Tf %d %d Td (%s) Tj ET\n" % (x, y, text.encode()) for x, y, text in lines)
    return b"/P << /MCID %d >> BDC\n%sEMC\n" % (mark, shown)


def _lines(tmp_path: Path, document: bytes) -> list[str]:
    path = tmp_path / "tagged.pdf"
    path.write_bytes(document)
    return reader.read(path).text.splitlines()


_LABELS = ("Lease of the", "Sale of the", "Option on the")


def _wrapped(second: Sequence[str] = ("offices in Lyon", "site in Turin", "depot in Graz")) -> list[list[Cell]]:
    """Rows whose labels wrap with room for the next word, as far apart as the rows: the page does not tell rows."""
    rows: list[list[Cell]] = [[[(72, 700, "Contract")], [(300, 700, "Party")], [(450, 700, "Value")]]]
    for number, (first, other) in enumerate(zip(_LABELS, second, strict=True)):
        y = 680 - 40 * number
        rows.append(
            [
                [(72, y, first), (72, y - 20, other)],
                [(300, y, "Borel"), (300, y - 20, "Holding")],
                [(450, y - 20, f"{number + 2},500")],
            ]
        )
    return rows


def test_rows_are_those_of_the_tags(tmp_path: Path) -> None:
    assert _lines(tmp_path, _tagged(_wrapped())) == [
        "Contract\tParty\tValue",
        "Lease of the offices in Lyon\tBorel Holding\t2,500",
        "Sale of the site in Turin\tBorel Holding\t3,500",
        "Option on the depot in Graz\tBorel Holding\t4,500",
    ]


@pytest.mark.parametrize("others", [[(200, 660, "Note 7")], [(500, 640, "see page 9")]], ids=["between", "beside"])
def test_tags_do_not_count_where_other_words_stand_among_the_rows(tmp_path: Path, others: Cell) -> None:
    assert "Option on the depot in Graz\tBorel Holding\t4,500" not in _lines(tmp_path, _tagged(_wrapped(), others))


def test_tags_do_not_count_where_rows_stand_in_another_order(tmp_path: Path) -> None:
    rows = _wrapped()
    rows[1], rows[2] = [rows[1][0], *rows[2][1:]], [rows[2][0], *rows[1][1:]]
    lines = _lines(tmp_path, _tagged(rows))
    assert not any(line.startswith("Lease of the offices in Lyon") and line.endswith("3,500") for line in lines)


def test_a_figure_that_wraps_in_its_cell_is_one_and_two_figures_stay_two(tmp_path: Path) -> None:
    rows = _wrapped()
    rows[1][2] = [(450, 680, "35,000,0"), (450, 660, "00")]
    rows[2][2] = [(450, 640, "1.5"), (450, 620, "25")]
    lines = _lines(tmp_path, _tagged(rows))
    assert "Lease of the offices in Lyon\tBorel Holding\t35,000,000" in lines
    assert "Sale of the site in Turin\tBorel Holding\t1.5 25" in lines


def test_the_number_of_a_box_is_no_amount(tmp_path: Path) -> None:
    rows: list[list[Cell]] = [
        [
            [(72, y, f"Profit {y}")],
            [(250, y, "335")],
            [(300, y, "£")],
            [(400, y, "340")],
            [(450, y, "345")],
            [(500, y, "£ p")],
        ]
        for y in (700, 680, 660, 640)
    ]
    assert "£340" not in "".join(_lines(tmp_path, _tagged(rows)))


def test_a_structure_that_contains_itself_ends(tmp_path: Path) -> None:
    document = _tagged(_wrapped()).replace(b"/S /TR /P 8 0 R /K [13 0 R", b"/S /TR /P 8 0 R /K [ 8 0 R")
    assert "Contract" in " ".join(_lines(tmp_path, document))
