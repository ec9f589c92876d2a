"""The words around a quotation, in blocks, with the quotation marked."""

from tasks.language.quotations import Mark, MarkedWords, Stretch, blocks, line_start, stretches

TABLE = "Accounts\nRevenue\t100\t80\nCosts\t60\t50\nSigned by the auditor."


def test_a_quotation_is_marked_across_cells_and_its_anchor_set_once() -> None:
    start = TABLE.index("100")
    (stretch,) = stretches(TABLE, 0, len(TABLE), [Mark(start, TABLE.index("60") + 2, "c1")])
    heading, table, end = stretch.blocks
    assert heading.rows == [[[MarkedWords("Accounts")]]]
    assert table.rows == [
        [
            [MarkedWords("Revenue")],
            [MarkedWords("100", marked=True, anchors=("c1",))],
            [MarkedWords("80", marked=True)],
        ],
        [[MarkedWords("Costs", marked=True)], [MarkedWords("60", marked=True)], [MarkedWords("50")]],
    ]
    assert end.rows == [[[MarkedWords("Signed by the auditor.")]]]
    assert (stretch.before, stretch.behind) == (False, False)


def test_lines_within_a_quotation_are_one_block_up_to_where_it_ends() -> None:
    (stretch,) = stretches("One\ntwo\nthree\nfour", 0, 18, [Mark(0, 13, "a")])
    assert [block.rows for block in stretch.blocks] == [
        [[[MarkedWords("One", marked=True, anchors=("a",))]]],
        [[[MarkedWords("two\nthree", marked=True)]]],
        [[[MarkedWords("four")]]],
    ]


def test_blank_lines_are_no_blocks() -> None:
    assert [block.rows[0][0][0].text for block in blocks("One\n   \n\nTwo", 0, 12, [])] == ["One", "Two"]


def test_an_empty_cell_has_no_words() -> None:
    assert [block.rows for block in blocks("a\t\tb", 0, 4, [])] == [[[[MarkedWords("a")], [], [MarkedWords("b")]]]]


def test_a_line_begins_behind_a_break_or_where_the_text_does_unless_that_is_far() -> None:
    assert line_start("\nabc", 3, 0) == 1
    assert line_start("abcdef", 5, 2) == 2
    assert line_start("a" * 100_000, 90_000, 0) == 90_000


def test_marks_that_begin_together_keep_both_anchors() -> None:
    (stretch,) = stretches("One two three", 0, 13, [Mark(0, 3, "a"), Mark(0, 7, "b")])
    (first, second, _rest) = stretch.blocks[0].rows[0][0]
    assert (first, second) == (MarkedWords("One", marked=True, anchors=("a", "b")), MarkedWords(" two", marked=True))


def test_far_quotations_have_stretches_of_their_own_that_tell_that_the_text_goes_on() -> None:
    text = "\n".join(f"Line {number} of a long document." for number in range(1000))
    near, far = text.index("Line 100 "), text.index("Line 900 ")
    first, second = stretches(text, 0, len(text), [Mark(near, near + 8, "a"), Mark(far, far + 8, "b")])
    assert first.before
    assert first.behind
    shown = "\n".join(run.text for block in first.blocks for row in block.rows for cell in row for run in cell)
    assert 1000 < len(shown) < 5000
    assert second.before


def test_a_part_is_not_left() -> None:
    text = "Page one.\fPage two."
    (stretch,) = stretches(text, 10, len(text), [Mark(10, 14, "a")])
    assert [run.text for block in stretch.blocks for row in block.rows for cell in row for run in cell] == [
        "Page",
        " two.",
    ]


def test_a_quotation_of_a_million_characters_is_shown_in_part() -> None:
    text = "word " * 200_000
    (stretch,) = stretches(text, 0, len(text), [Mark(0, len(text), "a")])
    assert stretch.behind
    assert sum(len(run.text) for block in stretch.blocks for row in block.rows for cell in row for run in cell) < 25_000


def shown(stretch: Stretch) -> list[list[str]]:
    """The rows of the tables of a stretch."""
    rows = [row for block in stretch.blocks if block.kind == "table" for row in block.rows]
    return [["".join(run.text for run in cell) for cell in row] for row in rows]


def test_a_row_far_down_a_sheet_stands_below_its_header() -> None:
    rows = [f"Customer {number}\t{number * 7}\t{number * 11}" for number in range(2_000)]
    text = "\n".join(["Customers, EUR thousand", "", "Name\t2023\t2022", *rows])
    start = text.index("9100\t")
    (stretch,) = stretches(text, 0, len(text), [Mark(start, start + 4, "a")])
    header, gap, *others = shown(stretch)
    assert (header, gap) == (["Name", "2023", "2022"], ["…"])
    assert ["Customer 1300", "9100", "14300"] in others
    assert len(others) < 200


def test_a_cell_of_a_wide_sheet_stands_beside_its_label_and_the_cells_around() -> None:
    months = "\t".join(f"M{number}" for number in range(60))
    text = f"\tLine\t{months}\n\tRevenue\t" + "\t".join(str(number * 100) for number in range(60))
    start = text.index("4000")
    (stretch,) = stretches(text, 0, len(text), [Mark(start, start + 4, "a")])
    assert shown(stretch) == [
        ["", "Line", "…", "M37", "M38", "M39", "M40", "M41", "M42", "M43"],
        ["", "Revenue", "…", "3700", "3800", "3900", "4000", "4100", "4200", "4300"],
    ]


def test_a_row_that_is_quoted_whole_is_shown_whole() -> None:
    text = "Line\t" + "\t".join(map(str, range(40)))
    (stretch,) = stretches(text, 0, len(text), [Mark(0, len(text), "a")])
    assert len(shown(stretch)[0]) == 41


def test_each_cell_of_a_very_wide_sheet_stands_under_its_own_header() -> None:
    rows = [["EUR", *(f"Column {n}" for n in range(600))]]
    rows += [[name, *(f"{name[0]}{n}.00000" for n in range(600))] for name in ("Alpha", "Beta", "Gamma")]
    text = "Title\n\n" + "\n".join("\t".join(row) for row in rows) + "\n"
    for name, column in (("Alpha", 400), ("Beta", 2), ("Gamma", 599)):
        cell = f"{name[0]}{column}.00000"
        start = text.index(cell)
        ((block,),) = [each.blocks for each in stretches(text, 0, len(text), [Mark(start, start + len(cell), "a")])]
        shown = [["".join(words.text for words in each) for each in row] for row in block.rows]
        at = shown[0].index(f"Column {column}")
        assert [name, cell] in [[row[0], row[at]] for row in shown if len(row) > at]
        assert all(row[at] in {"", f"Column {column}", f"{row[0][0]}{column}.00000"} for row in shown if len(row) > at)


def test_of_a_very_long_row_the_rows_above_are_not_shown_but_its_headers() -> None:
    rows = [["EUR", *(f"Column {n}" for n in range(3000))]]
    rows += [[f"Row {row}", *(f"{row}.{n}00000" for n in range(3000))] for row in range(20)]
    text = "\n".join("\t".join(row) for row in rows) + "\n"
    start = text.index("19.290000000")
    ((block,),) = [each.blocks for each in stretches(text, 0, len(text), [Mark(start, start + 12, "a")])]
    shown = [["".join(words.text for words in each) for each in row] for row in block.rows]
    assert [row[0] for row in shown] == ["EUR", "…", "Row 19"]
    assert shown[0][shown[2].index("19.290000000")] == "Column 2900"
