"""Tables that a PDF's structure names: where tags and page agree, the tags say what is a row and a cell."""

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tasks.reading.pdf import reader
from tasks.reading.pdf.document import PdfDocument, TagBudget
from tests.tasks.reading.pdf.pdfs import HELVETICA, page, pdf, stream

Cell = Sequence[tuple[float, float, str]]
"""The lines of a cell: where they stand, from the left and the bottom of the page, and their words."""


def _tagged(rows: Sequence[Sequence[Cell]], others: Cell = (), untagged: Cell = ()) -> bytes:
    """A page of one table with these cells, other words that are a paragraph of its structure, and words of none."""
    cells = [cell for row in rows for cell in row]
    content = b"".join(_content(cell, mark) for mark, cell in enumerate([*cells, others])) + _shown(untagged)
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
    return b"/P << /MCID %d >> BDC\n%sEMC\n" % (mark, _shown(lines))


def _shown(lines: Cell) -> bytes:
    return b"".join(b"BT /F1 10 Tf %d %d Td (%s) Tj ET\n" % (x, y, text.encode()) for x, y, text in lines)


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


@pytest.mark.parametrize("others", [[(200, 660, "Note 7")], [(500, 640, "see page 9")]], ids=["between", "beside"])
def test_tags_do_not_count_where_other_words_stand_among_the_rows(tmp_path: Path, others: Cell) -> None:
    assert "Option on the depot in Graz\tBorel Holding\t4,500" not in _lines(tmp_path, _tagged(_wrapped(), others))


def test_tags_do_not_count_where_rows_stand_in_another_order(tmp_path: Path) -> None:
    rows = _wrapped()
    rows[1], rows[2] = [rows[1][0], *rows[2][1:]], [rows[2][0], *rows[1][1:]]
    lines = _lines(tmp_path, _tagged(rows))
    assert not any(line.startswith("Lease of the offices in Lyon") and line.endswith("3,500") for line in lines)


def test_rows_and_figures_that_wrap_are_those_of_the_tags(tmp_path: Path) -> None:
    rows = _wrapped()
    rows[1][2] = [(450, 680, "35,000,0"), (450, 660, "00")]
    document = _tagged(rows)
    told = [
        "Contract\tParty\tValue",
        "Lease of the offices in Lyon\tBorel Holding\t35,000,000",
        "Sale of the site in Turin\tBorel Holding\t3,500",
        "Option on the depot in Graz\tBorel Holding\t4,500",
    ]
    assert _lines(tmp_path, document) == told
    assert _lines(tmp_path, document.replace(b"/S /Table", b"/S /Secti")) != told  # the page alone does not say so


_LOOKS = 44
"""Children that are looked at in the structure of a sheet with one row of its own."""


def _row(y: float, *texts: str) -> list[Cell]:
    return [[(x, y, text)] for x, text in zip((72, 300, 400), texts, strict=True)]


def _sheet(*rows: Sequence[Cell]) -> list[Sequence[Cell]]:
    """A balance sheet with these rows, which stand 20 points apart from 680 to 660."""
    total = _row(640, "Total assets", "900,000", "800,000")
    return [_row(700, "EUR", "2024", "2023"), *rows, total, _row(620, "Total debt", "700,000", "600,000")]


@pytest.mark.parametrize(
    ("second", "third"),
    [
        ([(300, 580, "500,000"), (300, 560, "80,000")], [(400, 580, "-"), (400, 560, "40,000")]),
        ([(300, 580, "500,000")], [(400, 580, "-"), (400, 560, "40,000")]),
    ],
    ids=["two figures", "a dash and a figure"],
)
def test_a_tagged_row_that_holds_two_rows_of_figures_stays_two(tmp_path: Path, second: Cell, third: Cell) -> None:
    labels = [(72, 580, "Revenue"), (72, 560, "Net income")]
    rows = [*_sheet(), _row(600, "Cash", "70,000", "60,000"), [labels, second, third]]
    lines = _lines(tmp_path, _tagged(rows))
    assert [line.split("\t")[0] for line in lines[-2:]] == ["Revenue", "Net income"]


@pytest.mark.parametrize(
    ("untagged", "row"),
    [
        ([(292, 660, "-")], "Equity\t- 90,000\t80,000"),
        ([(500, 700, "2022"), (500, 680, "60,000"), (500, 660, "70,000")], "Equity\t90,000\t80,000\t70,000"),
    ],
    ids=["a sign", "a column"],
)
def test_what_tags_leave_out_of_a_row_stays_in_it(tmp_path: Path, untagged: Cell, row: str) -> None:
    rows = _sheet(_row(680, "Loans", "50,000", "40,000"), _row(660, "Equity", "90,000", "80,000"))
    assert row in _lines(tmp_path, _tagged(rows, untagged=untagged))


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


def test_a_cell_that_is_named_often_is_looked_at_once(tmp_path: Path) -> None:
    kids, marks = b"/K [13 0 R 14 0 R 15 0 R]", b"/Pg 3 0 R /K 0 >>"
    document = _tagged(_wrapped())
    assert kids in document
    assert marks in document
    document = document.replace(kids, b"/K [%s]" % b" ".join([b"13 0 R"] * 2_000))
    document = document.replace(marks, b"/Pg 3 0 R /K [%s] >>" % b" ".join([b"0"] * 20_000))
    begin = time.process_time()
    assert "Contract" in " ".join(_lines(tmp_path, document))
    assert time.process_time() - begin < 2


def test_a_page_s_structure_is_not_looked_at_once_a_document_s_is_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = [(72, 680, "Leases"), (72, 660, "Offices in Lyon")]
    document = _tagged(_sheet([label, [(300, 660, "500,000")], [(400, 660, "40,000")]]))
    for children, is_one_row in ((_LOOKS, False), (_LOOKS + 1, True)):
        monkeypatch.setattr(PdfDocument, "tags", TagBudget(children))
        assert ("Leases Offices in Lyon\t500,000\t40,000" in _lines(tmp_path, document)) is is_one_row
