"""Passages: all of a text once, in order, and each within one page, slide, sheet or heading."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.scoring.passages import PassageSpan, TextPlaces, cut
from tests.cases import cases

LONGEST = 1200

Placed = tuple[str, list[tuple[int, int, str, str]]]


@st.composite
def placed_texts(draw: st.DrawFn) -> Placed:
    """A text in parts as readers write it: pages, slides or sheets with what lies in them, headings, attachments."""
    kind, within = draw(
        st.sampled_from(
            [("page", "ocr"), ("slide", "shape"), ("sheet", "cells"), ("heading", None), ("attachment", "page")]
        )
    )
    word = st.text("abcé.,:; \t\n0123456789", min_size=0, max_size=60)
    pieces: list[str] = []
    places: list[tuple[int, int, str, str]] = []
    at = 0
    for number in range(draw(st.integers(0, 5))):
        part = "".join(draw(st.lists(word, max_size=60))) * draw(st.sampled_from([1, 1, 10])) + "\n"
        places.append((at, at + len(part), kind, str(number + 1)))
        if within and draw(st.booleans()):
            first = draw(st.integers(0, len(part) - 1))
            places.append((at + first, at + draw(st.integers(first + 1, len(part))), within, f"A{number}:F{number}"))
        between = "\f" if kind != "heading" else draw(st.sampled_from(["", "no heading here\n"]))
        pieces += [part, between]
        at += len(part) + len(between)
    return "".join(pieces), places


@settings(max_examples=150, deadline=None)
@given(placed_texts())
def test_passages_hold_all_words_once_and_in_order(placed: Placed) -> None:
    text, places = placed
    pieces = cut(text, places)
    assert "".join("".join(text[piece.start : piece.end].split()) for piece in pieces) == "".join(text.split())
    assert all(one.end <= other.start for one, other in pairwise(pieces))


@settings(max_examples=150, deadline=None)
@given(placed_texts())
def test_a_passage_is_short_and_has_no_blank_ends(placed: Placed) -> None:
    text, places = placed
    for piece in cut(text, places):
        words = text[piece.start : piece.end]
        assert 0 < len(words) <= LONGEST
        assert words == words.strip()
        assert "\f" not in words


@settings(max_examples=150, deadline=None)
@given(placed_texts())
def test_no_passage_reaches_over_a_border(placed: Placed) -> None:
    text, places = placed
    borders = {
        border for start, end, kind, _ in places if kind not in ("ocr", "shape", "cells") for border in (start, end)
    }
    for piece in cut(text, places):
        assert not any(piece.start < border < piece.end for border in borders)


@given(st.text(max_size=200), st.lists(st.tuples(st.integers(-5, 300), st.integers(-5, 300)), max_size=5))
def test_places_that_fit_no_text_break_nothing(text: str, spans: list[tuple[int, int]]) -> None:
    pieces = cut(text, [(start, end, "heading", "x") for start, end in spans])
    assert "".join("".join(text[piece.start : piece.end].split()) for piece in pieces) == "".join(text.split())


@pytest.mark.parametrize("text", ["", " \n\t ", "\f\f", "\n\f\n"])
def test_a_blank_text_has_no_passage(text: str) -> None:
    assert cut(text, [(0, len(text), "page", "1")]) == []


def test_a_long_text_is_cut_at_empty_lines_then_lines_then_sentences() -> None:
    paragraph = "Revenue grew in every quarter of the year. " * 15
    paragraphs = f"{paragraph}\n\n{paragraph}\n\n{paragraph}"
    assert {paragraphs[span.start : span.end] for span in cut(paragraphs, [])} == {paragraph.strip()}
    lines = "\n".join([paragraph] * 3)
    assert {lines[span.start : span.end] for span in cut(lines, [])} == {paragraph.strip()}
    sentences = paragraph * 4
    assert all(sentences[span.start : span.end].endswith(".") for span in cut(sentences, []))


def test_one_endless_word_is_cut_at_the_limit() -> None:
    assert [span.end - span.start for span in cut("x" * 3000, [])] == [1200, 1200, 600]


# --- where a passage stands, in words


def places_of(text: str, places: list[tuple[int, int, str, str]]) -> list[tuple[str, str | None]]:
    return [(span.place, span.heading) for span in cut(text, places)]


def test_pages_and_slides_are_told_by_number() -> None:
    assert places_of("One.\n\fTwo.\n", [(0, 5, "page", "1"), (6, 11, "page", "2")]) == [
        ("page 1", None),
        ("page 2", None),
    ]
    assert places_of("One.\n", [(0, 5, "slide", "12")]) == [("slide 12", None)]


def test_a_sheet_is_told_with_the_cells_that_the_passage_takes() -> None:
    title, first, second = "Accounts\n", "Revenue\t1\n", "Costs\t2\n"
    text = title + first + second
    places = [
        (0, len(text), "sheet", "Accounts"),
        (len(title), len(title + first), "cells", "A1:F20"),
        (len(title + first), len(text), "cells", "A21:G40"),
    ]
    assert places_of(text, places) == [("sheet Accounts, A1:G40", None)]
    ground = TextPlaces(text, places)
    assert ground.place(text.index("Costs"), len(text)) == "sheet Accounts, A21:G40"
    assert ground.place(text.index("Revenue"), text.index("Revenue") + 7) == "sheet Accounts, A1:F20"
    assert ground.place(0, 8) == "sheet Accounts"


def test_a_single_cell_and_a_sheet_without_cells() -> None:
    assert places_of("Total\n", [(0, 6, "sheet", "S"), (0, 6, "cells", "B7")]) == [("sheet S, B7", None)]
    assert places_of("Comment\n", [(0, 8, "sheet", "S")]) == [("sheet S", None)]


def test_recognised_text_says_so() -> None:
    text = "Typed.\n\fScanned.\n\fStamped\nScanned too.\n"
    scan, mixed, too = text.index("Scanned"), text.index("Stamped"), text.index("Scanned too")
    places = [
        (0, 7, "page", "1"),
        (scan, scan + 9, "page", "2"),
        (scan, scan + 9, "ocr", "91 %"),
        (mixed, len(text), "page", "3"),
        (too, len(text), "ocr", "87 %"),
    ]
    assert places_of(text, places) == [("page 1", None), ("page 2 (OCR, 91 %)", None), ("page 3 (OCR, 87 %)", None)]
    ground = TextPlaces(text, places)
    assert ground.place(mixed, mixed + 7) == "page 3"
    assert ground.place(too, len(text)) == "page 3 (OCR, 87 %)"


def test_a_span_of_a_slide_is_told_with_its_shape() -> None:
    text = "Cuidara\nARR of 9.4m\nNotes: say it slowly.\n"
    arr, notes = text.index("ARR"), text.index("Notes")
    places = [(0, len(text), "slide", "4"), (0, arr, "shape", "Title 1"), (arr, notes, "shape", "Text 2")]
    ground = TextPlaces(text, places)
    assert ground.place(arr, arr + 3) == "slide 4, Text 2"
    assert ground.place(0, notes) == "slide 4", "it takes two shapes"
    assert ground.place(notes, len(text)) == "slide 4"
    assert places_of(text, places) == [("slide 4", None)]


HOST = "Dear all,\nthe budget is attached.\n"
INSIDE = "\fEmbedded document: Budget.xlsx\nRent\t12\n"
NOTE = "\fEmbedded document: Note.txt\nfirst\nsecond\n"


def test_an_attachment_is_told_by_name_and_its_host_does_not_leak_into_it() -> None:
    text = HOST + INSIDE + NOTE
    budget, note = text.index("Embedded"), text.rindex("Embedded")
    rent, first = text.index("Rent"), text.index("first")
    places = [
        (0, len(text), "heading", "Attachments"),
        (0, len(text), "page", "1"),
        (budget, note - 1, "attachment", "Budget.xlsx"),
        (rent, note - 1, "sheet", "Costs"),
        (rent, note - 1, "cells", "A1:B1"),
        (note, len(text), "attachment", "Note.txt"),
    ]
    assert places_of(text, places) == [
        ("page 1", "Attachments"),
        ("in “Budget.xlsx”", None),
        ("in “Budget.xlsx”, sheet Costs, A1:B1", None),
        ("in “Note.txt”, lines 1 to 2", None),
    ]
    assert TextPlaces(text, places).place(text.index("second"), len(text)) == "in “Note.txt”, line 2"
    assert TextPlaces(text, places).place(first, first + 5) == "in “Note.txt”, line 1"


def test_an_attachment_of_an_attachment_is_told_by_both_names() -> None:
    text = "Mail\nbody\n" + INSIDE
    budget, rent = text.index("Embedded"), text.index("Rent")
    places = [
        (0, len(text), "attachment", "Mail.docx"),
        (0, 10, "heading", "Mail"),
        (budget, len(text), "attachment", "Budget.xlsx"),
        (rent, len(text), "page", "7"),
        (rent, len(text), "ocr", "91 %"),
    ]
    assert TextPlaces(text, places).place(rent, len(text)) == "in “Mail.docx”, in “Budget.xlsx”, page 7 (OCR, 91 %)"
    assert TextPlaces(text, places).label(rent, "heading") is None
    assert TextPlaces(text, places).place(5, 9) == "in “Mail.docx”, under “Mail”, line 1"


def test_headings_are_told_with_lines() -> None:
    text = "Preamble\nTerm\nFive years.\nRenewable.\nFees\nNone.\n"
    term, fees = text.index("Term"), text.index("Fees")
    places = [(term, fees, "heading", "Term"), (fees, len(text), "heading", "Fees")]
    assert places_of(text, places) == [
        ("line 1", None),
        ("under “Term”, lines 2 to 4", "Term"),
        ("under “Fees”, lines 5 to 6", "Fees"),
    ]


def test_what_follows_a_heading_s_end_stands_under_none() -> None:
    text = "Term\nFive years.\nSigned in Leeds.\n"
    end = text.index("Signed")
    assert places_of(text, [(0, end, "heading", "Term")]) == [
        ("under “Term”, lines 1 to 2", "Term"),
        ("line 3", None),
    ]


def test_a_text_without_places_is_told_by_lines() -> None:
    assert places_of("a\nb\nc", []) == [("lines 1 to 3", None)]


def test_a_heading_on_a_page_is_kept_beside_the_page() -> None:
    places = [(0, 10, "page", "1"), (0, 10, "heading", "Term")]
    assert cut("Five years", places) == [PassageSpan(0, 10, "page 1", "Term")]


@pytest.mark.slow
@pytest.mark.timeout(60)  # 0.2 s here; work that grows with text times places would take many minutes
def test_ten_million_characters_and_twenty_thousand_places_are_cut() -> None:
    chosen = random.Random(1)
    lines = [" ".join(chosen.choices(["revenue", "grew", "by", "13.7", "%."], k=12)) for _ in range(1000)]
    text = "\n".join(lines * 160)[:10_000_000]
    step = len(text) // 20_000
    places = [(at * step, (at + 1) * step, "heading" if at % 2 else "cells", str(at)) for at in range(20_000)]
    pieces = cut(text, [(0, len(text), "sheet", "S"), *places])
    assert len(pieces) > 10_000


def test_each_later_part_of_a_table_knows_its_first_row() -> None:
    table = "Item\t2024\t2023\n" + "".join(f"Row {number}\t{number}\t{number + 1}\n" for number in range(200))
    pieces = cut("A title without cells\n" + table + "\fNext page\n\tA\tB\n", [])
    assert [piece.header for piece in pieces] == [None, "Item\t2024\t2023", "Item\t2024\t2023", None]


def test_a_first_row_of_any_length_is_carried_along_bounded() -> None:
    wide = "\t".join(f"Column {number}" for number in range(500)) + "\n"
    assert max(len(span.header or "") for span in cut(wide + "1\t2\n" * 500, [])) <= 400


def test_later_parts_of_a_table_come_with_all_its_header_rows() -> None:
    text = "EUR m\tYear\t\n\t2023\t2022\n" + "Revenue of a long name\t120\t100\n" * 100
    headers = [piece.header for piece in cut(text, [])]
    assert headers[0] is None
    assert set(headers[1:]) == {"EUR m\tYear\t\n\t2023\t2022"}


@cases(
    "text",
    [
        "Table of contents\nIntroduction\t1\nThe business\t4\nRisks\t19\nAccounts\t44\n",
        "Inhaltsverzeichnis\nEinleitung 1\nGeschäft 4\nRisiken 19\n",
        "Business ............ 3\nRisk factors ............ 12\nLegal proceedings ............ 31\n",
        "Index to exhibits\n\nNo.\tExhibit\n3.1\tCertificate\n3.2\tBylaws\n10.3\tForm\n",
        "10.1\tLease, incorporated by reference\n10.2\tLoan, incorporated by reference\n10.3\tPlan, filed herewith\n",
        "Anlagenverzeichnis\nAnlage 1 Gesellschaftsvertrag\nAnlage 2 Mietvertrag\nAnlage 3 Satzung\n",
    ],
)
def test_what_only_says_where_something_stands_is_no_passage(text: str) -> None:
    assert cut(text, [(0, len(text), "page", "1")]) == []


@cases(
    "text",
    [
        "Revenue by year\nGermany\t10\nFrance\t40\nSpain\t90\n",
        "Contents of the tank\nThe tank holds 40 litres of oil.\nIt must be emptied before the sale.\n",
        "10.1 Notices. All notices are in writing.\n10.2 Term. It ends in 2030.\n10.3 Rent. Rent is due monthly.\n",
        "Exhibit A shows the floor plan.\nThe tenant pays for repairs.\nThe landlord insures the house.\n",
        "Index\nIndex of prices in 2024: 104.\nIndex of wages: 99.\nBoth fell.\n",
    ],
)
def test_tables_and_clauses_are_no_directories(text: str) -> None:
    assert len(cut(text, [(0, len(text), "page", "1")])) == 1


def test_the_bookmarks_of_a_pdf_are_no_passage() -> None:
    pages = "Legal proceedings\nA lawsuit is pending.\n\fLeases\nThe lease ends in 2030.\n"
    text = f"{pages}Legal proceedings\nLeases\n"
    places = [(0, 40, "page", "1"), (41, len(pages), "page", "2")]
    assert [text[span.start : span.end] for span in cut(text, places)][-1].endswith("2030.")
