"""A span of a text says in words what kind of text it is: a remark, inserted or hidden text, the cell of a table."""

from tasks.scoring.passages import TextPlaces
from tests.cases import cases

TEXT = "The rent is due.\n[comment, A. Author, 2024-05-01: Is this agreed?]\nIt is paid monthly.\n"
REMARK = TEXT.index("[comment")
PAID = TEXT.index("It is")
PLACES = [
    (0, len(TEXT), "body", ""),
    (REMARK, PAID - 1, "comment", "A. Author, 2024-05-01"),
    (PAID + 6, PAID + 10, "inserted", "B. Editor, 2024-06-01"),
]


def place(words: str) -> str:
    start = TEXT.index(words)
    return TextPlaces(TEXT, PLACES).exact_place(start, start + len(words))


def test_a_remark_is_named_as_one_with_its_author_and_date() -> None:
    assert place("Is this agreed?") == "line 2, comment by A. Author, 2024-05-01"


def test_words_that_are_partly_a_remark_are_named_so() -> None:
    words = "due.\n[comment, A. Author, 2024-05-01: Is"
    assert place(words) == "lines 1 to 2, partly comment by A. Author, 2024-05-01"


def test_inserted_words_are_named_whole_or_in_part() -> None:
    assert place("paid") == "line 3, inserted text by B. Editor, 2024-06-01"
    assert place("It is paid") == "line 3, partly inserted text by B. Editor, 2024-06-01"


def test_the_body_of_a_document_needs_no_name() -> None:
    assert place("The rent is due.") == "line 1"


@cases(
    ("kind", "words"),
    [
        ("footnote", "footnote"),
        ("speaker_note", "speaker notes"),
        ("alternative_text", "alternative text"),
        ("hidden_sheet", "hidden sheet"),
        ("hidden_row", "hidden row"),
        ("text_box", "text box"),
        ("header", "page header"),
    ],
)
def test_what_is_not_the_document_s_own_story_is_named(kind: str, words: str) -> None:
    places = TextPlaces("Words.\n", [(0, 7, "page", "3"), (0, 7, kind, "")])
    assert places.place(0, 6) == f"page 3, {words}"


def test_a_figure_is_named_by_the_headers_of_its_cell() -> None:
    text = "Accounts\n\t2023\t2022\nRevenue\t120\t100\n"
    table = text.index("\t2023")
    places = TextPlaces(text, [(0, len(text), "page", "3"), (table, len(text), "table", "1")])
    start = text.index("100")
    assert places.exact_place(start, start + 3) == "page 3, row “Revenue”, column “2022”"
    row = text.index("Revenue")
    for first in (row, text.index("120")):
        assert places.exact_place(first, len(text)) == "page 3, row “Revenue”, columns “2023” to “2022”"
    assert places.exact_place(table, len(text)) == "page 3"
    assert places.exact_place(0, 8) == "page 3"


def test_a_cell_of_a_sheet_has_the_headers_of_the_block_above() -> None:
    text = "\t2023\nRevenue\t120\n\nCosts\t80\n"
    cut = text.index("Costs")
    sheet = [(0, len(text), "sheet", "P&L"), (0, cut, "cells", "A1:B2"), (cut, len(text), "cells", "A4:B4")]
    start = text.index("80")
    place = TextPlaces(text, sheet).exact_place(start, start + 2)
    assert place == "sheet P&L, A4:B4, row “Costs”, column “2023”"
