"""The words around a quotation, in blocks, with the quotation marked."""

from tasks.evidence.excerpt import Mark, MarkedWords, stretches

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
